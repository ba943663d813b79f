"""Passing: what rooms that do not use the recorder yet find at the session."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.harness import session
from conformance.harness.check import Check
from conformance.harness.settings import Settings

__all__ = ["Lab", "Settings"]

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class Lab(session.Lab):
    """A session with the old names."""

    rebuilt: Counter[str] = field(default_factory=Counter)

    def first(self, signature: str) -> bool:
        return self.recorder.first(signature)

    def count_shrunk(self) -> int:
        self.recorder.shrunk += 1
        return self.recorder.shrunk

    def store(self, case: dict[str, Any]) -> Path | None:
        return self.recorder.store(case)

    def replay_of(self, path: Path) -> str:
        return self.recorder.replay_of(path)

    def not_applicable(self, check: str, requirement: str, reason: str) -> None:
        Check(self, check, (requirement,)).not_applicable(reason)
