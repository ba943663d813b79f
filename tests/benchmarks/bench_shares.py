"""The phases of reading a log, and of a run on a server, with CPU time and waiting.

    python -m tests.benchmarks.bench_shares [--updates N] [--rounds N] [--compiled FOLDER] [--only log|run]

A log of ``bench_decode.py`` is read by programs of which each does one phase more than the one before; a phase's time
is the difference of two medians. A run is ``conformance --updates N``: a thread in each of its processes looks at the
main thread every few milliseconds. The time since the last look goes to the package of ours whose function runs.
What the clock has beyond the processor's time is waiting. The servers' CPU time is the kernel's count.
"""

# A program that runs programs and prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from tests.benchmarks.bench_decode import transactions
from tests.benchmarks.bench_programs import Program, seconds, sources
from tests.builds.wheel import ROOT, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

# --- a log -----------------------------------------------------------------------------------------------------------

_START: Final = """
import sys
from conformance.console import Output
from conformance.logs.printing.printers import ChangePrinter
from conformance.logs.selection import SelectedLogs
from conformance.reference.binlog.files import FileReader, Passed
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
def events(verify=True):
    reader = FileReader(verify=verify, rules_for=rules_of)
    reader.decoder.pass_over = Passed()
    with open(sys.argv[1], "rb") as file:
        while data := file.read(1 << 20):
            reader.feed(data)
            yield from reader.events()
changes = RowChanges()
output = Output()
"""
_PHASES: Final = {
    "start": "",
    "read": 'with open(sys.argv[1], "rb") as file:\n    while file.read(1 << 20): pass',
    "events": "for event in events(verify=False): pass",
    "checksums": "for event in events(): pass",
    "rows": "for event in events():\n    if type(event.body) is LazyRows:\n        for row in event.body.rows(): pass",
    "lines": "for event in events():\n    for line in changes.event(event): pass",
    "write": "for event in events():\n    for line in changes.event(event):\n"
    '        output.write(line.encode("utf-8", "backslashreplace") + b"\\n")\noutput.flush()',
}


def log_phases(folders: dict[str, Path], log: Path, rounds: int) -> None:
    """Print the CPU seconds of each phase, with a column for each build."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for build, folder in folders.items():
        spent: dict[str, list[float]] = {phase: [] for phase in _PHASES}
        for _ in range(rounds):
            for phase, script in _PHASES.items():
                program = Program(phase, (sys.executable, "-c", _START + script), folder, pure=build == "pure")
                took = seconds(program, log)
                if took is None:
                    sys.exit(f"{log.name}: the phase {phase} cannot be run")
                spent[phase].append(took)
        before = 0.0
        for phase, times in spent.items():
            table[phase][build] = median(times) - before
            before = median(times)
        table["all"][build] = before
    print(f"decode --format jsonl, {log.name}: CPU seconds{'':<8}" + "".join(f"{name:>10}" for name in folders))
    for phase, columns in table.items():
        print(f"  {phase:<56}" + "".join(f"{columns[name]:>10.2f}" for name in folders), flush=True)


# --- a run -----------------------------------------------------------------------------------------------------------

_EVERY: Final = 0.005  # seconds between two looks
_KEPT: Final = 0.5  # seconds between two writings of the totals: a process may end without a word
_PACKAGES: Final = {
    "conformance.servers": "capture",
    "conformance.harness": "capture",
    "conformance.reference": "predict",
    "conformance.prediction": "predict",
    "conformance.judge": "judge",
    "conformance.report": "report",
    "conformance.checks": "checks",
    "generators": "generate",
}


def phase_of(frame: FrameType | None) -> str:
    """The phase of the innermost function of ours on a stack."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        found = next((phase for package, phase in _PACKAGES.items() if name.startswith(package)), None)
        if found is not None:
            return found
        frame = frame.f_back
    return "other"


def watch(folder: Path) -> None:
    """Look at the main thread of this process, and of those that it forks, until it ends."""
    main = threading.main_thread().ident or 0
    totals: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def work() -> None:
        last, spent, written = time.monotonic(), time.process_time(), time.monotonic()
        while True:
            time.sleep(_EVERY)
            now, cpu = time.monotonic(), time.process_time()
            total = totals[phase_of(sys._current_frames().get(main))]
            total[0] += now - last
            total[1] += cpu - spent
            last, spent = now, cpu
            if now - written > _KEPT:
                written = now
                (folder / f"{os.getpid()}.json").write_text(json.dumps(totals))

    def begin() -> None:
        totals.clear()
        threading.Thread(target=work, daemon=True).start()

    os.register_at_fork(after_in_child=begin)
    begin()


def _servers(place: Path) -> Iterator[tuple[str, float]]:
    """The mysqld processes with data below a folder: process, CPU seconds."""
    tick = os.sysconf("SC_CLK_TCK")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if b"mysqld" in words and os.fsencode(place) in words:
                times = (process / "stat").read_text().rpartition(")")[2].split()
                yield f"{process.name} {times[19]}", (int(times[11]) + int(times[12])) / tick


def run_phases(updates: int, place: Path) -> None:
    """Print seconds of the clock, of the processor and of waiting for each phase of a run."""
    servers: dict[str, float] = {}
    script = (
        f"import sys; sys.argv[0] = 'binlog-lab'\nfrom pathlib import Path\n"
        f"from tests.benchmarks.bench_shares import watch\nwatch(Path({str(place)!r}))\n"
        "from conformance.cli.main import main; main()"
    )
    command = [sys.executable, "-c", script, "conformance", "--updates", str(updates), "--seed", "7",
               "--report", str(place / "report")]  # fmt: skip
    environment = {**os.environ, "TMPDIR": str(place)}
    begun = time.monotonic()
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            servers |= _servers(place)
            time.sleep(0.1)
    took = time.monotonic() - begun
    clock, cpu = Counter[str](), Counter[str]()
    files = list(place.glob("[0-9]*.json"))
    for file in files:
        for phase, (wall, spent) in json.loads(file.read_text()).items():
            clock[phase] += wall
            cpu[phase] += spent
    print(f"conformance --updates {updates}: {took:.0f} s, exit code {run.returncode}, {len(files)} processes of ours")
    print(f"  {'phase':<20}{'clock':>10}{'CPU':>10}{'waiting':>10}")
    for phase, wall in clock.most_common():
        print(f"  {phase:<20}{wall:>10.1f}{cpu[phase]:>10.1f}{max(wall - cpu[phase], 0):>10.1f}")
    short = [spent for spent in servers.values() if spent < 1]
    print(f"  {'servers':<20}{'':>10}{sum(servers.values()):>10.1f}    {len(servers)} starts were seen, "
          f"{len(short)} of less than a second: {sum(short):.1f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=20_000, help="of the logs; a run has a tenth")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiled", type=Path, help="a folder with the compiled package")
    parser.add_argument("--only", choices=["log", "run"], help="one of both")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shares-") as folder:
        place = Path(folder)
        if options.only != "run":
            compiled = options.compiled or unpacked(place, compiled=True)
            folders = {"pure": sources(ROOT, place / "pure"), "compiled": compiled}
            for shape, part in (("partial-minimal", 1), ("full-8k", 10)):
                with (place / shape).open("wb") as out:
                    for piece in transactions(shape, options.updates // part):
                        out.write(piece)
                log_phases(folders, place / shape, options.rounds)
        if options.only != "log":
            run_phases(options.updates // 10, place)


if __name__ == "__main__":
    main()
