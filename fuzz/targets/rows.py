"""A TABLE_MAP and a rows event that refers to it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.rows import RowsBody, decode_rows_event, encode_head, fixed_size, split_rows
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap
from conformance.reference.tables.temporal import Time
from fuzz.events import every_type, row_bodies, tables
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited, mutate_columns
from fuzz.naive import rows as naive
from fuzz.naive import table_metadata
from fuzz.prefixed import join, mutate_one, split
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.rows import Row
    from conformance.reference.errors import CodecError
    from conformance.reference.tables.columns import Value

INVARIANT: Final = (
    "The naive reader reads the same rows, and stops at the same row; what is read is written to bytes that read the"
    " same; one by one rows are those that come all at once; splitting an event loses nothing."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.tables.columns",
    "conformance.reference.binlog.images",
    "conformance.reference.binlog.rows",
    "conformance.reference.tables.temporal",
)
MAX_LEN: Final = 640
DICTIONARY: Final = (b"\xfc\x00\x01", b"\xff\xff\xff\x7f", b"\x01\x01\x00", b"\xfe\xfe", b"\x02\x00")
CODES: Final = (
    EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS, EventType.PARTIAL_UPDATE_ROWS,
    EventType.WRITE_ROWS_V1, EventType.UPDATE_ROWS_V1, EventType.DELETE_ROWS_V1,
)  # fmt: skip

_NO_SERVER_STORES: Final = ("too-long",)  # but a reader can decode without this knowledge


def check(data: bytes) -> None:
    """Check the number of a type, a TABLE_MAP body with its length in front, and a rows body."""
    code = CODES[data[0] % len(CODES)] if data else CODES[0]
    first, second = split(data[1:], 2)
    table, _ = attempt(TableMap.decode, first)
    lazy, refused = attempt(decode_rows_event, code, second, {} if table is None else {_table_id(second): table})
    if lazy is None or table is None:
        require(table is None or refused, "rows are read or refused")
        return
    rows = []
    error = None
    iterator, unmapped = attempt(lazy.rows)
    while iterator is not None:
        row, error = attempt(next, iterator, None)
        if row is None:
            break
        rows.append(row)
        require(len(rows) <= len(second), "no row takes no bytes", len(rows))
    if unmapped is None:
        _compare(code, first, second, rows, error)
    body, _ = attempt(lazy.typed)
    require((body is None) == (error is not None or unmapped is not None), "rows come one by one or all", str(error))
    if body is None:
        return
    require(repr(tuple(rows)) == repr(body.rows), "rows one by one are the rows that come all at once")
    _writing(body, table)


def _compare(code: int, table: bytes, event: bytes, rows: list[Row], error: CodecError | None) -> None:
    """Read the rows a second time, and compare."""
    found = naive.rows(code, event, table_metadata.read(table).columns)
    require(len(found.rows) == len(rows), "both readers read as many rows", len(found.rows), len(rows))
    require(bool(found.refused) == (error is not None), "both readers refuse the same row", found.refused, str(error))
    for row, other in zip(rows, found.rows, strict=True):
        for image, images in ((row.before, other.before), (row.after, other.after)):
            naively = None if images is None else list(map(_shortest, images))
            same = repr(None if image is None else list(map(_plain, image))) == repr(naively)
            require(same, "both readers read the same values", image, images)


def _shortest(value: object) -> object:
    """The naive reader's value, its DECIMAL without the zeros in front and without the sign of a zero."""
    if not isinstance(value, str):
        return value
    whole, _, fraction = value.lstrip("-").partition(".")
    sign = "-" if value.startswith("-") and (whole + fraction).strip("0") else ""
    return f"{sign}{whole.lstrip('0') or '0'}.{fraction}"


def _plain(value: Value | None) -> object:
    """The value as the naive reader gives it."""
    match value:
        case PartialJson(diffs):
            return naive.Diffs(bytes(diffs))
        case Decimal():
            return f"{value:f}" if "." in f"{value:f}" else f"{value:f}."
        case Time(negative=negative):
            return (int(negative), *value[1:])
        case tuple():
            return tuple(value)
    return value


def _table_id(body: bytes) -> int:
    return int.from_bytes(body[:6], "little")


def _writing(body: RowsBody, table: TableMap) -> None:
    written, unwritten = attempt(body.encode)
    if written is None:
        code = unwritten.code if unwritten is not None else ""
        require(code in _NO_SERVER_STORES, "what was read can be written", str(unwritten), body)
        return
    lazy, unread = attempt(decode_rows_event, body.type, written, {body.table_id: table})
    require(lazy is not None, "what was written can be read", str(unread))
    if lazy is None:
        return
    again, unread = attempt(lazy.typed)
    require(again is not None and repr(again) == repr(body), "what was written reads the same", body, again)
    require(again is not None and again.encode() == written, "writing what was written changes nothing")
    require(fixed_size(body) == len(encode_head(body)), "the size of the head is known", body)
    if body.rows:
        parts, unsplit = attempt(split_rows, body, 64)
        require(parts is not None, "what can be written can be split", str(unsplit))
        require(tuple(row for part in parts or () for row in part.rows) == body.rows or _odd(body), "no row is lost")


def _odd(body: RowsBody) -> bool:
    return repr(body).find("nan") >= 0


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Edit the rows or the TABLE_MAP; keep the length between them correct."""
    draw = SeedDraw(seed)
    if not data or max_size < 8:
        return data[:max_size]
    if draw.below(6) == 0:
        first, second = split(data[1:], 2)
        body = mutate_columns(draw, CODES[data[0] % len(CODES)], second)
        return (data[:1] + join(first, body))[:max_size]
    code = bytes((draw.below(len(CODES)),)) if draw.below(8) == 0 else data[:1]
    parts = (_edited, _edited) if draw.below(3) == 0 else (_kept, _edited)
    return code + mutate_one(draw, data[1:], max_size - 1, parts)


def _edited(data: bytes, max_size: int, seed: int) -> bytes:
    return edited(SeedDraw(seed), data, max_size)


def _kept(data: bytes, max_size: int, _: int) -> bytes:
    return data[:max_size]


def seeds() -> Iterator[tuple[str, bytes]]:
    """Rows events of every type code, and a column of every kind."""
    known = tables()
    for name, body in row_bodies():
        if isinstance(body, RowsBody):
            table = known[body.table_id].encode()
            yield name, bytes((CODES.index(EventType(body.type)),)) + join(table, body.encode())
    yield "table-without-rows", b"\0" + join(every_type().encode(), b"")
