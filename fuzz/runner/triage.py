"""The outcome of an input in a process without the fuzzer, and the smallest input with the same outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.runner.sandbox import PASSED, Outcome, Sandbox
from fuzz.runner.shrink import shrink
from fuzz.runner.signature import signature

if TYPE_CHECKING:
    import threading

    from fuzz.runner.targets import Target

HANG_SECONDS: Final = 2.0  # seconds that a smaller input must hang for during shrinking
UNINSTRUMENTED: Final = 4  # about so many times faster than under the fuzzer
HANG_FACTOR: Final = 4  # factor for hangs, which take longer


def confirm(target: Target, data: bytes, seen: Outcome, *, timeout: float) -> tuple[Outcome, bool]:
    """The outcome without the fuzzer, and whether the finding occurs there; otherwise the outcome under the fuzzer."""
    with Sandbox(target, timeout=max(1.0, timeout / UNINSTRUMENTED) if seen.kind == "hang" else timeout) as sandbox:
        outcome = sandbox.run(data)
    return (seen, False) if outcome.kind == PASSED else (outcome, True)


def smallest(
    target: Target,
    data: bytes,
    outcome: Outcome,
    *,
    timeout: float,
    seconds: float,
    stop: threading.Event | None = None,
) -> bytes:
    """The smallest input with the same signature that the time allows."""
    hang = outcome.kind == "hang"
    with Sandbox(target, timeout=min(timeout, HANG_SECONDS) if hang else timeout) as sandbox:

        def same(candidate: bytes) -> bool:
            return not (stop and stop.is_set()) and sandbox.run(candidate).signature == outcome.signature

        found = shrink(data, same, seconds=seconds * (HANG_FACTOR if hang else 1))
    if hang and found != data:  # a slow input is no hang
        return found if confirm(target, found, outcome, timeout=timeout)[0].signature == outcome.signature else data
    return found


def unseen(kind: str, message: str) -> Outcome:
    """The outcome of an input that ended its process before the process could report anything."""
    return Outcome(kind=kind, signature=signature(kind, [], message), message=message, trace="")
