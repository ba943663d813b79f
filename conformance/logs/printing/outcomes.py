"""Row changes that wait for the end of their transaction, which says what became of them.

They wait in temporary files where they are many. What is prepared (XA) waits until another transaction decides it.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.logs.spools import TupleSpool
from conformance.reference.binlog.control_events import XaPrepare, Xid
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.observed_event import GTID_TYPES
from conformance.reference.event_types import MariadbEventType
from conformance.reference.replay.statements import statement_words
from conformance.reference.replay.transactions import savepoint_of, xa_statement, xid_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event

_BEGINS: Final = frozenset((*map(int, GTID_TYPES), int(MariadbEventType.GTID)))


class RowOutcome(StrEnum):
    """The fate of a row change."""

    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"
    PREPARED = "prepared"  # and not decided in the logs
    UNFINISHED = "unfinished"  # the logs have no end of its transaction


Lines: TypeAlias = "Iterator[tuple[str, RowOutcome]]"


class _Waiting:
    """The lines of one transaction, and which of them a ROLLBACK TO SAVEPOINT took back."""

    def __init__(self) -> None:
        self.spool = TupleSpool()
        self.number = 0
        self.savepoints: dict[str, int] = {}
        self._undone: list[tuple[int, int]] = []

    def add(self, line: str) -> None:
        self.spool.add((line,))
        self.number += 1

    def roll_back_to(self, savepoint: str) -> None:
        """Take back what is behind a savepoint; one that is not in the logs was set before all these lines."""
        mark = self.savepoints.get(savepoint, 0)
        self._undone.append((mark, self.number))
        self.savepoints = {name: place for name, place in self.savepoints.items() if place <= mark}

    def end(self, outcome: RowOutcome) -> Lines:
        for number, (line,) in enumerate(self.spool.take()):
            undone = any(start <= number < stop for start, stop in self._undone)
            yield line, RowOutcome.ROLLED_BACK if undone else outcome


class Transactions:
    """Takes lines and events in the order of the logs, and gives the lines once their outcome is known."""

    def __init__(self) -> None:
        self._open = _Waiting()
        self._prepared: dict[str, _Waiting] = {}

    def add(self, line: str) -> None:
        """The next line of the transaction that is open."""
        self._open.add(line)

    def event(self, event: Event) -> Lines:
        """The lines whose outcome an event without rows tells."""
        body = event.body
        if event.header.type in _BEGINS or (isinstance(body, FormatDescription) and body.created):
            return self._end(RowOutcome.UNFINISHED)
        if isinstance(body, Xid):
            return self._end(RowOutcome.COMMITTED)
        if isinstance(body, XaPrepare):
            return self._prepare(body)
        return self._query(body) if isinstance(body, Query) else iter(())

    def finish(self) -> Lines:
        """The lines that still wait at the end of the logs."""
        for waiting in self._prepared.values():
            yield from waiting.end(RowOutcome.PREPARED)
        self._prepared.clear()
        yield from self._end(RowOutcome.UNFINISHED)

    def _end(self, outcome: RowOutcome) -> Lines:
        done, self._open = self._open, _Waiting()
        return done.end(outcome)

    def _prepare(self, event: XaPrepare) -> Lines:
        if event.one_phase:
            return self._end(RowOutcome.COMMITTED)
        xid = xid_of(event)
        former = self._prepared.pop(xid, None)  # it was decided where no log tells
        self._prepared[xid], self._open = self._open, _Waiting()
        return iter(()) if former is None else former.end(RowOutcome.PREPARED)

    def _query(self, query: Query) -> Lines:
        if query.text == b"BEGIN":
            return self._end(RowOutcome.UNFINISHED)
        if query.text == b"COMMIT":
            return self._end(RowOutcome.COMMITTED)
        words = statement_words(query)
        if not words:
            return iter(())
        if words[0].among("XA"):
            return self._xa(query.text)
        if words[0].among("SAVEPOINT"):
            self._open.savepoints[savepoint_of(words) or ""] = self._open.number
        elif words[0].among("ROLLBACK"):
            name = savepoint_of(words)
            if name is None:
                return self._end(RowOutcome.ROLLED_BACK)
            self._open.roll_back_to(name)
        return iter(())

    def _xa(self, text: bytes) -> Lines:
        what, xid = xa_statement(text) or ("", "")
        if what in ("START", "BEGIN"):
            return self._end(RowOutcome.UNFINISHED)
        if what in ("COMMIT", "ROLLBACK") and xid in self._prepared:
            return self._prepared.pop(xid).end(RowOutcome.COMMITTED if what == "COMMIT" else RowOutcome.ROLLED_BACK)
        return iter(())


class WaitingLines:
    """The lines of :class:`Transactions` as they are printed. ``shown``: with the outcome; ``committed``: no others.

    ``left_out``: how many lines are not printed, by outcome.
    """

    def __init__(self, form: str, *, shown: bool, committed: bool) -> None:
        self.left_out: Counter[str] = Counter()
        self._transactions = Transactions()
        self._committed = committed
        self._with = (_csv if form == "csv" else _json) if shown else None
        self.add = self._transactions.add

    def event(self, event: Event) -> Iterator[str]:
        """The lines to print, once an event has told their outcome."""
        return self._lines(self._transactions.event(event))

    def finish(self) -> Iterator[str]:
        """The lines to print at the end."""
        return self._lines(self._transactions.finish())

    def _lines(self, lines: Lines) -> Iterator[str]:
        for line, outcome in lines:
            if self._committed and outcome is not RowOutcome.COMMITTED:
                self.left_out[outcome.value] += 1
            else:
                yield line if self._with is None else self._with(line, outcome)


def _json(line: str, outcome: RowOutcome) -> str:
    return f'{line[:-1]}, "outcome": "{outcome.value}"}}'


def _csv(line: str, outcome: RowOutcome) -> str:
    return f'{line},"{outcome.value}"'
