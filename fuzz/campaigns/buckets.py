"""Inputs that did not pass, grouped by their outcome: one bucket for each kind, with its first and smallest input.

A bucket of a listed crash keeps the stacks of its deaths. A death of the listed kind with another stack is another
place in the program: it gets a bucket of its own and is a finding, unless its input shows that the place is chance.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.requirements.deviations import Deviation
    from fuzz.campaigns.known import Known
    from fuzz.campaigns.trial import Bench, Trial

_OFTEN: Final = 50  # a subject that dies at more than one input in so many is not worth its restarts


@dataclass(slots=True, kw_only=True)
class Bucket:
    """All inputs of one kind.

    ``entry``: the listed deviation that explains the smallest input, and with it all of the bucket. ``place_of``: the
    bucket of a listed crash whose kind this one has, in another place. ``again``: whether the input showed the same
    outcome when it ran once more, alone. ``known``: whether an earlier campaign has kept it.
    """

    kind: tuple[str, ...]
    first: Trial
    smallest: Trial
    entry: Deviation | None
    place_of: Bucket | None = None
    stacks: Counter[str] = field(default_factory=Counter)
    count: int = 1
    again: bool = True
    known: bool = False
    shrunk: bool = False
    directory: Path | None = None

    @property
    def name(self) -> str:
        """A name from the bucket's content, for people and directories."""
        words = "-".join(self.kind[:2])
        return f"{words}-{hashlib.blake2b(repr(self.kind).encode(), digest_size=4).hexdigest()}"

    @property
    def is_finding(self) -> bool:
        """Whether no listed deviation explains the bucket."""
        return self.entry is None

    @property
    def damage(self) -> str:
        """The listed damage of its smallest input, or an empty text."""
        return "" if self.smallest.crash is None else self.smallest.crash.damage


@dataclass(slots=True)
class Buckets:
    """All buckets of a campaign, and the table of its outcomes.

    ``equal``: how many inputs with the same listed damage are enough. ``earlier``: the kinds of earlier campaigns.
    """

    bench: Bench
    equal: int
    earlier: Mapping[tuple[str, ...], Known] = field(default_factory=dict)
    found: dict[tuple[str, ...], Bucket] = field(default_factory=dict)
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # channel, outcome, verdict or deviation
    damaged: Counter[tuple[str, str]] = field(default_factory=Counter)  # inputs by channel and listed damage
    inputs: int = 0
    skipped: int = 0

    def add(self, trial: Trial) -> Bucket | None:
        """Count a trial; return its bucket if the trial is the bucket's first.

        Listed deviations that leave the subject alive are counted only.
        """
        self.inputs += 1
        verdict, entry = self.bench.verdict(trial), self.bench.listed(trial)
        self.outcomes[trial.channel, trial.what, str(verdict) if entry is None else entry.id] += 1
        if not verdict.failing and not trial.killed:
            return None
        kind = self.bench.kind(trial)
        listed = self.found.get(kind)
        if listed is not None and self._elsewhere(listed, trial):
            kind, entry = self.bench.stack_of(trial), None
        known = self.found.get(kind)
        if known is not None:
            known.count += 1
            known.stacks[trial.death] += 1
            return None
        bucket = Bucket(kind=kind, first=trial, smallest=trial, entry=entry, stacks=Counter((trial.death,)))
        if entry is None and listed is not None:
            bucket.place_of = listed
        if (facts := self.earlier.get(kind)) is not None:
            bucket.known, bucket.shrunk = True, facts.shrunk
            bucket.stacks.update(facts.stacks)
            if facts.shrunk and bucket.entry is None:  # its smallest input decided
                bucket.entry = next((one for one in self.bench.deviations if one.id == facts.listed), None)
        self.found[kind] = bucket
        return bucket

    def _elsewhere(self, bucket: Bucket, trial: Trial) -> bool:
        """Whether a death of a listed kind is in another place than those before it. mysqlbinlog names no places."""
        return bucket.entry is not None and bool(trial.death) and trial.death not in bucket.stacks

    def by_chance(self, bucket: Bucket) -> None:
        """Move a bucket's stacks to those of its listed crash: its input, run again, did not die in that place."""
        listed = bucket.place_of
        assert listed is not None
        del self.found[bucket.kind]
        listed.count += bucket.count
        listed.stacks.update(bucket.stacks)

    def shrunk(self, bucket: Bucket, smallest: Trial) -> None:
        """Record a bucket's smallest input: it shows the defect best, so it decides whether the bucket is listed.

        A listed crash in another place stays a finding: its kind is listed, and its place is not.
        """
        bucket.smallest = smallest
        bucket.shrunk = True
        if bucket.place_of is None:
            bucket.entry = self.bench.listed(smallest)

    def is_known(self, channel: str, damage: str) -> bool:
        """Whether inputs with this listed damage teach nothing more to a campaign, or to one after others."""
        if not damage or not self.bench.lists(channel, damage):
            return False
        before = any(
            known.damage == damage and known.listed and known.kind[0] == channel for known in self.earlier.values()
        )
        return self.damaged[channel, damage] >= (1 if before else self.equal)

    @property
    def findings(self) -> list[Bucket]:
        """Buckets that no listed deviation explains."""
        return [bucket for bucket in self.found.values() if bucket.is_finding]

    def exhausted(self) -> Bucket | None:
        """A finding that killed its subject so often that the campaign has to stop: it would do little else.

        Its damage has no name by which the campaign could leave such inputs out. A rare finding stops nothing.
        """
        for bucket in self.findings:
            if bucket.first.killed and bucket.count >= max(self.equal, self.inputs / _OFTEN):
                return bucket
        return None
