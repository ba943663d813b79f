"""The contents of a data file: by the kit's reader, and by ibd2sdi."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.sdi.segments import Segments, segments
from conformance.reference.errors import CodecError
from conformance.reference.innodb.pages import PageType, SdiRoot, SpaceFlags, Tablespace, window_of
from conformance.reference.innodb.sdi import TABLE, TABLESPACE, SdiObject, has_sdi, sdi_objects
from conformance.reference.innodb.sdi_views.information_schema import tablespace_facts_of_file
from conformance.servers.errors import ServerError

if TYPE_CHECKING:
    from conformance.reference.innodb.pages import Page
    from conformance.reference.innodb.sdi_views.information_schema import Facts
    from conformance.servers.programs import Program

_NONE: Final = Segments()
_SECONDS: Final = 120.0  # for one run of ibd2sdi
_SHOWN: Final = 1  # of the dictionary's kinds of hidden tables: none
_PAGES: Final = slice(46, 50)  # of page 0: how many pages the tablespace has
_INDEX_ID: Final = slice(66, 74)
_ORIGINAL_TYPE: Final = slice(28, 30)  # of a page with page compression


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The output of ibd2sdi: ``stored`` with --skip-pretty, ``pretty`` without. ``refused``: in both forms it prints
    nothing, and ends with exit code 1."""

    stored: bytes = b""
    pretty: bytes = b""
    code: int = 0
    errors: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SdiFile:
    """One tablespace. ``error``: why the reader refused it. ``pages``: number and type of every page that holds the
    dictionary information. ``index_ids``: those of all SDI pages in the file, free ones too. ``segments``: what
    belongs to it by the space management, which may be unreadable (``unmanaged`` says why). ``lacking``: how many pages
    page 0 counts and the file has not. ``printed``: what ibd2sdi says of it, for checks that judge that."""

    name: str
    space_id: int
    flags: SpaceFlags
    root: SdiRoot
    objects: tuple[SdiObject, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    page_compression: bool = False
    index_ids: frozenset[int] = frozenset()
    facts: Facts = field(default_factory=dict)  # about the tablespace, by page 0 and its record
    error: str = ""
    segments: Segments = _NONE
    unmanaged: str = ""
    lacking: int = 0
    printed: Printed | None = None

    def of_type(self, kind: int) -> list[dict[str, Any]]:
        """The dictionary objects of one type."""
        return [item.object["dd_object"] for item in self.objects if item.type == kind]

    @property
    def tables(self) -> list[dict[str, Any]]:
        """The tables that a server shows; those of a FULLTEXT index are hidden."""
        return [table for table in self.of_type(TABLE) if table.get("hidden") == _SHOWN]

    @property
    def tablespace(self) -> dict[str, Any] | None:
        """The tablespace object; the system tablespace has none."""
        return next(iter(self.of_type(TABLESPACE)), None)


class _Recorded(Tablespace):
    """A tablespace that remembers which pages were read."""

    def __init__(self, data: bytes) -> None:
        self.read: dict[int, int] = {}
        self.data = data
        super().__init__(window_of(data), len(data))

    def page(self, number: int) -> Page:
        found = super().page(number)
        if number:
            self.read[number] = found.type
        return found

    def stored_type(self, number: int) -> int:
        """The type of a page as it is in the file."""
        at = number * self.flags.physical + 24
        return int.from_bytes(self.data[at : at + 2], "big")


def read_file(name: str, data: bytes, ibd2sdi: Program | None = None) -> SdiFile:
    """Read a file, and print it where ``ibd2sdi`` is given. ``name``: where it is.

    Raises for a file that is no tablespace.
    """
    space = _Recorded(data)
    name = name.rpartition("/")[2]
    objects: tuple[SdiObject, ...] = ()
    error = ""
    try:
        if has_sdi(space):
            objects = tuple(sdi_objects(space))
    except CodecError as problem:
        error = str(problem)
    managed, unmanaged = _NONE, ""
    try:
        if has_sdi(space):
            managed = segments(Tablespace(window_of(data), len(data)))
    except CodecError as problem:
        unmanaged = str(problem)
    record = next((item for item in objects if item.type == TABLESPACE), None)
    return SdiFile(
        name=name,
        facts={} if record is None else tablespace_facts_of_file(space, record.object["dd_object"]),
        space_id=space.space_id,
        flags=space.flags,
        root=space.sdi_root,
        objects=objects,
        pages=tuple(space.read.items()),
        page_compression=any(space.stored_type(number) == PageType.COMPRESSED for number in space.read),
        index_ids=frozenset(_index_ids(space)),
        error=error,
        segments=managed,
        unmanaged=unmanaged,
        lacking=max(0, int.from_bytes(data[_PAGES], "big") - space.pages),
        printed=None if ibd2sdi is None else print_file(name, data, ibd2sdi),
    )


def _index_ids(space: _Recorded) -> set[int]:
    found = set()
    size = space.flags.physical
    for number in range(space.pages):
        kind = space.stored_type(number)
        page = space.data[number * size : (number + 1) * size]
        if kind == PageType.COMPRESSED and int.from_bytes(page[_ORIGINAL_TYPE], "big") == PageType.SDI:
            page, kind = Tablespace.page(space, number).data, PageType.SDI
        if kind == PageType.SDI:
            found.add(int.from_bytes(page[_INDEX_ID], "big"))
    return found


def print_file(name: str, data: bytes, ibd2sdi: Program) -> Printed:
    """Run ibd2sdi on a file in both forms. Raises :class:`ServerError` if it does not end."""
    stored, pretty = (
        ibd2sdi.run([*options, name], files={name: data}, timeout=_SECONDS) for options in (["--skip-pretty"], [])
    )
    if stored.returncode is None or pretty.returncode is None:
        raise ServerError(f"ibd2sdi does not end within {_SECONDS:.0f} s on {name}")
    return Printed(
        stored=stored.stdout, pretty=pretty.stdout, code=stored.returncode or pretty.returncode,
        errors=stored.stderr.decode("utf-8", "replace"),
        refused=all((run.returncode, run.stdout) == (1, b"") for run in (stored, pretty)),
    )  # fmt: skip
