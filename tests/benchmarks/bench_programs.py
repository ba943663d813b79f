"""Whole programs on the same files in turn, in seconds of CPU: ours pure and compiled, python-mysql-replication,
mysqlbinlog, and mysql-event-stream, a native decoder.

    python -m tests.benchmarks.bench_programs [--updates N] [--rounds N] [--compiled FOLDER] [--earlier FOLDER]
                                               [--only SHAPE...]

The files are those of ``bench_decode.py``. Each figure is the median of the rounds, with start and imports; modules
have their bytecode beside them, as pip leaves them. The last number says how often the line's time goes into that of
python-mysql-replication (with ``-vv`` those of mysqlbinlog). ``replayed`` has partial updates of rows that it inserts
before, so that ``apply`` and ``expand`` have their documents: the last number is their time in that of ``decode``.
``starts`` is ``--help`` and ``predict``, in starts of Python. The compiled build is made first, from a wheel as pip
builds it, or taken from ``FOLDER``. ``--earlier`` is a checkout of an earlier commit (``git worktree add``), whose
sources get a line too. A program that is not there has no line.
"""

# A program that runs programs and prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from conformance.cli.installation import PACKAGES
from conformance.servers.install import bundle
from conformance.subjects.builtin.install import installed
from tests.benchmarks.bench_decode import replayable, transactions
from tests.builds.wheel import ROOT, unpacked

RUN: Final = "import sys; sys.argv[0] = 'binlog-lab'; from conformance.cli.main import main; main()"
_STREAM: Final = """
import sys
from mysql_event_stream import CdcEngine
with CdcEngine() as engine, open(sys.argv[1], "rb") as file:
    file.read(4)
    left = b""
    while data := file.read(1 << 20):
        left += data
        while left and (used := engine.feed(left)):
            left = left[used:]
            for event in iter(engine.next_event, None):
                event.before, event.after
"""


class Program(NamedTuple):
    """A command that gets the file as its last word."""

    name: str
    command: tuple[str, ...]
    folder: Path | None = None  # goes first on Python's path
    pure: bool = False


class Builds(NamedTuple):
    """Folders that go first on Python's path."""

    pure: Path
    compiled: Path
    earlier: Path | None


def seconds(program: Program, file: Path | None) -> float | None:
    """CPU time of one run: the process and all that it waited for. ``None`` for a program that refuses the file."""
    words = program.command if file is None else (*program.command, str(file))
    environment = {**os.environ, "BINLOG_LAB_PURE": str(int(program.pure)), "PYTHONPATH": str(program.folder or "")}
    started = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd="/")
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    return None if started.returncode else usage.ru_utime + usage.ru_stime


