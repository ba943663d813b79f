"""SHOW and DESCRIBE, as far as clients that connect as a replica use them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.requirements.versions import dialect_of, parse_version
from conformance.servers.source.packets import Refused, Rows
from conformance.servers.source.statements import like, unquoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.source.catalogue import TableFacts
    from conformance.servers.source.facts import Facts
    from conformance.servers.source.packets import Value
    from conformance.servers.source.session import SessionState

_NAME: Final = r"(`(?:[^`]|``)+`|[\w$]+)"
_TABLE: Final = rf"{_NAME}(?:\s*\.\s*{_NAME})?"
_LIKE: Final = re.compile(r"\bLIKE\s+('(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE)
_EQUAL: Final = re.compile(r"\bWHERE\s+`?(\w+)`?\s*(?:=|LIKE)\s*('[^']*'|\"[^\"]*\")", re.IGNORECASE)
_STATUS_HEADS: Final = ("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A statement, and what its pattern found in it."""

    facts: Facts
    state: SessionState
    text: str
    found: re.Match[str]


def show(facts: Facts, state: SessionState, text: str) -> Rows:
    """The result of a SHOW, DESCRIBE or EXPLAIN of a table. Raises :class:`Refused`."""
    for pattern, answer in _ANSWERS:
        if found := pattern.match(text):
            return answer(_Asked(facts, state, text, found))
    raise Refused(1064, "42000", f"You have an error in your SQL syntax near '{text[:80]}'")


def _plain(name: str | None) -> str:
    return (name or "").strip("`").replace("``", "`")


def _kept(text: str, columns: tuple[str, ...], rows: list[tuple[Value, ...]]) -> Rows:
    """The rows that LIKE or a simple WHERE leaves; LIKE means the first column."""
    if found := re.search(r"\bIN\s*\(([^)]*)\)", text, re.IGNORECASE):
        wanted = {unquoted(each.strip()).lower() for each in found[1].split(",") if each.strip()[:1] in ("'", '"')}
        rows = [row for row in rows if str(row[0]).lower() in wanted]
    elif len(several := re.findall(r"=\s*('[^']*')", text)) > 1:
        wanted = {unquoted(each).lower() for each in several}
        rows = [row for row in rows if str(row[0]).lower() in wanted]
    elif found := _EQUAL.search(text):
        low = [column.lower() for column in columns]
        place = low.index(found[1].lower()) if found[1].lower() in low else 0
        rows = [row for row in rows if like(unquoted(found[2]), row[place])]
    elif found := _LIKE.search(text):
        rows = [row for row in rows if like(unquoted(found[1]), row[0])]
    return Rows(columns, tuple(rows))


def _variables(asked: _Asked) -> Rows:
    shown = asked.facts.variables.shown({**asked.state.variables, **asked.facts.moving()})
    return _kept(asked.text, ("Variable_name", "Value"), list(shown))


def _status(asked: _Asked) -> Rows:
    rows: list[tuple[Value, ...]] = [("Queries", "1"), ("Ssl_cipher", ""), ("Threads_connected", "1"), ("Uptime", "1")]
    return _kept(asked.text, ("Variable_name", "Value"), rows)


def _log_status(asked: _Asked) -> Rows:
    new = _new_words(asked.facts.version)
    if new and asked.found[1].upper() == "MASTER":
        raise Refused(1064, "42000", "You have an error in your SQL syntax near 'MASTER STATUS'")
    if not new and asked.found[1].upper() != "MASTER":
        raise Refused(1064, "42000", "You have an error in your SQL syntax near 'LOG STATUS'")
    last = asked.facts.logs.files[-1]
    return Rows(_STATUS_HEADS, ((last.name, last.end, "", "", str(asked.facts.logs.executed)),))


def _new_words(version: str) -> bool:
    """Whether a version says BINARY LOG; an unknown one counts as the newest."""
    try:
        return dialect_of(parse_version(version)).terms.show_log.upper() == "SHOW BINARY LOG STATUS"
    except ValueError:
        return True


def _logs(asked: _Asked) -> Rows:
    return Rows(
        ("Log_name", "File_size", "Encrypted"),
        tuple((file.name, len(file.data), "No") for file in asked.facts.logs.files),
    )


def _replicas(asked: _Asked) -> Rows:
    rows = [
        (one.server_id, one.host, one.port, asked.facts.server_id, one.uuid) for one in asked.facts.replicas.values()
    ]
    return Rows(("Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"), tuple(rows))


def _nothing(*columns: str) -> Callable[[_Asked], Rows]:
    return lambda _: Rows(columns)


def _schemas(asked: _Asked) -> Rows:
    names = sorted(
        {"information_schema", "mysql", "performance_schema", "sys", *(t.schema for t in asked.facts.tables())}
    )
    return _kept(asked.text, ("Database",), [(name,) for name in names])


def _tables(asked: _Asked) -> Rows:
    schema = _plain(asked.found[2]) or asked.state.database
    names = [table.name for table in asked.facts.tables() if table.schema == schema]
    columns: tuple[str, ...] = (f"Tables_in_{schema}",)
    rows: list[tuple[Value, ...]] = [(name,) for name in names]
    if asked.found[1]:
        columns, rows = (*columns, "Table_type"), [(name, "BASE TABLE") for name in names]
    return _kept(asked.text, columns, rows)


