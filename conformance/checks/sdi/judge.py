"""The rules for the dictionary information in data files, by requirement. No I/O.

A judge gets files, and what the server says of them; it yields the problems.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from conformance.checks.sdi.run import NAME
from conformance.judge.problem import Problem
from conformance.reference.errors import DecodeError
from conformance.reference.innodb.pages import PageType, type_name
from conformance.reference.innodb.sdi import TABLE, TABLESPACE
from conformance.reference.innodb.sdi_views.ibd2sdi_output import printed
from conformance.reference.innodb.sdi_views.information_schema import drift, facts_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import SequenceOutcome, ShownTable
    from conformance.reference.innodb.sdi import SdiObject
    from conformance.reference.innodb.sdi_views.information_schema import Facts

ALL_ONES: Final = (1 << 64) - 1
_SYSTEM: Final = 0  # the space id of the system tablespace, which no tablespace object describes
_SHOWN: Final = 120
_TYPES: Final = {TABLE: "Table", TABLESPACE: "Tablespace"}
_KEYS: Final = ("mysqld_version_id", "dd_version", "sdi_version", "dd_object_type", "dd_object")
NO_SDI: Final = "SDI doesn't exist"
_CHECKSUM: Final = "is corrupted. Checksum verification failed."


def dump(file: SdiFile) -> Iterator[Problem]:
    """SDI65: ibd2sdi prints the records, and the reader finds the same bytes; both forms.

    ibd2sdi cannot read page compression (innodb-sdi B.4): there it must refuse, and print nothing.
    """
    assert file.printed is not None
    if file.error:
        yield Problem(file.name, "readable", file.error, "the reader refuses a file of the server")
        return
    if file.page_compression:
        if file.printed.code == 0 or _CHECKSUM not in file.printed.errors or file.printed.stored:
            yield Problem(file.name, _CHECKSUM, file.printed.errors, "ibd2sdi reads page compression in part")
        return
    if file.printed.code:
        yield Problem(file.name, "exit code 0", f"{file.printed.code}: {file.printed.errors}", "ibd2sdi refuses a file")
    for form, theirs in (("--skip-pretty", file.printed.stored), ("--pretty", file.printed.pretty)):
        ours = b"".join(printed(file.objects, indented=form == "--pretty"))
        if ours != theirs:
            at = next((at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1), 0)
            yield Problem(f"{file.name} {form} at {at}", repr(theirs[at:][:_SHOWN]), repr(ours[at:][:_SHOWN]),
                          "the reader and ibd2sdi differ")  # fmt: skip


def order(file: SdiFile) -> Iterator[Problem]:
    """SDI7: the records stand in order of type and then id."""
    keys = [(item.type, item.id) for item in file.objects]
    if keys != sorted(keys):
        yield Problem(file.name, str(sorted(keys)), str(keys), "the records are not in the order of type and id")


def unique(file: SdiFile) -> Iterator[Problem]:
    """SDI67: the pair of type and id is the key."""
    keys = [(item.type, item.id) for item in file.objects]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        yield Problem(f"{file.name} {key}", "one record", str(keys.count(key)), "two records have one key")


def one_index(file: SdiFile) -> Iterator[Problem]:
    """SDI8: all SDI pages of a file are of one index."""
    if len(file.index_ids) != 1:
        yield Problem(file.name, "one index", str(sorted(file.index_ids)), "the SDI has another number of indexes")


def index_id(file: SdiFile) -> Iterator[Problem]:
    """SDI10: the id of the index is -1."""
    for number in sorted(file.index_ids - {ALL_ONES}):
        yield Problem(file.name, f"{ALL_ONES:#x}", f"{number:#x}", "the index of the SDI has another id")


def flag(file: SdiFile) -> Iterator[Problem]:
    """SDI15: bit 14 of the flags says whether page 0 leads to SDI."""
    there = file.root.version == 1 and file.root.page != 0
    if file.flags.has_sdi != there:
        yield Problem(f"{file.name} flags", f"bit 14 {'set' if there else 'clear'}", f"{file.flags.value:#x}",
                      "the flags do not say whether there is SDI")  # fmt: skip


def one_format(file: SdiFile) -> Iterator[Problem]:
    """SDI20: the JSON of each record has the same frame in every kind of tablespace."""
    for item in file.objects:
        try:
            found = item.object
        except DecodeError as error:
            yield Problem(f"{file.name} {item.type, item.id}", "JSON", str(error), "a record holds no JSON object")
            continue
        if tuple(found) != _KEYS or found["dd_object_type"] != _TYPES.get(item.type):
            kind = found.get("dd_object_type")
            yield Problem(f"{file.name} {item.type, item.id}", f"{_KEYS} of {_TYPES.get(item.type)}",
                          f"{tuple(found)} of {kind}", "a record has another format")  # fmt: skip


def off_page(file: SdiFile) -> Iterator[Problem]:
    """SDI19: data of more than half a page stand in BLOB pages."""
    chain = {PageType.SDI_BLOB, PageType.SDI_ZBLOB} & {kind for _, kind in file.pages}
    for item in long_objects(file):
        if not item.off_page or not chain:
            yield Problem(f"{file.name} {item.type, item.id}", "stored in BLOB pages", "inline",
                          "a record that does not fit stays in its page")  # fmt: skip


def long_objects(file: SdiFile) -> list[SdiObject]:
    """The objects whose data need more than half a page: two records must fit into one."""
    return [item for item in file.objects if len(zlib.compress(item.text, 6)) > file.flags.logical // 2]


def page_types(file: SdiFile) -> Iterator[Problem]:
    """SDI29: the types of the pages that hold records are those of the SDI."""
    blob = _blob(file)
    for number, kind in file.pages:
        if kind not in {PageType.SDI, blob}:
            yield Problem(f"{file.name} page {number}", f"SDI or {blob.name}", type_name(kind),
                          "a page of the SDI has another type")  # fmt: skip


def _blob(file: SdiFile) -> PageType:
    return PageType.SDI_ZBLOB if file.flags.compressed else PageType.SDI_BLOB


def kinds_of_pages(file: SdiFile) -> Iterator[Problem]:
    """SDI21: leaves, node pointers and BLOBs are in the two segments of the index, and nothing else is; these stand in
    INODE pages, and the bitmaps in pages with descriptors say that their pages are in use.

    A page that no record leads to may wait for purge: it has one of the types, too.
    """
    if file.unmanaged:
        yield Problem(file.name, "segments", file.unmanaged, "the segments of the SDI cannot be read")
        return
    found = file.segments
    blob = _blob(file)
    for pages, kinds, words in (
        (found.pages, (PageType.SDI, blob), "a page of another kind belongs to the SDI"),
        (found.inodes, (PageType.INODE,), "the segments of the SDI are in no inode page"),
        (found.bitmaps, (PageType.FSP_HDR, PageType.XDES), "the allocation bitmap is in a page of another kind"),
    ):
        for number, kind in pages:
            if kind not in kinds:
                expected = " or ".join(item.name for item in kinds)
                yield Problem(f"{file.name} page {number}", expected, type_name(kind), words)
    for number in found.free:
        yield Problem(f"{file.name} page {number}", "in use", "free", "the bitmap calls a page of the SDI free")
    for number in sorted({number for number, _ in file.pages} - {number for number, _ in found.pages}):
        yield Problem(f"{file.name} page {number}", "in a segment of the SDI", "in none",
                      "a page with records belongs to no segment of the SDI")  # fmt: skip


FILE_JUDGES: Final[dict[str, Callable[[SdiFile], Iterable[Problem]]]] = {
    "SDI65": dump, "SDI7": order, "SDI67": unique, "SDI8": one_index, "SDI10": index_id, "SDI15": flag,
    "SDI20": one_format, "SDI19": off_page, "SDI29": page_types, "SDI21": kinds_of_pages,
}  # fmt: skip


def has_records(file: SdiFile) -> Iterator[Problem]:
    """SDI1: a persistent tablespace has SDI; of the system tablespace, records only if tables are in it."""
    if not (file.objects or file.space_id == _SYSTEM) or not file.root.page or not file.flags.has_sdi:
        yield Problem(file.name, "SDI", f"{len(file.objects)} records, flags {file.flags.value:#x}",
                      "a persistent tablespace has no SDI")  # fmt: skip


def has_none(file: SdiFile) -> Iterator[Problem]:
    """SDI2, SDI3: a temporary or undo tablespace has neither flag nor root nor record, and ibd2sdi says so.

    Where the root would be, a session's temporary tablespace may have bytes of other pages (observed on 9.7.4).
    """
    session = file.name.endswith(".ibt")
    rooted = file.root != (0, 0) and not session
    if file.flags.has_sdi or rooted or file.objects or file.index_ids:
        yield Problem(file.name, "no SDI", f"flags {file.flags.value:#x}, {file.root}, {len(file.objects)} records",
                      "a tablespace has SDI that must have none")  # fmt: skip
    assert file.printed is not None
    if file.printed.code == 0 or (not session and NO_SDI not in file.printed.errors):
        yield Problem(file.name, NO_SDI, file.printed.errors or repr(file.printed.stored[:_SHOWN]), "ibd2sdi finds SDI")


def records(outcome: SequenceOutcome) -> Iterator[Problem]:
    """SDI18: one record for each object: of the tables in their own files, and of each file's tablespace."""
    yield from table_records(outcome.files, [table for table in outcome.tables if table.own_file])
    yield from tablespace_records(outcome.files, outcome.spaces)


