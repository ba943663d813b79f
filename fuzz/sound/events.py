"""Single events that a server writes, of all types but row events."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final
from uuid import UUID

from conformance.reference.binlog.control_events import Rotate, Stop, XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import MAY_HAVE_SBR, Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import MAX_GNO, GtidEntry, PreviousGtids
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.load import ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.query import (
    DEFAULT_STATUS,
    Query,
    Status,
    StatusDatabases,
    StatusInteger,
    StatusIntegers,
    StatusInvoker,
    StatusText,
)  # fmt: skip
from conformance.reference.binlog.statement_events import Intvar, IntvarKind, Rand, RowsQuery, UserVar, UserVarType
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.opaque import pack_decimal
from conformance.reference.tables.charsets import DEFAULT_COLLATIONS
from generators import row_values, scalars
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.binlog.event import Body
    from conformance.reference.binlog.query import StatusVariable
    from generators.draw import Draw

_TIME: Final = 1_500_000_000 * 10**6
_TAGS: Final = ("a", "b_2", "t" * 32)
_STATEMENTS: Final = (
    b"BEGIN",
    b"COMMIT",
    b"SAVEPOINT `s`",
    b"INSERT INTO t VALUES (1)",
    b"SELECT '\xc3\xa9' LIKE '%s'",
)


def event(draw: Draw) -> Body:
    """One event."""
    return draw.choice(_EVENTS)(draw)


def _uuid(draw: Draw) -> UUID:
    return UUID(int=draw.bits(128))


def _gno(draw: Draw) -> int:
    return 1 + draw.choice((draw.below(99), draw.bits(31), MAX_GNO - 1))


def _gtid(draw: Draw) -> Gtid:
    clock = draw.bits(40)
    return Gtid(
        gtid_flags=draw.choice((0, MAY_HAVE_SBR)), uuid=_uuid(draw), gno=_gno(draw), last_committed=clock,
        sequence_number=clock + 1, immediate_commit_timestamp=_TIME, transaction_length=300,
        immediate_server_version=90704,
    )  # fmt: skip


def _tagged(draw: Draw) -> GtidTagged:
    return GtidTagged(
        uuid=_uuid(draw),
        gno=_gno(draw),
        tag=draw.choice(_TAGS),
        immediate_commit_timestamp=_TIME,
        transaction_length=300,
    )


def _previous(draw: Draw) -> PreviousGtids:
    tags = _TAGS if draw.below(4) == 3 else ("",)
    entries = []
    for uuid in sorted(_uuid(draw) for _ in range(draw.below(4))):
        for tag in tags[: 1 + draw.below(len(tags))]:
            edges = sorted({1 + draw.below(1 << 20) for _ in range(2 + 2 * draw.below(3))})
            intervals = tuple(zip(edges[::2], edges[1::2], strict=False))
            entries.append(GtidEntry(uuid, tag, intervals or ((1, 2),)))
    return PreviousGtids(entries=tuple(entries), tagged=len(tags) > 1)


def _text(draw: Draw) -> bytes:
    return scalars.text(draw, draw.choice((draw.below(40), draw.below(400)))).encode()


def _query(draw: Draw) -> Query:
    return Query(
        text=draw.choice(_STATEMENTS) if draw.below(2) else b"SELECT '" + _text(draw) + b"'",
        schema=draw.choice((b"lab", b"", "ж".encode() * 64, b"100%")),
        thread_id=draw.bits(32),
        execution_time=draw.below(1000),
        error_code=draw.choice((0, 1062)),
        status=_status(draw),
    )


def _status(draw: Draw) -> tuple[StatusVariable, ...]:
    further: tuple[StatusVariable, ...] = (
        StatusIntegers(Status.AUTO_INCREMENT, (2, 1)),
        StatusText(Status.TIME_ZONE, b"Europe/Berlin"),
        StatusInteger(Status.LC_TIME_NAMES, draw.below(110)),
        StatusInvoker(b"root", b"localhost"),
        StatusDatabases((b"lab", b"other")),
        StatusDatabases(None),
        StatusInteger(Status.MICROSECONDS, draw.below(10**6)),
        StatusInteger(Status.DDL_LOGGED_WITH_XID, draw.bits(40)),
        StatusInteger(Status.SQL_REQUIRE_PRIMARY_KEY, draw.below(2)),
        StatusInteger(Status.DEFAULT_TABLE_ENCRYPTION, draw.below(2)),
    )
    chosen = [variable for variable in further if draw.below(4) == 3]
    known = {variable.code for variable in DEFAULT_STATUS}
    return (*DEFAULT_STATUS, *{item.code: item for item in chosen if item.code not in known}.values())


def _user_var(draw: Draw) -> UserVar:
    name = draw.choice((b"v", "ü".encode(), b"a b"))
    match draw.below(6):
        case 0:
            charset = draw.choice(("utf8mb4", "latin1", "utf16", "binary"))
            if charset == "binary":
                value, collation = scalars.octets(draw, draw.below(20)), 63
            else:
                value = b"".join(row_values.character(draw, charset) for _ in range(draw.below(9)))
                collation = DEFAULT_COLLATIONS[charset]
            return UserVar(name=name, value=value, collation=collation, flags=0)
        case 1:
            unsigned = draw.below(2)
            value = draw.bits(64 if unsigned else 63).to_bytes(8, "little")
            return UserVar(name=name, value=value, kind=UserVarType.INT, collation=63, flags=unsigned)
        case 2:
            value = struct.pack("<d", scalars.double(draw))
            return UserVar(name=name, value=value, kind=UserVarType.REAL, collation=63, flags=0)
        case 3:
            precision, scale = draw.choice(((5, 2), (1, 0), (10, 10), (20, 3), (65, 30)))
            digits = f"{draw.below(10**precision):0{precision}}"
            packed = pack_decimal(draw.below(2) == 1 and digits.strip("0") != "", digits, precision, scale)
            return UserVar(name=name, value=bytes((precision, scale)) + packed, kind=UserVarType.DECIMAL, collation=63,
                           flags=0)  # fmt: skip
        case 4:
            return UserVar(name=name, value=b"", collation=DEFAULT_COLLATIONS["utf8mb4"], flags=0)
        case _:
            return UserVar(name=name)


def _format(draw: Draw) -> FormatDescription:
    version = draw.choice(("9.7.4", "8.4.6-6-debug", "8.0.36", "5.7.44-log"))
    return FormatDescription(server_version=version, algorithm=draw.choice((Checksum.CRC32, Checksum.NONE)))


_EVENTS: Final[tuple[Callable[[Draw], Body], ...]] = mix(
    (_query, 3),
    (_gtid, 2),
    (_tagged, 1),
    (_previous, 3),
    (_user_var, 4),
    (_format, 1),
    (lambda draw: Xid(xid=draw.bits(64)), 1),
    (lambda draw: XaPrepare(gtrid=scalars.octets(draw, 1 + draw.below(64)), bqual=scalars.octets(draw, draw.below(65)),
                            format_id=draw.bits(31), one_phase=draw.below(2)), 1),
    (lambda draw: Rotate(name=b"binlog.%06d" % draw.below(1000)), 1),
    (lambda _: Stop(), 1),
    (lambda draw: Intvar(kind=draw.choice((IntvarKind.INSERT_ID, IntvarKind.LAST_INSERT_ID)),
                         value=draw.bits(draw.choice((8, 32, 64)))), 1),
    (lambda draw: Rand(seed1=draw.bits(30), seed2=draw.bits(30)), 1),
    (lambda draw: RowsQuery(text=b"update t set j = '" + (_text(draw) if draw.below(4) < 3 else b"\xe9") + b"'"), 1),
    (lambda draw: LoadBlock(type=draw.choice((EventType.BEGIN_LOAD_QUERY, EventType.APPEND_BLOCK)),
                            file_id=draw.bits(32), data=scalars.octets(draw, draw.below(99))), 1),
    (lambda draw: ExecuteLoadQuery(text=b"LOAD DATA INFILE 'f' INTO TABLE t", file_id=draw.bits(32), start=9,
                                   end=20, schema=b"lab", duplicates=draw.below(3)), 1),
)  # fmt: skip
