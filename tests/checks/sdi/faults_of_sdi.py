"""Planted faults of shipped dictionary information: what a server that breaks one sentence would have left."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.innodb.pages import PageType, SdiRoot, SpaceFlags
from conformance.reference.innodb.sdi import TABLE
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.reference.innodb.sdi import SdiObject
    from tests.checks.sdi.observed_files import Observed

_SDI: Final = 1 << 14
_ALL_ONES: Final = (1 << 64) - 1


def in_file(change: Callable[[SdiFile], SdiFile], *names: str) -> Callable[[Observed], Observed]:
    """The same change of each named file, and of those of the sequence."""

    def apply(seen: Observed) -> Observed:
        files: dict[str, Any] = {name: change(getattr(seen, name)) for name in names or ("file",)}
        changed = replace(seen, **files)
        return changed if names else changed.with_outcome(files=[change(file) for file in seen.outcome.files])

    return apply


def fields(**values: Any) -> Callable[[SdiFile], SdiFile]:
    """Other fields of a file."""
    return lambda file: replace(file, **values)


def objects(change: Callable[[SdiObject], SdiObject | None]) -> Callable[[SdiFile], SdiFile]:
    """Other records; those that become ``None`` are lost."""
    return lambda file: replace(file, objects=tuple(item for old in file.objects if (item := change(old)) is not None))


def dictionary(**values: Any) -> Callable[[SdiFile], SdiFile]:
    """Other fields of the dictionary object of the table."""

    def change(item: SdiObject) -> SdiObject:
        if item.type != TABLE:
            return item
        found = item.object
        found["dd_object"] |= values
        return item._replace(text=json.dumps(found).encode())

    return objects(change)


def _shown(**values: Any) -> Callable[[Observed], Observed]:
    """Other answers of the server about the table ``t``."""

    def apply(seen: Observed) -> Observed:
        tables = [replace(table, **values) if table.name == "t" else table for table in seen.outcome.tables]
        return seen.with_outcome(tables=tables)

    return apply


def _flags(file: SdiFile, *, sdi: bool) -> SdiFile:
    value = file.flags.value & ~_SDI | (_SDI if sdi else 0)
    return replace(file, flags=SpaceFlags.of(value))


def _without_flag(file: SdiFile) -> SdiFile:
    return _flags(file, sdi=False)


def _with_flag(file: SdiFile) -> SdiFile:
    return _flags(file, sdi=True)


def _printed(**values: Any) -> Callable[[SdiFile], SdiFile]:
    def change(file: SdiFile) -> SdiFile:
        assert file.printed is not None
        return replace(file, printed=replace(file.printed, **values))

    return change


def _one_space_more(file: SdiFile) -> SdiFile:
    assert file.printed is not None
    return _printed(pretty=file.printed.pretty + b" ")(file)


def _of(name: str, **values: Any) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, **{name: replace(getattr(seen, name), **values)})


def _after(name: str, change: Callable[[SdiFile], SdiFile]) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, **{name: replace(getattr(seen, name), after=change(getattr(seen, name).after))})


def _opened_rows(seen: Observed) -> Observed:
    return replace(seen, opened=replace(seen.opened, rows=seen.opened.rows[1:]))


def _not_altered(seen: Observed) -> Observed:
    return replace(seen, altered=replace(seen.altered, after=seen.altered.before))


def _zblob(file: SdiFile) -> SdiFile:
    return replace(file, pages=((3, int(PageType.SDI)), (5, int(PageType.SDI_ZBLOB))))


def _taken(change: Callable[[SdiFile], SdiFile]) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, opened=replace(seen.opened, taken=change(seen.opened.taken)))


def _given(**values: Any) -> Callable[[Observed], Observed]:
    change = _printed(**values)
    return lambda seen: replace(seen, opened=replace(seen.opened, given=change(seen.opened.given)))


_NO_TABLE: Final = objects(lambda item: None if item.type == TABLE else item)
_NO_TABLESPACE: Final = objects(lambda item: item if item.type == TABLE else None)
_TWICE: Final[Callable[[SdiFile], SdiFile]] = lambda file: replace(file, objects=(file.objects[0], *file.objects))  # noqa: E731
_OTHER: Final = dictionary(comment="another")


def _segments(**changes: Any) -> Callable[[SdiFile], SdiFile]:
    """Other pages by the space management."""
    return lambda file: replace(file, segments=file.segments._replace(**changes))


_FAULTS: Final[tuple[tuple[str, str, str, Callable[[Observed], Observed]], ...]] = (
    ("SDI1", "lost", "A persistent tablespace has records.", in_file(fields(objects=()))),
    ("SDI1", "unannounced", "A persistent tablespace has SDI.", in_file(_without_flag)),
    ("SDI2", "flagged", "A temporary tablespace has no flag.", in_file(_with_flag, "temporary")),
    ("SDI2", "printed", "ibd2sdi finds no SDI in it.", in_file(_printed(code=0, errors=""), "temporary")),
    ("SDI3", "rooted", "An undo tablespace has no root.", in_file(fields(root=SdiRoot(1, 3)), "undo")),
    ("SDI3", "indexed", "An undo tablespace has no SDI page.", in_file(fields(index_ids=frozenset((1,))), "undo")),
    ("SDI7", "backwards", "The records stand in order.", in_file(lambda f: replace(f, objects=f.objects[::-1]))),
    ("SDI7", "by-id", "The type comes before the id.",
     in_file(objects(lambda item: item._replace(type=3 - item.type, id=item.type)))),
    ("SDI8", "two", "There is one index.", in_file(fields(index_ids=frozenset((_ALL_ONES, _ALL_ONES - 1))))),
    ("SDI8", "none", "There is an index.", in_file(fields(index_ids=frozenset()))),
    ("SDI10", "copy-1", "The id of the index is -1.", in_file(fields(index_ids=frozenset((_ALL_ONES - 1,))))),
    ("SDI10", "ordinary", "The id of the index is -1.", in_file(fields(index_ids=frozenset((157,))))),
    ("SDI14", "refused", "The server opens a file without SDI.", _of("opened", error="1815")),
    ("SDI14", "rows-lost", "The server reads all rows of it.", _opened_rows),
    ("SDI14", "cut", "The file given has the pages that it counts.",
     lambda seen: replace(seen, opened=replace(seen.opened, given=replace(seen.opened.given, lacking=1)))),
    ("SDI14", "printed", "ibd2sdi finds no SDI in the file given, in either form.", _given(refused=False)),
    ("SDI14", "other-words", "ibd2sdi says why it prints nothing.", _given(errors="no such thing")),
    ("SDI15", "not-set", "The flag is set where SDI is.", in_file(_without_flag)),
    ("SDI15", "no-root", "Where the flag is set, there is SDI.", in_file(fields(root=SdiRoot(1, 0)))),
    ("SDI16", "opened", "An older server refuses the file.", _of("old", with_sdi=0)),
    ("SDI16", "refuses-all", "It refuses because of the SDI.", _of("old", own=1815)),
    ("SDI18", "no-table", "Every table has a record.", in_file(_NO_TABLE)),
    ("SDI18", "no-tablespace", "Every tablespace has a record.", in_file(_NO_TABLESPACE)),
    ("SDI18", "table-twice", "A table has one record.", in_file(_TWICE)),
    ("SDI19", "inline", "Long data leave the page.", in_file(objects(lambda item: item._replace(off_page=False)))),
    ("SDI19", "no-chain", "Long data stand in BLOB pages.", in_file(fields(pages=((3, int(PageType.SDI)),)))),
    ("SDI20", "frame", "The JSON has one frame.",
     in_file(objects(lambda item: item._replace(text=b'{"dd_object": {}}')))),
    ("SDI20", "kind", "The frame names the kind of its object.",
     in_file(objects(lambda item: item._replace(text=item.text.replace(b'type":"Table"', b'type":"View"'))))),
    ("SDI20", "no-json", "A record holds JSON.", in_file(objects(lambda item: item._replace(text=b"<xml/>")))),
    ("SDI21", "index-page", "No other page belongs to it.",
     in_file(lambda f: _segments(pages=(*f.segments.pages, (99, int(PageType.INDEX))))(f))),
    ("SDI21", "no-inode", "Its segments are in inode pages.", in_file(_segments(inodes=((2, int(PageType.SYS)),)))),
    ("SDI21", "no-bitmap", "Its pages have a bitmap.", in_file(_segments(bitmaps=((0, int(PageType.SDI)),)))),
    ("SDI21", "free", "Its pages are in use.", in_file(_segments(free=(3,)))),
    ("SDI21", "outside", "Every page with records belongs to it.", in_file(_segments(pages=()))),
    ("SDI21", "no-segment", "It has segments.", in_file(fields(unmanaged="page[2].magic"))),
    ("SDI22", "no-undo", "A rollback finds the undo log.", _after("refused", _OTHER)),
    ("SDI23", "no-redo", "A recovery finds the redo log.", in_file(_NO_TABLE)),
    ("SDI25", "stays", "A rollback restores the records.", _after("refused", _OTHER)),
    ("SDI25", "record-lost", "A rollback loses no record.", _after("refused", _NO_TABLESPACE)),
    ("SDI27", "file-only", "The dictionary has what the file has.", in_file(_OTHER)),
    ("SDI27", "no-dictionary", "The dictionary has the table.", lambda s: s.with_outcome(tables=[])),
    ("SDI27", "space", "A tablespace is the same in both places.",
     in_file(lambda f: replace(f, facts={**f.facts, "encryption": "Y"}))),
    ("SDI27", "text", "SHOW CREATE TABLE says what the file has.", _shown(create="CREATE TABLE `t` (\n)")),
    ("SDI29", "lob-page", "BLOB pages have the type SDI_BLOB.",
     in_file(fields(pages=((3, int(PageType.LOB_FIRST)),)))),
    ("SDI29", "zblob", "SDI_ZBLOB is for compressed tablespaces.",
     in_file(_zblob)),
    ("SDI53", "old", "ALTER TABLE updates the record.", _not_altered),
    ("SDI53", "both", "The record before is gone.", _after("altered", _TWICE)),
    ("SDI55", "table", "No dictionary table lists the table of the SDI.", _of("listed", tables=("SDI_7",))),
    ("SDI55", "index", "No dictionary table lists the index of the SDI.",
     lambda s: replace(s, listed=replace(s.listed, roots={(s.file.space_id, s.file.root.page): "CLUST_IND_SDI_7"}))),
    ("SDI56", "no-flag", "Making the SDI sets the flag.", _taken(_without_flag)),
    ("SDI56", "no-record", "The SDI that is made has the table.", _taken(fields(objects=()))),
    ("SDI63", "not-anew", "TRUNCATE makes SDI of the new tablespace.",
     lambda s: replace(s, truncated=replace(s.truncated, after=s.truncated.before))),
    ("SDI63", "no-tablespace", "The new tablespace has a record.", _after("truncated", _NO_TABLESPACE)),
    ("SDI63", "no-table", "The table has its record.", _after("truncated", _NO_TABLE)),
    ("SDI64", "unfinished", "What was not committed is gone.",
     lambda s: s.with_outcome(tables=[table for table in s.outcome.tables if table.name != "t"])),
    ("SDI64", "damaged", "After recovery the file is whole.", in_file(fields(error="page[3].checksum"))),
    ("SDI64", "space-alone", "A tablespace has a file.", lambda s: s.with_outcome(files=s.outcome.files[1:])),
    ("SDI64", "row-lost", "A statement is done in whole or not at all.", _shown(rows=((b"1", None),))),
    ("SDI65", "byte", "The reader and ibd2sdi find the same bytes.",
     in_file(objects(lambda item: item._replace(text=item.text.replace(b"utf8", b"utf9"))))),
    ("SDI65", "refused", "ibd2sdi reads the file.", in_file(_printed(code=1, stored=b"", pretty=b""))),
    ("SDI65", "record-lost", "ibd2sdi prints every record.", in_file(_NO_TABLESPACE)),
    ("SDI65", "layout", "The pretty form is that of ibd2sdi.",
     in_file(_one_space_more)),
    ("SDI66", "comment", "The file has the comment of the dictionary.", in_file(_OTHER)),
    ("SDI66", "page-0", "Page 0 has the flags of the dictionary.",
     in_file(lambda f: replace(f, facts={**f.facts, "flags": "0"}))),
    ("SDI66", "format", "The file has the row format of the dictionary.", in_file(dictionary(row_format=5))),
    ("SDI67", "one-key", "No two records have one key.", in_file(_TWICE, "mysql")),
    ("SDI67", "one-space", "A table and a tablespace may have one id.", in_file(_NO_TABLESPACE, "mysql")),
)  # fmt: skip

FAULTS: Final = [
    Fault(f"{requirement}-{name}", requirement, sentence, change) for requirement, name, sentence, change in _FAULTS
]
WITHIN: Final = {"SDI22": "SDI25", "SDI23": "SDI64"}
"""Requirements that are judged as part of another one."""
