"""The options ``-x`` and ``--max-time``: when a run begins no further check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """When a run begins no further check: at the first failure, or after some ``seconds``."""

    at_failure: bool = False
    seconds: float | None = None

    def reached(self, *, failed: bool, seconds: float) -> str:
        """The reason; empty if the run goes on."""
        if self.at_failure and failed:
            return "stopped at the first failure (-x)"
        if self.seconds is not None and seconds >= self.seconds:
            return f"stopped after {self.seconds:g} s (--max-time)"
        return ""
