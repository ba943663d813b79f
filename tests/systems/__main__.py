"""The README's two blocks in empty systems: ``python -m tests.systems``.

Makes an empty Debian of each suite, and pastes the blocks into it, literally, in a clean clone of what is committed
here. Prints a table of the outcomes. As root, with Debian's package mmdebstrap; a quarter of an hour and 3 GB of disk
for the two blocks of one system. An editable installation, as the second block makes it, stays pure: where there are
compilers, the tests of the compiled build follow that block.

``--results FILE`` keeps each outcome as a line of JSON, and leaves out what the file already has for the same commit.
``--pytest OPTIONS`` adds options to the call of pytest. Exit code: 0 when every block ended with 0, 1 when one did
not, 3 when no system can be made here.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import signal
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.systems.blocks import COMPILED_TESTS, MAIN_JOB, ROOT, TESTS, blocks, outcome, with_options
from tests.systems.empty import PYTHONS, USER, NoSystemError, clone, make_template, require, system
from tests.systems.machines import MACHINES, PLAIN, with_wheels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.systems.empty import Template

_SECONDS = {MAIN_JOB: 1800, TESTS: 5400}


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One block in one system."""

    suite: str
    user: str
    build: str  # pure, or compiled: then the system has compilers and Python's headers
    block: str
    commit: str
    options: str = ""
    machine: str = PLAIN


def uses(arguments: argparse.Namespace, commit: str) -> Iterator[Use]:
    """Yield the uses that are asked for, suite by suite."""
    for suite in arguments.suite or PYTHONS:
        for build in arguments.build or ("pure", "compiled"):
            for user in ("root", USER) if arguments.both else (USER,) if arguments.user else ("root",):
                for block in {"main": (MAIN_JOB,), "tests": (TESTS,)}.get(arguments.block, (MAIN_JOB, TESTS)):
                    yield Use(
                        suite=suite, user=user, build=build, block=block, commit=commit,
                        options=arguments.pytest if block == TESTS else "", machine=arguments.machine,
                    )  # fmt: skip


def run(use: Use, template: Template, source: Path, logs: Path, wheels: Path | None = None) -> dict[str, object]:
    """Paste the block; what came, as a line of the results. ``wheels``: a folder with some that pip need not make."""
    text = blocks((source / "README.md").read_text("utf-8"))[use.block]
    if use.options:
        text = with_options(text, use.options)
    if use.block == TESTS and use.build == "compiled":
        text += COMPILED_TESTS
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"{use.suite}-{use.machine}-{use.build}-{use.user}-{use.block.replace(' ', '-')}.log"
    start = time.monotonic()
    with system(template, use.user) as made, log.open("w+b") as output:
        machine = MACHINES[use.machine]
        if wheels is not None:
            machine = with_wheels(machine, wheels.resolve())
        place = shlex.quote(made.place(source, machine.folder))
        code = made.run(f"cd {place}\n{text}", output, seconds=_SECONDS[use.block], machine=machine)
        seconds = round(time.monotonic() - start)
        written = log.read_text("utf-8", "replace")
    return {
        **asdict(use), "python": PYTHONS[use.suite], "architecture": platform.machine(), "code": code,
        "outcome": outcome(use.block, written), "seconds": seconds,
    }  # fmt: skip


def table(rows: Sequence[dict[str, object]]) -> str:
    """The outcomes as a table in Markdown."""
    names = ("suite", "python", "machine", "user", "build", "block", "code", "outcome", "seconds", "commit")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(str(row[name]) for name in names)} |" for row in rows)])


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.systems", description=__doc__)
    parser.add_argument("--suite", action="append", choices=[*PYTHONS], help="this one (may be repeated); else all")
    parser.add_argument("--user", action="store_true", help="as an ordinary user; else as root")
    parser.add_argument("--both", action="store_true", help="as root, then as an ordinary user")
    parser.add_argument(
        "--build", action="append", choices=["pure", "compiled"], help="with compilers or without; else both"
    )
    parser.add_argument("--block", choices=["main", "tests"], help="one of the two blocks; else both")
    parser.add_argument("--machine", default=PLAIN, choices=[*MACHINES], help="an unusual one")
    parser.add_argument("--pytest", default="", metavar="OPTIONS", help="more options for pytest, one text")
    parser.add_argument("--results", type=Path, metavar="FILE", help="lines of JSON: written, and gone on with")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="where the whole output of each block goes")
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="wheels that pip finds there, before the index's")
    parser.add_argument("--work", type=Path, metavar="DIR", help="for the systems; default: a temporary folder")
    return parser.parse_args(arguments)


def say(text: str) -> None:
    """Narration goes to stderr."""
    sys.stderr.write(f"{text}\n")


def _done(results: Path | None) -> list[dict[str, object]]:
    if results is None or not results.exists():
        return []
    return [json.loads(line) for line in results.read_text("utf-8").splitlines()]


def rows(asked: argparse.Namespace, work: Path) -> Iterator[dict[str, object]]:
    """The outcome of each use, from the results where they have it. Raises :class:`NoSystemError`."""
    require(work)
    source = work / "clone"
    commit = clone(ROOT, source)
    done = _done(asked.results)
    templates: dict[tuple[str, str], Template] = {}
    for use in uses(asked, commit):
        row = next((row for row in done if asdict(use).items() <= row.items()), None)
        if row is None:
            key = use.suite, use.build
            if key not in templates:
                say(f"making an empty {use.suite} ({use.build})")
                templates[key] = make_template(use.suite, work, compilers=use.build == "compiled")
            say(f"{use.suite}, {use.machine}, {use.build}, {use.user}: {use.block}")
            row = run(use, templates[key], source, asked.logs or work / "logs", asked.wheels)
            say(f"  exit code {row['code']}, {row['outcome']}, {row['seconds']} s")
            if asked.results:
                with asked.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
        yield row


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code."""
    asked = _parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="binlog-lab-systems-", dir=asked.work) as work:
        try:
            found = list(rows(asked, Path(work)))
        except NoSystemError as error:
            say(str(error))
            return 3
    sys.stdout.write(table(found) + "\n")
    return int(any(row["code"] for row in found))


if __name__ == "__main__":
    sys.exit(main())
