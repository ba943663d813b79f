"""The finished cells of a run: ``manifest.jsonl``, one line for the run, then one for each finished cell.

The file is written beside its place and renamed into it, so there is never half a line. A run continues from a manifest
only if it would make the same rows in the same files: same matrix digest, number of scenarios, columns and length of
tasks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from scenarios import plan
from scenarios.digest import CellTally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from scenarios.matrix import Matrix

MANIFEST: Final = "manifest.jsonl"


class ManifestError(Exception):
    """A manifest is unreadable."""


class Manifest:
    """The manifest in a directory. ``cells``: the finished cells, with their tallies; ``resumed``: an equal run began
    before; ``cores``: those for which that run was cut into tasks, which its rows still have.
    """

    def __init__(self, directory: Path, matrix: Matrix, counts: Sequence[int], rows: str, cores: int = 1) -> None:
        self.path = directory / MANIFEST
        self.head: dict[str, Any] = {
            "type": "run",
            "matrix": matrix.name,
            "digest": matrix.digest,
            "scenarios": sum(counts),
            "cells": sum(count > 0 for count in counts),
            "columns": list(matrix.columns),
            "rows": rows,
            "cores": cores,
            "task_seconds": plan.TASK_SECONDS,
        }
        self.cells: dict[int, CellTally] = {}
        self.resumed = self._read()

    def _read(self) -> bool:
        """Take over the cells and the cut of an earlier, equal run; return whether there was one."""
        try:
            head, cells = finished(self.path)
        except FileNotFoundError:
            return False
        if head | {"cores": self.cores} != self.head:
            return False
        self.head = self.head | {"cores": head.get("cores", self.cores)}
        self.cells = cells
        return True

    @property
    def cores(self) -> int:
        """The cores for which the run is cut into tasks."""
        return int(self.head["cores"])

    def add(self, done: Mapping[int, CellTally]) -> None:
        """Note finished cells."""
        self.cells.update(done)
        lines = [self.head, *({"type": "cell", "cell": cell, **entry._asdict()} for cell, entry in self.cells.items())]
        beside = self.path.with_suffix(".new")
        beside.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        beside.replace(self.path)

    def start(self) -> None:
        """Begin an empty manifest."""
        self.cells = {}
        self.add({})


def finished(path: Path) -> tuple[dict[str, Any], dict[int, CellTally]]:
    """The first line of a manifest, and the cells that it lists as finished."""
    try:
        head, *cells = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return dict(head), {
            int(record["cell"]): CellTally(int(record["rows"]), int(record["scenarios"]), int(record["xor"]))
            for record in cells
        }
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ManifestError(f"{path}: not a manifest: {error}") from error
