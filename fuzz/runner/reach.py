"""The coverage of a corpus in the reference: lines and branches, counted by a plain Python loop without the fuzzer.

``python -m fuzz.runner.reach TARGET…`` is the process that counts (it must begin before the reference is imported);
:func:`reach` starts it. Inputs come from the corpora, the seeds and the regressions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.runner.errors import Unfit
from fuzz.runner.launch import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fuzz.runner.targets import Target


@dataclass(frozen=True, slots=True)
class Reach:
    """The coverage of one module: statements and branches, how many were reached, and the lines that were not."""

    module: str
    lines: int
    lines_reached: int
    branches: int
    branches_reached: int
    missing: tuple[int, ...]


def reach(targets: Sequence[Target], corpora: Path | None) -> tuple[int, list[Reach]]:
    """The number of inputs, and their coverage in the instrumented modules of these targets."""
    with tempfile.TemporaryDirectory(prefix="binlog-lab-fuzz-") as scratch:
        answer = Path(scratch) / "answer.json"
        names = [target.name for target in targets]
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "fuzz.runner.reach", str(answer), str(corpora or ""), *names],
            env=environment(targets[0]),
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if done.returncode or not answer.exists():
            raise Unfit(f"counting ended with status {done.returncode}: {done.stderr.decode()[-500:].strip()}")
        data = json.loads(answer.read_text("utf-8"))
    return data["inputs"], [Reach(**{**item, "missing": tuple(item["missing"])}) for item in data["modules"]]


def main() -> None:
    """Count, and write the result."""
    import coverage  # an extra; the caller reports its absence

    answer, corpora, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    counter = coverage.Coverage(data_file=None, branch=True, source_pkgs=["conformance.reference"], config_file=False)
    counter.start()
    from fuzz.runner.corpora import inputs
    from fuzz.runner.targets import find

    number = 0
    modules: set[str] = set()
    for target in find(names):
        modules.update(target.instrument)
        check = target.module().check
        for data in inputs(target, Path(corpora) if corpora else None):
            number += 1
            with suppress(Exception):  # the runner and the regressions report findings
                check(data)
    counter.stop()
    answer.write_text(json.dumps({"inputs": number, "modules": _modules(counter, modules)}), "utf-8")


def _modules(counter: Any, wanted: set[str]) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.json"
        counter.json_report(outfile=str(path))
        files = json.loads(path.read_text("utf-8"))["files"]
    found = []
    for name, facts in sorted(files.items()):
        module = _module(Path(name))
        if not any(module == one or module.startswith(f"{one}.") for one in wanted):
            continue
        summary = facts["summary"]
        found.append(
            {
                "module": module,
                "lines": summary["num_statements"],
                "lines_reached": summary["covered_lines"],
                "branches": summary["num_branches"],
                "branches_reached": summary["covered_branches"],
                "missing": facts["missing_lines"],
            }
        )
    return found


def _module(path: Path) -> str:
    parts = (Path.cwd() / path).resolve().relative_to(ROOT.resolve()).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


if __name__ == "__main__":
    main()
