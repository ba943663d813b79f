"""The questions about what a server has: one list, put to the server itself, each once.

A need is a word for its kind and a name: ``variable binlog_row_metadata``, ``statement VECTOR``, ``srs 4326``,
``status Innodb_redo_log_current_lsn``, ``program mysqlbinlog``, ``tagged-gtids``, ``right TRIGGER``, ``creator``,
``reads mysql.user``, ``setting binlog_checksum=CRC32``. The answer says what is missing; for a right it has the GRANT.
No version is compared here: a server that was built without something, or was told to leave it out, is like one from
before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.probes import NOT_UNDERSTOOD, TAGGED_SET
from conformance.servers.errors import ProgramUnusable, ServerUnavailable, SqlError
from conformance.servers.program_identity import own_program
from conformance.servers.settings.rights import grant_of, missing_grants
from conformance.servers.settings.rights_of_statements import CREATOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection

_SESSION_ONLY: Final = 1238
# Statements that are only parsed, by what they are an example of.
STATEMENTS: Final = {
    "VECTOR": "CREATE TABLE binlog_lab_probe (v VECTOR(2))",
    "INVISIBLE": "CREATE TABLE binlog_lab_probe (i INT, x INT INVISIBLE)",
    "DROP CHECK": "ALTER TABLE binlog_lab_probe DROP CHECK c",
    "ARRAY": "ALTER TABLE binlog_lab_probe ADD KEY ((CAST(j->'$.c' AS UNSIGNED ARRAY)))",
    "CHANGE REPLICATION SOURCE": "CHANGE REPLICATION SOURCE TO SOURCE_CONNECT_RETRY = 1",
    "REPLICA": "SHOW REPLICA STATUS",
}


def understood(connection: Connection, statement: str) -> int:
    """The error of a statement that is prepared and never executed; 0: none."""
    quoted = statement.replace("'", "''")
    try:
        connection.execute(f"PREPARE binlog_lab_probe FROM '{quoted}'")
    except SqlError as error:
        return error.number
    connection.execute("DEALLOCATE PREPARE binlog_lab_probe")
    return 0


def variable(connection: Connection, name: str) -> str | None:
    """The global value of a system variable, the session's where it has no other; ``None``: there is no such one."""
    try:
        return connection.variable(f"global.{name}")
    except SqlError as error:
        if error.number == _SESSION_ONLY:
            return connection.variable(f"session.{name}")
        raise


def answer(connection: Connection, statement: str) -> str | None:
    """The first value of a query; ``None``: it is NULL, there is no row, or the server refuses the query."""
    try:
        rows = connection.execute(statement).texts()
    except SqlError:
        return None
    return rows[0][0] if rows else None


class Questions:
    """The answers of one server, which is asked when somebody wants to know."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, str] = {}

    def lacking(self, need: str) -> str:
        """The words for what the server has not got of a need; empty: it has it. Raises ``KeyError`` for another kind
        of need, :class:`ServerError` for a server that cannot be asked, :class:`ProgramUnusable` for a program that is
        not the server's own."""
        if need not in self._known:
            kind, _, name = need.partition(" ")
            if kind == _PROGRAM:
                self._known[need] = self._program(name)
            else:
                with self._server.connect() as connection:
                    self._known[need] = _QUESTIONS[kind](connection, name)
        return self._known[need]

    def has(self, need: str) -> bool:
        """Whether the server has it."""
        return not self.lacking(need)

    def _program(self, name: str) -> str:
        try:
            own_program(self._server, name)
        except ProgramUnusable:
            raise
        except ServerUnavailable as error:
            return f"the server's own {name}: {error}"
        return ""


# --- the questions: words for what is missing, or none ----------------------------------------------------------------


def _variable(connection: Connection, name: str) -> str:
    return "" if variable(connection, name) is not None else f"the system variable {name}"


def _statement(connection: Connection, name: str) -> str:
    return f"{name} in a statement" if understood(connection, STATEMENTS[name]) == NOT_UNDERSTOOD else ""


def _status(connection: Connection, name: str) -> str:
    found = answer(connection, f"SHOW GLOBAL STATUS LIKE '{name}'")
    return "" if found is not None else f"the status variable {name}"


def _spatial(connection: Connection, name: str) -> str:
    query = f"SELECT SRS_ID FROM information_schema.ST_SPATIAL_REFERENCE_SYSTEMS WHERE SRS_ID = {int(name)}"
    return "" if answer(connection, query) is not None else f"the spatial reference system {name}"


def _tags(connection: Connection, _: str) -> str:
    found = answer(connection, f"SELECT GTID_SUBSET('{TAGGED_SET}', '{TAGGED_SET}')")
    return "" if found is not None else "GTIDs with tags"


def _right(connection: Connection, name: str) -> str:
    return "".join(f"the right {name}: {grant}" for grant in missing_grants(connection, [name]))


def _creator(connection: Connection, _: str) -> str:
    if connection.variable("global.log_bin_trust_function_creators") == "1":
        return ""
    grants = missing_grants(connection, ["SUPER"])
    return "".join(f"log_bin_trust_function_creators, or the right SUPER: {grant}" for grant in grants)


def _setting(connection: Connection, name: str) -> str:
    name, _, wanted = name.partition("=")
    value = variable(connection, name)
    return "" if value == wanted else f"the setting {name}={wanted}, which is {value}"


def _reads(connection: Connection, name: str) -> str:
    try:
        connection.execute(f"SELECT 1 FROM {name} LIMIT 1")
    except SqlError as error:
        if error.number == _NOT_ALLOWED:
            return f"the right SELECT: {grant_of('SELECT', name.partition('.')[0] + '.*', connection)}"
    return ""


_NOT_ALLOWED: Final = 1142
_PROGRAM: Final = "program"
_QUESTIONS: Final[dict[str, Callable[[Connection, str], str]]] = {
    "variable": _variable,
    "statement": _statement,
    "status": _status,
    "srs": _spatial,
    "tagged-gtids": _tags,
    "right": _right,
    CREATOR: _creator,
    "setting": _setting,
    "reads": _reads,
}
KINDS: Final = frozenset((*_QUESTIONS, _PROGRAM))
"""The kinds of need that there are questions for."""
