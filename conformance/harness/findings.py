"""The one policy for the failures of a run: which are shown and stored, and which become findings.

A failure has a signature. The first of each signature is always shown, and becomes a finding where no listed deviation
explains it: its Case, made smaller as long as time and numbers allow.
"""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECONDS: Final = 20.0  # for shrinking one Case
SHRUNK: Final = 5  # findings of a family of checks that are shrunk; further ones keep their first Case
SHOWN: Final = 20  # failures of a check with a record of their own, beside the first of each signature
SHOWN_OF_BLOCK: Final = 5  # the same of a block whose problems have no signatures
ALIKE: Final = 3  # the same of one signature in a block of hand-made Cases


@dataclass(frozen=True, slots=True)
class StoredCase:
    """A Case as records name it. ``path`` and ``replay``: ``None`` where the run keeps no Cases. ``size``: bytes
    of its data, where it has some."""

    id: str
    path: Path | None = None
    replay: str | None = None
    size: int | None = None

    @property
    def fields(self) -> dict[str, str | None]:
        """The fields of a verdict's record."""
        return {
            "case": self.id,
            "case_file": None if self.path is None else str(self.path),
            "replay": self.replay,
        }


@dataclass(slots=True)
class Findings:
    """The Cases that a run keeps, and the signatures of its failures."""

    cases: Path | None = None  # where Cases are stored; ``None``: nowhere
    replay: str = "binlog-lab replay"
    met: Counter[str] = field(default_factory=Counter)  # signatures
    _shown: Counter[str] = field(default_factory=Counter)  # by check
    _shrunk: Counter[str] = field(default_factory=Counter)  # by family of checks

    def first(self, signature: str) -> bool:
        """Whether this signature is new; remembers it."""
        self.met[signature] += 1
        return self.met[signature] == 1

    def shows(self, check: str, signature: str) -> bool:
        """Whether a failure of a check gets a record of its own; counts it."""
        self._shown[check] += 1
        return self.first(signature) or self._shown[check] <= SHOWN

    def shrinks(self, check: str) -> bool:
        """Whether there is time to shrink one more finding of a check; counts it."""
        family = check.partition("/")[0]
        self._shrunk[family] += 1
        return self._shrunk[family] <= SHRUNK

    def store(self, case: dict[str, Any]) -> StoredCase:
        """Write a Case as a file under its id, unless the run keeps no Cases."""
        size = len(json.dumps(case))
        if self.cases is None:
            return StoredCase(case["id"], size=size)
        path = self.cases / f"{case['id']}.json"
        if not path.exists():  # an id has one content in a run, and a full disk must not cut a stored file
            path.write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")
        return StoredCase(case["id"], path, self.replay_of(path), size)

    def store_script(self, case: str, statements: Iterable[str], first: str = "") -> StoredCase:
        """Write the statements of a Case that has no kind of Case, for MySQL's own client.

        ``first``: the line by which a replay judges them; without it, nothing replays them.
        """
        if self.cases is None:
            return StoredCase(case)
        path = self.cases / f"{case}.sql"
        lines = [*filter(None, [first]), *(f"{statement};" for statement in statements)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return StoredCase(case, path, self.replay_of(path) if first else None)

    def replay_of(self, path: Path) -> str:
        """The command that runs a stored Case again."""
        return f"{self.replay} {shlex.quote(str(path))}"


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read: what it holds may do harm to others."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)  # of a file that was there before
            file.write(content)
    except OSError as problem:
        problem.filename = str(path)  # the error of a full disk names no file
        raise
