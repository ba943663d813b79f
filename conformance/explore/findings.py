"""Findings: problems that came again, shrunk, proved by a script without the kit, and grouped."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from conformance.explore.steps import Script, Step, dump_script
from conformance.explore.traits import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from conformance.explore.oracles.problem import Problem

_ALIKE: Final = 2  # traits that two findings of one fault share


@dataclass(frozen=True, slots=True)
class Known:
    """A listed fault: its oracle, a pattern of its kind, the traits that its scripts have."""

    id: str
    oracle: str
    kind: str
    traits: frozenset[str]
    observed: tuple[str, ...]
    text: str

    @property
    def certain(self) -> bool:
        """Whether the kind alone tells the fault: it names the number of an error."""
        return any(letter.isdigit() for letter in self.kind)

    def without(self, script: Iterable[Step]) -> Script:
        """The steps of a script that have none of the traits: what they still show is no sign of this fault."""
        return tuple(step for step in script if not self.traits & traits_of((step,)))

    def fits(self, oracle: str, kind: str, traits: frozenset[str]) -> bool:
        """Whether a problem is this fault."""
        return (
            re.fullmatch(self.oracle, oracle) is not None
            and re.search(self.kind, kind) is not None
            and self.traits <= traits
        )


def load_known(file: Path | None = None) -> tuple[Known, ...]:
    """The faults that are known, from ``known.toml``."""
    text = (file or resources.files(__package__).joinpath("known.toml")).read_text("utf-8")
    return tuple(
        Known(
            row["id"], row["oracle"], row["kind"], frozenset(row["traits"]), tuple(row["observed"]), row["text"].strip()
        )
        for row in tomllib.loads(text).get("known", ())
    )


@dataclass(slots=True)
class Finding:
    """One fault, as its shortest script shows it. ``shown`` of ``tries`` fresh servers showed it without the kit."""

    problem: Problem
    script: Script
    topology: str
    seed: int
    episode: int
    text: str = ""
    suffix: str = "sql"
    shown: int = 0
    tries: int = 0
    hits: int = 1
    known: str = ""
    traits: frozenset[str] = field(default_factory=frozenset)
    name: str = ""

    def __post_init__(self) -> None:
        self.traits = traits_of(self.script)

    def is_same(self, other: Finding) -> bool:
        """Whether another finding is this fault: the same kind of problem, and two traits or all in common."""
        common = self.traits & other.traits
        return self.problem.key == other.problem.key and (len(common) >= _ALIKE or self.traits == other.traits)

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON values."""
        return {
            "name": self.name, "file": f"{self.name}.{self.suffix}", "oracle": self.problem.oracle,
            "kind": self.problem.kind, "detail": self.problem.detail,
            "known": self.known, "hits": self.hits, "shown": self.shown, "tries": self.tries, "topology": self.topology,
            "seed": self.seed, "episode": self.episode, "traits": sorted(self.traits), "statements": len(self.script),
            "script": dump_script(self.script), "show": list(self.problem.show),
        }  # fmt: skip

    def store(self, folder: Path) -> None:
        """Write the script and the finding."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.{self.suffix}").write_text(self.text, "utf-8")
        (folder / f"{self.name}.json").write_text(json.dumps(self.as_json(), ensure_ascii=False, indent=1), "utf-8")
