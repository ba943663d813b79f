"""Relay logs of sound events in an order that no source writes and that ends a released replica; and sound logs.

A replica of 9.7.4 ends itself at each of these; the campaign of streams found them (the list of deviations). Every log
here has the hazard may-crash and no file stores it: a seed makes it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.event_types import EventType
from generators.streams import GROUPS, Starts, group, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.binlog.event import Body
    from generators.draw import Draw

UNDESCRIBED, BEGUN_TWICE, NAMED_TWICE = "undescribed", "begun-twice", "named-twice"
OUTSIDE, CONTEXT = "rows-query-outside", "context"
_GTIDS: Final = (Starts.GTID, Starts.TAGGED)
_STARTS: Final = (*_GTIDS, Starts.ANONYMOUS)
_SOUND: Final = ("rows", "multi-statement", "savepoint", "ddl", "empty", "compressed", "xa-end", "statement")
_OPENING: Final = 2  # events that open a transaction: GTID and BEGIN
_TYPE: Final = 4  # where it stands in an event


def undescribed(draw: Draw) -> bytes:
    """A compressed transaction in a log whose FORMAT_DESCRIPTION is missing."""
    return _log(group(draw, "compressed", draw.choice(_STARTS)), described=False)


def begun_twice(draw: Draw) -> bytes:
    """A transaction that begins, followed by the next transaction in place of its events."""
    begun = group(draw.fork("begun"), "rows", draw.choice(_STARTS))[:_OPENING]
    return _log([*begun, *group(draw, "rows", draw.choice(_GTIDS)), *_sound(draw)])


def named_twice(draw: Draw) -> bytes:
    """Two GTIDs, then a statement that is a transaction by itself."""
    gtids = [group(draw.fork(number), "rows", draw.choice(_STARTS))[0] for number in range(2)]
    return _log([*gtids, Query(text=b"SAVEPOINT `s%d`" % draw.below(30))])


def announced_outside(draw: Draw) -> bytes:
    """A statement that is a transaction by itself, then rows that belong to none, with their statement."""
    name = b"SAVEPOINT `s%d`" % draw.below(3)
    begin, *rows = GROUPS["rows"](draw)[:-1]
    assert isinstance(begin, Query)
    announced = [RowsQuery(text=b"update t"), *(body for body in rows if not isinstance(body, RowsQuery))]
    return _log([*group(draw, "empty", Starts.ANONYMOUS)[:1], Query(text=name), *announced])


def with_context(draw: Draw) -> bytes:
    """A transaction as a member of a group certifies it, with events that no member writes to its log."""
    return _log([*_sound(draw), *group(draw, "group-replication", draw.choice(_STARTS))])


def sound(draw: Draw) -> bytes:
    """The control: transactions that every replica can take, or stop at."""
    return _log([body for _ in range(draw.integer(1, 3)) for body in group(draw, draw.choice(_SOUND))])


DAMAGED: Final[dict[str, Callable[[Draw], bytes]]] = {
    UNDESCRIBED: undescribed,
    BEGUN_TWICE: begun_twice,
    NAMED_TWICE: named_twice,
    OUTSIDE: announced_outside,
    CONTEXT: with_context,
}


def _sound(draw: Draw) -> list[Body]:
    """No transaction or one transaction of rows."""
    return [body for _ in range(draw.below(2)) for body in group(draw, "rows", Starts.ANONYMOUS)]


def _log(bodies: Sequence[Body], *, described: bool = True) -> bytes:
    events = [item.data for item in placed(bodies)]
    return MAGIC + b"".join(data for data in events if described or data[_TYPE] != EventType.FORMAT_DESCRIPTION)
