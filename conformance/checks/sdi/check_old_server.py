"""SDI16: a server from before the feature refuses to open a tablespace with dictionary information.

The control of each case is a file that the old server itself exported: it must take that one back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi.servers import own_files
from conformance.judge.problem import Problem
from conformance.servers.errors import SqlError
from conformance.servers.roles.old_server import launch_old

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.check import Check
    from conformance.servers.files import Files
    from conformance.servers.wire.connection import Connection

_ROW_FORMATS: Final = ("DYNAMIC", "COMPACT", "REDUNDANT", "COMPRESSED")
_CREATE: Final = "CREATE TABLE t (id int PRIMARY KEY, a int) ENGINE=InnoDB ROW_FORMAT={row_format}"
_SCHEMA: Final = "sdi_lab"
_FILE: Final = f"{_SCHEMA}/t.ibd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The old server's answers to IMPORT: for its own file, and for one with SDI. 0: accepted."""

    row_format: str
    own: int
    with_sdi: int


def refuses(given: Given) -> Iterator[Problem]:
    """The old server takes its own file, and not the other one."""
    if given.own:
        yield Problem(
            f"{given.row_format}, its own file", "accepted", str(given.own), "an old server refuses its own file"
        )
    if not given.with_sdi:
        yield Problem(
            f"{given.row_format}, a file with SDI", "an error", "accepted", "an old server opens a file with SDI"
        )


@pytest.mark.check("old-server")
def test_old_servers_refuse_files_with_sdi(check: Check) -> None:
    """A table of each row format."""
    maker = check.needs_old_server()
    with (
        own_files(check) as (server, connection, schema),
        launch_old(maker, narrate=check.narrate) as old,
        old.connect() as session,
        check.block(cases=len(_ROW_FORMATS), version=old.number) as block,
    ):
        session.execute("SET GLOBAL innodb_file_per_table = ON")
        session.execute("SET GLOBAL innodb_file_format = Barracuda")
        session.execute(f"CREATE DATABASE {_SCHEMA}")
        session.execute(f"USE {_SCHEMA}")
        for row_format in _ROW_FORMATS:
            connection.execute(_CREATE.format(row_format=row_format))
            session.execute(_CREATE.format(row_format=row_format))
            new = _exported(connection, server.files, schema)
            own = _exported(session, old.files, _SCHEMA)
            given = Given(
                row_format=row_format,
                own=_import(session, old.files, own),
                with_sdi=_import(session, old.files, new),
            )
            block.differs(*refuses(given))
            connection.execute("DROP TABLE t")
            session.execute("DROP TABLE t")
            old.files.remove([_FILE])  # a file that was refused stays


def _exported(connection: Connection, files: Files, schema: str) -> bytes:
    connection.execute("INSERT INTO t VALUES (1, 2)")
    connection.execute("FLUSH TABLES t FOR EXPORT")
    try:
        return files.read(f"{schema}/t.ibd")
    finally:
        connection.execute("UNLOCK TABLES")


def _import(connection: Connection, files: Files, data: bytes) -> int:
    """The error of IMPORT TABLESPACE, or 0."""
    connection.execute("ALTER TABLE t DISCARD TABLESPACE")
    files.write(_FILE, data)
    try:
        connection.execute("ALTER TABLE t IMPORT TABLESPACE")
    except SqlError as error:
        return error.number
    return 0
