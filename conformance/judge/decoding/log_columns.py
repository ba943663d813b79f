"""The columns of a Case's tables: their types from the log's TABLE_MAPs, names that the log lacks from the Case's SQL.

Those of a data file are defined by the Case.

They say which forms of a value are permitted. Nothing of a subject's answer comes here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.cases.decoder_case import DECODE, SDI
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import LazyRows, RowsBody
from conformance.reference.errors import CodecError
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY
from conformance.reference.tables.create_table import parse_definition
from conformance.reference.tables.definitions import collation_id, table_map
from conformance.reference.text.columns import member_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.reference.tables.definitions import Table
    from conformance.reference.tables.metadata import ColumnInfo
    from conformance.reference.tables.table_map import TableMap

_INTEGERS: Final = {
    types.TINY: "TINYINT", types.SHORT: "SMALLINT", types.INT24: "MEDIUMINT", types.LONG: "INT",
    types.LONGLONG: "BIGINT",
}  # fmt: skip
_NAMES: Final = {
    types.FLOAT: "FLOAT", types.DOUBLE: "DOUBLE", types.NEWDECIMAL: "DECIMAL", types.YEAR: "YEAR", types.DATE: "DATE",
    types.NEWDATE: "DATE", types.TIME: "TIME", types.TIME2: "TIME", types.DATETIME: "DATETIME",
    types.DATETIME2: "DATETIME", types.TIMESTAMP: "TIMESTAMP", types.TIMESTAMP2: "TIMESTAMP", types.BIT: "BIT",
    types.ENUM: "ENUM", types.SET: "SET", types.JSON: "JSON", types.GEOMETRY: "GEOMETRY", types.VECTOR: "VECTOR",
}  # fmt: skip
_STRINGS: Final = {types.STRING: ("CHAR", "BINARY"), types.VARCHAR: ("VARCHAR", "VARBINARY")}
_UTF8: Final = 255  # utf8mb4_0900_ai_ci
INTEGERS: Final = frozenset(_INTEGERS.values())


class LogColumn(NamedTuple):
    """One column. ``type``: SQL type name without sign and length; ``length`` is bits of BIT, bytes of others."""

    name: str
    type: str
    unsigned: bool = False
    length: int = 0
    collation: int | None = None
    members: tuple[str, ...] = ()

    @property
    def what(self) -> str:
        """The class of the column in reports."""
        return f"{self.type}{' UNSIGNED' if self.unsigned else ''} column"


class LogTable(NamedTuple):
    """The columns of a table in their order. ``named``: whether their names are known."""

    columns: tuple[LogColumn, ...]
    named: bool
    places: dict[str, int]  # by name and by @n

    def column(self, name: str) -> LogColumn | None:
        """The column of that name or number."""
        place = self.places.get(name)
        return None if place is None else self.columns[place]


class LogTables:
    """The tables of a log: by the position of the rows event, since a table may change, else by name."""

    def __init__(self) -> None:
        self.by_event: dict[tuple[Any, Any], LogTable] = {}
        self.by_name: dict[tuple[str, str], LogTable] = {}

    def of(self, change: dict[str, Any]) -> LogTable | None:
        """The table of an expected change."""
        known = self.by_event.get((change.get("position"), change.get("inner")))
        return known or self.by_name.get((change["schema"], change["table"]))


class _EntryTables(LogTables):
    """The dictionary information of a data file: entries of any type, each with a number and a document."""

    def of(self, change: dict[str, Any]) -> LogTable | None:
        """The columns of any entry."""
        del change
        return _ENTRY


_ENTRY: Final = LogTable((LogColumn("name", "VARCHAR", collation=_UTF8), LogColumn("object", "JSON")), True,
                         {"name": 0, "object": 1})  # fmt: skip
_ENTRIES: Final = _EntryTables()


def tables_of(case: DecoderCase) -> LogTables:
    """The tables of the Case's log, or of its data file."""
    if case.role == SDI:
        return _ENTRIES
    if case.role != DECODE:
        return _defined(case.definitions)
    return _tables_of(case.log, (*case.prepare, *case.statements))


@lru_cache(maxsize=1024)
def _tables_of(log: bytes, statements: tuple[str, ...]) -> LogTables:
    tables = LogTables()
    definitions = dict(_definitions(statements))
    known: dict[int, LogTable] = {}
    maps: list[TableMap] = []  # alive, so that their identities stay theirs
    try:
        for event in _events(log):
            if isinstance(event.body, Query):
                definitions.update(_definitions((event.body.text.decode("utf-8", "replace"),)))
            if not isinstance(event.body, (LazyRows, RowsBody)):
                continue
            table_map = event.body.map()
            if id(table_map) not in known:
                maps.append(table_map)
                known[id(table_map)] = _table(table_map, definitions.get(table_map.table))
            table = known[id(table_map)]
            tables.by_event[event.position, event.inner] = table
            tables.by_name[table_map.schema, table_map.table] = table
    except CodecError:
        pass  # the Case's damage; changes before it have their tables
    return tables


@lru_cache(maxsize=1024)
def _defined(definitions: tuple[str, ...]) -> LogTables:
    """The tables of a data file."""
    tables = LogTables()
    for statement in definitions:
        definition = parse_definition(statement)
        known = _table(table_map(definition, "FULL"), definition)
        tables.by_name[definition.schema, definition.name] = known
    return tables


def _events(log: bytes) -> Iterator[Any]:
    from conformance.requirements.reading import rules_of

    reader = FileReader(expand=True, verify=False, rules_for=rules_of)
    reader.feed(log)
    yield from reader.events()


def _definitions(statements: Sequence[str]) -> Iterator[tuple[str, Table]]:
    for statement in statements:
        if statement.lstrip()[:6].upper() == "CREATE":
            try:
                table = parse_definition(statement)
            except CodecError:
                continue
            yield table.name, table


def _table(table_map: TableMap, definition: Table | None) -> LogTable:
    if definition is not None and len(definition.columns) != len(table_map.columns):
        definition = None
    infos = table_map.described
    columns = tuple([_column(info, definition, number) for number, info in enumerate(infos)])
    places = {f"@{number}": number - 1 for number in range(1, len(columns) + 1)}
    places |= {column.name: number for number, column in enumerate(columns)}
    return LogTable(columns, definition is not None or all(info.name is not None for info in infos), places)


def _column(info: ColumnInfo, definition: Table | None, number: int) -> LogColumn:
    kind, name = info.type.real_type, info.name or f"@{number + 1}"
    members: tuple[str, ...] = ()
    collation = info.collation
    if info.members is not None:
        singles = range(1, len(info.members) + 1) if kind == types.ENUM else (1 << n for n in range(len(info.members)))
        members = tuple([member_text(info, value) or "" for value in singles])
    if definition is not None:
        column = definition.columns[number]
        name = info.name or column.name
        members = members or column.members
        if collation is None:
            collation = collation_id(definition, column)
    if kind in _INTEGERS:
        return LogColumn(name, _INTEGERS[kind], info.unsigned)
    if kind in _STRINGS:
        label = _STRINGS[kind][collation == BINARY]
    elif kind in _NAMES:
        label = _NAMES[kind]
    else:
        label = "BLOB" if collation == BINARY else "TEXT"
    return LogColumn(name, label, info.unsigned, info.type.length, collation, members)
