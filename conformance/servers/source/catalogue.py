"""The tables that a log tells of, and INFORMATION_SCHEMA filled with them.

Their definitions come from the log's CREATE and ALTER statements, followed as a replay follows them, else from the last
TABLE_MAP of a table. Statements from outside of the log may define tables that it only changes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, overload

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.versions import version_rules
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType
from conformance.reference.replay.engine import Replay
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.tables.metadata import SHIPPED, MetadataRules
from conformance.reference.tables.table_map import TableMap
from conformance.requirements.versions import dialect_of, parse_version
from conformance.servers.source.columns import ColumnFacts, defined_column, logged_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.servers.source.log_files import LogFiles
    from conformance.servers.source.packets import Value
    from conformance.servers.source.statements import Database

_STATEMENT: Final = Header(0, EventType.QUERY, 1, 0, 0, 0)
_HARMLESS: Final = (b"BEGIN", b"COMMIT", b"ROLLBACK", b"XA", b"SAVEPOINT")
_SYSTEM: Final = ("information_schema", "mysql", "performance_schema", "sys")
_WINDOW: Final = 1 << 20
_COLUMNS: Final = (
    "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "ORDINAL_POSITION", "COLUMN_DEFAULT", "IS_NULLABLE",
    "DATA_TYPE", "CHARACTER_MAXIMUM_LENGTH", "CHARACTER_OCTET_LENGTH", "NUMERIC_PRECISION", "NUMERIC_SCALE",
    "DATETIME_PRECISION", "CHARACTER_SET_NAME", "COLLATION_NAME", "COLUMN_TYPE", "COLUMN_KEY", "EXTRA", "PRIVILEGES",
    "COLUMN_COMMENT", "GENERATION_EXPRESSION", "SRS_ID",
)  # fmt: skip
_TABLES: Final = (
    "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "TABLE_TYPE", "ENGINE", "VERSION", "ROW_FORMAT", "TABLE_ROWS",
    "AVG_ROW_LENGTH", "DATA_LENGTH", "MAX_DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE", "AUTO_INCREMENT", "CREATE_TIME",
    "UPDATE_TIME", "CHECK_TIME", "TABLE_COLLATION", "CHECKSUM", "CREATE_OPTIONS", "TABLE_COMMENT",
)  # fmt: skip
_SCHEMATA: Final = (
    "CATALOG_NAME", "SCHEMA_NAME", "DEFAULT_CHARACTER_SET_NAME", "DEFAULT_COLLATION_NAME", "SQL_PATH",
    "DEFAULT_ENCRYPTION",
)  # fmt: skip
_KEY_COLUMNS: Final = (
    "CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME",
    "COLUMN_NAME", "ORDINAL_POSITION", "POSITION_IN_UNIQUE_CONSTRAINT", "REFERENCED_TABLE_SCHEMA",
    "REFERENCED_TABLE_NAME", "REFERENCED_COLUMN_NAME",
)  # fmt: skip
_STATISTICS: Final = (
    "TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "NON_UNIQUE", "INDEX_SCHEMA", "INDEX_NAME", "SEQ_IN_INDEX",
    "COLUMN_NAME", "COLLATION", "CARDINALITY", "SUB_PART", "PACKED", "NULLABLE", "INDEX_TYPE", "COMMENT",
    "INDEX_COMMENT", "IS_VISIBLE", "EXPRESSION",
)  # fmt: skip
_COLLATIONS: Final = (
    "COLLATION_NAME", "CHARACTER_SET_NAME", "ID", "IS_DEFAULT", "IS_COMPILED", "SORTLEN", "PAD_ATTRIBUTE",
)  # fmt: skip
_EMPTY: Final = {
    "ENGINES": ("ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"),
    "PLUGINS": ("PLUGIN_NAME", "PLUGIN_VERSION", "PLUGIN_STATUS", "PLUGIN_TYPE"),
    "PARTITIONS": ("TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME"),
    "PROCESSLIST": ("ID", "USER", "HOST", "DB", "COMMAND", "TIME", "STATE", "INFO"),
    "REFERENTIAL_CONSTRAINTS": ("CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_NAME", "REFERENCED_TABLE_NAME"),
    "TABLE_CONSTRAINTS": ("CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "TABLE_SCHEMA", "TABLE_NAME", "CONSTRAINT_TYPE"),
    "VIEWS": ("TABLE_SCHEMA", "TABLE_NAME", "VIEW_DEFINITION"),
    "TRIGGERS": ("TRIGGER_SCHEMA", "TRIGGER_NAME", "EVENT_OBJECT_TABLE"),
    "ROUTINES": ("ROUTINE_SCHEMA", "ROUTINE_NAME", "ROUTINE_TYPE"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """A table; ``key`` has the columns of its primary key in order."""

    schema: str
    name: str
    columns: tuple[ColumnFacts, ...]
    key: tuple[str, ...] = ()

    def sql(self, *, qualified: bool = False) -> str:
        """SHOW CREATE TABLE; ``qualified``: with the schema's name."""
        lines = [f"  {column.sql()}" for column in self.columns]
        if self.key:
            lines.append(f"  PRIMARY KEY ({','.join(map(quote_identifier, self.key))})")
        name = quote_identifier(self.name)
        name = f"{quote_identifier(self.schema)}.{name}" if qualified else name
        return f"CREATE TABLE {name} (\n" + ",\n".join(lines) + "\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"


