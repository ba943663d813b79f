"""The real ``mysqlbinlog``, and the binary log of generated updates as a file for it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.harness.updates.run import server_limits
from conformance.judge.updates.events import readable_events
from conformance.reference.binlog.rows import RowsBody
from conformance.servers.roles.update_cases import run_case
from conformance.servers.wire.capture import Captured
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.cases.script import Script
    from conformance.harness.check import Check
    from conformance.harness.updates.blocks import Limits
    from conformance.servers.programs import Program
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

UPDATES: Final = 50  # of a block
_FILE: Final = "block.binlog"


@dataclass(slots=True, kw_only=True)
class Client:
    """The client, and the server whose updates it prints. ``log``: the file of the current block."""

    program: Program
    connection: Connection
    capture: Capture
    schema: str
    limits: Limits
    log: bytes = b""

    def write_log(self, script: Script, perform: Callable[[Client, Script], object]) -> list[RowsBody]:
        """Perform a Case and keep its part of the log as the file; returns its row events."""
        start = self.capture.mark(self.connection)
        perform(self, script)
        end = self.capture.mark(self.connection)
        log = Captured(
            start=start,
            end=end,
            format_description=self.capture.description(start.file),
            events=tuple(groups_of_thread(self.capture.since(start, end).events, self.connection.thread_id)),
        )
        self.log = log.file_bytes()
        return row_events(log.events)

    def text(self, option: str) -> bytes:
        """The ``###`` lines of the file."""
        return client_text(self.program, self.log, option)


@contextmanager
def mysqlbinlog(check: Check, what: str) -> Iterator[Client]:
    """The client of the server under test; skips without one. ``what``: which server the check needs."""
    server = check.needs_server(what)
    program = check.needs_programs("mysqlbinlog")
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        yield Client(
            program=program,
            connection=connection,
            capture=capture,
            schema=schema,
            limits=server_limits(server),
        )
        capture.close()


def run_updates(client: Client, script: Script) -> None:
    """Run the statements of a Case, and nothing else."""
    run_case(client.connection, client.capture, script, client.schema)


def client_text(program: Program, log: bytes, option: str) -> bytes:
    """The ``###`` lines of the real client for a file. Raises :class:`ClientFailed`."""
    words = ["--no-defaults", option, "--base64-output=decode-rows", _FILE]
    done = program.run(words, files={_FILE: log})
    if done.returncode:
        raise ClientFailed(done.returncode, done.words)
    return b"".join(line + b"\n" for line in done.stdout.split(b"\n") if line.startswith(b"###"))


class ClientFailed(Exception):
    """The program ended with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"exit status {status}: {message}")


def row_events(events: Iterable[bytes]) -> list[RowsBody]:
    """The row events among captured events, those inside compressed transactions too."""
    return [event.body for _, event in readable_events(events) if isinstance(event.body, RowsBody)]
