"""The loop of a campaign: batch after batch through its channels, until the budget is spent or a finding stops it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.stream import Progress
from fuzz.campaigns.channels import Shrinking
from fuzz.campaigns.findings import diff_bytes
from fuzz.campaigns.inputs import APPLIER, CLIENT, DIVERGED, MALFORMED, REPLICA, STATEMENTS, STREAMS, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.stream import ProgressSink
    from fuzz.campaigns.buckets import Bucket, Buckets
    from fuzz.campaigns.channels import Channel
    from fuzz.campaigns.findings import Findings
    from fuzz.campaigns.journal import Journal

# Batches of each channel in a round. Observed on 9.7.4: a stop of an applier takes as long as fifty statements.
_ROUNDS: Final[Mapping[str, Mapping[str, int]]] = {
    DIVERGED: {STATEMENTS: 20, APPLIER: 1},
    MALFORMED: {STATEMENTS: 4, CLIENT: 1, APPLIER: 1},
    STREAMS: {REPLICA: 1},
}

_TRIES: Final = 3  # runs of an input that did not repeat its outcome at once: threads may race
_SHRUNK: Final = 40  # kinds whose inputs a campaign shrinks; it only stores further kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of a campaign; the first one reached ends it. The campaign looks at ``seconds`` between inputs."""

    runs: int | None = None
    seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Campaign:
    """One campaign. Each of the ``channels`` is opened at its first turn: a server starts only if the campaign needs
    it.
    """

    name: str
    seed: str
    channels: Mapping[str, Callable[[], Channel]]
    buckets: Buckets
    findings: Findings
    journal: Journal
    narrate: Callable[[str], None]
    progress: ProgressSink
    shrink_seconds: float = 60.0
    stopped_by: Bucket | None = None
    seconds: float = 0.0
    _open: dict[str, Channel] = field(default_factory=dict)
    _begun: float = 0.0

    @property
    def restarts(self) -> int:
        """How often all servers have been restarted."""
        return sum(channel.restarts for channel in self._open.values())

    @property
    def words(self) -> str:
        """The campaign's progress in words."""
        rate = self.buckets.inputs / self.seconds if self.seconds else 0.0
        parts = [f"{rate:,.0f}/s", f"{self.restarts} restarts", f"{len(self.buckets.findings)} findings"]
        listed = len(self.buckets.found) - len(self.buckets.findings)
        return ", ".join([*parts, *([f"{listed} listed crashes"] if listed else [])])

    def run(self, budget: Budget) -> None:
        """Run the campaign until the budget is spent."""
        self._begun = time.monotonic()
        for channel, batch in self._turns():
            if self._spent(budget):
                return
            cases = self._channel(channel).inputs(self.seed, batch)
            left = len(cases) if budget.runs is None else budget.runs - self.buckets.inputs
            wanted = self._wanted(self._channel(channel), range(len(cases)), cases)[:left]
            self._batch(self._channel(channel), batch, wanted, cases, budget)
            self.stopped_by = self.buckets.exhausted()
            if self.stopped_by is not None:
                self.narrate(f"{self.stopped_by.name} was seen {self.stopped_by.count} times: the campaign stops here")
                return

    def run_one(self, place: Place) -> None:
        """Run one input alone. Raises ``IndexError`` if its batch has no such number."""
        self._begun = time.monotonic()
        channel = self._channel(place.channel)
        cases = channel.inputs(self.seed, place.batch)
        if place.number >= len(cases):
            raise IndexError(f"batch {place.batch} of {place.channel} has {len(cases)} inputs")
        self._batch(channel, place.batch, range(place.number, place.number + 1), cases, Budget())

    def _turns(self) -> Iterator[tuple[str, int]]:
        """The order of channels, each with the number of its next batch."""
        number = 0
        while True:
            for channel, count in _ROUNDS[self.name].items():
                if channel in self.channels:
                    for batch in range(number * count, (number + 1) * count):
                        yield channel, batch
            number += 1

    def _channel(self, name: str) -> Channel:
        if name not in self._open:
            self._open[name] = self.channels[name]()
        return self._open[name]

    def _spent(self, budget: Budget) -> bool:
        self.seconds = time.monotonic() - self._begun
        if budget.seconds is not None and self.seconds >= budget.seconds:
            return True
        return budget.runs is not None and self.buckets.inputs >= budget.runs

    def _wanted(self, channel: Channel, numbers: Sequence[int], cases: Sequence[object]) -> list[int]:
        """The inputs of a batch, except those whose damage is known too well."""
        wanted = []
        for number in numbers:
            damage = channel.damage_of(cases[number])
            if self.buckets.is_known(channel.name, damage):
                self.buckets.skipped += 1
                continue
            self.buckets.damaged[channel.name, damage] += 1
            wanted.append(number)
        return wanted

    def _batch(
        self, channel: Channel, batch: int, numbers: Sequence[int], cases: Sequence[object], budget: Budget
    ) -> None:
        """Run some inputs of one batch."""
        places = [Place(channel.name, batch, number) for number in numbers]
        self.journal.settle()
        if channel.together:
            for place in places:
                self.journal.begin(place)
        trials = channel.put([cases[number] for number in numbers])
        new: list[Bucket] = []
        for place in places:
            if not channel.together:
                self.journal.begin(place)
            try:
                trial = next(trials).at(place)
            except Exception:
                self.narrate(f"{place}: here the lab itself fails")
                raise
            bucket = self.buckets.add(trial)
            if bucket is not None:
                new.append(bucket)
                self._keep(bucket, channel, place)
            if (trial.death or channel.name == REPLICA) and self._spent(budget):
                break  # a batch of relay logs takes long: those behind this one are not counted
        trials.close()
        self.journal.settle()
        self._spent(budget)
        self._show(budget)
        for bucket in new:
            self._settle(bucket, channel)

    def _keep(self, bucket: Bucket, channel: Channel, place: Place) -> None:
        trial = bucket.first
        # Narrated first: the seed and this place make the input again, should the disk be full.
        about = f", listed as {bucket.entry.id}" if bucket.entry is not None else ""
        self.narrate(f"{place}: {trial.what} ({trial.death or trial.crash or trial.judged.rule}){about}")
        if bucket.known:
            bucket.directory = self.findings.directory(bucket)
            self.narrate(f"  known, kept in {bucket.directory}")
            return
        self.findings.keep(bucket, channel)
        self.narrate(f"  kept in {bucket.directory}")

    def _settle(self, bucket: Bucket, channel: Channel) -> None:
        """Shrink the first input of a new kind at once: a user can break off a campaign at any time.

        What is listed or was shrunk before is known well enough.
        """
        if bucket.entry is not None or bucket.shrunk:
            return
        if bucket.place_of is not None and not self._shows_again(bucket, channel):
            self.narrate(f"{bucket.name}: the place is chance; {bucket.place_of.name} has it among its stacks")
            self.findings.remove(bucket)
            self.buckets.by_chance(bucket)
            return
        if len(self.buckets.found) <= _SHRUNK:
            self._shrink(bucket, channel)

    def _shows_again(self, bucket: Bucket, channel: Channel) -> bool:
        same = Shrinking(channel, bucket.first, exactly=bucket.place_of is not None).same
        return any(same(bucket.first.case) for _ in range(_TRIES))

    def _shrink(self, bucket: Bucket, channel: Channel) -> None:
        shrinking = Shrinking(channel, bucket.first, exactly=bucket.place_of is not None)
        self.buckets.shrunk(bucket, channel.smaller(shrinking, self.shrink_seconds))
        if bucket.smallest.case == bucket.first.case:
            bucket.again = self._shows_again(bucket, channel)
        self.findings.keep_smallest(bucket, channel)
        before, after = diff_bytes(bucket.first), diff_bytes(bucket.smallest)
        listed = "" if bucket.entry is None else f", listed as {bucket.entry.id}"
        self.narrate(f"{bucket.name}: {before} bytes made {after}{listed}{'' if bucket.again else ', not seen again'}")

    def _show(self, budget: Budget) -> None:
        if budget.runs is not None:
            done, total, unit = self.buckets.inputs, budget.runs, "inputs"
        else:
            total, unit = round(budget.seconds or 0), "s"
            done = min(round(self.seconds), total)  # a begun shrinking is carried out to its end
        self.progress(
            Progress(label=f"campaign {self.name}", done=done, total=total or None, unit=unit, note=self.words)
        )
