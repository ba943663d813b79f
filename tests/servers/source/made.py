"""Helpers that tests of the source share: a log with one row change, and a source of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.servers.source.log_files import LogFiles
from conformance.servers.source.login import Account, FullPath
from conformance.servers.source.server import Source
from conformance.servers.wire.connection import Address

if TYPE_CHECKING:
    from typing import Any

UUID_ONE: Final = UUID("0b1a5000-0000-4000-8000-000000000001")
PASSWORD: Final = "päss wörd"
TABLE: Final = Table(
    schema="shop",
    name="orders",
    columns=(
        Column(name="id", type="INT", unsigned=True, nullable=False),
        Column(name="state", type="ENUM", members=("new", "it's")),
        Column(name="note", type="VARCHAR", length=20, charset="latin1"),
        Column(name="price", type="DECIMAL", length=10, scale=2),
        Column(name="at", type="DATETIME", scale=3),
        Column(name="doc", type="JSON"),
        Column(name="raw", type="LONGBLOB"),
    ),
    primary_key=((0, 0),),
)


def small_log(*, start: int = 1, groups: int = 2, ddl: str = "", raw: bytes = b"x", checksum: bool = True) -> bytes:
    """A log with ``groups`` transactions from a GTID on; ``ddl`` stands in the first."""
    algorithm = Checksum.CRC32 if checksum else Checksum.NONE
    writer = FileWriter(format=FormatDescription(algorithm=algorithm), timestamp=1_700_000_000, server_id=7)
    out = writer.start()
    shape = table_map(TABLE, "FULL", table_id=90)
    for number in range(start, start + groups):
        gtid = Gtid(uuid=UUID_ONE, gno=number, immediate_commit_timestamp=10**15, immediate_server_version=90704)
        if ddl and number == start:
            out += writer.group(gtid, [Query(text=ddl.encode(), schema=b"shop")])
            continue
        row = rows_body(shape, EventType.WRITE_ROWS, [Row(None, (number, 1, b"n", None, None, None, raw))])
        out += writer.group(gtid, [begin("shop"), shape, row, Xid(xid=number)])
    return out


def source_of(*logs: bytes, **options: Any) -> Source:
    """A source of logs in memory, with an account whose password is no plain text."""
    options.setdefault("account", Account(password=PASSWORD, full=FullPath.NEVER))
    named = [(f"binlog.{number:06}", log) for number, log in enumerate(logs or (small_log(),), 1)]
    return Source(LogFiles.of_bytes(named), **options)


def address_of(source: Source, *, password: str = PASSWORD, tls: str = "DISABLED") -> Address:
    """Where a client connects."""
    return Address(port=source.port, user=source.account.user, password=password, tls=(("ssl-mode", tls),))
