"""The kit's judgement of servers whose answers were changed.

    python -m tests.doctored --recording DIR --count N --seed S

DIR is a recording (``conformance --record DIR``). Each change takes one recorded answer and makes another of it; then
the checks of that module judge the recording again. Answers are bytes of the log, rows, warnings, errors, the error
log, files, and the words of client programs. No change may end a run, and each must be seen: a row is red or undecided,
or the change is one of those that are taken on trust (``trust.toml``). ``--results FILE`` keeps a line of JSON for each
change; a run that was broken off goes on from it. Exit status 1 for a run that ended early, or a change that nobody saw
and nothing explains.

``--only KIND`` takes kinds that begin so, ``--tape NAME`` one module. ``--table`` prints the table of what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.servers.recording.directory import TAPES
from conformance.servers.recording.files import read_tape
from tests.doctored.judging import drive
from tests.doctored.outcomes import outcome, table
from tests.doctored.plan import Module, Planned, draw, kinds_in, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from conformance.servers.recording.files import Entry
    from tests.doctored.judging import DoctoredRun


def main(arguments: Sequence[str]) -> int:
    """Judge all changes, or those that are left."""
    parser = argparse.ArgumentParser(prog="python -m tests.doctored", description=__doc__)
    parser.add_argument("--recording", type=Path, required=True, metavar="DIR")
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--seed", default="1", metavar="S")
    parser.add_argument("--results", type=Path, default=Path("doctored.jsonl"), metavar="FILE")
    parser.add_argument("--only", default="", metavar="KIND")
    parser.add_argument("--tape", default="", metavar="NAME")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    recording = options.recording.resolve()
    known = read(options.results)
    if not options.table:
        planned = [
            each
            for each in plan(survey(recording, options.results), options.count, options.seed)
            if each.kind.startswith(options.only) and each.tape.startswith(options.tape)
        ]
        judge(recording, planned, options.seed, known, options.results)
        known = read(options.results)
    sys.stdout.write(f"{table(known.values())}\n")
    return 1 if any(row["outcome"] in ("ended", "unseen") for row in known.values()) else 0


def survey(recording: Path, results: Path) -> dict[str, Module]:
    """The kinds of answers that each module has, and its cost. They are found out once, and kept beside the results, so
    that the plan stays.

    A module has no part if its unchanged recording already fails when it is judged again. That failure would pass for
    one of a change.
    """
    kept = results.with_suffix(".survey.jsonl")
    if not kept.exists():

        def work(run: DoctoredRun, modules: dict[str, list[pytest.Item]]) -> None:
            for tape, checks in modules.items():
                _in_process_of_its_own(lambda: _survey(run, recording, tape, checks, kept))  # noqa: B023

        drive(recording, work)
    lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    return {row["tape"]: Module(frozenset(row["kinds"]), row["cost"]) for row in lines if not row["wrong"]}


def _survey(run: DoctoredRun, recording: Path, tape: str, checks: list[pytest.Item], kept: Path) -> None:
    last: dict[str, Any] = {}
    run.judge_module(checks, [], last.update)
    wrong = [*last["told"], *(name for name, row in last["rows"].items() if row[2])]
    kinds = kinds_in(read_tape(recording / TAPES / tape).entries)
    row = {"tape": tape, "cost": last["cost"], "wrong": wrong, "kinds": kinds}
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def read(results: Path) -> dict[int, dict[str, Any]]:
    """The lines of a file of results; the last may be torn."""
    rows: dict[int, dict[str, Any]] = {}
    if results.exists():
        for line in results.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            rows[row["number"]] = row
    return rows


def judge(
    recording: Path, planned: Sequence[Planned], seed: str, known: dict[int, dict[str, Any]], results: Path
) -> None:
    """Judge the changes that have no line yet, module by module."""
    left: dict[str, list[Planned]] = defaultdict(list)
    for each in planned:
        if each.number not in known:
            left[each.tape].append(each)

    def work(run: DoctoredRun, modules: dict[str, list[pytest.Item]]) -> None:
        for tape, checks in modules.items():
            if left[tape]:
                _in_process_of_its_own(lambda: _module(run, recording, tape, checks, left[tape], seed, results))  # noqa: B023

    if any(left.values()):
        drive(recording, work)


def _in_process_of_its_own(work: Any) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - the bench's own defect: the other modules go on
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.waitpid(child, 0)


def _module(
    run: DoctoredRun,
    recording: Path,
    tape: str,
    checks: list[pytest.Item],
    planned: Sequence[Planned],
    seed: str,
    results: Path,
) -> None:
    content = read_tape(recording / TAPES / tape)
    about = {each.number: each for each in planned}
    changes: list[tuple[int, int, Entry]] = []
    what: dict[int, str] = {}
    for each in planned:
        drawn = draw(content.entries, each.kind, f"{seed} {each.number}")
        if drawn is not None:
            changes.append((each.number, drawn.place, drawn.entry))
            what[each.number] = drawn.what
    if not changes:  # no answer of these kinds that a change makes another one
        return
    behind: dict[int, dict[str, Any]] = {}

    def tell(row: dict[str, Any]) -> None:
        if "behind" in row:
            behind[row["behind"]] = row["rows"]
            return
        each = about[row["number"]]
        about_it = {"number": each.number, "kind": each.kind, "tape": each.tape, "what": what[each.number]}
        found = about_it | outcome(each, what[each.number], behind, row)
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found, ensure_ascii=True) + "\n")

    run.judge_module(checks, changes, tell)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
