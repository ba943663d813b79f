"""The lines and branches that inputs reach, counted by a plain Python loop without the fuzzer.

``python -m fuzz.runner.reach ORDER ANSWER`` is the process that counts (it must begin before the code is imported);
:func:`count` starts it. Inputs come from the corpora, the seeds and the regressions, or from a run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.extras import to_install
from fuzz.runner.errors import Unfit
from fuzz.runner.launch import environment
from fuzz.runner.loading import Words, begin, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fuzz.runner.targets import Target

_BUSY: Final = 5  # times the seconds of the processor, on the clock
_START: Final = 60.0  # seconds that a busy machine may take for the imports of the process, and for its answer


@dataclass(frozen=True, slots=True)
class Reach:
    """The coverage of one module: statements and branches, how many were reached, and the lines that were not.

    ``missing_before``: the lines that were not reached before the later inputs ran.
    """

    module: str
    file: str
    lines: int
    branches: int
    branches_reached: int
    missing: tuple[int, ...]
    missing_before: tuple[int, ...]

    @property
    def lines_reached(self) -> int:
        """The number of lines that were reached."""
        return self.lines - len(self.missing)


@dataclass(frozen=True, slots=True)
class Counted:
    """The lines that were counted. ``inputs``: those that ran; ``left``: those for which there was no time."""

    inputs: int = 0
    left: int = 0
    modules: tuple[Reach, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files with the inputs of a target. ``later``: those whose lines are told apart from the lines of others."""

    target: Target
    first: Sequence[Path]
    later: Sequence[Path] = field(default=())


def reach(targets: Sequence[Target], corpora: Path | None) -> Counted:
    """The coverage of all stored inputs of some targets in their modules."""
    from fuzz.runner.corpora import inputs

    with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
        given = [Inputs(target, _written(Path(scratch) / target.name, inputs(target, corpora))) for target in targets]
        return count(given)


def _written(folder: Path, contents: Iterable[bytes]) -> list[Path]:
    folder.mkdir()
    paths = []
    for number, data in enumerate(contents):
        paths.append(folder / f"{number:06d}")
        paths[-1].write_bytes(data)
    return paths


def count(given: Sequence[Inputs], seconds: float | None = None) -> Counted:
    """The coverage of inputs in the modules of their targets, which have one place. ``seconds``: how long the
    processor may work on all inputs.

    Raises :class:`Unfit` where it cannot be counted.
    """
    if find_spec("coverage") is None:
        raise Unfit(f"counting lines needs coverage: {to_install('fuzz')}")
    modules = sorted({name for each in given for name in each.target.code})
    if not modules:
        return Counted()
    order = {
        "modules": modules,
        "seconds": seconds,
        "targets": [
            {"words": asdict(each.target.words), "inputs": [[*map(str, each.first)], [*map(str, each.later)]]}
            for each in given
        ],
    }
    with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
        answer = Path(scratch) / "answer.json"
        (Path(scratch) / "order.json").write_text(json.dumps(order), "utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - our own module
                [sys.executable, "-m", "fuzz.runner.reach", str(Path(scratch) / "order.json"), str(answer)],
                env=environment(given[0].target),
                cwd=scratch,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
                timeout=None if seconds is None else _BUSY * seconds + _START,
            )
        except subprocess.TimeoutExpired as problem:
            raise Unfit("lines could not be counted: one input did not come to its end") from problem
        if done.returncode or not answer.exists():
            tail = done.stderr.decode(errors="replace")[-500:].strip()
            raise Unfit(f"counting lines ended with status {done.returncode}: {tail}")
        data = json.loads(answer.read_text("utf-8"))
    found = tuple(
        Reach(**{**item, "missing": tuple(item["missing"]), "missing_before": tuple(item["missing_before"])})
        for item in data["modules"]
    )
    return Counted(data["inputs"], data["left"], found)


def main() -> None:
    """Count, and write the result."""
    import coverage  # an extra; the caller reports its absence

    order = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    targets = [(Words(**each["words"]), each["inputs"]) for each in order["targets"]]
    for words, _ in targets:
        sys.path[:0] = filter(None, [words.folder, *words.modules.split(os.pathsep)])
    home, names = Path.cwd(), {path: name for one in order["modules"] for name, path in _files(one)}
    counter = coverage.Coverage(data_file=None, branch=True, source_pkgs=order["modules"], config_file=False)
    counter.start()
    loaded = [(load(words), inputs) for words, inputs in targets]
    for target, _ in loaded:
        begin(target)
    clock = _Clock(order["seconds"])
    numbers = [0, 0]  # inputs that ran, and those that were left
    reports = []
    for phase in range(2):
        for target, inputs in loaded:
            _run(target.check, inputs[phase], clock, numbers)
        if phase == 1 or not clock.is_late:  # else nobody knows what the first inputs reach
            counter.stop()
            reports.append(_report(counter, home))
            counter.start()
    counter.stop()
    before, after = reports[0], reports[-1]
    modules = [_facts(names[path], path, before[path], facts) for path, facts in after.items() if path in names]
    answer = {"inputs": numbers[0], "left": numbers[1], "modules": sorted(modules, key=itemgetter("module"))}
    Path(sys.argv[2]).write_text(json.dumps(answer), "utf-8")


class _Clock:
    """The time for all inputs: seconds of the processor, and more of the clock, for a decoder that waits."""

    def __init__(self, seconds: float | None) -> None:
        self._processor = float("inf") if seconds is None else time.process_time() + seconds
        self._until = float("inf") if seconds is None else time.monotonic() + _BUSY * seconds

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.process_time() > self._processor or time.monotonic() > self._until


def _run(check: Callable[[bytes], None], inputs: Sequence[str], clock: _Clock, numbers: list[int]) -> None:
    """Run inputs as long as there is time."""
    for path in inputs:
        late = clock.is_late
        numbers[late] += 1
        if not late:
            with suppress(Exception, SystemExit):  # the runner and the regressions report findings
                check(Path(path).read_bytes())


def _facts(name: str, path: Path, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        "module": name,
        "file": str(path),
        "lines": after["summary"]["num_statements"],
        "branches": after["summary"]["num_branches"],
        "branches_reached": after["summary"]["covered_branches"],
        "missing": after["missing_lines"],
        "missing_before": before["missing_lines"],
    }


def _report(counter: Any, home: Path) -> dict[Path, Any]:
    """The lines reached so far, by file. ``home``: the folder in which this process began."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.json"
        counter.json_report(outfile=str(path))
        files = json.loads(path.read_text("utf-8"))["files"]
    return {(home / name).resolve(): facts for name, facts in files.items()}


def _files(name: str) -> Iterator[tuple[str, Path]]:
    """The modules of a module or package, with their files."""
    found = find_spec(name)
    if found is None:
        return
    for place in found.submodule_search_locations or ():
        for path in Path(place).rglob("*.py"):
            parts = (name, *path.relative_to(place).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.resolve()
    if found.origin and not found.submodule_search_locations:
        yield name, Path(found.origin).resolve()


if __name__ == "__main__":
    main()