def table_records(files: Iterable[SdiFile], tables: Iterable[ShownTable]) -> Iterator[Problem]:
    """A table has one record in all of its files together."""
    expected = sorted((table.schema, table.name) for table in tables)
    found = sorted((str(table["schema_ref"]), str(table["name"])) for file in files for table in file.tables)
    if found != expected:
        yield Problem("table records", str(expected), str(found), "the files have records of other tables")


def tablespace_records(files: Iterable[SdiFile], spaces: Mapping[int, Facts]) -> Iterator[Problem]:
    """Each file has the record of its tablespace, under the name that the server gives it."""
    for file in files:
        found = [str(item["name"]) for item in file.of_type(TABLESPACE)]
        expected = [] if file.space_id == _SYSTEM else [spaces.get(file.space_id, {}).get(NAME)]
        if found != expected:
            yield Problem(f"{file.name} tablespace", str(expected), str(found), "the tablespace has another record")


def compared_tablespace(file: SdiFile, spaces: Mapping[int, Facts]) -> Iterator[Problem]:
    """SDI66: page 0 and the record of a tablespace equal what INFORMATION_SCHEMA says of it."""
    theirs = {fact: value for fact, value in spaces.get(file.space_id, {}).items() if fact != NAME}
    for fact, ours, value in drift(file.facts, theirs) if file.facts else ():
        yield Problem(f"tablespace {file.name} {fact}", str(value), str(ours), "file and INFORMATION_SCHEMA differ")


def compared(file: SdiFile, facts: dict[tuple[str, str], Facts]) -> Iterator[Problem]:
    """SDI66: a table in the file equals that of INFORMATION_SCHEMA."""
    for table in file.tables:
        name = str(table["schema_ref"]), str(table["name"])
        for fact, ours, theirs in drift(facts_of_file(table), facts.get(name, {})):
            yield Problem(f"{'.'.join(name)} {fact}", str(theirs), str(ours), "file and INFORMATION_SCHEMA differ")
