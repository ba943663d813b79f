"""Row changes as INSERT, UPDATE and DELETE statements, and the literals in them, which give back the bytes of values.

A row is found by its primary key. So the names of the columns and the key must be known, from the log's metadata or
from CREATE TABLE. Without them a statement could change another row, or none, and nobody would be told. BINLOG
statements need neither.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.rows import DELETE_TYPES, WRITE_TYPES, LazyRows, table_map_of
from conformance.reference.cursor import included
from conformance.reference.errors import CodecError, Unsupported
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.diffs import Operation, RawDiff, split_diffs
from conformance.reference.partial.expression import Call, Column, Function, Literal
from conformance.reference.partial.paths import Cell, parse_path
from conformance.reference.sql.formatting import format_document, format_expression
from conformance.reference.sql.quoting import quote_identifier, quote_string
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, COLLATIONS, text_of
from conformance.reference.tables.columns import PartialJson
from conformance.reference.text.columns import INTEGERS, TEMPORAL, member_text, plain_text, stored_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.binlog.images import Image
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.partial.expression import Expression
    from conformance.reference.tables.metadata import ColumnInfo
    from conformance.reference.tables.table_map import TableMap

PROLOGUE: Final = (
    "SET NAMES utf8mb4;",
    "SET SESSION time_zone = '+00:00', SESSION foreign_key_checks = 0;",
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';",
)
"""Statements in front of those of rows: zero dates and an AUTO_INCREMENT of 0 are values of rows too."""

_UNICODE: Final = frozenset(("utf8mb4", "utf8mb3"))
_NEXT: Final = "\n  "
_UNCHANGED: Final = PartialJson(b"")
_FUNCTIONS: Final = {Operation.REPLACE: Function.JSON_REPLACE, Operation.REMOVE: Function.JSON_REMOVE}


class TableFacts(NamedTuple):
    """The columns of a table. ``key``: places of the primary key. ``generated``: places of columns that the server
    computes. ``unsigned``: places of integers that the log has with a sign, each with all bits of its type.
    """

    names: tuple[str | None, ...]
    infos: tuple[ColumnInfo, ...]
    key: tuple[int, ...]
    generated: frozenset[int] = frozenset()
    unsigned: tuple[tuple[int, int], ...] = ()


def facts_of(table: TableMap) -> TableFacts:
    """All that a TABLE_MAP says itself."""
    infos = table.described
    keyed = [(info.key_position, place) for place, info in enumerate(infos) if info.key_position is not None]
    return TableFacts(tuple(info.name for info in infos), infos, tuple(place for _, place in sorted(keyed)))


def row_statements(event: LazyRows | RowsBody, facts: TableFacts | None = None) -> Iterator[str]:
    """The statements of an event: one INSERT, or one for each row.

    Raises :class:`Unsupported` where a statement could not find its row.
    """
    table = table_map_of(event)
    layout = _Layout(event, table, facts or facts_of(table))
    rows = event.rows() if isinstance(event, LazyRows) else iter(event.rows)
    if event.type not in WRITE_TYPES:
        for row in rows:
            yield layout.change(row.before, row.after)
        return
    tuples = [layout.values(row.after or ()) for row in rows]  # one statement: a table without transactions needs it
    if tuples:
        yield f"{layout.insert}{' ' if len(tuples) == 1 else _NEXT}{f',{_NEXT}'.join(tuples)};"


class _Layout:
    """The facts that all rows of an event share."""

    def __init__(self, event: LazyRows | RowsBody, table: TableMap, facts: TableFacts) -> None:
        self._table = f"{quote_identifier(table.schema)}.{quote_identifier(table.table)}"
        self._facts = facts
        self._names = [quote_identifier(name) for name in facts.names if name is not None]
        if len(self._names) != len(facts.infos):
            expected = "binlog_row_metadata=FULL, its CREATE TABLE in the logs, or --definitions"
            raise self._refused(table, "the logs have no names of its columns", expected)
        self._literals = [literal_of(info) for info in facts.infos]
        self._bits = dict(facts.unsigned)
        self._before = _places(event.before_columns, len(facts.infos))
        self._after = _places(event.after_columns, len(facts.infos))
        self._deletes = event.type in DELETE_TYPES
        if event.type not in WRITE_TYPES:
            if not facts.key:
                raise self._refused(
                    table, "it has no primary key by which a statement finds a row", "BINLOG statements"
                )
            if any(facts.infos[place].type.real_type == types.FLOAT for place in facts.key):
                raise self._refused(table, "a FLOAT is in its key, and equals no literal", "BINLOG statements")
            if not set(facts.key) <= set(self._before):
                raise self._refused(table, "the image lacks columns of the key", "binlog_row_image=FULL or MINIMAL")

    @staticmethod
    def _refused(table: TableMap, why: str, expected: str) -> Unsupported:
        return Unsupported("no-statement", f"{table.schema}.{table.table}: {why}", expected=expected)

    @property
    def insert(self) -> str:
        """The words of an INSERT in front of its rows."""
        names = ", ".join(self._names[place] for place in self._after if place not in self._facts.generated)
        return f"INSERT INTO {self._table} ({names}) VALUES"

    def values(self, after: Image) -> str:
        """One row of an INSERT."""
        pairs = zip(self._after, after, strict=True)
        given = [self._value(place, value) for place, value in pairs if place not in self._facts.generated]
        return f"({', '.join(given)})"

    def change(self, before: Image | None, after: Image | None) -> str:
        """The UPDATE or DELETE of one row."""
        assert before is not None
        known = dict(zip(self._before, before, strict=True))
        where = " AND ".join(f"{self._names[place]} = {self._value(place, known[place])}" for place in self._facts.key)
        if self._deletes:
            return f"DELETE FROM {self._table} WHERE {where};"
        assert after is not None
        changes = [
            f"{self._names[place]} = {self._value(place, value)}"
            for place, value in zip(self._after, after, strict=True)
            if place not in self._facts.generated
            and value != _UNCHANGED
            and not (place in known and _same(known[place], value))
        ]
        if not changes:
            return f"-- no column of {self._table} changes: {where}".replace("\n", " ")
        return f"UPDATE {self._table} SET {', '.join(changes)} WHERE {where};"

    def _value(self, place: int, value: Any) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, PartialJson):
            return diffs_expression(value.diffs, self._facts.names[place] or "")
        bits = self._bits.get(place)
        return self._literals[place](value if bits is None else value & bits)


def _places(bitmap: int | None, count: int) -> Sequence[int]:
    return () if bitmap is None else tuple(included(bitmap, count))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def diffs_expression(diffs: bytes, column: str) -> str:
    """The functions that make the diffs of a document, over its column."""
    made: Expression = Column(column)
    for function, group in groupby(split_diffs(diffs), _function):
        arguments = tuple(
            (diff.path.decode("utf-8", "surrogateescape"), None if diff.data is None else Literal(decode(diff.data)))
            for diff in group
        )
        made = Call(function, made, arguments)
    return format_expression(made)


def _function(diff: RawDiff) -> Function:
    found = _FUNCTIONS.get(diff.operation)
    if found is not None:
        return found
    legs = parse_path(diff.path.decode("utf-8", "surrogateescape")).legs
    return Function.JSON_ARRAY_INSERT if legs and isinstance(legs[-1], Cell) else Function.JSON_INSERT


# --- literals --------------------------------------------------------------------------------------------------------


def literal_of(info: ColumnInfo) -> Callable[[Any], str]:
    """The function that writes a column's values as SQL, with the bytes that they have."""
    kind = info.type.real_type
    if kind in INTEGERS or kind in (types.BIT, types.YEAR):
        return str
    if kind in (types.FLOAT, types.DOUBLE):
        return _real
    plain = plain_text(info)
    if plain is not None:
        return (lambda value: f"'{plain(value)}'") if kind in TEMPORAL else plain
    if info.type.type == types.JSON:
        return _document
    if kind in (types.ENUM, types.SET):
        return lambda value: _member(info, value)
    if info.collation in (None, BINARY) or not info.type.is_character:
        return lambda value: _bytes(stored_bytes(info, value))
    return lambda value: _text(value, info.collation or BINARY)


def _real(value: float) -> str:
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _bytes(value: bytes) -> str:
    return f"0x{value.hex()}" if value else "''"


def _text(value: bytes, collation: int) -> str:
    """Text in its own character set, if UTF-8 is another."""
    charset = COLLATIONS[collation].charset
    text = text_of(value, collation)
    if text is not None and (charset in _UNICODE or (text.isascii() and value == text.encode())):
        try:
            return quote_string(text)
        except CodecError:  # surrogates
            pass
    return f"_{charset} {_bytes(value)}" if value else "''"


def _member(info: ColumnInfo, value: int) -> str:
    """The name, or the number where a name may be taken for another one."""
    text = member_text(info, value)
    return str(value) if not value or text is None or not text.isascii() else quote_string(text)


def _document(value: bytes) -> str:
    document = decode(value)
    try:
        return format_document(document)
    except CodecError:  # it has a value that no literal makes, such as a TIMESTAMP of a column: its text is left
        return f"CAST({quote_string(format_text(document))} AS JSON)"
