"""Generated updates on one server; a second server with the same rows then runs what ``mysqlbinlog`` prints of them.

The stored bytes of both are compared too. They come from the log: a DELETE of all rows under a FULL image holds them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.harness.mysqlbinlog_replay import Replayed, feed, print_log
from conformance.judge.updates.events import readable_events, split_groups
from conformance.reference.binlog.rows import DELETE_TYPES, RowsBody
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.roles.update_cases import run_case
from conformance.servers.settings.listed import beside
from conformance.servers.wire.capture import Position
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

_SECOND_ID: Final = 71
_STORED: Final = (
    "SET SESSION binlog_row_image='FULL', SESSION binlog_row_value_options='', "
    "SESSION binlog_transaction_compression=0, SESSION binlog_format='ROW'"
)


class TableContent(NamedTuple):
    """All rows of a table in order of the selector: as the server prints them, and as it stores them."""

    texts: list[tuple[bytes | None, ...]]
    stored: list[tuple[Any, ...]]


class Node(NamedTuple):
    """One of the two servers, with a connection and its binary log."""

    server: OwnServer
    connection: Connection
    log: Capture


class Servers(NamedTuple):
    """The server that runs the updates, and the one that runs their text; ``schema`` is on both."""

    source: Node
    target: Node
    schema: str


class Replay(NamedTuple):
    """The result of a block. ``target`` is ``None`` where the replay stopped with an error."""

    events: tuple[bytes, ...]
    source: TableContent
    replayed: Replayed
    target: TableContent | None


@contextmanager
def two_servers(server: OwnServer, narrate: Callable[[str], None]) -> Iterator[Servers]:
    """Start a second server of the same installation."""
    with (
        server.maker.launch(
            server_id=_SECOND_ID, options=beside(server.options), keep=server.keep, narrate=narrate
        ) as other,
        server.connect() as connection,
        other.connect() as target,
        server.schema(connection) as schema,
    ):
        target.execute(f"CREATE SCHEMA {schema} DEFAULT CHARACTER SET utf8mb4")
        target.execute(f"USE {schema}")
        source_log, target_log = server.capture(), other.capture()
        yield Servers(Node(server, connection, source_log), Node(other, target, target_log), schema)
        source_log.close()
        target_log.close()


def replay(servers: Servers, script: Script) -> Replay:
    """Run a block on both servers. Raises :class:`PrintFailed` if there is no text."""
    source, target, schema = servers
    case = script.case
    start = source.log.mark(source.connection)
    events = run_case(source.connection, source.log, script, schema).events
    end = source.log.mark(source.connection)
    state = take_state(source, case)
    target.connection.execute_many(
        [
            *case.session.statements(),
            f"DROP TABLE IF EXISTS {quote_identifier(case.table.name)}",
            create_table(case.table),
            script.insert,
        ]
    ).check()
    # The replay begins behind the INSERT of the start rows, the first transaction of the Case.
    text = print_log(source.server, Position(file=start.file, offset=_end_of_first(events)), end)
    replayed = feed(target.server, text)
    return Replay(events, state, replayed, take_state(target, case) if replayed.error is None else None)


def take_state(node: Node, case: UpdateCase) -> TableContent:
    """Read a table, then empty it: the log of the DELETE has the rows as they were stored."""
    connection = node.connection
    name = quote_identifier(case.table.name)
    place = next(index for index, column in enumerate(case.table.columns) if column.name == case.selector)
    texts = connection.execute(f"SELECT * FROM {name} ORDER BY {quote_identifier(case.selector)}").rows
    connection.execute(_STORED)
    start = node.log.mark(connection)
    connection.execute(f"DELETE FROM {name}")
    events = groups_of_thread(node.log.since(start, node.log.mark(connection)).events, connection.thread_id)
    stored: list[tuple[Any, ...]] = []
    for _, event in readable_events(events):
        if isinstance(event.body, RowsBody) and event.body.type in DELETE_TYPES:
            stored += [row.before for row in event.body.rows if row.before is not None]
    return TableContent(list(texts), sorted(stored, key=lambda row: int(row[place])))


def _end_of_first(events: tuple[bytes, ...]) -> int:
    """The end of the first transaction in the file."""
    last = split_groups(events)[0][-1]
    return int.from_bytes(last[13:17], "little")