def read_tables(logs: LogFiles, prepared: Iterable[str] = ()) -> list[TableFacts]:
    """The tables at the end of the logs. ``prepared``: statements in front of them, USE included."""
    replay = Replay()
    maps: dict[tuple[str, str], TableMap] = {}
    schema = ""
    for text in prepared:
        words = text.split()
        if len(words) == 2 and words[0].upper() == "USE":
            schema = words[1].strip("`;")
        else:
            _follow(replay, Query(text=text.encode(), schema=schema.encode()), maps)
    for body in _definitions(logs):
        if isinstance(body, Query):
            _follow(replay, body, maps)
        else:
            maps[body.schema, body.table] = body
    found: list[TableFacts] = []
    for name in sorted({*replay.tables, *maps}):
        state, logged = replay.tables.get(name), maps.get(name)
        infos = logged.described if logged is not None else ()
        if state is not None and state.columns and (not infos or len(infos) == len(state.columns)):
            columns = tuple(
                defined_column(column, infos[number] if infos else None, state.key)
                for number, column in enumerate(state.columns)
            )
            found.append(_table_facts(name, columns, state.key))
        elif logged is not None:
            columns = tuple(map(logged_column, infos, logged.column_names))
            keyed = sorted((info.key_position, column.name) for info, column in zip(infos, columns, strict=True)
                           if info.key_position is not None)  # fmt: skip
            found.append(_table_facts(name, columns, [key[1] for key in keyed]))
    return found


def _table_facts(name: tuple[str, str], columns: Iterable[ColumnFacts], key: Iterable[str]) -> TableFacts:
    """The table with names that are text: a damaged log may have any bytes in them."""
    return TableFacts(
        schema=_text(name[0]),
        name=_text(name[1]),
        columns=tuple(replace(c, name=_text(c.name), type=_text(c.type), default=_text(c.default)) for c in columns),
        key=tuple(_text(each) for each in key),
    )


@overload
def _text(name: str) -> str: ...
@overload
def _text(name: str | None) -> str | None: ...
def _text(name: str | None) -> str | None:
    return None if name is None else name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _follow(replay: Replay, query: Query, maps: dict[tuple[str, str], TableMap]) -> None:
    if query.text.lstrip().upper().startswith(_HARMLESS):
        return
    before = set(replay.tables)
    with suppress(CodecError):  # a statement that cannot be followed leaves what is known
        replay.other(Event(_STATEMENT, query))
    for name in (before - set(replay.tables)) | (set(replay.tables) - before):
        maps.pop(name, None)


def _rules(version: str) -> MetadataRules:
    """How the server that wrote a log writes metadata; an unknown version counts as the newest."""
    try:
        return version_rules(dialect_of(parse_version(version)).log)
    except ValueError:
        return SHIPPED


def _definitions(logs: LogFiles) -> Iterator[Query | TableMap]:
    """Statements and TABLE_MAPs of all files; damage ends a file."""
    for file in logs.files:
        reader = FileReader(expand=True, verify=False, rules_for=_rules)
        with suppress(CodecError):
            for place in range(0, file.end, _WINDOW):
                reader.feed(bytes(file.data[place : min(place + _WINDOW, file.end)]))
                for event in reader.events():
                    if isinstance(event.body, Query | TableMap):
                        yield event.body


def row_metadata(logs: LogFiles) -> str:
    """binlog_row_metadata, as the first TABLE_MAP shows it."""
    for body in _definitions(logs):
        if isinstance(body, TableMap):
            return "FULL" if any(info.name is not None for info in body.described) else "MINIMAL"
    return "MINIMAL"


def fill(database: Database, tables: list[TableFacts]) -> None:
    """Make the tables of INFORMATION_SCHEMA."""
    names = sorted({*_SYSTEM, *(table.schema for table in tables)})
    database.table("information_schema", "SCHEMATA", _SCHEMATA, [
        ("def", name, "utf8mb4", "utf8mb4_0900_ai_ci", None, "NO") for name in names
    ])  # fmt: skip
    database.table("information_schema", "TABLES", _TABLES, map(_table_row, tables))
    database.table("information_schema", "COLUMNS", _COLUMNS, [
        _column_row(table, number, column) for table in tables for number, column in enumerate(table.columns, 1)
    ])  # fmt: skip
    keys = [(table, number, name) for table in tables for number, name in enumerate(table.key, 1)]
    database.table("information_schema", "KEY_COLUMN_USAGE", _KEY_COLUMNS, [
        ("def", table.schema, "PRIMARY", "def", table.schema, table.name, name, number, None, None, None, None)
        for table, number, name in keys
    ])  # fmt: skip
    database.table("information_schema", "STATISTICS", _STATISTICS, [
        ("def", table.schema, table.name, 0, table.schema, "PRIMARY", number, name, "A", 0, None, None, "", "BTREE",
         "", "", "YES", None) for table, number, name in keys
    ])  # fmt: skip
    database.table("information_schema", "COLLATIONS", _COLLATIONS, [
        (one.name, one.charset, one.id, "", "Yes", 1, "PAD SPACE") for one in COLLATIONS.values()
    ])  # fmt: skip
    for name, columns in _EMPTY.items():
        database.table("information_schema", name, columns)


def _table_row(table: TableFacts) -> tuple[Value, ...]:
    return (
        "def", table.schema, table.name, "BASE TABLE", "InnoDB", 10, "Dynamic", 0, 0, 16384, 0, 0, 0, None,
        "2026-01-01 00:00:00", None, None, "utf8mb4_0900_ai_ci", None, "", "",
    )  # fmt: skip


def _column_row(table: TableFacts, number: int, column: ColumnFacts) -> tuple[Value, ...]:
    precision, scale = column.precision
    return (
        "def", table.schema, table.name, column.name, number, column.default, "YES" if column.nullable else "NO",
        column.data_type, column.characters, column.octets, precision, scale,
        column.fraction, column.charset, column.collation_name, column.shown_type, column.key, column.extra,
        "select", "", "", None,
    )  # fmt: skip
