"""Faults of the parts of WL#4618's requirements: TABLE_MAP events and texts of them that say something else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.row_images import RowImage
from conformance.checks.row_values.judge import Cell
from conformance.checks.row_values.run import Observed, judge
from conformance.checks.table_metadata.definitions import judge_text
from conformance.checks.table_metadata.run import Definition
from conformance.checks.table_metadata.table_map_judge import judge_table_map
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.metadata import DefaultCharset, Field, Names, Numbers, PrefixKey
from tests.checks.table_metadata.test_definition_faults import perfect, printed
from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.metadata import MetadataField
    from conformance.reference.tables.table_map import TableMap

_ALIKE: Final = Table(
    schema="s",
    name="t",
    columns=(
        Column(name="id", type="TINYINT", nullable=False),
        Column(name="a", type="VARCHAR", length=10, charset="latin1", nullable=False),
        Column(name="b", type="VARCHAR", length=10, charset="latin1", nullable=False),
        Column(name="c", type="CHAR", length=5, charset="latin1"),
        Column(name="d", type="VARBINARY", length=8),
        Column(name="p", type="POINT"),
    ),
    primary_key=((1, 4), (0, 0)),
)
_PLAIN: Final = replace(_ALIKE, primary_key=((0, 0), (1, 0)))
_WIDE: Final = Table(
    schema="s",
    name="t",
    columns=tuple(Column(name=f"c{number}", type="INT", nullable=number != 260) for number in range(270)),
    primary_key=((260, 0),),
)
_WITH_JSON: Final = replace(_ALIKE, columns=(*_ALIKE.columns, Column(name="j", type="JSON")), primary_key=())
_WIDE_TEXT: Final = Table(
    schema="s",
    name="t",
    columns=tuple(
        Column(name=f"c{number}", type="CHAR", length=1, charset="latin1" if number != 260 else "utf8mb4")
        for number in range(270)
    ),
)


def _map(name: str, requirement: str, sentence: str, table: Table, change: Callable[[TableMap], TableMap]) -> Fault:
    def judged(wrong: bool) -> object:
        made = table_map(table, "FULL")
        return judge_table_map(table, "FULL", encode_event(change(made) if wrong else made))

    return Fault(name, requirement, sentence, judged)


def _with(*more: MetadataField) -> Callable[[TableMap], TableMap]:
    return lambda table: replace(table, metadata=(*table.metadata, *more))


def _item(number: Field, new: Callable[[MetadataField], MetadataField]) -> Callable[[TableMap], TableMap]:
    def change(table: TableMap) -> TableMap:
        assert any(item.field == number for item in table.metadata)
        return replace(table, metadata=tuple(new(item) if item.field == number else item for item in table.metadata))

    return change


def _whole_prefix(item: MetadataField) -> MetadataField:
    assert isinstance(item, PrefixKey)
    return replace(item, parts=tuple((index, prefix or 4) for index, prefix in item.parts))


def _ended_names(item: MetadataField) -> MetadataField:
    assert isinstance(item, Names)
    return replace(item, names=tuple(f"{name}\0" for name in item.names))


def _as_list(item: MetadataField) -> MetadataField:
    assert isinstance(item, DefaultCharset)
    return Numbers(Field.COLUMN_CHARSET, (8, 8, 8, 63))


def _json_counted(item: MetadataField) -> MetadataField:
    assert isinstance(item, DefaultCharset)
    return replace(item, exceptions=(*item.exceptions, (4, 46)))


def _json_in_list(item: MetadataField) -> MetadataField:
    assert isinstance(item, DefaultCharset)
    return Numbers(Field.COLUMN_CHARSET, (8, 8, 8, 63, 46))


def _cut_exception(item: MetadataField) -> MetadataField:
    assert isinstance(item, DefaultCharset)
    assert [index for index, _ in item.exceptions] == [260]
    return replace(item, exceptions=tuple((index & 0xFF, number) for index, number in item.exceptions))


def _cut(item: MetadataField) -> MetadataField:
    assert isinstance(item, Numbers)
    return replace(item, numbers=tuple(number & 0xFF for number in item.numbers))


MAPS: Final = [
    _map("both-forms-of-charsets", "TMG5", "Fields 2 and 3 do not stand together.", _ALIKE,
         _with(Numbers(Field.COLUMN_CHARSET, (8, 8, 8, 63)))),
    _map("longer-form-of-charsets", "TMG5", "The shorter of the two forms is taken.", _ALIKE,
         _item(Field.DEFAULT_CHARSET, _as_list)),
    _map("both-forms-of-the-key", "TMG6", "The two fields of the key do not stand together.", _ALIKE,
         _with(Numbers(Field.SIMPLE_PRIMARY_KEY, (1, 0)))),
    _map("index-of-one-byte", "TMG7", "The index of a column beyond 250 has more bytes.", _WIDE,
         _item(Field.SIMPLE_PRIMARY_KEY, _cut)),
    _map("json-as-an-exception", "TMG10", "JSON is not among the columns with a character set.", _WITH_JSON,
         _item(Field.DEFAULT_CHARSET, _json_counted)),
    _map("json-in-the-list", "TMG10", "JSON is not among the columns with a character set.", _WITH_JSON,
         _item(Field.DEFAULT_CHARSET, _json_in_list)),
    _map("exception-of-one-byte", "TMG11", "The index of an exception beyond 250 has more bytes.", _WIDE_TEXT,
         _item(Field.DEFAULT_CHARSET, _cut_exception)),
    _map("name-with-an-end", "TMG8", "A name has no byte 0 at its end.", _PLAIN,
         _item(Field.COLUMN_NAME, _ended_names)),
    _map("length-for-the-whole", "TMG9", "Prefix 0 means none.", _ALIKE,
         _item(Field.PRIMARY_KEY_WITH_PREFIX, _whole_prefix)),
    _map("tinyint-as-smallint", "TMH1", "TINY stands for TINYINT.", _PLAIN,
         lambda table: replace(table, columns=(ColumnType(2), *table.columns[1:]))),
    _map("geometry-of-another-kind", "TMH2", "The real type of a geometry column is logged.", _PLAIN,
         _item(Field.GEOMETRY_TYPE, lambda item: Numbers(Field.GEOMETRY_TYPE, (2,)))),
]  # fmt: skip


def _printed(name: str, requirement: str, sentence: str, old: bytes, new: bytes) -> Fault:
    """The client's text of both events of the table, with the last of the places changed."""

    def change(text: bytes) -> bytes:
        assert old in text, text
        return text.replace(old, new)

    def judged(wrong: bool) -> object:
        items = [Definition(table=_ALIKE, values={})]
        log = perfect(items)
        text = printed(log)
        return judge_text(items, log, change(text) if wrong else text)

    return Fault(name, requirement, sentence, judged)


