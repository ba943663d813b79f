"""The work of a call in steps, for tests; tests bound the time of single lines by doubling their input."""

from __future__ import annotations

from fuzz.work import TooManySteps, count_steps

__all__ = ["TooManySteps", "count_steps"]
