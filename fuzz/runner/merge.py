"""Reduces a corpus: libFuzzer keeps the smallest inputs that together reach all that the whole corpus reaches."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.runner.corpora import LARGEST, MOST_FILES, content_name, read_archive, write_archive
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import Child
from fuzz.runner.regressions import may_crash_others

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fuzz.runner.targets import Target


@dataclass(frozen=True, slots=True)
class Merged:
    """The inputs read, the inputs kept, and their coverage. ``left_out``: kept by libFuzzer, unfit for a commit."""

    target: str
    before: int
    kept: int
    size: int
    edges: int | None
    left_out: int


def merge(target: Target, inputs: Iterable[bytes], into: Path) -> Merged:
    """Write the necessary inputs as files of ``into``, named by their content; earlier files there are inputs and are
    removed.
    """
    old = sorted(path for path in into.glob("*") if path.is_file()) if into.is_dir() else []
    chosen, merged = _chosen(target, [*inputs, *(path.read_bytes() for path in old)])
    into.mkdir(parents=True, exist_ok=True)
    for path in old:
        path.unlink()
    for data in chosen:
        (into / content_name(data)).write_bytes(data)
    return merged


def merge_for_commit(target: Target, inputs: Iterable[bytes], archive: Path) -> Merged:
    """The necessary inputs that may be committed: few, small, and none that may crash other people's software."""
    chosen, merged = _chosen(target, [*inputs, *read_archive(archive)])
    fit = [data for data in chosen if len(data) <= LARGEST and not may_crash_others(data)][:MOST_FILES]
    write_archive(archive, fit)
    return replace(merged, kept=len(fit), size=sum(map(len, fit)), left_out=len(chosen) - len(fit))


def _chosen(target: Target, inputs: Iterable[bytes]) -> tuple[list[bytes], Merged]:
    """The inputs that libFuzzer keeps, the smallest first."""
    with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
        every, kept = Path(scratch) / "every", Path(scratch) / "kept"
        every.mkdir()
        kept.mkdir()
        contents = list(dict.fromkeys(inputs))
        for number, data in enumerate(contents):
            (every / f"{number:06d}").write_bytes(data)
        child = Child(target, Path(scratch) / "child")
        # libFuzzer starts processes again through a shell: none of those is a child of this process.
        child.start(["-merge=1", "-set_cover_merge=1", *child.options(1), str(kept), str(every)], dies_with_us=False)
        try:
            status = child.listen()
        finally:
            child.stop()
        chosen = sorted(
            (path.read_bytes() for path in kept.iterdir() if path.is_file()), key=lambda data: (len(data), data)
        )
        if status or (contents and not chosen):
            raise Unfit(f"{target.name}: the merge ended with status {status}: {' | '.join(child.tail[-4:])}")
    size = sum(map(len, chosen))
    return chosen, Merged(target.name, len(contents), len(chosen), size, child.figures.edges, 0)
