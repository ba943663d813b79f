"""The real ``mysqlbinlog``, and the binary log of generated updates as a file for it."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from conformance.harness.campaign.run import server_limits
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import RowsBody
from conformance.servers.roles.update_cases import run_case
from conformance.servers.wire.capture import Captured
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conformance.cases.script import Script
    from conformance.harness.campaign.blocks import Limits
    from conformance.harness.check import Check
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

UPDATES: Final = 50  # of a block


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """The client, and the server whose updates it prints. ``path``: the file of the current block."""

    program: Sequence[str]
    connection: Connection
    capture: Capture
    schema: str
    limits: Limits
    path: Path

    def write_log(self, script: Script, perform: Callable[[Client, Script], object]) -> list[RowsBody]:
        """Perform a Case and write its part of the log to the file; returns its row events."""
        start = self.capture.mark(self.connection)
        perform(self, script)
        end = self.capture.mark(self.connection)
        log = Captured(
            start=start,
            end=end,
            format_description=self.capture.description(start.file),
            events=tuple(groups_of_thread(self.capture.since(start, end).events, self.connection.thread_id)),
        )
        self.path.write_bytes(log.file_bytes())
        return row_events(log.events)

    def text(self, option: str) -> bytes:
        """The ``###`` lines of the file."""
        return client_text(self.program, self.path, option)


@contextmanager
def mysqlbinlog(check: Check, what: str) -> Iterator[Client]:
    """The client of the server under test; skips without one. ``what``: which server the check needs."""
    server = check.needs_server(what)
    program = check.needs_programs("mysqlbinlog")
    with (
        server.connect() as connection,
        server.schema(connection) as schema,
        TemporaryDirectory(prefix="binlog-lab-") as directory,
    ):
        capture = server.capture()
        yield Client(
            program=program,
            connection=connection,
            capture=capture,
            schema=schema,
            limits=server_limits(server),
            path=Path(directory) / "block.binlog",
        )
        capture.close()


def run_updates(client: Client, script: Script) -> None:
    """Run the statements of a Case, and nothing else."""
    run_case(client.connection, client.capture, script, client.schema)


def client_text(program: Sequence[str], path: Path, option: str) -> bytes:
    """The ``###`` lines of the real client for a file. Raises :class:`ClientFailed`."""
    command = [*program, "--no-defaults", option, "--base64-output=decode-rows", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise ClientFailed(done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return b"".join(line + b"\n" for line in done.stdout.split(b"\n") if line.startswith(b"###"))


class ClientFailed(Exception):
    """The program ended with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"exit status {status}: {message}")


def row_events(events: Iterable[bytes]) -> list[RowsBody]:
    """The row events among captured events, those inside compressed transactions too."""
    bodies: list[RowsBody] = []
    for _, event, error in iter_events(events):
        if event is None:
            raise error or AssertionError
        if isinstance(event.body, RowsBody):
            bodies.append(event.body)
    return bodies
