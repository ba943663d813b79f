"""When a server may have written the times of its log, also where somebody set its clock meanwhile. Pure.

The lab reads the server's clock before and behind some work, and its own monotonic clock around each reading. Where the
two disagree, the server's clock was set. Then each time is from before that or from behind it, and both are judged.
All times are microseconds: since the epoch, or as a difference.
"""

from __future__ import annotations

from typing import Final

SECOND: Final = 1_000_000
_SLEWED: Final = 1000  # one part in so many: the kernel corrects a clock by half as much without setting it (adjtimex)
_COARSE: Final = 2 * SECOND  # between times in whole seconds, one of them from behind the step
_U4: Final = 1 << 32


def step_between(clock: tuple[int, int], elapsed: tuple[int, int] | None) -> int:
    """By how much a clock was set between two readings; 0 if it ran on.

    ``elapsed``: what passed between the readings at least and at most, by a monotonic clock; ``None``: unknown.
    """
    if elapsed is None:
        return 0
    passed = clock[1] - clock[0]
    least, most = elapsed[0] - elapsed[0] // _SLEWED, elapsed[1] + elapsed[1] // _SLEWED
    return passed - least if passed < least else max(0, passed - most)


class ServerClock:
    """The possible times of a log. ``step``: by how much the clock was set; 0: it ran.

    ``clock``: readings before and behind; ``None``: any time is possible. ``elapsed``: as in :func:`step_between`.
    ``step`` as an argument is for a log whose own readings are unknown.
    """

    def __init__(self, clock: tuple[int, int] | None, elapsed: tuple[int, int] | None = None, *, step: int = 0) -> None:
        self.step = step if clock is None else step_between(clock, elapsed)
        self._windows: tuple[tuple[int, int], ...] = ((0, _U4 * SECOND),) if clock is None else (clock,)
        self.tolerance = _COARSE + abs(self.step) if self.step else 0
        self._longest = 0
        if clock is not None and elapsed is not None and self.step:
            self._longest = elapsed[1]
            self._windows = (clock[0], clock[0] + elapsed[1]), (clock[1] - elapsed[1], clock[1])
            if abs(self.step) > elapsed[1] + 2 * SECOND:  # so that each time is in one of both windows
                self.tolerance = _COARSE

    @property
    def words(self) -> str:
        """When times are possible."""
        return ", or ".join(str(low) if low == high else f"{low} to {high}" for low, high in self._windows)

    @property
    def words_in_seconds(self) -> str:
        """The same in whole seconds."""
        seconds = ((low // SECOND, high // SECOND) for low, high in self._windows)
        return ", or ".join(str(low) if low == high else f"{low} to {high}" for low, high in seconds)

    def possible(self, time: int) -> bool:
        """Whether the clock can have shown this."""
        return any(low <= time <= high for low, high in self._windows)

    def possible_second(self, second: int) -> bool:
        """Whether the clock can have shown this second."""
        return any(low // SECOND <= second <= high // SECOND for low, high in self._windows)

    def settled(self, time: int) -> int:
        """The time that a clock would have shown that nobody set, where it is known which clock showed this one."""
        if self.tolerance != _COARSE or len(self._windows) < 2:
            return time
        low, high = self._windows[0]
        return time if low - SECOND < time <= high else time - self.step

    def is_behind(self, later: int, earlier: int) -> bool:
        """Whether a time that belongs later is one that went back."""
        return self.settled(later) + self.tolerance < self.settled(earlier)

    def lasted(self, seconds: int, most: int) -> bool:
        """Whether an event of at most ``most`` seconds can say that it took this many, a U4."""
        if 0 <= seconds <= max(0, most):
            return True
        if not self.step:
            return False
        around = _COARSE // SECOND
        longest = self._longest // SECOND + around
        moved = (seconds - self.step // SECOND + (_U4 >> 1)) % _U4 - (_U4 >> 1)
        return seconds <= longest or -around <= moved <= longest
