"""What a found input really does, in a process without the fuzzer; and the smallest input that does the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fuzz.runner.sandbox import PASSED, Outcome, Sandbox
from fuzz.runner.shrink import shrink
from fuzz.runner.signature import signature

if TYPE_CHECKING:
    import threading

    from fuzz.runner.targets import Target

HANG_SECONDS: Final = 2.0  # that a smaller input must hang for while it is made smaller
UNINSTRUMENTED: Final = 4  # times faster than under the fuzzer, about
HANG_FACTOR: Final = 4  # hangs take their time: more of it


def confirm(target: Target, data: bytes, seen: Outcome, *, timeout: float) -> tuple[Outcome, bool]:
    """The outcome without the fuzzer, and whether there is one; else what was seen with it."""
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
    if hang and found != data:  # what is only slow is no hang
        return found if confirm(target, found, outcome, timeout=timeout)[0].signature == outcome.signature else data
    return found


def unseen(kind: str, message: str) -> Outcome:
    """Of an input that ended its process before anything could be told."""
    return Outcome(kind=kind, signature=signature(kind, [], message), message=message, trace="")
