"""All planted faults: counted by kind and requirement, or planted where they have a bench of their own.

``python -m tests.faults`` (from the repository's root) counts every fault that is planted anywhere in the project, in
one table (:mod:`tests.faults.census`); ``--page`` writes docs/planted-faults.md of it. The faults that tests plant are
run by ``python -m tests.planted``. Five kinds have a bench here:

``--reference`` plants every fault of ``catalogue.toml`` in the reference, and gives it to each of the three tools of
:mod:`tests.faults.tools`. It prints a line for each fault, and the kill rates. ``--first`` stops at the first tool
that kills; ``--tool`` selects tools; ``--runs`` is the number of atheris's executions for each target (0: stored
inputs only, for which no fuzzer is needed). ``--oracles`` plants the faults of ``oracles.toml``, which the fuzz targets
must find alone, each in 60 seconds of CPU. ``--servers`` runs the kit's checks on faulty servers
(:mod:`tests.faults.servers.run`), ``--spark`` the matrices on faulty models (:mod:`tests.faults.spark.run`).
``--live`` plants the faults of ``live.toml``, which the main job must find alone on a sound server
(:mod:`tests.faults.live`). ``--only`` selects faults. With ``--results FILE`` a run that was broken off goes on:
a fault that stands in FILE with the same faulty text is not run again; for servers, FILE keeps the last outcome of
each. Exit status 1 if fewer than 97 % of the faults of the reference die (90 % with ``--live``). It is 1 too if a
tool finds something in the sound reference, or if a faulty server or a fault of a budget lives.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from resource import RLIMIT_CPU, prlimit
from signal import SIGKILL, SIGXCPU
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.faults import live
from tests.faults.catalogue import FAULTS, LIVE_FAULTS, ORACLE_FAULTS, ROOT, faulty_text
from tests.faults.tools import (
    TOOLS,
    Step,
    fuzz_steps,
    property_files,
    property_steps,
    store_inputs,
    vector_steps,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.fault import Fault

LEAST: Final = 0.97
_SECONDS: Final = 200  # of CPU, for one child; one that takes longer hangs
_WAITING: Final = 3600  # seconds on the clock, for one that waits; a full machine must not reach it
_ORACLE_SECONDS: Final = 60  # of CPU, for each fuzz target against a fault of oracles.toml
_NO_LIMIT: Final = 1 << 30  # executions: the time is the limit
_CRASHED: Final = 77  # how libFuzzer ends with a finding


class Outcome(NamedTuple):
    """One tool against one fault. ``by``: what noticed it; ``None``: it lives. ``seconds`` of CPU."""

    by: str | None
    seconds: float


def run_child(fault: str, step: Step, *, seconds: int = _SECONDS) -> Outcome:
    """Run one step; whatever ends the process in another way than well kills the fault."""
    environment = {
        **os.environ, "PYTHONHASHSEED": "0", "HYPOTHESIS_PROFILE": "mutation", "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    if step.arguments[0] == "fuzz":
        Path(step.arguments[3]).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.child", fault, *step.arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=ROOT,
        )  # fmt: skip
        prlimit(child.pid, RLIMIT_CPU, (seconds, seconds + 5))
        timer = Timer(_WAITING, lambda: os.kill(child.pid, SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        hangs = child.returncode == -SIGXCPU or not timer.is_alive()
        timer.cancel()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    cost = usage.ru_utime + usage.ru_stime
    if hangs:
        return Outcome(f"{step.name}: hangs", cost)
    if step.arguments[0] == "fuzz":
        if child.returncode in (0, _CRASHED, 70, 71):
            return Outcome(None if not child.returncode else f"{step.name}: {_finding(text)}", cost)
    elif child.returncode == 0:
        by = json.loads(text.rstrip().rpartition("\n")[2])
        return Outcome(by and _short(by), cost)
    elif child.returncode < 0:
        return Outcome(f"{step.name}: signal {-child.returncode}", cost)
    raise SystemExit(f"{fault}: {step.name} ended with {child.returncode}\n{text[-3000:]}")


def _short(test: str) -> str:
    return test.removeprefix("tests/").replace(f"{ROOT}/tests/", "")


def _finding(text: str) -> str:
    """The exception that a fuzzer ended with."""
    lines = [line.strip() for line in text.splitlines()]
    for line, after in pairwise(lines):
        if "Uncaught Python exception" in line:
            return after[:100]
    return next((line for line in lines if line.startswith("==")), "found something")[:100]


class Kept:
    """Outcomes by fault and by its text, in a file if one was named; ``rows``: as they stand in it."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._lock = Lock()
        self.rows: dict[str, dict[str, Any]] = {}
        if place is not None and place.exists():
            self.rows = json.loads(place.read_text(encoding="utf-8"))

    def of(self, fault: Fault) -> dict[str, Outcome]:
        """The known outcomes of the fault by tool; none if its text is another one now."""
        row = self.rows.get(fault.id, {})
        if row.get("text") != _digest(fault):
            return {}
        return {tool: Outcome(by, seconds) for tool, (by, seconds) in row["outcomes"].items()}

    def store(self, fault: Fault, found: dict[str, Outcome]) -> None:
        """Keep it at once: the run may be broken off."""
        with self._lock:
            self.rows[fault.id] = {"text": _digest(fault), "outcomes": found}
            if self._place is not None:
                self._place.write_text(json.dumps(self.rows, indent=1), encoding="utf-8")


