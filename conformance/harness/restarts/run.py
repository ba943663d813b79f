"""Cuts a client off at every place of a log, and counts the rows that it loses and repeats.

What it should read is what the same client reads of the same log without a cut: nothing of the kit decides that. Three
ways lead to a restart. The source breaks the connection between two events, or in the middle of one. Or the client is
stopped behind an event with rows, as a program that ends, and starts again with what it stored itself.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.restarts.logs import places, restart_case
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.capabilities import GTID, STOP
from conformance.subjects.conversation import Conversation
from conformance.subjects.lab_source import LabSource
from conformance.subjects.specs import client_command, parse_subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.decoder_case import DecoderCase
    from conformance.subjects.answers import Answer
    from conformance.subjects.source import Served

_RESTARTS: Final = 3  # attempts of a client that has to be started again
_INSIDE_STEP: Final = 4  # of the events, one in so many is cut in its middle too
_PATIENCE: Final = 20.0


class Way(StrEnum):
    """How a client is cut off."""

    BETWEEN = "connection lost between events"
    INSIDE = "connection lost inside an event"
    STOPPED = "stopped behind rows"


@dataclass(slots=True)
class Tally:
    """The counts of restarts of one kind. ``exact``: those after which every row was there once."""

    restarts: int = 0
    exact: int = 0
    right: int = 0
    lost: int = 0
    repeated: int = 0
    strange: int = 0
    not_back: int = 0  # the client ended with an error, or was never cut off
    example: str = ""

    def count(self, wanted: Counter[str], found: Counter[str], *, error: str, where: str) -> None:
        """Add one restart."""
        lost, more = wanted - found, found - wanted
        repeated = sum(count for row, count in more.items() if row in wanted)
        self.restarts += 1
        self.right += sum((wanted & found).values()) - sum(1 for row in more if row in wanted)
        self.lost += sum(lost.values())
        self.repeated += repeated
        self.strange += sum(more.values()) - repeated
        self.not_back += bool(error)
        self.exact += wanted == found and not error
        if not self.example and (lost or more or error):
            self.example = f"{where}: {error or f'{sum(lost.values())} lost, {sum(more.values())} more'}"


@dataclass(slots=True)
class Restarts:
    """The result for one client: tallies by form of the log, stored state, and way."""

    client: str
    version: str = ""
    unread: dict[str, str] = field(default_factory=dict)  # form of the log: why there is nothing to count
    tallies: dict[tuple[str, str, Way], Tally] = field(default_factory=dict)

    boundaries: int = 0  # places in logs that the client read

    @property
    def restarts(self) -> int:
        """All restarts."""
        return sum(tally.restarts for tally in self.tallies.values())


def run_restarts(client: str, boundaries: int, seed: str, narrate: Callable[[str], None] = lambda _: None) -> Restarts:
    """Restart a client at so many boundaries of events, of plain and of compressed logs, and inside the events too.

    Raises :class:`SubjectUnavailable`.
    """
    with LabSource(tls=False) as source:
        bench = _Bench(client, source)
        try:
            number = 0
            while bench.found.boundaries < boundaries:
                compressed = number % 3 == 2
                case = restart_case(seed, number, compressed=compressed)
                bench.run(case, "compressed" if compressed else "plain", boundaries - bench.found.boundaries)
                number += 1
                narrate(f"{client}: {bench.found.restarts} restarts at {bench.found.boundaries} boundaries")
                if number > 3 and not bench.found.restarts:
                    raise SubjectUnavailable(f"{client} reads none of these logs: {bench.found.unread}")
        finally:
            bench.close()
        return bench.found


class _Bench:
    """One client with its source."""

    def __init__(self, client: str, source: LabSource) -> None:
        self._source = source
        self._client = Conversation(
            client_command(parse_subject(client)), name=client, introduction=lambda: {"server": source.request()}
        )
        hello = self._client.hello()
        self._capabilities = hello.capabilities
        self.found = Restarts(client, hello.version)

    def run(self, case: DecoderCase, form: str, most: int) -> None:
        """Restarts at the places of one log: at ``most`` of its boundaries."""
        served = self._source.serve(case)
        between, inside, rows = places(case.log)
        counted = False
        for by in ("position", GTID) if GTID in self._capabilities else ("position",):
            whole = self._read(served, by=by)
            if whole.error or whole.failure or not whole.changes:
                said = whole.error or str(whole.failure or "")
                said = said or (whole.marks[0].message if whole.marks else "")
                self.found.unread[form] = said or "the client reads no rows of it, and says nothing"
                continue
            counted = True
            wanted = _rows(whole)
            for way, starts in ((Way.BETWEEN, between[:most]), (Way.INSIDE, inside[:most:_INSIDE_STEP])):
                for place in starts:
                    self._source.arm(served, place)
                    answer = self._read(served, by=by, restarts=_RESTARTS)
                    never = "the client never came to this place" if self._source.is_armed else ""
                    self._source.disarm()
                    self._count((form, by, way), wanted, answer, never, f"{case.id} at {place}")
            if STOP in self._capabilities:
                for count in rows:
                    answer = self._read(served, by=by, stop_after=count)
                    self._count((form, by, Way.STOPPED), wanted, answer, "", f"{case.id} behind {count} rows")
        self.found.boundaries += counted * min(most, len(between))

    def _count(self, kind: tuple[str, str, Way], wanted: Counter[str], answer: Answer, never: str, where: str) -> None:
        error = answer.error or (f"{answer.failure}: {answer.detail}" if answer.failure else never)
        tally = self.found.tallies.setdefault(kind, Tally())
        tally.count(wanted, _rows(answer), error=error, where=where)

    def _read(self, served: Served, **options: Any) -> Answer:
        server = {**self._source.request(served), "timeout": _PATIENCE, **options}
        return self._client.request("decode", None, server=server)

    def close(self) -> None:
        """End the client."""
        self._client.close()


def _rows(answer: Answer) -> Counter[str]:
    return Counter(
        json.dumps({key: change[key] for key in ("table", "operation", "before", "after")}, sort_keys=True)
        for change in answer.changes
    )
