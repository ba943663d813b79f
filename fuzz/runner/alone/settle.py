"""Findings after the fuzzing: all are confirmed first, then each is made smaller, within one time for all of them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.servers.closing import Closing
from fuzz.runner.alone import triage
from fuzz.runner.alone.sandbox import GROWTH, Sandbox, TimeOver

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from fuzz.runner.alone.sandbox import InputOutcome
    from fuzz.runner.targets import Target


@dataclass(frozen=True, slots=True)
class Seen:
    """An input, and its outcome under the fuzzer."""

    data: bytes
    outcome: InputOutcome


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The outcome of an input without the fuzzer. ``again``: whether the finding occurred there."""

    seen: Seen
    outcome: InputOutcome
    again: bool

    @property
    def was_busy(self) -> bool:
        """Whether it is no finding: a limit of time that the input keeps when it runs alone."""
        return self.seen.outcome.kind == "hang" and not self.again


class Spending:
    """A time that is spent on several occasions, in seconds."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def spent(self) -> Iterator[float]:
        """Spend time; gives the clock's value (``time.monotonic``) at which there is none left."""
        begun = time.monotonic()
        try:
            yield begun + self.left
        finally:
            self.left = max(0.0, self.left - (time.monotonic() - begun))


@dataclass(frozen=True, slots=True)
class Smaller:
    """A smaller input. ``done``: whether it had the whole time that a finding gets, or needed less."""

    data: bytes
    done: bool


class Bench(Closing):
    """Runs the findings of one target again, and makes them smaller; one process serves all that do not hang.

    ``timeout``: seconds for one input.
    """

    def __init__(self, target: Target, *, timeout: float, stop: threading.Event) -> None:
        self._target = target
        self._timeout = timeout
        self._stop = stop
        self._sandbox: Sandbox | None = None

    def warm(self) -> None:
        """Start the process, whose imports take seconds, before it is needed."""
        self._shared()

    def confirm_all(self, found: Sequence[Seen], until: float) -> Iterator[Confirmed]:
        """Run inputs again without the fuzzer, in their order, until the time is over."""
        for seen in found:
            if self._stop.is_set() or time.monotonic() >= until:
                return
            try:
                outcome = self._run(seen, until).like(seen.outcome.signature)
            except TimeOver:
                self.close()
                return
            yield Confirmed(seen, outcome if outcome.failed else seen.outcome, outcome.failed)

    def _run(self, seen: Seen, until: float) -> InputOutcome:
        if seen.outcome.kind != "hang":
            return self._shared().run(seen.data, until)
        with Sandbox(self._target, timeout=triage.confirming(self._timeout)) as sandbox:
            return sandbox.run(seen.data, until)

    def _shared(self) -> Sandbox:
        if self._sandbox is None:
            self._sandbox = Sandbox(self._target, timeout=self._timeout)
        return self._sandbox

    def shrink(self, seen: Seen, *, seconds: float, share: float, until: float) -> Smaller:
        """Make one input smaller in its share of the time. ``seconds``: what it gets where there is enough."""
        begun = time.monotonic()
        allowed = min(seconds * triage.patience(seen.outcome), share)
        own = seen.outcome.kind in ("hang", GROWTH)
        small = triage.smallest(
            self._target,
            seen.data,
            seen.outcome,
            timeout=self._timeout,
            seconds=allowed,
            until=until,
            stop=self._stop,
            shared=None if own else self._shared(),
        )
        ended = time.monotonic() - begun < allowed
        return Smaller(small, not self._stop.is_set() and (ended or allowed < share))

    def close(self) -> None:
        """End the process."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None
