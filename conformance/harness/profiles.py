"""The profiles of a run, apart from what they need: a run says its size before it loads the checks."""

from __future__ import annotations

from typing import Final

PROFILES: Final = {"quick": 10_000, "full": 100_000, "soak": 1_000_000}  # generated updates
