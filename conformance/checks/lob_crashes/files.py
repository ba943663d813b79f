"""Data files as a crash left them: every document that can be read, and every refusal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.pages import Tablespace, window_of
from conformance.reference.innodb.records import OffPage
from conformance.reference.jsonb.decode import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.innodb.large_values import LargeValue
    from conformance.reference.innodb.pages import Page

_ROOT: Final = 4  # the root page of the first index in a file of one table
_READS: Final = 16  # of each page on average, at most
_SPARE: Final = 1000


class EndlessWalk(Exception):
    """The reader asked for more pages than any walk needs."""


class _CountedPages(Tablespace):
    """A file that gives each page a number of times on average, and no more."""

    _left = _SPARE

    def __init__(self, data: bytes) -> None:
        super().__init__(window_of(data), len(data))
        self._left += _READS * self.pages

    def page(self, number: int) -> Page:
        """The page; raises :class:`EndlessWalk` after too many calls."""
        self._left -= 1
        if self._left < 0:
            raise EndlessWalk(f"more than {_READS} times as many pages read as the file has")
        return super().page(number)


@dataclass(slots=True)
class FilesRead:
    """``refusals``: declared errors by code. ``undeclared``: other errors. ``unnamed``: declared ones that do not say
    which field of which page is wrong. ``rows``: documents read or refused, of each table whose tree is one page.
    """

    files: int = 0
    refused_files: int = 0
    documents: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    undeclared: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)

    def refuse(self, where: str, error: CodecError) -> None:
        """Count a declared error."""
        self.refusals[str(error.code)] += 1
        pages = sum(part.startswith("page[") for part in error.path)
        if not pages or pages == len(error.path):
            self.unnamed.append(f"{where}: {error}")


def read_files(files: Mapping[str, bytes]) -> FilesRead:
    """Read every document of every data file; ``files``: their contents by their names in the data directory."""
    found = FilesRead()
    for place, data in files.items():
        name = place.rpartition("/")[2]
        found.files += 1
        try:
            _read(name, data, found)
        except CodecError as error:
            found.refused_files += 1
            found.refuse(name, error)
        except Exception as error:  # noqa: BLE001 - an undeclared error is what is looked for
            found.undeclared.append(f"{name}: {error!r}")
    return found


def _read(name: str, data: bytes, found: FilesRead) -> None:
    space = _CountedPages(data)
    reader = LobReader(space)
    rows, pages = 0, {_ROOT}
    for value in large_values(space, list(table_objects(space)), deleted=True):
        rows += 1
        pages.add(value.row.page)
        try:
            decode(_bytes(value, reader))
        except CodecError as error:
            found.refuse(name, error.at(value.column).at(f"page[{value.row.page}]"))
        else:
            found.documents += 1
    if pages == {_ROOT}:  # written as a whole: a tree of several pages may be half new
        found.rows[name.removesuffix(".ibd")] = rows


def _bytes(value: LargeValue, reader: LobReader) -> bytes:
    if isinstance(value.value, OffPage):
        return value.value.prefix + reader.open(value.value).read()
    return value.value
