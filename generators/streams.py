"""Streams of events with transactions of every kind, whole and damaged, for parsers of transaction boundaries.

The events' effect on a table plays no part: they are sound events in an order that a server could write, or in one that
it could not. :func:`placed` puts them into files, with positions as a receiver counts them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from conformance.reference.binlog.control_events import (
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
from conformance.reference.binlog.group_replication import TransactionContext, ViewChange
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import FOOTER_SIZE, Checksum, Flag
from conformance.reference.binlog.load import ExecuteLoadQuery, LoadBlock
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.binlog.statement_events import Intvar, IntvarKind, Rand, RowsQuery, UserVar
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import LONG, ColumnType
from conformance.reference.tables.table_map import TableMap
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.binlog.event import Body
    from generators.draw import Draw

SOURCE: Final = UUID("0b1a5000-0000-4000-8000-000000000093")
SERVER_ID: Final = 93
FILE: Final = "made.{:06}"

_TABLE: Final = TableMap(
    table_id=90, schema="lab", table="t", columns=(ColumnType(LONG), ColumnType(LONG)), nullable=(False, True)
)
# For a server that is to take the events: statements in them fail all the same, as some of the tables are made twice.
TABLES: Final = ("CREATE SCHEMA IF NOT EXISTS lab", "CREATE TABLE IF NOT EXISTS lab.t (a INT, b INT)")
_BEGIN: Final = Query(text=b"BEGIN")
_HEARTBEAT: Final = HeartbeatV2(name=b"", position=4)  # name and position are those of its place


class Starts:
    """The event that a group begins with, if any."""

    GTID = "gtid"
    ANONYMOUS = "anonymous"
    TAGGED = "tagged"
    NOTHING = "nothing"  # as servers before 5.7 with gtid_mode=OFF


def _start(draw: Draw, start: str) -> list[Body]:
    number = 1 + draw.below(1 << 20)
    if start == Starts.GTID:
        return [Gtid(uuid=SOURCE, gno=number)]
    if start == Starts.TAGGED:
        return [GtidTagged(uuid=SOURCE, gno=number, tag=draw.choice(("a", "b_2", "other_tag")))]
    return [Gtid(type=EventType.ANONYMOUS_GTID)] if start == Starts.ANONYMOUS else []


def _rows(draw: Draw) -> list[Body]:
    """One statement's row events."""
    code = draw.choice((EventType.WRITE_ROWS, EventType.DELETE_ROWS, EventType.UPDATE_ROWS))
    rows: list[Body] = []
    for _ in range(1 + draw.below(2)):
        image = (draw.below(1000), draw.below(1000))
        row = Row(None if code == EventType.WRITE_ROWS else image, None if code == EventType.DELETE_ROWS else image)
        rows.append(rows_body(_TABLE, code, [row]))
    query: list[Body] = [RowsQuery(text=b"update t")] if draw.chance(1, 4) else []
    return [*query, _TABLE, *rows]


def _insert(draw: Draw) -> list[Body]:
    """One statement in statement format, with the events in front of it."""
    out: list[Body] = []
    if draw.chance(1, 2):
        out.append(Intvar(kind=draw.choice((IntvarKind.INSERT_ID, IntvarKind.LAST_INSERT_ID)), value=draw.below(99)))
    if draw.chance(1, 2):
        out.append(Rand(seed1=draw.below(1 << 30), seed2=draw.below(1 << 30)))
    out += [UserVar(name=b"v%d" % number) for number in range(draw.below(3))]
    return [*out, Query(text=b"insert into t values (1, 2)", schema=b"lab")]


def _xid(draw: Draw) -> bytes:
    return b"X'%02x',X'',1" % draw.below(256)


def _row_group(draw: Draw) -> list[Body]:
    return [_BEGIN, *_rows(draw), Xid(xid=draw.below(1 << 30))]