def _digest(fault: Fault) -> str:
    return sha256(faulty_text(fault).encode()).hexdigest()[:16]


class Bench(NamedTuple):
    """The things that all faults share: stored inputs, a folder for fuzzers, and the modules that each target and each
    file of properties runs."""

    inputs: Path
    scratch: Path
    reached: dict[str, list[str]]
    properties: dict[str, list[str]]
    options: argparse.Namespace
    kept: Kept

    def steps(self, fault: Fault) -> list[Step]:
        """Everything that is done with a fault, the cheapest first."""
        options = self.options
        fuzzing = fuzz_steps(
            fault, self.inputs, self.scratch, reached=self.reached, runs=options.runs, rng=options.seed,
            seconds=_ORACLE_SECONDS if options.oracles else 0,
        )  # fmt: skip
        steps = [*vector_steps(fault), *fuzzing, *(property_steps(fault, self.properties) if self.properties else ())]
        return sorted((step for step in steps if step.tool in self.options.tool), key=lambda step: step.cost)

    def judge(self, fault: Fault) -> dict[str, Outcome]:
        """All tools against one fault; a tool that has killed it is through with it."""
        found = self.kept.of(fault)
        open_steps = [step for step in self.steps(fault) if step.tool not in found]
        while open_steps and not (self.options.first and any(outcome.by for outcome in found.values())):
            step = open_steps.pop(0)
            outcome = run_child(fault.id, step)
            before = found.get(step.tool, Outcome(None, 0.0))
            found[step.tool] = Outcome(outcome.by, before.seconds + outcome.seconds)
            if outcome.by is not None:
                open_steps = [other for other in open_steps if other.tool != step.tool]
        left = {step.tool for step in open_steps}
        for tool in self.options.tool:
            if tool not in left:
                found.setdefault(tool, Outcome(None, 0.0))  # it has nothing for this module
        self.kept.store(fault, {tool: outcome for tool, outcome in found.items() if tool not in left})
        return found


def sound(inputs: Path) -> dict[str, list[str]]:
    """The modules of the sound reference that each target runs. A tool that finds something there is of no use."""
    text = run_child("-", Step("", "map", 0, ("map", str(inputs)))).by
    found: dict[str, list[str]] = json.loads(text or "{}")
    return found


def run_by_properties() -> dict[str, list[str]]:
    """The modules of the sound reference that each file of properties runs."""
    texts = {str(path): run_child("-", Step("", "reach", 0, ("reach", str(path)))).by for path in property_files()}
    return {path: json.loads(text or "[]") for path, text in texts.items()}


def line(fault: Fault, found: dict[str, Outcome]) -> str:
    """A fault and what each tool says of it."""
    verdict = "killed" if any(outcome.by for outcome in found.values()) else "LIVES "
    parts = [
        f"{tool} {'-' if outcome.by is None else outcome.by} ({outcome.seconds:.1f} s)"
        for tool, outcome in found.items()
    ]
    return f"{verdict} {fault.at:24} {fault.id:36} {'; '.join(parts)}"