def _table(asked: _Asked, one: str | None, other: str | None) -> TableFacts:
    schema, name = (_plain(one), _plain(other)) if other else (asked.state.database, _plain(one))
    for table in asked.facts.tables():
        if (table.schema, table.name) == (schema, name):
            return table
    raise Refused(1146, "42S02", f"Table '{schema}.{name}' doesn't exist")


def _columns(asked: _Asked) -> Rows:
    full, one, other, schema = asked.found.group("full", "one", "other", "schema")
    table = _table(asked, schema or one, one if schema else other)
    heads: tuple[str, ...] = ("Field", "Type", "Null", "Key", "Default", "Extra")
    rows: list[tuple[Value, ...]] = [
        (c.name, c.shown_type, "YES" if c.nullable else "NO", c.key, c.default, c.extra) for c in table.columns
    ]
    if full:
        heads = (*heads[:2], "Collation", *heads[2:], "Privileges", "Comment")
        rows = [
            (*row[:2], column.collation_name, *row[2:], "select", "")
            for row, column in zip(rows, table.columns, strict=True)
        ]
    return _kept(asked.text, heads, rows)


def _create(asked: _Asked) -> Rows:
    table = _table(asked, asked.found[1], asked.found[2])
    return Rows(("Table", "Create Table"), ((table.name, table.sql()),))


def _index(asked: _Asked) -> Rows:
    one, other, schema = asked.found.group("one", "other", "schema")
    table = _table(asked, schema or one, one if schema else other)
    heads = (
        "Table", "Non_unique", "Key_name", "Seq_in_index", "Column_name", "Collation", "Cardinality", "Sub_part",
        "Packed", "Null", "Index_type", "Comment", "Index_comment", "Visible", "Expression",
    )  # fmt: skip
    rows = [
        (table.name, 0, "PRIMARY", number, name, "A", 0, None, None, "", "BTREE", "", "", "YES", None)
        for number, name in enumerate(table.key, 1)
    ]
    return Rows(heads, tuple(rows))


def _grants(asked: _Asked) -> Rows:
    grant = "GRANT SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO"
    return Rows((f"Grants for {asked.state.user}@localhost",), ((f"{grant} `{asked.state.user}`@`localhost`",),))


def _engines(_: _Asked) -> Rows:
    row = ("InnoDB", "DEFAULT", "Supports transactions, row-level locking, and foreign keys", "YES", "YES", "YES")
    return Rows(("Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"), (row,))


def _of(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_FROM: Final = rf"(?:FROM|IN)\s+(?:{_NAME})"
_OF_TABLE: Final = (
    rf"(?P<one>{_NAME[1:-1]})(?:\s*\.\s*(?P<other>{_NAME[1:-1]}))?(?:\s+(?:FROM|IN)\s+(?P<schema>{_NAME[1:-1]}))?"
)
_ANSWERS: Final[tuple[tuple[re.Pattern[str], Callable[[_Asked], Rows]], ...]] = (
    (_of(r"SHOW\s+(?:GLOBAL\s+|SESSION\s+|LOCAL\s+)?VARIABLES\b"), _variables),
    (_of(r"SHOW\s+(?:GLOBAL\s+|SESSION\s+|LOCAL\s+)?STATUS\b"), _status),
    (_of(r"SHOW\s+(MASTER|BINARY\s+LOG)\s+STATUS\b"), _log_status),
    (_of(r"SHOW\s+(?:MASTER|BINARY)\s+LOGS\b"), _logs),
    (_of(r"SHOW\s+(?:SLAVE\s+HOSTS|REPLICAS)\b"), _replicas),
    (_of(r"SHOW\s+(?:SLAVE|REPLICA|ALL\s+SLAVES)\s+STATUS\b"), _nothing("Replica_IO_State")),
    (_of(r"SHOW\s+(?:DATABASES|SCHEMAS)\b"), _schemas),
    (_of(rf"SHOW\s+(FULL\s+)?TABLES(?:\s+{_FROM})?"), _tables),
    (_of(rf"SHOW\s+(?P<full>FULL\s+)?(?:COLUMNS|FIELDS)\s+(?:FROM|IN)\s+{_OF_TABLE}"), _columns),
    (_of(rf"(?P<full>NEVER\s+)?(?:DESC|DESCRIBE|EXPLAIN)\s+(?!SELECT|FORMAT){_OF_TABLE}"), _columns),
    (_of(rf"SHOW\s+CREATE\s+TABLE\s+{_TABLE}"), _create),
    (_of(rf"SHOW\s+(?:INDEX|INDEXES|KEYS)\s+(?:FROM|IN)\s+{_OF_TABLE}"), _index),
    (_of(r"SHOW\s+GRANTS\b"), _grants),
    (_of(r"SHOW\s+(?:STORAGE\s+)?ENGINES\b"), _engines),
    (_of(r"SHOW\s+WARNINGS\b"), _nothing("Level", "Code", "Message")),
    (_of(r"SHOW\s+PLUGINS\b"), _nothing("Name", "Status", "Type", "Library", "License")),
    (
        _of(r"SHOW\s+(?:FULL\s+)?PROCESSLIST\b"),
        _nothing("Id", "User", "Host", "db", "Command", "Time", "State", "Info"),
    ),
    (_of(r"SHOW\s+TABLE\s+STATUS\b"), _nothing("Name", "Engine")),
)