PRINTS: Final = [
    _printed("name-that-is-not-there", "TMP2", "Without names in the log none are printed.", b"# Columns(TINYINT",
             b"# Columns(`id` TINYINT"),
    _printed("charset-left-out", "TMP3", "Every character column is followed by its character set.",
             b"CHAR(5) CHARSET latin1 COLLATE latin1_swedish_ci", b"CHAR(5)"),
    _printed("binary-as-character", "TMP4", "Columns of the binary character set print as binary types.",
             b"VARBINARY(8)", b"VARCHAR(8) CHARSET binary COLLATE binary"),
]  # fmt: skip

# --- a log alone -----------------------------------------------------------------------------------------------------

_MINED: Final = Table(
    schema="s",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="size", type="ENUM", members=("small", "large"), charset="utf8mb4"),
        Column(name="n", type="TINYINT", unsigned=True),
    ),
    primary_key=((0, 0),),
)
_FIRST: Final = (Cell(b"1", None), Cell(b"large", b"large"), Cell(b"200", None))
_SECOND: Final = (Cell(b"1", None), Cell(b"small", b"small"), Cell(b"200", None))


def _log(change: Callable[[TableMap], TableMap]) -> bytes:
    """An INSERT, an UPDATE and a DELETE of one row, whole images."""
    writer = FileWriter(timestamp=1_500_000_000)
    table = table_map(_MINED, "FULL", table_id=7)
    told = change(table)
    old, new = (1, 2, 200), (1, 1, 200)
    parts = [writer.start()]
    for kind, before, after in (
        (EventType.WRITE_ROWS, None, old),
        (EventType.UPDATE_ROWS, old, new),
        (EventType.DELETE_ROWS, new, None),
    ):
        columns = [None if image is None else range(3) for image in (before, after)]
        rows = rows_body(table, kind, [Row(before, after)], before=columns[0], after=columns[1])
        parts += [writer.add(told), writer.add(rows)]
    return b"".join(parts)


def _mined(change: Callable[[TableMap], TableMap]) -> Callable[[bool], object]:
    def judged(wrong: bool) -> object:
        log = _log(change if wrong else lambda table: table)
        observed = Observed(
            table=_MINED, row_image=RowImage.FULL, statements=(), inserted=[_FIRST], changed=[_SECOND], file=log
        )
        return judge(observed).values

    return judged


def _without(number: Field) -> Callable[[TableMap], TableMap]:
    return lambda table: replace(table, metadata=tuple(item for item in table.metadata if item.field != number))


MINED: Final = [
    Fault(
        f"log-without-{number.name.lower().replace('_', '-')}",
        "TMR3",
        "Who mines the log finds all metadata in it.",
        _mined(_without(number)),
    )
    for number in (Field.COLUMN_NAME, Field.ENUM_STR_VALUE, Field.SIGNEDNESS)
]

FAULTS: Final = [*MAPS, *PRINTS, *MINED]
