"""Smaller binary logs: fewer events, rows, columns, diffs and members, and shorter values and names.

A log is taken apart into typed events and written again, so that lengths, positions and checksums are right in every
smaller one. What a smaller log must still show is the caller's question.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.shrinking.cuts import cuts, smallest, without
from conformance.cases.shrinking.update_cases import smaller_values
from conformance.reference.binlog.control_events import Rotate, Stop
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, with_transaction_length
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC, Checksum, footer_size
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.rows import Row, RowsBody, bitmap_of, full_bitmap, included
from conformance.reference.cursor import encode_packed
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import RawDiff, split_diffs
from conformance.reference.tables.columns import ENUM, GEOMETRY, JSON, SET, VECTOR, PartialJson
from conformance.reference.tables.metadata import (
    Bits,
    DefaultCharset,
    Field,
    Members,
    Names,
    Numbers,
    PrefixKey,
    charset_columns,
    enum_and_set_columns,
    has_sign,
)
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.binlog.event import Body, Event
    from conformance.reference.binlog.files import RulesFor
    from conformance.reference.tables.metadata import MetadataField

ENOUGH: Final = 600  # bytes of a log that a person reads whole
_LENGTH: Final = slice(len(MAGIC) + 9, len(MAGIC) + 13)  # of the first event
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One event with typed body. ``inner``: the events of a compressed transaction."""

    timestamp: int
    server_id: int
    flags: int
    body: Body
    inner: Parts | None = None


Parts = tuple[Part, ...]


def split_log(log: bytes, sparse: int = 0, rules_for: RulesFor | None = None) -> Parts:
    """The events of a log. ``sparse``: see :class:`DecoderCase`. Raises :class:`CodecError` for a damaged log."""
    reader = FileReader(rules_for=rules_for)
    parts: list[Part] = []
    first = len(MAGIC) + int.from_bytes(log[_LENGTH], "little") if sparse else len(log)
    for number, piece in enumerate((log[:first], log[first:])):
        if number and sparse:
            reader.skip_to(reader.position + sparse)
        reader.feed(piece)
        for event in reader.events():
            inner = None
            if isinstance(event.body, TransactionPayload):
                inner = tuple(_part(each) for each in reader.decoder.inner_events(event))
            parts.append(_part(event, inner))
    reader.finish()
    return tuple(parts)


def _part(event: Event, inner: Parts | None = None) -> Part:
    header = event.header
    return Part(header.timestamp, header.server_id, header.flags, event.typed().body, inner)


def join_log(parts: Parts, sparse: int = 0) -> bytes:
    """The log of these events. Raises :class:`CodecError` where a value does not fit."""
    algorithm: int = Checksum.NONE
    out = bytearray(MAGIC)
    for place, part in enumerate(parts):
        body = part.body
        if isinstance(body, FormatDescription):
            algorithm = body.algorithm
        if isinstance(body, (Gtid, GtidTagged)) and body.transaction_length is not None:
            others = sum(len(_event(other, algorithm)) for other in _group(parts[place + 1 :]))
            part = replace(part, body=with_transaction_length(body, others, footer_size(algorithm)))
        out += _event(part, algorithm, len(out) + (sparse if place else 0))
    return bytes(out)


def _group(parts: Parts) -> Iterator[Part]:
    for part in parts:
        if isinstance(part.body, (Gtid, GtidTagged, Rotate, Stop, FormatDescription)):
            return
        yield part


def _event(part: Part, algorithm: int, start: int | None = None) -> bytes:
    body = part.body
    if part.inner is not None and isinstance(body, TransactionPayload):
        inside = b"".join(_event(each, Checksum.NONE) for each in part.inner)
        if body.compression == UNCOMPRESSED:
            body = replace(body, payload=inside, uncompressed_size=len(inside))
        else:
            body = TransactionPayload.compress(inside)
    return encode_event(
        body,
        timestamp=part.timestamp,
        server_id=part.server_id,
        log_pos=0 if start is None else None,
        start=start or 0,
        flags=part.flags,
        algorithm=algorithm,
    )


def shrink_log(
    log: bytes,
    fails: Callable[[bytes, int], bool],
    *,
    seconds: float,
    sparse: int = 0,
    rules_for: RulesFor | None = None,
) -> tuple[bytes, int]:
    """The smallest log found in the time, and its ``sparse``.

    ``fails(log, sparse)`` decides whether a smaller log still shows the same. ``rules_for``: the rules of TABLE_MAPs.
    The order of the attempts is fixed. A log below :data:`ENOUGH` keeps the names of its columns, which people need.
    """
    deadline = time.monotonic() + seconds
    if sparse and fails(log, 0):
        sparse = 0
    try:
        parts = split_log(log, sparse, rules_for)
        best = join_log(parts, sparse)
    except CodecError:
        parts, best = (), b""
    if not parts or (best != log and not fails(best, sparse)):
        return _fewer_frames(log, sparse, fails, deadline - time.monotonic()), sparse

    def wanted(candidate: Parts) -> bool:
        nonlocal best
        try:
            small = join_log(candidate, sparse)
        except CodecError:
            return False
        if len(small) >= len(best) or not fails(small, sparse):
            return False
        best = small
        return True

    while True:
        before = len(best)
        for smaller in _PASSES:
            parts = smallest(parts, smaller, wanted, deadline - time.monotonic())
        if len(best) > ENOUGH:
            parts = smallest(parts, _without_names, wanted, deadline - time.monotonic())
        if len(best) == before or time.monotonic() > deadline:
            return best, sparse


