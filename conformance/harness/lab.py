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

    from conformance.harness.stored_cases import StoredCases


@dataclass(slots=True)
class Lab(session.Lab):
    """A session with the old names."""

    rebuilt: Counter[str] = field(default_factory=Counter)

    @property
    def recorder(self) -> StoredCases:
        return self.stored

    def first(self, signature: str) -> bool:
        return self.stored.first(signature)

    def count_shrunk(self) -> int:
        self.stored.shrunk += 1
        return self.stored.shrunk

    def store(self, case: dict[str, Any]) -> Path | None:
        return self.stored.store(case)

    def replay_of(self, path: Path) -> str:
        return self.stored.replay_of(path)

    def not_applicable(self, check: str, requirement: str, reason: str) -> None:
        Check(self, check, (requirement,)).not_applicable(reason)