def _multi_statement(draw: Draw) -> list[Body]:
    return [_BEGIN, *(body for _ in range(2 + draw.below(3)) for body in _rows(draw)), Xid(xid=1)]


def _savepoint(draw: Draw) -> list[Body]:
    name = b"`s%d`" % draw.below(3)
    back: list[Body] = [Query(text=b"ROLLBACK TO " + name)] if draw.chance(1, 2) else []
    return [_BEGIN, *_rows(draw), Query(text=b"SAVEPOINT " + name), *_rows(draw), *back, Xid(xid=2)]


def _ddl(draw: Draw) -> list[Body]:
    return [Query(text=draw.choice((b"create table t (a int)", b"DROP TABLE t", b"analyze table t")), schema=b"lab")]


def _create_select(draw: Draw) -> list[Body]:
    names: list[Body] = [UserVar(name=b"v%d" % number, value=b"x") for number in range(1 + draw.below(2))]
    return [*names, Query(text=b"create table u select @v0", schema=b"lab")]


def _load(draw: Draw) -> list[Body]:
    blocks: list[Body] = [LoadBlock(type=EventType.BEGIN_LOAD_QUERY, file_id=1, data=b"1\t2\n")]
    blocks += [LoadBlock(type=EventType.APPEND_BLOCK, file_id=1, data=b"3\t4\n") for _ in range(draw.below(3))]
    text = b"LOAD DATA INFILE 'x' INTO TABLE t"
    return [_BEGIN, *blocks, ExecuteLoadQuery(text=text, file_id=1, start=10, end=20, schema=b"lab"), Xid(xid=4)]


def _xa(draw: Draw) -> list[Body]:
    name = _xid(draw)
    return [
        Query(text=b"XA START " + name),
        *_rows(draw),
        Query(text=b"XA END " + name),
        XaPrepare(gtrid=b"x", one_phase=draw.below(2)),
    ]


def _compressed(draw: Draw) -> list[Body]:
    inner = b"".join(encode_event(body, server_id=SERVER_ID, algorithm=Checksum.NONE) for body in _row_group(draw))
    return [TransactionPayload.compress(inner)]


def _group_replication(_: Draw) -> list[Body]:
    context = TransactionContext(server_uuid=str(SOURCE).encode())
    return [context, _BEGIN, ViewChange(view_id=b"1:2"), Query(text=b"COMMIT")]


GROUPS: Final[dict[str, Callable[[Draw], list[Body]]]] = {
    "rows": _row_group,
    "multi-statement": _multi_statement,
    "savepoint": _savepoint,
    "commit-rollback": lambda draw: [_BEGIN, *_insert(draw), Query(text=draw.choice((b"COMMIT", b"ROLLBACK")))],
    "ddl": _ddl,
    "create-select": _create_select,
    "statement": lambda draw: [_BEGIN, *(body for _ in range(1 + draw.below(2)) for body in _insert(draw)), Xid(xid=3)],
    "load-data": _load,
    "xa": _xa,
    "xa-end": lambda draw: [Query(text=draw.choice((b"XA COMMIT ", b"XA ROLLBACK ")) + _xid(draw))],
    "compressed": _compressed,
    "empty": lambda _: [_BEGIN, Query(text=b"COMMIT")],
    "incident": lambda _: [Incident(message=b"made")],
    "group-replication": _group_replication,
}
_NEW: Final = frozenset(
    ("xa", "xa-end", "compressed", "group-replication")
)  # no server without GTID events wrote these
_START: Final = mix((Starts.GTID, 3), (Starts.ANONYMOUS, 3), (Starts.TAGGED, 2))


def group(draw: Draw, kind: str | None = None, start: str | None = None) -> list[Body]:
    """The bodies of one transaction."""
    kind = kind or draw.choice(tuple(GROUPS))
    start = start or draw.choice(_START)
    return [*_start(draw, start), *GROUPS[kind](draw)]


