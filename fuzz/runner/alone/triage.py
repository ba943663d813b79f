"""The outcome of an input in a process without the fuzzer, and the smallest input with the same outcome.

Also how the target's work grows with some inputs of its corpus (``fuzz.growth``).
"""

from __future__ import annotations

import hashlib
import time
from contextlib import nullcontext, suppress
from math import inf
from typing import TYPE_CHECKING, Final

from fuzz.runner.alone.sandbox import GROWTH, PASSED, InputOutcome, Sandbox, TimeOver
from fuzz.runner.alone.shrink import shrink
from fuzz.runner.signature import signature

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator

    from fuzz.runner.targets import Target

HANG_SECONDS: Final = 2.0  # seconds that a smaller input must hang for during shrinking
UNINSTRUMENTED: Final = 4  # about so many times faster than under the fuzzer
HANG_FACTOR: Final = 4  # factor for hangs, which take longer


def confirm(target: Target, data: bytes, seen: InputOutcome, *, timeout: float) -> tuple[InputOutcome, bool]:
    """The outcome without the fuzzer, and whether the finding occurs there; otherwise the outcome under the fuzzer."""
    with Sandbox(target, timeout=confirming(timeout) if seen.kind == "hang" else timeout) as sandbox:
        outcome = sandbox.run(data)
    return (seen, False) if outcome.kind == PASSED else (outcome, True)


def confirming(timeout: float) -> float:
    """The limit for an input that took longer than ``timeout`` under the fuzzer, in seconds."""
    return max(1.0, timeout / UNINSTRUMENTED)


def smallest(
    target: Target,
    data: bytes,
    outcome: InputOutcome,
    *,
    timeout: float,
    seconds: float,
    until: float = inf,
    stop: threading.Event | None = None,
    shared: Sandbox | None = None,
) -> bytes:
    """The smallest input with the same signature that the time allows.

    ``until``: the clock's value at which an input that still runs is broken off. ``shared``: a process for inputs that
    neither hang nor grow.
    """
    hang = outcome.kind == "hang"
    limit = min(timeout, HANG_SECONDS) if hang else timeout
    own = Sandbox(target, timeout=limit, growth=outcome.kind == GROWTH) if shared is None else nullcontext(shared)
    with own as sandbox:

        def same(candidate: bytes) -> bool:
            if stop and stop.is_set():
                return False
            try:
                return sandbox.run(candidate, until).like(outcome.signature).signature == outcome.signature
            except TimeOver:
                return False

        found = shrink(data, same, seconds=seconds)
    if hang and found != data:  # a slow input is no hang
        return found if confirm(target, found, outcome, timeout=timeout)[0].signature == outcome.signature else data
    return found


def patience(outcome: InputOutcome) -> int:
    """How many times the usual time a finding gets to be made smaller."""
    return HANG_FACTOR if outcome.kind == "hang" else 1


def unseen(kind: str, message: str) -> InputOutcome:
    """The outcome of an input that ended its process before the process could report anything."""
    return InputOutcome(kind=kind, signature=signature(kind, [], message), message=message, trace="")


# --- growth -----------------------------------------------------------------------------------------------------------


def growing(
    target: Target,
    inputs: Iterable[bytes],
    *,
    seed: int,
    timeout: float,
    stop: threading.Event,
    seconds: float | None = None,
    count: int | None = None,
) -> Iterator[tuple[bytes, InputOutcome]]:
    """Inputs at which the work of a target grows too fast, one for each signature: of so many, or in that time."""
    if count == 0:
        return
    begun = time.monotonic()
    seen: set[str] = set()
    until = inf if seconds is None else begun + seconds
    with Sandbox(target, timeout=timeout * HANG_FACTOR, growth=True) as sandbox, suppress(TimeOver):
        for data in _mixed(inputs, seed)[:count]:
            if stop.is_set() or time.monotonic() > until:
                return
            outcome = sandbox.run(data, until)
            if outcome.kind == GROWTH and outcome.signature not in seen:
                seen.add(outcome.signature)
                yield data, outcome


def _mixed(inputs: Iterable[bytes], seed: int) -> list[bytes]:
    """The inputs in an order by chance of the seed."""
    salt = seed.to_bytes(8, "little")
    return sorted(set(inputs), key=lambda data: hashlib.blake2b(data, salt=salt, digest_size=8).digest())
