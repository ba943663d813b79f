"""The servers whose data files the checks read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from conformance.servers.run.template import PAGE_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.check import Check
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

# A killed server must not have commits in its own memory only.
_OPTIONS: Final = {"innodb-flush-log-at-trx-commit": "2"}


def needs_files(check: Check, *, printed: bool = True) -> OwnServer:
    """The server under test, if its data files hold dictionary information and can be read; ``printed``: by ibd2sdi
    too."""
    server = check.needs_own_server("a server that the lab starts: its data files are read")
    if not check.lab.dialect.server.sdi:
        check.leave_out("needs dictionary information in data files: this version keeps none there")
    if printed:
        check.needs_programs("ibd2sdi")
    return server


@contextmanager
def own_server(check: Check, page_size: int | None = None) -> Iterator[OwnServer]:
    """A server for the check alone, with this page size."""
    options = _OPTIONS if page_size is None else {**_OPTIONS, PAGE_SIZE: str(page_size)}
    with needs_files(check).maker.launch(options=options, narrate=check.narrate) as server:
        yield server


@contextmanager
def own_files(check: Check, *, printed: bool = False) -> Iterator[tuple[OwnServer, Connection, str]]:
    """The server under test, a session and a schema, in which each table has a file of its own."""
    server = needs_files(check, printed=printed)
    with server.connect() as connection, server.schema(connection) as schema:
        before = connection.variable("innodb_file_per_table")
        connection.execute("SET GLOBAL innodb_file_per_table = ON")
        try:
            yield server, connection, schema
        finally:
            connection.execute(f"SET GLOBAL innodb_file_per_table = {before}")
