"""The time, for code that waits for a server: deadlines, pauses between two looks.

A run that is recorded writes down what the clock showed. A run that judges a recording sees the same moments and does
not pause (``servers.recording``). Code that only measures its own work asks :mod:`time`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Seen = TypeVar("_Seen")


class Clock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Pause."""
        time.sleep(seconds)

    def until(
        self, look: Callable[[], _Seen], seconds: float, pause: float, done: Callable[[_Seen], object] = bool
    ) -> _Seen:
        """Look again and again, with pauses, until it is done or the time is over; returns the last look.

        ``look`` is called once at least. ``done``: whether a look ends the wait; by default a true one does.
        """
        deadline = self.monotonic() + seconds
        while not done(seen := look()) and self.monotonic() <= deadline:
            self.sleep(pause)
        return seen


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


def until(look: Callable[[], _Seen], seconds: float, pause: float, done: Callable[[_Seen], object] = bool) -> _Seen:
    """Look again and again (:meth:`Clock.until`)."""
    return _clock.until(look, seconds, pause, done)
