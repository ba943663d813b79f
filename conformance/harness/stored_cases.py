"""Common parts of the records of one run: the stored Cases, and the signatures of known failures."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(slots=True)
class StoredCases:
    """The Cases that a run keeps, and the signatures of its failures."""

    cases: Path | None = None  # where Cases are stored; ``None``: nowhere
    replay: str = "binlog-lab replay"
    met: Counter[str] = field(default_factory=Counter)  # signatures
    shown: int = 0  # verdicts of the update campaign
    shrunk: int = 0  # injected events that were made smaller

    def first(self, signature: str) -> bool:
        """Whether this signature is new; remembers it."""
        self.met[signature] += 1
        return self.met[signature] == 1

    def store(self, case: dict[str, Any]) -> Path | None:
        """Write a Case as a file under its id; ``None`` if the run keeps no Cases."""
        if self.cases is None:
            return None
        path = self.cases / f"{case['id']}.json"
        if not path.exists():  # an id has one content in a run, and a full disk must not cut a stored file
            path.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        return path

    def replay_of(self, path: Path) -> str:
        """The command that runs a stored Case again."""
        return f"{self.replay} {shlex.quote(str(path))}"