def _fewer_frames(log: bytes, sparse: int, fails: Callable[[bytes, int], bool], seconds: float) -> bytes:
    """A damaged log without some of its events. The others keep their bytes, and so the damage."""
    frames, place = [], len(MAGIC)
    while place + HEADER_SIZE <= len(log):
        length = max(HEADER_SIZE, int.from_bytes(log[place + 9 : place + 13], "little"))
        frames.append(log[place : place + length])
        place += length
    head = log[: len(MAGIC)] + b"".join(frames[:1])

    def smaller(rest: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
        return (without(rest, gone) for gone in cuts(len(rest)))

    def still(rest: tuple[bytes, ...]) -> bool:
        return fails(head + b"".join(rest), sparse)

    rest: tuple[bytes, ...] = (*frames[1:], log[place:])
    rest = smallest(rest, smaller, still, seconds)
    return head + b"".join(rest)


# --- events ----------------------------------------------------------------------------------------------------------


def _fewer_events(parts: Parts) -> Iterator[Parts]:
    head, rest = parts[:1], parts[1:]
    for gone in cuts(len(rest)):
        yield head + without(rest, gone)
    for place, part in enumerate(parts):
        if part.inner is not None:
            yield (*parts[:place], *part.inner, *parts[place + 1 :])
            for gone in cuts(len(part.inner)):
                yield _changed(parts, place, replace(part, inner=without(part.inner, gone)))


def _no_checksums(parts: Parts) -> Iterator[Parts]:
    body = parts[0].body if parts else None
    if isinstance(body, FormatDescription) and body.algorithm == Checksum.CRC32:
        yield _changed(parts, 0, replace(parts[0], body=replace(body, algorithm=Checksum.NONE)))


def _changed(parts: Parts, place: int, part: Part) -> Parts:
    return (*parts[:place], part, *parts[place + 1 :])


def _edited(parts: Parts, change: Callable[[Body], Body]) -> Parts:
    """The events with changed bodies, also inside compressed transactions."""
    return tuple(
        replace(part, body=change(part.body), inner=None if part.inner is None else _edited(part.inner, change))
        for part in parts
    )


def _bodies(parts: Parts) -> Iterator[Body]:
    for part in parts:
        yield part.body
        yield from _bodies(part.inner or ())


# --- tables ----------------------------------------------------------------------------------------------------------


def _tables(parts: Parts) -> list[TableMap]:
    """The different tables of a log."""
    found: list[TableMap] = []
    for body in _bodies(parts):
        if isinstance(body, TableMap) and body not in found:
            found.append(body)
    return found


def _with_table(
    parts: Parts, old: TableMap, new: TableMap, rows: Callable[[RowsBody], RowsBody] = lambda body: body
) -> Parts:
    """The events with another table in place of an old one; ``rows`` fits its rows events to it."""

    def change(body: Body) -> Body:
        if isinstance(body, TableMap) and body == old:
            return new
        if isinstance(body, RowsBody) and body.table == old:
            return replace(rows(body), table=new)
        return body

    return _edited(parts, change)


def _fewer_columns(parts: Parts) -> Iterator[Parts]:
    for table in _tables(parts):
        count = len(table.columns)
        for gone in cuts(count):
            if len(gone) < count:
                yield _without_columns(parts, table, gone)


def _without_columns(parts: Parts, table: TableMap, gone: range) -> Parts:
    smaller = replace(
        table,
        columns=without(table.columns, gone),
        nullable=without(table.nullable, gone),
        metadata=tuple(_metadata_without(table, gone)),
    )
    json = [index not in gone for index in table.json_columns]

    def image(values: tuple[Any, ...] | None, bitmap: int | None) -> tuple[Any, ...] | None:
        if values is None or bitmap is None:
            return None
        present = included(bitmap, len(table.columns))
        return tuple(value for index, value in zip(present, values, strict=True) if index not in gone)

    def columns(bitmap: int | None) -> int | None:
        if bitmap is None or bitmap == full_bitmap(len(table.columns)):
            return None if bitmap is None else full_bitmap(len(smaller.columns))
        kept = [index for index in range(len(table.columns)) if index not in gone]
        return bitmap_of(new for new, old in enumerate(kept) if bitmap >> old & 1)

    def bits(partial: int | None) -> int | None:
        if partial is None:
            return None
        return bitmap_of(new for new, old in enumerate(place for place, kept in enumerate(json) if kept)
                         if partial >> old & 1)  # fmt: skip

    def rows(body: RowsBody) -> RowsBody:
        return replace(
            body,
            column_count=len(smaller.columns),
            before_columns=columns(body.before_columns),
            after_columns=columns(body.after_columns),
            rows=tuple(
                Row(
                    image(row.before, body.before_columns),
                    image(row.after, body.after_columns),
                    row.value_options,
                    bits(row.partial_columns),
                )
                for row in body.rows
            ),
        )

    return _with_table(parts, table, smaller, rows)


def _counted(table: TableMap, field: MetadataField) -> list[int] | None:
    """The columns that a metadata field has an item for; ``None``: it names its columns, or is unknown."""
    columns = table.columns
    number = field.field
    if number == Field.SIGNEDNESS:
        return [index for index, column in enumerate(columns) if has_sign(column, table.rules)]
    if number in (Field.COLUMN_NAME, Field.COLUMN_VISIBILITY):
        return list(range(len(columns)))
    if number in (Field.DEFAULT_CHARSET, Field.COLUMN_CHARSET):
        return charset_columns(columns)
    if number in (Field.ENUM_AND_SET_DEFAULT_CHARSET, Field.ENUM_AND_SET_COLUMN_CHARSET):
        return enum_and_set_columns(columns)
    kind = _KINDS.get(number)
    return None if kind is None else [index for index, column in enumerate(columns) if column.real_type == kind]


_KINDS: Final[dict[int, int]] = {
    Field.SET_STR_VALUE: SET,
    Field.ENUM_STR_VALUE: ENUM,
    Field.GEOMETRY_TYPE: GEOMETRY,
    Field.VECTOR_DIMENSIONALITY: VECTOR,
}


def _metadata_without(table: TableMap, gone: range) -> Iterator[MetadataField]:
    """The metadata of a table that lost some columns. A field without items is not logged."""

    def moved(column: int) -> int:
        return column - len([other for other in gone if other < column])

    for field in table.metadata:
        counted = _counted(table, field)
        if counted is None:
            if isinstance(field, PrefixKey):
                parts = tuple((moved(column), prefix) for column, prefix in field.parts if column not in gone)
                if parts:
                    yield replace(field, parts=parts)
            elif isinstance(field, Numbers):
                key = tuple(moved(column) for column in field.numbers if column not in gone)
                if key:
                    yield replace(field, numbers=key)
            else:
                yield field
            continue
        kept = [place for place, column in enumerate(counted) if column not in gone]
        if not kept:
            continue
        match field:
            case Bits(bits=bits):
                yield replace(field, bits=tuple(bits[place] for place in kept if place < len(bits)))
            case Names(names=names):
                yield replace(field, names=tuple(names[place] for place in kept if place < len(names)))
            case Numbers(numbers=numbers):
                yield replace(field, numbers=tuple(numbers[place] for place in kept if place < len(numbers)))
            case Members(members=members):
                yield replace(field, members=tuple(members[place] for place in kept if place < len(members)))
            case DefaultCharset(exceptions=exceptions):
                new = {old: place for place, old in enumerate(kept)}
                yield replace(field, exceptions=tuple((new[old], number) for old, number in exceptions if old in new))
            case _:
                yield field


def _less_metadata(parts: Parts) -> Iterator[Parts]:
    for table in _tables(parts):
        names = tuple(field for field in table.metadata if isinstance(field, Names))
        if len(names) < len(table.metadata):
            yield _with_table(parts, table, replace(table, metadata=names))
        for place, field in enumerate(table.metadata):
            if not isinstance(field, Names):
                rest = table.metadata[:place] + table.metadata[place + 1 :]
                yield _with_table(parts, table, replace(table, metadata=rest))


def _without_names(parts: Parts) -> Iterator[Parts]:
    for table in _tables(parts):
        rest = tuple(field for field in table.metadata if not isinstance(field, Names))
        if len(rest) < len(table.metadata):
            yield _with_table(parts, table, replace(table, metadata=rest))


def _short(number: int) -> str:
    """``a``, ``b``, ..., ``aa``, ``ab``, ..."""
    text = _ALPHABET[number % len(_ALPHABET)]
    return text if number < len(_ALPHABET) else _short(number // len(_ALPHABET) - 1) + text


def _shorter_names(parts: Parts) -> Iterator[Parts]:
    for number, table in enumerate(_tables(parts)):
        for other in _renamed(table, number):
            yield _with_table(parts, table, other)


def _renamed(table: TableMap, number: int) -> Iterator[TableMap]:
    if len(table.schema) > 1:
        yield replace(table, schema="s")
    if len(table.table) > 1:
        yield replace(table, table="t" if not number else f"t{number}")
    for place, field in enumerate(table.metadata):
        others: list[MetadataField] = []
        if isinstance(field, Names):
            short = tuple(_short(index) for index in range(len(field.names)))
            others = [replace(field, names=short)]
            others += [
                replace(field, names=(*field.names[:at], short[at], *field.names[at + 1 :]))
                for at, name in enumerate(field.names)
                if len(name) > len(short[at]) and short[at] not in field.names
            ]
        elif isinstance(field, Members):
            all_short = tuple(tuple(_short(index).encode() for index in range(len(each))) for each in field.members)
            others = [replace(field, members=all_short)]
            for at, each in enumerate(field.members):
                for gone in cuts(len(each)):
                    rest = without(each, gone)
                    others.append(replace(field, members=(*field.members[:at], rest, *field.members[at + 1 :])))
        for other in others:
            yield replace(table, metadata=(*table.metadata[:place], other, *table.metadata[place + 1 :]))


# --- rows and values -------------------------------------------------------------------------------------------------


def _with_rows(parts: Parts, old: RowsBody, rows: tuple[Row, ...]) -> Parts:
    return _edited(parts, lambda body: replace(old, rows=rows) if body is old else body)


def _fewer_rows(parts: Parts) -> Iterator[Parts]:
    for body in _bodies(parts):
        if isinstance(body, RowsBody):
            for gone in cuts(len(body.rows)):
                if len(gone) < len(body.rows):
                    yield _with_rows(parts, body, without(tuple(body.rows), gone))


def _smaller_cells(parts: Parts) -> Iterator[Parts]:
    for body in _bodies(parts):
        if isinstance(body, RowsBody):
            for number, row in enumerate(body.rows):
                for other in _smaller_rows(body, row):
                    yield _with_rows(parts, body, (*body.rows[:number], other, *body.rows[number + 1 :]))


def _smaller_rows(body: RowsBody, row: Row) -> Iterator[Row]:
    table = body.map()
    for after, bitmap in ((True, body.after_columns), (False, body.before_columns)):
        values = row.after if after else row.before
        if values is None or bitmap is None:
            continue
        for place, index in enumerate(included(bitmap, len(table.columns))):
            for value in _smaller_cell(values[place], table.columns[index].type, nullable=table.nullable[index]):
                image = (*values[:place], value, *values[place + 1 :])
                yield row._replace(after=image) if after else row._replace(before=image)


def _smaller_cell(value: Any, kind: int, *, nullable: bool) -> Iterator[Any]:
    if isinstance(value, PartialJson):
        yield from _smaller_diffs(bytes(value.diffs))
        return
    if value is None:
        return
    if nullable:
        yield None
    if not isinstance(value, (bytes, memoryview)):
        return
    if kind == JSON:
        yield from map(encode, _smaller_documents(bytes(value)))
    elif len(value) > 1:
        yield value[: len(value) // 2]
        yield value[:-1]


def _smaller_documents(data: bytes) -> Iterator[Any]:
    try:
        document = decode(data)
    except CodecError:
        return
    yield from smaller_values(document)
    yield from _shorter_keys(document)
    if isinstance(document, (dict, list)):  # a part of it alone
        yield from document.values() if isinstance(document, dict) else document


def _shorter_keys(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for number, key in enumerate(value):
            short = _short(number)
            if len(key) > len(short) and short not in value:
                yield {short if name == key else name: item for name, item in value.items()}


def _smaller_diffs(data: bytes) -> Iterator[PartialJson]:
    try:
        diffs = split_diffs(data)
    except CodecError:
        return
    for gone in cuts(len(diffs)):
        yield _joined(without(diffs, gone))
    for place, diff in enumerate(diffs):
        others: list[RawDiff] = []
        if diff.data is not None:
            others += [diff._replace(data=encode(value)) for value in _smaller_documents(diff.data)]
        if len(diff.path) > len(b"$.a"):
            others.append(diff._replace(path=b"$.a"))
        for other in others:
            yield _joined((*diffs[:place], other, *diffs[place + 1 :]))


def _joined(diffs: Sequence[RawDiff]) -> PartialJson:
    out = bytearray()
    for diff in diffs:
        out += bytes((diff.operation,)) + encode_packed(len(diff.path)) + diff.path
        if diff.data is not None:
            out += encode_packed(len(diff.data)) + diff.data
    return PartialJson(bytes(out))


_PASSES: Final = (
    _fewer_events,
    _fewer_rows,
    _less_metadata,
    _fewer_columns,
    _smaller_cells,
    _shorter_names,
    _no_checksums,
)
