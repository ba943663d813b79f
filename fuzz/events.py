"""Events of every family, for the seeds of the targets that take events or files."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import (
    Heartbeat,
    HeartbeatV2,
    Ignorable,
    Incident,
    Opaque,
    Rotate,
    Stop,
    XaPrepare,
    Xid,
)
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.load import DeleteFile, ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.query import (
    DEFAULT_STATUS,
    Query,
    Status,
    StatusInteger,
    StatusIntegers,
    StatusText,
)  # fmt: skip
from conformance.reference.binlog.rows import PartitionInfo, Row, rows_body
from conformance.reference.binlog.statement_events import Intvar, Rand, RowsQuery, UserVar, UserVarType
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import JSON, LONG, VARCHAR, ColumnType, PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.reference.tables.table_map import TableMap
from fuzz.documents import shared
from generators.damaged_events import STORED, diff
from generators.draw import Stream
from generators.streams import GROUPS, SOURCE, group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body

PLAIN: Final = TableMap(
    table_id=90, schema="lab", table="t", columns=(ColumnType(LONG), ColumnType(JSON, 4)), nullable=(False, True)
)
TWO_DOCUMENTS: Final = TableMap(
    table_id=91,
    schema="lab",
    table="u",
    columns=(ColumnType(JSON, 4), ColumnType(VARCHAR, 40), ColumnType(JSON, 4), ColumnType(LONG)),
    nullable=(True, True, True, True),
)
EVERY_TYPE: Final = Table(
    schema="lab",
    name="every",
    primary_key=((0, 0),),
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="tiny", type="TINYINT", unsigned=True),
        Column(name="big", type="BIGINT"),
        Column(name="number", type="DECIMAL", length=20, scale=6),
        Column(name="real_", type="DOUBLE"),
        Column(name="text", type="VARCHAR", length=300),
        Column(name="letters", type="CHAR", length=4, charset="latin1"),
        Column(name="blob_", type="BLOB"),
        Column(name="day", type="DATE"),
        Column(name="clock", type="TIME", scale=3),
        Column(name="moment", type="DATETIME", scale=6),
        Column(name="stamp", type="TIMESTAMP"),
        Column(name="year_", type="YEAR"),
        Column(name="bits", type="BIT", length=9),
        Column(name="one", type="ENUM", members=("a", "bb")),
        Column(name="some", type="SET", members=("x", "y", "z")),
        Column(name="doc", type="JSON"),
    ),
)


@cache
def every_type() -> TableMap:
    """The TABLE_MAP of a table with a column of every kind, with full metadata."""
    return table_map(EVERY_TYPE, "FULL", table_id=92)


def tables() -> dict[int, TableMap]:
    """The TABLE_MAPs that rows events may refer to."""
    return {table.table_id: table for table in (PLAIN, TWO_DOCUMENTS, every_type())}


def row_bodies() -> Iterator[tuple[str, Body]]:
    """Rows events of every type code, on the tables above."""
    whole = PartialJson(diff())
    plain = (1, STORED)
    for code in (EventType.WRITE_ROWS, EventType.WRITE_ROWS_V1):
        yield f"rows-{code.name.lower()}", rows_body(PLAIN, code, [Row(None, (1, encode("a"))), Row(None, (2, None))])
    for code in (EventType.DELETE_ROWS, EventType.DELETE_ROWS_V1):
        yield f"rows-{code.name.lower()}", rows_body(PLAIN, code, [Row((1, encode([1])), None)])
    for code in (EventType.UPDATE_ROWS, EventType.UPDATE_ROWS_V1):
        yield f"rows-{code.name.lower()}", rows_body(PLAIN, code, [Row((1, encode(1)), (1, encode(2)))])
    update = EventType.PARTIAL_UPDATE_ROWS
    yield "rows-partial", rows_body(PLAIN, update, [Row((1,), (whole,))], before=[0], after=[1])
    yield "rows-partial-full", rows_body(PLAIN, update, [Row(plain, (1, encode({})))])
    yield "rows-partial-none", rows_body(PLAIN, update, [Row((1,), (PartialJson(b""),))], before=[0], after=[1])
    two = Row((encode(1), b"x", encode({}), 1), (PartialJson(diff(2, b"$.a", None)), b"y", encode([]), None))
    yield "rows-partial-two", rows_body(TWO_DOCUMENTS, update, [two])
    yield "rows-no-columns", rows_body(PLAIN, EventType.WRITE_ROWS, [], after=[])
    yield "rows-shared-children", rows_body(PLAIN, EventType.WRITE_ROWS, [Row(None, (1, shared(40)))])
    partition = (PartitionInfo(1, 2),)
    yield "rows-partition", rows_body(PLAIN, EventType.UPDATE_ROWS, [Row((1,), (2,))], before=[0], after=[0],
                                      extra=partition)  # fmt: skip
    image = (7, 255, -1, None, 1.5, b"text", b"ab", b"\0\1", None, None, None, None, 2024, 257, 2, 5, encode([1]))
    yield "rows-every-type", rows_body(every_type(), EventType.WRITE_ROWS, [Row(None, image)])


_STATUS: Final = (
    *DEFAULT_STATUS,
    StatusIntegers(Status.AUTO_INCREMENT, (2, 1)),
    StatusText(Status.TIME_ZONE, b"Europe/Berlin"),
    StatusInteger(Status.MICROSECONDS, 123456),
)


def other_bodies() -> Iterator[tuple[str, Body]]:
    """Events without rows, each family once or twice."""
    yield "format", FormatDescription()
    yield "format-without-checksums", FormatDescription(algorithm=Checksum.NONE)
    yield "format-5.5", FormatDescription(server_version="5.5.62", algorithm=Checksum.UNDEFINED)
    yield "gtid", Gtid(uuid=SOURCE, gno=3)
    yield "gtid-anonymous", Gtid(type=EventType.ANONYMOUS_GTID)
    yield "gtid-tagged", GtidTagged(uuid=SOURCE, gno=3, tag="tag_1")
    yield "previous-gtids", PreviousGtids()
    entry = GtidEntry(SOURCE, "", ((1, 4), (7, 8)))
    yield "previous-gtids-two", PreviousGtids(entries=(entry,))
    yield "previous-gtids-tagged", PreviousGtids(entries=(entry, entry._replace(tag="x")), tagged=True)
    yield "query", Query(text=b"BEGIN")
    yield "query-status", Query(text=b"insert into t values ('\xc3\xa9')", schema=b"lab", status=_STATUS, thread_id=8)
    yield "query-create", Query(text=b"CREATE TABLE t (id INT PRIMARY KEY, j JSON)", schema=b"lab")
    yield "rotate", Rotate(name=b"binlog.000002", position=4)
    yield "stop", Stop()
    yield "intvar", Intvar(kind=2, value=7)
    yield "rand", Rand(seed1=1, seed2=2)
    yield "user-var", UserVar(name=b"v")
    for variable, value in (
        (UserVarType.STRING, b"abc"), (UserVarType.REAL, bytes(8)), (UserVarType.INT, b"\xff" * 8),
        (UserVarType.DECIMAL, b"\x02\x01\x81\x05"),
    ):  # fmt: skip
        yield f"user-var-{variable.name.lower()}", UserVar(name=b"v", kind=variable, value=value)
    yield "rows-query", RowsQuery(text=b"update t set j = 1")
    yield "incident", Incident(message=b"lost")
    yield "ignorable", Ignorable(data=b"text")
    yield "xid", Xid(xid=9)
    yield "xa-prepare", XaPrepare(gtrid=b"g", bqual=b"b")
    yield "heartbeat", Heartbeat(name=b"binlog.000001")
    yield "heartbeat-2", HeartbeatV2(name=b"binlog.000001", position=4)
    yield "begin-load", LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=1, data=b"1\n")
    yield "append-block", LoadBlock(type=EventType.APPEND_BLOCK, file_id=1, data=b"2\n")
    yield "delete-file", DeleteFile(file_id=1)
    yield "execute-load", ExecuteLoadQuery(text=b"LOAD DATA INFILE 'f' INTO TABLE t", file_id=1, start=9, end=20)
    yield "unknown", Opaque(type=99, data=b"data")
    for table in (PLAIN, TWO_DOCUMENTS, every_type()):
        yield f"table-map-{table.table}", table
    for kind in ("compressed", "group-replication"):
        for number, body in enumerate(group(Stream("fuzz", kind), kind, "nothing")):
            yield f"{kind}-{number}", body


def event_seeds() -> Iterator[tuple[str, bytes]]:
    """Whole events with checksums."""
    for bodies in (other_bodies(), row_bodies()):
        for name, body in bodies:
            yield name, encode_event(body)


def file_seeds() -> Iterator[tuple[str, bytes]]:
    """Small files, each with one group: transactions of every kind, compressed, in statement format, with two rows."""
    for kind in GROUPS:
        writer = FileWriter()
        bodies = group(Stream("fuzz", "file", kind), kind, "gtid")
        yield kind, writer.start() + b"".join(map(writer.add, bodies))
    writer = FileWriter()
    rows = [body for name, body in row_bodies() if name == "rows-partial"]
    yield "partial", writer.start() + b"".join(map(writer.add, (Query(text=b"BEGIN"), PLAIN, *rows, Xid(xid=1))))
    writer = FileWriter()
    variables = [body for name, body in other_bodies() if name.startswith(("user-var", "rand", "intvar"))]
    yield "variables", writer.start() + b"".join(map(writer.add, (*variables, Query(text=b"insert into t select @v"))))
    writer = FileWriter(format=FormatDescription(algorithm=Checksum.NONE))
    yield "without-checksums", writer.start() + writer.add(Query(text=b"BEGIN")) + writer.add(Xid(xid=1))
    writer = FileWriter()
    yield "open", writer.start(in_use=True) + writer.add(Query(text=b"BEGIN"))[:30]
    writer = FileWriter()
    yield "zeros", writer.start() + bytes(40)