def summary(results: dict[str, dict[str, Outcome]]) -> list[str]:
    """Kill rates of each tool and of all together, and what they cost."""
    lines = []
    for tool in TOOLS:
        met = [found[tool] for found in results.values() if tool in found]
        if met:
            killed = sum(outcome.by is not None for outcome in met)
            cost = sum(outcome.seconds for outcome in met)
            lines.append(f"{tool:10} {killed:4}/{len(met)} killed, {cost:8.0f} s of CPU")
    alone = {
        tool: sum(1 for found in results.values() if [name for name, outcome in found.items() if outcome.by] == [tool])
        for tool in TOOLS
    }
    lines.append("alone: " + ", ".join(f"{tool} {count}" for tool, count in alone.items()))
    killed = sum(any(outcome.by for outcome in found.values()) for found in results.values())
    lines.append(f"{killed}/{len(results)} killed/planted ({killed / len(results):.1%})")
    return lines


def selected(names: Sequence[str], faults: Sequence[Fault] = FAULTS) -> list[Fault]:
    """Faults by id or by module."""
    found = [fault for fault in faults if not names or fault.id in names or fault.at in names]
    known = {fault.id for fault in faults} | {fault.at for fault in faults}
    unknown = set(names) - known
    if unknown:
        raise SystemExit(f"no fault or module of faults is called {', '.join(sorted(unknown))}")
    return found


def arguments_of(arguments: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="only this one (more than once: these)")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only this fault, or this module's")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--reference", action="store_true", help="the faults of the reference, under its tools")
    kinds.add_argument("--oracles", action="store_true", help="the faults that fuzz targets must find alone")
    kinds.add_argument("--servers", action="store_true", help="faulty servers, under the kit's own checks")
    kinds.add_argument("--spark", action="store_true", help="every budget of the matrices, with its faults")
    kinds.add_argument("--live", action="store_true", help="the faults that the main job must find alone")
    kinds.add_argument("--page", action="store_true", help="count all, and write docs/planted-faults.md")
    parser.add_argument("--server", default="auto", metavar="SPEC", help="with --live: a server for the first updates")
    parser.add_argument("--parts", action="store_true", help="with --live: without the whole job at the end")
    parser.add_argument("--updates", type=int, default=live.UPDATES, help="of the main job")
    parser.add_argument("--first", action="store_true", help="the first tool that kills is enough")
    parser.add_argument("--runs", type=int, default=100_000, help="executions of atheris for each target; 0: none")
    parser.add_argument("--seed", type=int, default=1, help="of atheris's random numbers")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time")
    parser.add_argument("--results", type=Path, metavar="FILE", help="go on from what is kept there, and keep it there")
    options = parser.parse_args(arguments)
    benches = (options.reference, options.oracles, options.live, options.servers, options.spark)
    if arguments and not any((*benches, options.page)):
        parser.error("say which faults to plant: --reference, --oracles, --live, --servers or --spark")
    options.tool = ["fuzzing"] if options.oracles else options.tool or list(TOOLS)
    if options.oracles:
        options.runs = max(options.runs, _NO_LIMIT)
    return options


def count(*, page: bool) -> None:
    """Print how many faults of each kind there are, and write the page of it."""
    from tests.faults import census
    from tests.faults import page as pages

    faults = [*census.benches(), *census.by_tests()]
    sys.stdout.write("\n".join([*census.table(faults), ""]))
    if page:
        pages.PAGE.write_text(pages.page(faults), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Count them all, or plant those of one kind."""
    options = arguments_of(arguments)
    if not arguments or options.page:
        count(page=options.page)
        return 0
    if options.spark:
        from tests.faults.spark import run as on_spark

        return on_spark.main(options.only, options.results)
    if options.servers:
        from tests.faults.servers import run

        return run.main(options.only, str(options.seed), options.results)
    if options.live:
        child = partial(run_child, seconds=live.SECONDS)
        chosen = selected(options.only, LIVE_FAULTS)
        return live.main(chosen, options, Kept(options.results), child)
    faults = selected(options.only, ORACLE_FAULTS if options.oracles else FAULTS)
    results: dict[str, dict[str, Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        inputs, scratch = Path(folder, "inputs"), Path(folder, "scratch")
        store_inputs(inputs)
        # Finding them out runs every file of properties, which fuzz targets do without.
        properties = run_by_properties() if "properties" in options.tool else {}
        bench = Bench(inputs, scratch, sound(inputs), properties, options, Kept(options.results))
        for fault, found in zip(faults, pool.map(bench.judge, faults), strict=True):
            results[fault.id] = found
            sys.stdout.write(f"{line(fault, found)}\n")
            sys.stdout.flush()
    sys.stdout.write("\n".join(["", *summary(results), ""]))
    killed = sum(any(outcome.by for outcome in found.values()) for found in results.values())
    return int(killed < LEAST * len(results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
