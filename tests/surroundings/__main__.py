"""Whether the surroundings change a verdict: ``python -m tests.surroundings`` (from the repository's root).

Each seed has a quiet run of the kit on a real server. The first ``--clock`` seeds have another one with stepping
clocks: those of the kit and of all its servers step by an hour, to and fro, every ``--every`` seconds
(:mod:`tests.surroundings.clock`; it needs a C compiler). The first ``--load`` seeds have one beside fifteen processes
that do nothing but run. Each row of ``results.json`` must have the verdict that it has in the quiet run. A run with a
stepping clock must name a step that it saw on a server: otherwise nothing was tried.

``--jobs`` runs go at once; each needs some 4 GB. ``--results FILE`` keeps a line of JSON for each run, and goes on
where it was broken off; ``--reports DIR`` keeps the reports of runs that do not hold. Exit status 1 if one does not
hold, or if nothing was compared; 3 if the clock cannot be stepped here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from tests.live import environment
from tests.surroundings.clock import NoCompilerError, SteppingClock, compiled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

QUIET, CLOCK, LOAD = "quiet", "clock", "load"
BUSY: Final = 15
_SPIN: Final = "while True: pass"
_RUNNING: Final = set[subprocess.Popen[str]]()  # runs of the kit


class Run(NamedTuple):
    """One run: its surroundings and its seed."""

    surroundings: str
    seed: int

    @property
    def name(self) -> str:
        """A word for files and lines."""
        return f"{self.surroundings}-{self.seed}"


class Place(NamedTuple):
    """Where runs work, and what they share. ``stepper``: the file with the stepping clock, where one is asked for."""

    folder: Path
    stepper: Path | None
    options: argparse.Namespace


def take(run: Run, place: Place) -> dict[str, Any]:
    """Run the kit, and say what became of it: a row of JSON."""
    options, report = place.options, place.folder / run.name
    words = ["conformance", "--server", "process", "--seed", str(run.seed), "--updates", str(options.updates)]
    command = [sys.executable, "-m", "conformance", *words, *options.more, "--report", str(report)]
    with ExitStack() as stack:
        env = environment()
        if run.surroundings == CLOCK:
            assert place.stepper is not None
            clock = SteppingClock(place.stepper, place.folder / f"{run.name}.clock")
            env |= clock.environment
            stack.enter_context(clock.stepping(options.every))
        begun = time.monotonic()
        with subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace",
        ) as process:  # fmt: skip
            _RUNNING.add(process)
            said = process.communicate()[0]
            _RUNNING.discard(process)
    report.mkdir(exist_ok=True)
    (report / "output.txt").write_text(said, encoding="utf-8")
    return {
        "run": run.name,
        "updates": options.updates,
        "exit_code": process.returncode,
        "seconds": round(time.monotonic() - begun),
        "load": round(os.getloadavg()[0], 1),
        "steps": steps(report / "run.jsonl"),
        "verdicts": verdicts(report / "results.json"),
    }


def steps(stream: Path) -> int:
    """The steps of a server's clock that a run saw and named."""
    if not stream.exists():
        return 0
    with stream.open(encoding="utf-8") as lines:  # texts have separators at which splitlines would part them
        return sum(record["type"] == "notice" and record["kind"] == "clock-step" for record in map(json.loads, lines))


def verdicts(results: Path) -> dict[str, str]:
    """The verdict of each row; empty without a report."""
    rows = json.loads(results.read_text("utf-8"))["requirements"] if results.exists() else {}
    return {name: row["verdict"] for name, row in rows.items()}


def problems(row: Mapping[str, Any], quiet: Mapping[str, Any], surroundings: str) -> list[str]:
    """The differences between a run and the quiet one of its seed, and why it tried nothing."""
    found = [
        f"{name}: {quiet['verdicts'].get(name, 'no row')}, then {row['verdicts'].get(name, 'no row')}"
        for name in sorted({*quiet["verdicts"], *row["verdicts"]})
        if quiet["verdicts"].get(name) != row["verdicts"].get(name)
    ]
    if not row["verdicts"]:
        found.append("no report")
    if row["exit_code"] != quiet["exit_code"] or (row is quiet and row["exit_code"]):
        found.append(f"exit code {row['exit_code']}, and {quiet['exit_code']} in the quiet run")
    if (surroundings == CLOCK) is not bool(row["steps"]):
        found.append(f"{row['steps']} steps of a server's clock were seen")
    return found


