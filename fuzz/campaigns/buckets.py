"""Inputs that did not pass, grouped by their outcome: one bucket for each kind, with its first and smallest input."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.requirements.deviations import Deviation
    from fuzz.campaigns.trial import Bench, Trial

_OFTEN: Final = 50  # a subject that dies at more than one input in so many is not worth its restarts


@dataclass(slots=True, kw_only=True)
class Bucket:
    """All inputs of one kind.

    ``entry``: the listed deviation that explains the smallest input, and with it all of the bucket. ``again``: whether
    the input showed the same outcome when it ran once more, alone.
    """

    kind: tuple[str, ...]
    first: Trial
    smallest: Trial
    entry: Deviation | None
    stacks: Counter[str] = field(default_factory=Counter)
    count: int = 1
    again: bool = True
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


@dataclass(slots=True)
class Buckets:
    """All buckets of a campaign, and the table of its outcomes.

    ``equal``: how many deaths of a program with the same stack are enough.
    """

    bench: Bench
    equal: int
    found: dict[tuple[str, ...], Bucket] = field(default_factory=dict)
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # channel, outcome, verdict or deviation
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
        known = self.found.get(kind)
        if known is not None:
            known.count += 1
            known.stacks[trial.death] += 1
            return None
        bucket = Bucket(kind=kind, first=trial, smallest=trial, entry=entry, stacks=Counter((trial.death,)))
        self.found[kind] = bucket
        return bucket

    def shrunk(self, bucket: Bucket, smallest: Trial) -> None:
        """Record a bucket's smallest input: it shows the defect best, so it decides whether the bucket is listed."""
        bucket.smallest = smallest
        bucket.entry = self.bench.listed(smallest)

    def is_known(self, channel: str, damage: str) -> bool:
        """Whether inputs with this damage have killed the channel's subject often enough to teach nothing more."""
        if not damage:
            return False
        ends = sum(
            bucket.count
            for bucket in self.found.values()
            if bucket.first.channel == channel
            and bucket.entry is not None
            and bucket.smallest.crash is not None
            and bucket.smallest.crash.damage == damage
        )
        return ends >= self.equal

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
