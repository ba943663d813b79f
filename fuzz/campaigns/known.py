"""Kinds that earlier campaigns have found: the facts that lie beside each finding, in ``kind.json``.

A campaign reads them first. It counts inputs of a known kind, and neither stores nor shrinks them again.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "kind.json"


@dataclass(slots=True, kw_only=True)
class Known:
    """The facts about one kind.

    ``listed``: the deviation that explains it, or an empty text. ``stacks``: how often each stack was seen. ``damage``:
    the listed damage of its inputs.
    """

    kind: tuple[str, ...]
    listed: str = ""
    damage: str = ""
    stacks: Counter[str] = field(default_factory=Counter)
    count: int = 0
    shrunk: bool = False  # whether the time for the smallest input was spent
    first: str = ""  # campaign, seed and place of its first input
    kit: str = __version__

    @property
    def command(self) -> str:
        """The command that gives its first input to a server again; empty where that was not noted."""
        words = self.first.split(" ", 3)
        if len(words) != 4:
            return ""
        _, campaign, seed, place = words
        return f"binlog-lab fuzz server --campaign {campaign} --seed {seed} --only {place}"

    def write(self, directory: Path) -> None:
        """Write the facts into the directory of the kind."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        path = directory / FILE
        path.touch(mode=0o600)
        path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_known(root: Path) -> dict[tuple[str, ...], Known]:
    """The kinds whose directories are in ``root``; facts that cannot be read are no facts."""
    every = (read_kind(path.parent) for path in sorted(root.glob(f"*/{FILE}")))
    return {known.kind: known for known in every if known is not None}


def read_kind(directory: Path) -> Known | None:
    """The facts in the directory of a kind; ``None`` where they cannot be read."""
    try:
        facts = json.loads((directory / FILE).read_text("utf-8"))
        return Known(
            **{name: facts[name] for name in Known.__dataclass_fields__ if name in facts}
            | {"kind": tuple(facts["kind"]), "stacks": Counter(facts["stacks"])}
        )
    except (OSError, ValueError, TypeError, KeyError):
        return None
