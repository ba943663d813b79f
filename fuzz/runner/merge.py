"""A corpus made small: libFuzzer keeps the smallest inputs that together reach all that all of them reach."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.runner.corpora import LARGEST, MOST_FILES
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import Child
from fuzz.runner.regressions import may_crash_others

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fuzz.runner.targets import Target


@dataclass(frozen=True, slots=True)
class Merged:
    """What was read, what was kept, and what that reaches. ``left_out``: kept by libFuzzer, unfit for a commit."""

    target: str
    before: int
    kept: int
    size: int
    edges: int | None
    left_out: int


def merge(target: Target, inputs: Iterable[bytes], into: Path, *, for_commit: bool = False) -> Merged:
    """The inputs that matter, as files of ``into`` named by their content; what lay there is an input and goes.

    ``for_commit``: few, small, and none that may crash other people's software.
    """
    old = sorted(path for path in into.glob("*") if path.is_file()) if into.is_dir() else []
    with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
        every, kept = Path(scratch) / "every", Path(scratch) / "kept"
        every.mkdir()
        kept.mkdir()
        contents = list(dict.fromkeys([*inputs, *(path.read_bytes() for path in old)]))
        for number, data in enumerate(contents):
            (every / f"{number:06d}").write_bytes(data)
        child = Child(target, Path(scratch) / "child")
        # Started again by libFuzzer through a shell: none of those is a child of this process.
        child.start(["-merge=1", "-set_cover_merge=1", *child.options(1), str(kept), str(every)], dies_with_us=False)
        try:
            status = child.listen()
        finally:
            child.stop()
        chosen = sorted((path for path in kept.iterdir() if path.is_file()), key=lambda path: path.stat().st_size)
        if status or (contents and not chosen):
            raise Unfit(f"{target.name}: the merge ended with status {status}: {' | '.join(child.tail[-4:])}")
        fit = chosen
        if for_commit:
            small = [path for path in chosen if path.stat().st_size <= LARGEST]
            fit = [path for path in small if not may_crash_others(path.read_bytes())][:MOST_FILES]
        into.mkdir(parents=True, exist_ok=True)
        for path in old:
            path.unlink()
        for path in fit:
            (into / path.name).write_bytes(path.read_bytes())
    size = sum(path.stat().st_size for path in into.iterdir())
    return Merged(target.name, len(contents), len(fit), size, child.figures.edges, len(chosen) - len(fit))