def stream(draw: Draw, groups: int, start: str | None = None) -> list[list[Body]]:
    """Transactions, with other events of a stream between some of them: each item is a group or one such event."""
    kinds = [kind for kind in GROUPS if start != Starts.NOTHING or kind not in _NEW]
    out: list[list[Body]] = []
    for _ in range(groups):
        out.append(group(draw, draw.choice(kinds), start))
        if draw.chance(1, 8):
            aside: tuple[Body, ...] = (_HEARTBEAT, Ignorable(data=b"made"))
            out.append([draw.choice(aside)])
        if draw.chance(1, 24):
            out += [[Rotate(name=b"")], [FormatDescription()], [PreviousGtids()]]
    return out


# --- texts at the borders of the classes ------------------------------------------------------------------------------

TEXTS: Final = (
    b"B", b"BE", b"BEGI", b"BEGIN", b"BEGIN ", b"BEGINS", b"begin", b"C", b"COMMI", b"COMMIT", b"COMMIT ", b"COMMITS",
    b"commit", b"R", b"ROLLBACK", b"ROLLBACK ", b"ROLLBACKS", b"rollback", b"ROLLBACK TO", b"ROLLBACK TO s",
    b"rollback to s", b"Rollback To s", b"X", b"XA", b"XA STAR", b"XA START", b"XA STARTS", b"xa start x",
    b"XA ROLLBAC", b"XA ROLLBACK", b"xa rollback x", b"Xa Rollback x",
)  # fmt: skip
"""Texts of QUERY events on both sides of what a receiver takes for BEGIN, COMMIT, ROLLBACK and the statements of XA
(transaction-boundaries B.1)."""
COMPLETED: Final = {b"XA STAR": b"T", b"XA ROLLBAC": b"K", b"ROLLBAC": b"k", b"ROLLBACK TO": b" "}
"""Texts that a receiver reads on, and the first byte of the checksum that makes other words of them."""


@dataclass(frozen=True, kw_only=True)
class CompletedQuery(Query):
    """A QUERY whose checksum begins with the byte that :data:`COMPLETED` has for its text."""

    def encoded(self, start: int) -> bytes:
        """The event at this place, with a time of execution that leads to such a checksum."""
        for seconds in count():
            data = encode_event(replace(self, execution_time=seconds), server_id=SERVER_ID, log_pos=None, start=start)
            if data[-FOOTER_SIZE:].startswith(COMPLETED[self.text]):
                return data
        raise AssertionError


PLACES: Final[dict[str, tuple[Body, ...]]] = {
    "outside": (),
    "behind a GTID": (Gtid(type=EventType.ANONYMOUS_GTID),),
    "in a statement": (Gtid(type=EventType.ANONYMOUS_GTID), Intvar(value=9)),
    "behind BEGIN": (Gtid(type=EventType.ANONYMOUS_GTID), _BEGIN),
}
"""The states in which such a text comes, with the events that lead there from outside of a transaction."""


def texts(draw: Draw) -> list[list[Body]]:
    """Every text in every state, in any order. An INCIDENT in front of each leads out of whatever was open."""
    queries = [*(Query(text=text) for text in TEXTS), *(CompletedQuery(text=text) for text in COMPLETED)]
    pairs = [(before, query) for before in PLACES.values() for query in queries]
    return [[Incident(), *before, query] for before, query in draw.shuffled(pairs)]


# --- damage ----------------------------------------------------------------------------------------------------------

# Events that no place is right for: no text, a retired type, a type that may be ignored.
_STRANGE: Final[tuple[Body, ...]] = (Query(text=b""), Opaque(type=6, data=b"old"), Ignorable(data=b"made"))
_STRAY: Final[tuple[Body, ...]] = (
    Xid(xid=9),
    _BEGIN,
    Gtid(type=EventType.ANONYMOUS_GTID),
    Query(text=b"COMMIT"),
    Query(text=b"XA ROLLBACK X'78',X'',1"),
    Intvar(value=9),
    Stop(),
    Incident(),
    _TABLE,
    Query(text=b"B"),
    Query(text=b"COMM"),
    Query(text=b"rollback"),
    Query(text=b"XA START X'78',X'',1"),
    Query(text=b"begin"),
    XaPrepare(gtrid=b"x"),
    _HEARTBEAT,
)


