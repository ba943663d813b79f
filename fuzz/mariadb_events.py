"""A log of MariaDB with all that only MariaDB writes, for the seeds of the targets that take files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.mariadb.compression import compressed
from conformance.reference.binlog.mariadb.events import (
    AnnotateRows,
    BinlogCheckpoint,
    GtidFlag,
    GtidList,
    ListedGtid,
    MariadbGtid,
    StartEncryption,
    Xid,
)
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import COMPRESSED_TYPES, DELETE_TYPES, WRITE_TYPES, Row, rows_body
from conformance.reference.binlog.statement_events import Intvar
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.tables.columns import BLOB_COMPRESSED, LONG, VARCHAR_COMPRESSED, ColumnType
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body

MARIADB: Final = FormatDescription(server_version="10.11.19-MariaDB-log")
COMPRESSED: Final = TableMap(
    table_id=95, schema="d", table="t",
    columns=(ColumnType(LONG), ColumnType(VARCHAR_COMPRESSED, 300), ColumnType(BLOB_COMPRESSED, 2)),
    nullable=(False, True, True),
)  # fmt: skip
# "x" as it is, and a hundred times by deflate without zlib's header.
_PLAIN: Final = b"\0x"
_DEFLATED: Final = bytes.fromhex("8964aba8a03d0000")


def _bodies() -> Iterator[Body]:
    yield GtidList(entries=(ListedGtid(0, 1, 7), ListedGtid(2, 1, 1)))
    yield BinlogCheckpoint(name=b"binlog.000001")
    yield MariadbGtid(seq_no=8, gtid_flags=GtidFlag.DDL)
    text = b"CREATE OR REPLACE TABLE d.t (a INT, b VARCHAR(300) COMPRESSED, c BLOB COMPRESSED)"
    yield Query(text=text, schema=b"d", compressed=compressed(text))
    flags = GtidFlag.GROUP_COMMIT_ID | GtidFlag.PREPARED_XA
    yield MariadbGtid(seq_no=9, gtid_flags=flags, commit_id=3, xid=Xid(b"g", b"b", 1))
    yield AnnotateRows(text=b"insert into t values (1, 'x', 'y')")
    yield COMPRESSED
    row, other = (1, _PLAIN, _DEFLATED), (2, b"", _DEFLATED)
    for code in COMPRESSED_TYPES:
        before, after = None if code in WRITE_TYPES else row, None if code in DELETE_TYPES else other
        yield rows_body(COMPRESSED, code, [Row(before, after)])
    yield Intvar(kind=2, value=1 << 63)


def mariadb_file(*, encrypted: bool = False) -> bytes:
    """A file of MariaDB; ``encrypted``: behind its first event another key would be needed."""
    writer = FileWriter(format=MARIADB)
    start = writer.start()
    if encrypted:
        return start + writer.add(StartEncryption(key_version=1, nonce=bytes(12))) + b"\x5a" * 64
    return start + b"".join(map(writer.add, _bodies()))