def table(
    title: str, programs: list[Program], file: Path | None, rounds: int, base: str, *, slower: bool = False
) -> None:
    """Measure in turn, and print a line for each program, with the ratio to ``base``: below 1 for what is slower, or
    with ``slower`` above it."""
    spent: dict[str, list[float]] = {program.name: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            spent[program.name] += [one for one in [seconds(program, file)] if one is not None]
    print(title if file is None else f"{title} ({file.stat().st_size / 1e6:.0f} MB)")
    for name, each in spent.items():
        if len(each) < rounds:
            print(f"  {name:<44} refuses the file")
            continue
        ratio = f"{(median(spent[base]) / median(each)) ** (-1 if slower else 1):6.2f}" if spent.get(base) else ""
        print(f"  {name:<44} {median(each):7.3f} s  {ratio}", flush=True)


def ours(words: str, builds: Builds) -> list[Program]:
    """Each build of ``binlog-lab``, with these words behind it."""
    command = (sys.executable, "-c", RUN, *words.split())
    found = [
        Program("ours, pure", command, builds.pure, pure=True),
        Program("ours, compiled", command, builds.compiled),
    ]
    if builds.earlier is not None:
        found.append(Program("ours, pure, earlier", command, builds.earlier, pure=True))
    return found


def sources(checkout: Path, place: Path) -> Path:
    """The packages of a checkout as pip leaves them: with the bytecode of their modules."""
    if not (checkout / "conformance").is_dir():
        raise SystemExit(f"{checkout}: expected a checkout with the folder conformance")
    for name in PACKAGES:
        shutil.copytree(checkout / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(str(place), quiet=1)
    return place


def peers() -> list[Program]:
    """The decoders that are there."""
    script = str(Path(__file__).with_name("mysql_replication.py"))
    found = []
    if find_spec("pymysqlreplication") is not None:
        found.append(Program("python-mysql-replication", (sys.executable, script)))
        found.append(Program("python-mysql-replication, rows printed", (sys.executable, script, "--print")))
    stream = installed("mysql-event-stream")
    if stream is not None:
        command = (stream.command()[0], "-c", _STREAM)
        found.append(Program("mysql-event-stream (C++), documents as bytes", command))
    return found


def mysqlbinlog() -> list[Program]:
    """The client program of the fetched server."""
    words = ("--no-defaults", "-vv", "--base64-output=decode-rows")
    bundles = bundle.cached()
    return [Program("mysqlbinlog", (*bundles[0].installation().program("mysqlbinlog"), *words))] if bundles else []


def replayed(builds: Builds, place: Path, options: argparse.Namespace) -> None:
    """``apply`` and ``expand`` beside ``decode`` of the same log."""
    file = place / "replayed"
    with file.open("wb") as out:
        for piece in replayable(options.updates):
            out.write(piece)
    words = ("decode --format jsonl", "apply", f"expand --output {place / 'expanded'}")
    for decode, apply, expand in zip(*(ours(each, builds) for each in words), strict=True):
        programs = [decode._replace(name="decode --format jsonl"), apply._replace(name="apply"),
                    expand._replace(name="expand")]  # fmt: skip
        table(
            f"rows inserted and updated, {decode.name}", programs, file, options.rounds, programs[0].name, slower=True
        )
    file.unlink()


def starts(builds: Builds, place: Path, options: argparse.Namespace) -> None:
    """Commands with next to no work: the time of their starts."""
    programs = [Program("Python alone", (sys.executable, "-c", "pass"))]
    for name, words in (("--help", "--help"), ("predict", "predict --document {} --update JSON_SET(j,'$.a',1)")):
        programs += [each._replace(name=f"{name}, {each.name}") for each in ours(words, builds)]
    table("starts", programs, None, options.rounds, programs[0].name, slower=True)


_OWN: Final = {"replayed": replayed, "starts": starts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=50_000, help="partial updates (a tenth of it for full-8k)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiled", type=Path, help="a folder with the compiled package")
    parser.add_argument("--earlier", type=Path, help="a checkout of an earlier commit")
    parser.add_argument("--only", nargs="*", default=["partial-minimal", "full-8k", *_OWN],
                        help="shapes of bench_decode.py, replayed, starts")  # fmt: skip
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        earlier = sources(options.earlier, place / "earlier") if options.earlier else None
        compiled = options.compiled or unpacked(place, compiled=True)
        compileall.compile_dir(str(compiled), quiet=1)
        builds = Builds(sources(ROOT, place / "pure"), compiled, earlier)
        for shape in options.only:
            if shape in _OWN:
                _OWN[shape](builds, place, options)
                continue
            file = place / shape
            with file.open("wb") as out:
                for piece in transactions(shape, options.updates // (10 if shape == "full-8k" else 1)):
                    out.write(piece)
            table(f"decode --format jsonl, {shape}", [*ours("decode --format jsonl", builds), *peers()], file,
                  options.rounds, "python-mysql-replication")  # fmt: skip
            table(
                f"decode -vv, {shape}",
                [*ours("decode -vv", builds), *mysqlbinlog()],
                file,
                options.rounds,
                "mysqlbinlog",
            )
            file.unlink()


if __name__ == "__main__":
    main()