def _dropped(draw: Draw, bodies: list[Body]) -> list[Body]:
    place = draw.below(len(bodies))
    return [*bodies[:place], *bodies[place + 1 :]]


def _doubled(draw: Draw, bodies: list[Body]) -> list[Body]:
    place = draw.below(len(bodies))
    return [*bodies[: place + 1], *bodies[place:]]


def _swapped(draw: Draw, bodies: list[Body]) -> list[Body]:
    place = draw.below(max(1, len(bodies) - 1))
    return [*bodies[:place], *reversed(bodies[place : place + 2]), *bodies[place + 2 :]]


def _stray(draw: Draw, bodies: list[Body]) -> list[Body]:
    place = draw.below(len(bodies) + 1)
    return [*bodies[:place], draw.choice((*_STRAY, *_STRANGE)), *bodies[place:]]


def _cut(draw: Draw, bodies: list[Body]) -> list[Body]:
    return bodies[: 1 + draw.below(max(1, len(bodies) - 1))]


DAMAGES: Final[dict[str, Callable[[Draw, list[Body]], list[Body]]]] = {
    "event removed": _dropped,
    "event doubled": _doubled,
    "events swapped": _swapped,
    "event put in": _stray,
    "beginning cut off": lambda draw, bodies: bodies[1 + draw.below(max(1, len(bodies) - 1)) :] or bodies[-1:],
    "end cut off": _cut,
    "shuffled": lambda draw, bodies: draw.shuffled(bodies),
}


def damaged(draw: Draw, bodies: list[Body]) -> tuple[str, list[Body]]:
    """The name of the damage to a transaction, and the remaining events."""
    what = draw.choice(tuple(DAMAGES))
    return what, DAMAGES[what](draw, bodies)


# --- files and positions ---------------------------------------------------------------------------------------------


class Placed(NamedTuple):
    """An event, and a receiver's position when it comes: the source's file and position."""

    data: bytes
    file: str
    position: int


@dataclass(slots=True)
class Placement:
    """Puts bodies one behind the other, beginning with the frame of a first file. ``marker`` goes into the flags."""

    file: int = 1
    position: int = 4

    def frame(self) -> list[Placed]:
        """FORMAT_DESCRIPTION and PREVIOUS_GTIDS."""
        return [self.place(FormatDescription()), self.place(PreviousGtids())]

    def place(self, body: Body) -> Placed:
        """One event at the next position."""
        name, start = FILE.format(self.file), self.position
        if isinstance(body, HeartbeatV2):
            beat = replace(body, name=name.encode(), position=start)
            return Placed(encode_event(beat, server_id=SERVER_ID, log_pos=start), name, start)
        if isinstance(body, Rotate):
            self.file += 1
            body = Rotate(name=FILE.format(self.file).encode())
        if isinstance(body, CompletedQuery):
            data = body.encoded(start)
        else:
            data = encode_event(body, server_id=SERVER_ID, log_pos=None, start=start)
        if isinstance(body, Rotate):
            self.position = body.position
        elif not isinstance(body, Stop):  # observed on 9.7.4: a receiver does not count it
            self.position = start + len(data)
        return Placed(data, name, start)


def placed(bodies: Sequence[Body]) -> list[Placed]:
    """The frame of a file, and these events."""
    placement = Placement()
    return [*placement.frame(), *map(placement.place, bodies)]


def fake_rotate(name: str, position: int = 4) -> bytes:
    """The ROTATE that a dump thread sends first."""
    body = Rotate(name=name.encode(), position=position)
    return encode_event(body, server_id=SERVER_ID, flags=Flag.ARTIFICIAL, log_pos=0)