def planned(options: argparse.Namespace) -> Iterator[list[Run]]:
    """All runs, those of equal surroundings together: the quiet ones are over before the machine is busy."""
    for surroundings, count in (
        (QUIET, max(options.clock, options.load)), (CLOCK, options.clock), (LOAD, options.load),
    ):  # fmt: skip
        yield [Run(surroundings, options.seed_from + number) for number in range(count)]


def known_rows(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The rows of earlier runs with as many updates."""
    if options.results is None or not options.results.exists():
        return {}
    rows = map(json.loads, options.results.read_text("utf-8").splitlines())
    return {row["run"]: row for row in rows if row["updates"] == options.updates}


def judge_all(place: Place, rows: dict[str, dict[str, Any]]) -> int:
    """Take the runs that are left, and say how many do not hold."""
    options, wrong = place.options, 0
    for runs in planned(options):
        left = [run for run in runs if run.name not in rows]
        with ExitStack() as stack:
            busy = [stack.enter_context(_busy()) for _ in range(BUSY) if left and left[0].surroundings == LOAD]
            pool = ThreadPoolExecutor(options.jobs)
            stack.callback(pool.shutdown, cancel_futures=True)
            taken = pool.map(lambda run: take(run, place), left)
            for run in runs:
                if run in left:
                    rows[run.name] = next(taken)
                    _keep(options.results, rows[run.name])
                wrong += not _holds(run, rows, place)
            if dead := [one for one in busy if one.poll() is not None]:
                raise SystemExit(f"{len(dead)} of {BUSY} busy processes ended: nothing was tried")
    return wrong


def _holds(run: Run, rows: Mapping[str, Mapping[str, Any]], place: Place) -> bool:
    """Print how a run ended, and keep its report if it does not hold."""
    row = rows[run.name]
    told = problems(row, rows[f"{QUIET}-{run.seed}"], run.surroundings)
    about = f"{len(row['verdicts'])} rows, exit {row['exit_code']}, {row['steps']} steps, load {row['load']}"
    line = f"{'DIFFERS' if told else 'ok':8}{run.name:12}{row['seconds']:5} s  {about}"
    sys.stdout.write("".join(f"{text}\n" for text in (line, *(f"        {one}" for one in told))))
    sys.stdout.flush()
    report, kept = place.folder / run.name, place.options.reports
    if told and kept is not None and report.is_dir():
        shutil.copytree(report, kept / run.name, dirs_exist_ok=True)
    return not told


@contextmanager
def _busy() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", _SPIN]) as process:
        try:
            yield process
        finally:
            process.kill()


def _keep(results: Path | None, row: Mapping[str, Any]) -> None:
    if results is not None:
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _end(*_: object) -> NoReturn:
    """Ask the runs to end before this program does: they stop their servers."""
    for process in tuple(_RUNNING):
        process.terminate()
    raise SystemExit(128 + signal.SIGTERM)


def main(arguments: Sequence[str]) -> int:
    """Run them all, or those that are left. Words behind ``--`` go to each run of the kit."""
    own, more = list(arguments), []
    if "--" in own:
        more = own[own.index("--") + 1 :]
        del own[own.index("--") :]
    parser = argparse.ArgumentParser(prog="python -m tests.surroundings", description=__doc__)
    parser.add_argument("--clock", type=int, default=10, metavar="N", help="runs with a stepping clock")
    parser.add_argument("--load", type=int, default=10, metavar="N", help=f"runs beside {BUSY} busy processes")
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--seed-from", type=int, default=9001, metavar="S", help="the first seed")
    parser.add_argument("--every", type=float, default=20.0, metavar="SECONDS", help="between two steps")
    parser.add_argument("--jobs", type=int, default=3, help="runs at once")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--reports", type=Path, metavar="DIR")
    options = parser.parse_args(own)
    options.more = more
    rows = known_rows(options)
    stepped = {run.name for runs in planned(options) for run in runs if run.surroundings == CLOCK}
    with TemporaryDirectory(prefix="surroundings-") as folder:
        try:
            library = compiled(Path(folder)) if stepped - rows.keys() else None
        except NoCompilerError as problem:
            sys.stderr.write(f"{problem}\n")
            return 3
        wrong = judge_all(Place(Path(folder), library, options), rows)
    compared = options.clock + options.load
    sys.stdout.write(f"{compared} runs compared with a quiet one of their seed, {wrong} do not hold\n")
    return int(bool(wrong) or not compared)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main(sys.argv[1:]))
