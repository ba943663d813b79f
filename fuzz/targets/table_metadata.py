"""TABLE_MAP and its optional metadata."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.tables.columns import LONG, VARCHAR, YEAR, ColumnType
from conformance.reference.tables.definitions import table_map
from conformance.reference.tables.metadata import (
    SHIPPED,
    Bits,
    Field,
    MetadataRules,
    PrefixKey,
    charset_columns,
    decode_metadata,
    encode_metadata,
    enum_and_set_columns,
    has_sign,
    key_parts,
)  # fmt: skip
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.pseudo_values import column_text, type_text
from conformance.reference.text.table_metadata import metadata_text, type_name
from fuzz.events import tables
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.naive import table_metadata as naive
from fuzz.naive.pieces import Refused
from fuzz.violation import attempt, require
from generators.definitions import definition
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.tables.metadata import ColumnInfo

INVARIANT: Final = (
    "The naive reader reads the same TABLE_MAP and describes its columns alike, or refuses it too; what is read is"
    " written as one that reads the same, and describes as many columns as it has, whatever its metadata says of them."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.tables.metadata",
    "conformance.reference.tables.table_map",
    "conformance.reference.text.table_metadata",
    "conformance.reference.text.pseudo_values",
)
MAX_LEN: Final = 768
DICTIONARY: Final = (
    *(bytes((number, 1)) for number in range(1, 14)), b"\xfc\xff\xff", b"\x00\x00", b"\xf5\x04", b"\xfe\xfe\x04",
    b"\xf6\x0a\x02", b"\xff\x01",
)  # fmt: skip
_RULES: Final = (
    SHIPPED,
    MetadataRules(year_counted=False),
    MetadataRules(highest=5, skips_unknown=False),
    MetadataRules(worklog_numbering=True),
)


def check(data: bytes) -> None:
    """Check the number of the rules, and a TABLE_MAP body."""
    rules = _RULES[data[0] % len(_RULES)] if data else SHIPPED
    table, _ = attempt(TableMap.decode, data[1:], rules)
    _compare(data[1:], table, rules)
    if table is None:
        return
    written, unwritten = attempt(table.encode)
    if written is None:
        require(unwritten, "what was read is written or refused")
    else:
        again, unread = attempt(TableMap.decode, written, rules)
        require(again == table, "what was written reads the same", table, again, str(unread))
        require(again is not None and again.encode() == written, "writing what was written changes nothing", table)
        fields, _ = attempt(encode_metadata, table.metadata, rules)
        read, _ = attempt(decode_metadata, fields or b"", table.columns, rules)
        require(fields is None or read == table.metadata, "the metadata alone reads the same")
    described, undescribed = attempt(lambda: table.described)
    if described is None:
        require(undescribed, "columns are described or refused")
        return
    require(len(described) == len(table.columns) == len(table.column_names), "every column is described")
    attempt(metadata_text, table)
    for info in described:
        has_sign(info.type, rules)
        attempt(type_name, info)
        attempt(type_text, info)
        attempt(column_text, info, 1)
    count = len(table.columns)
    for place in (*charset_columns(table.columns), *enum_and_set_columns(table.columns)):
        require(0 <= place < count, "columns are counted inside the table", place)
    for field in table.metadata:
        attempt(key_parts, field)


def _compare(body: bytes, table: TableMap | None, rules: MetadataRules) -> None:
    """Read the TABLE_MAP a second time, and compare."""
    last = None if rules.skips_unknown else rules.highest
    try:
        other = naive.read(body, naive.Rules(rules.year_counted, rules.worklog_numbering, last))
    except Refused as reason:
        require(table is None, "the naive reader reads what the reference reads", str(reason))
        return
    require(table is not None, "the reference reads what the naive reader reads", other)
    if table is None:
        return
    head = (table.table_id, table.flags, table.schema, table.table)
    require(head == other[:4], "both readers read the same head", head)
    numbers = [field.field for field in table.metadata]
    require(numbers == [number for number, _ in other.fields], "both readers read the same fields", numbers)
    for info, column in zip(table.described, other.columns, strict=True):
        require(_plain(info) == column, "both readers describe a column alike", info, column)
    unsigned = tuple(info.unsigned for info in table.described)
    require(table.unsigned == unsigned, "rows are read with the signs that are printed", table.unsigned)


def _plain(info: ColumnInfo) -> naive.Column:
    """The column as the naive reader gives it."""
    key = None if info.key_position is None else (info.key_position, info.key_prefix)
    kind, metadata = info.type.type, info.type.metadata.to_bytes(info.type.metadata_size, "little")
    return naive.Column(
        kind, metadata, info.nullable, info.name, info.unsigned, info.collation, info.members, info.geometry,
        info.dimension, info.visible, key,
    )  # fmt: skip


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Edit a metadata field and correct its length; or edit any bytes."""
    draw = SeedDraw(seed)
    table, _ = attempt(TableMap.decode, data[1:])
    if table is None or not table.metadata or draw.below(4) == 0:
        return edited(draw, data, max_size)
    head = len(data) - len(encode_metadata(table.metadata, table.rules))
    fields = _fields(data[head:])
    if not fields:
        return edited(draw, data, max_size)
    place = draw.below(len(fields))
    number, value = fields[place]
    match draw.below(6):
        case 0:
            fields.insert(draw.below(len(fields) + 1), (1 + draw.below(13), value))
        case 1:
            del fields[place]
        case 2:
            fields[place] = (1 + draw.below(14), value)
        case _:
            fields[place] = (number, edited(draw, value, 200))
    return (data[:head] + b"".join(bytes((code, len(value))) + value for code, value in fields))[:max_size]


def _fields(data: bytes) -> list[tuple[int, bytes]]:
    """The fields of the metadata; covers short metadata only."""
    fields = []
    while len(data) > 1 and data[1] <= 250:
        fields.append((data[0], data[2 : 2 + data[1]]))
        data = data[2 + data[1] :]
    return fields


# YEAR, INT and a VARCHAR whose first two characters are in the key, to be written by all rules.
_SIGNS_AND_KEY: Final = TableMap(
    table_id=7,
    schema="d",
    table="t",
    columns=(ColumnType(YEAR), ColumnType(LONG), ColumnType(VARCHAR, 40)),
    nullable=(True, False, False),
    metadata=(Bits(Field.SIGNEDNESS, (True, False)), PrefixKey(((2, 2), (1, 0)))),
)


def seeds() -> Iterator[tuple[str, bytes]]:
    """The tables of the other targets, and generated definitions with every kind of metadata."""
    for number, table in tables().items():
        yield f"table-{number}", b"\0" + table.encode()
        yield f"table-{number}-other-rules", b"\1" + table.encode()
    for number in range(20):
        made = definition(Stream("fuzz", "definition", number), count=1 + number % 7)
        body = table_map(made, "FULL" if number % 3 else "MINIMAL", table_id=7).encode()
        if len(body) <= 500:
            yield f"definition-{number}", bytes((number % 2,)) + body
    for number, rules in enumerate(_RULES):
        yield f"signs-and-key-{number}", bytes((number,)) + replace(_SIGNS_AND_KEY, rules=rules).encode()
