"""Runs a sql Case: opens its sessions on its nodes, records each statement's answer, and restores the servers."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Self

from conformance.cases.sql_case import MAIN, REPLICA, SOURCE, SqlAnswer
from conformance.servers.errors import BogusLog, ServerUnavailable, SqlError, StartFailed
from conformance.servers.roles.pair import ReplicaStopped
from conformance.servers.run.owned import OwnServer
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.cases.sql_case import SqlCase, SqlStatement
    from conformance.servers.base import Server
    from conformance.servers.roles.pair import Pair
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

# The entry point of an official image prints the output of its configuration check with a tab before the first line.
_LOGGED: Final = re.compile(r"^\s*\S+ \d+ \[(Warning|ERROR)\] \[MY-(\d+)\] \[\w+\] (.*)$")


def run_sql(nodes: Mapping[str, Server], case: SqlCase, pair: Pair | None = None) -> tuple[SqlAnswer, ...]:
    """One answer per statement. An error is an answer; a lost server or session is a :class:`ServerError`.

    With a ``pair``, its servers are the nodes source and replica.
    """
    if pair is not None:
        nodes = {SOURCE: pair.source, REPLICA: pair.replica}
    with _Run(nodes, case, pair) as run:
        return tuple(run.answer(statement) for statement in case.statements)


def read_log(lines: Iterable[str]) -> list[tuple[str, int, str]]:
    """(level, number, text) of each warning and error in lines of an error log."""
    matches = map(_LOGGED.match, lines)
    return [(match[1], int(match[2]), match[3]) for match in matches if match]


class _Run:
    def __init__(self, nodes: Mapping[str, Server], case: SqlCase, pair: Pair | None) -> None:
        self._nodes = nodes
        self._pair = pair
        self._case = case
        self._sessions: dict[tuple[str, str], Connection] = {}
        self._captures: dict[str, Capture] = {}
        self._schemas: dict[str, str] = {}
        self._stack = contextlib.ExitStack()
        self._saved: dict[str, str | None] = {}
        self._was_running = False

    def __enter__(self) -> Self:
        if self._case.restarts:
            self._was_running = self._own(SOURCE).alive()
        elif self._case.globals:
            with self._node(SOURCE).connect() as connection:
                self._saved = {name: connection.variable(f"GLOBAL.{name}") for name in self._case.globals}
        return self

    def __exit__(self, *_: object) -> None:
        """Restore every server, whatever fails; raise an error for a server that cannot be restored."""
        for session in self._sessions.values():
            session.close()
        for capture in self._captures.values():
            capture.close()
        try:
            self._stack.close()
            if self._pair is not None:
                self._rejoin(self._pair)
        finally:
            if self._case.restarts:
                self._leave_as_found()
            elif self._saved or self._case.accounts:
                self._put_back()

    def _rejoin(self, pair: Pair) -> None:
        """Wait until the replica has everything, or let it follow the log from its end, without this Case's schema."""
        with pair.source.connect() as source, contextlib.closing(pair.source.capture()) as log:
            end = log.mark(source)
            try:
                pair.wait(end)
                return
            except ReplicaStopped:
                executed = source.variable("global.gtid_executed") if pair.by_gtid else None
        pair.follow(end, None if executed is None else executed.replace("\n", ""))
        with pair.replica.connect() as replica:
            replica.execute("SET SESSION sql_log_bin = 0")
            for schema in self._schemas.values():
                replica.execute(f"DROP SCHEMA IF EXISTS {schema}")

    def _leave_as_found(self) -> None:
        """Remove persisted variables; restart the server if it ran."""
        server = self._own(SOURCE)
        server.kill()
        server.forget_persisted()
        if self._was_running:
            server.start()

    def _put_back(self) -> None:
        with self._node(SOURCE).connect() as connection:
            for name, value in self._saved.items():
                text = value or ""
                connection.execute(f"SET GLOBAL {name} = {text if text.isdigit() else repr(text)}")
                with contextlib.suppress(SqlError):  # a version without persisted variables
                    connection.execute(f"RESET PERSIST IF EXISTS {name}")
            for _, account in self._case.accounts:
                connection.execute(self._adapted(SOURCE, f"DROP USER IF EXISTS {account}@localhost"))

    def _node(self, name: str) -> Server:
        try:
            return self._nodes[name]
        except KeyError:
            raise ServerUnavailable(f"the Case needs a server in the part of {name}") from None

    def _own(self, name: str) -> OwnServer:
        server = self._node(name)
        if not isinstance(server, OwnServer):
            raise ServerUnavailable(f"{server.id} is not the lab's to restart")
        return server

    def _adapted(self, node: str, sql: str) -> str:
        """The statement with the Case's accounts for the host that this server sees as its clients' host."""
        for _, account in self._case.accounts:
            sql = sql.replace(f"{account}@localhost", f"{account}@'{self._node(node).client_host}'")
        return sql

    def answer(self, statement: SqlStatement) -> SqlAnswer:
        if statement.start is not None:
            return self._start(statement)
        if statement.node == REPLICA and self._pair is not None and not statement.at_once:
            try:
                self._pair.wait(self._capture(SOURCE).mark(self._session(SOURCE, MAIN)))
            except ReplicaStopped as stopped:
                return SqlAnswer(error=stopped.number, message=stopped.message)
        connection = self._session(statement.node, statement.session)
        sql = self._adapted(statement.node, statement.sql)
        captured = any(outcome.form for outcome in statement.outcomes)
        if not captured:
            return _execute(connection, sql)
        capture = self._capture(statement.node)
        begin = capture.mark(connection)
        answer = _execute(connection, sql)
        try:
            events = groups_of_thread(capture.since(begin).events, connection.thread_id)
        except BogusLog:
            return replace(answer, bogus_log=True)
        return replace(answer, events=tuple(events))

    def _start(self, statement: SqlStatement) -> SqlAnswer:
        """Start with an option file: the server then reads persisted settings, which ``--no-defaults`` prevents."""
        server = self._own(statement.node)
        for key in [key for key in self._sessions if key[0] == statement.node]:
            self._sessions.pop(key).close()
        known = set(server.error_log().splitlines())
        server.kill()
        defaults = server.defaults_file("\n".join(statement.file_lines) + "\n")
        failed = False
        try:
            server.start({"defaults-file": defaults, **dict(statement.start or ())})
        except StartFailed:
            failed = True
        found = read_log(line for line in server.error_log().splitlines() if line not in known)
        error = next(((number, text) for level, number, text in found if level == "ERROR"), (0, "no error was logged"))
        return SqlAnswer(
            error=error[0] if failed else None,
            message=error[1] if failed else "",
            warnings=tuple((number, text) for level, number, text in found if level == "Warning"),
        )

    def _session(self, node: str, label: str) -> Connection:
        key = (node, label)
        if key not in self._sessions:
            account = dict(self._case.accounts).get(label)
            connection = self._node(node).connect(user=account, inherits=frozenset(self._case.globals))
            self._sessions[key] = connection
            if self._case.schema and account is None:
                connection.execute(f"USE {self._schema(node)}")
        return self._sessions[key]

    def _schema(self, node: str) -> str:
        if node == REPLICA and self._pair is not None:
            node = SOURCE  # the replica has it from there
        if node not in self._schemas:
            server = self._node(node)
            keeper = self._stack.enter_context(server.connect())
            self._schemas[node] = self._stack.enter_context(server.schema(keeper))
        return self._schemas[node]

    def _capture(self, node: str) -> Capture:
        if node not in self._captures:
            self._captures[node] = self._node(node).capture()
        return self._captures[node]


def _execute(connection: Connection, sql: str) -> SqlAnswer:
    try:
        result = connection.execute(sql)
    except SqlError as error:
        return SqlAnswer(error=error.number, message=error.message)
    warnings: Sequence[tuple[str, int, str]] = connection.warnings() if result.warnings else ()
    return SqlAnswer(
        warnings=tuple((number, text) for _, number, text in warnings),
        notes=tuple(number for level, number, _ in warnings if level == "Note"),
        rows=tuple(result.texts()),
    )
