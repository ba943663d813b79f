"""The time, for code that waits for a server: deadlines, pauses between two looks.

A run that is recorded writes down what the clock showed. A run that judges a recording sees the same moments and does
not pause (``servers.recording``). Code that only measures its own work asks :mod:`time`.
"""

from __future__ import annotations

import time


class Clock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause."""
        time.sleep(seconds)


REAL = Clock()
_clock = REAL


def use(clock: Clock) -> None:
    """Let this process ask another clock from now on."""
    global _clock  # noqa: PLW0603 - the time is one for the whole process
    _clock = clock


def monotonic() -> float:
    """Seconds since some moment."""
    return _clock.monotonic()


def sleep(seconds: float) -> None:
    """Pause."""
    _clock.sleep(seconds)
