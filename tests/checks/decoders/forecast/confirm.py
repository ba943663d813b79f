# ruff: noqa: T201 (it prints)
"""Every statement of ``binlog-lab check`` held against other programs, for the logs of the tests or those named.

The facts about a log are counted again from the text of mysqlbinlog. What is said of a tool is confirmed by the tool
itself: it reads the log. All installed subjects are asked; those that connect to a server get the workload only.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.checks.decoders.forecast.outcomes import OWN
from conformance.harness.decoders import OpenedSubject
from conformance.judge.decoding.difference import MISSING
from conformance.subjects.builtin import installed
from conformance.subjects.builtin.catalogue import catalogue
from conformance.verdict import Verdict
from tests.checks.decoders.forecast.mysqlbinlog_survey import printed
from tests.checks.decoders.forecast.workload import case_of, parts
from tests.in_process import lab_here as lab

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.harness.decoders import JudgedCase


def facts(program: Sequence[str], path: Path, found: dict[str, Any]) -> tuple[int, list[str]]:
    """How many facts mysqlbinlog confirms, and those that it does not."""
    said = printed(program, path)
    file = found["files"][0]
    pairs: list[tuple[str, Any, Any]] = [
        ("version", file["version"], said.version),
        ("checksums", file["checksums"], said.checksums),
        ("open", file["is_open"], said.is_open),
        ("events", file["events"], len(said.positions)),
        ("transactions", found["transactions"], len(said.lengths)),
        ("tables", sorted(table["table"] for table in found["tables"]), sorted(said.row_events)),
    ]
    for table in found["tables"]:
        name = table["table"]
        pairs.append((f"{name}: row events", table["events"], said.row_events[name]))
        pairs.append((f"{name}: JSON columns", table["json_columns"], said.json_columns.get(name)))
        rows = {operation: count for (which, operation), count in said.rows.items() if which == name}
        pairs.append((f"{name}: rows", table["rows"], rows))
    lengths = dict(said.lengths)
    pairs += [
        (f"transaction {each['gtid']}", each["size"], lengths.get(each["gtid"]))
        for each in found["largest_transactions"]
        if each["gtid"]
    ]
    largest = sorted((size for _, size in said.lengths), reverse=True)[: len(found["largest_transactions"])]
    pairs.append(("largest transactions", [each["size"] for each in found["largest_transactions"]], largest))
    pairs += [(f"statement {each['position']}", each["text"] in said.text, True) for each in found["statements"]]
    problems = [
        f"{path.name}: {what}: check says {mine!r}, mysqlbinlog {theirs!r}"
        for what, mine, theirs in pairs
        if mine != theirs
    ]
    events = {each["feature"]: each["events"] for each in found["features"]}
    # mysqlbinlog does not print rows with geometry values, and what it cannot print it cannot confirm.
    unprinted = "Don't know how to handle column type" in said.text
    of_rows = {"geometry", "json", "partial-image", "partial-image-unnamed"}
    features = (set(events) | set(said.most)) - (of_rows if unprinted else {"geometry"})
    problems += [
        f"{path.name}: {name}: check says {events.get(name, 0)}, mysqlbinlog {said.least[name]} to {said.most[name]}"
        for name in sorted(features)
        if not said.least[name] <= events.get(name, 0) <= said.most[name]
    ]
    return len(pairs) + len(features), problems


def tools(case: DecoderCase, found: dict[str, Any], names: Sequence[str], counts: Counter[str]) -> list[str]:
    """Statements that a tool does not confirm when it reads the log of a Case."""
    path = Path(case.file_name)
    problems = []
    for name in names:
        said = [each for each in found["tools"] if each["tool"] == name]
        with OpenedSubject(name) as subject:
            judged = subject.judge(case)
        if judged.verdict in (Verdict.NOT_APPLICABLE, Verdict.NOT_RUN):
            counts["not given to the tool"] += len(said)
            continue
        outcomes = _outcomes(judged)
        for each in said:
            counts[each["outcome"]] += 1
            if each["certain"] and each["outcome"] not in outcomes:
                problems.append(f"{path.name}: {each['sentence']}: the tool itself {sorted(outcomes)}")
        if not said:
            counts[
                "nothing is said, and the tool reads all"
                if outcomes == {"reads"}
                else "nothing is said, and the tool fails"
            ] += 1
    return problems


def _outcomes(judged: JudgedCase) -> set[str]:
    """The outcomes of a tool that was given the log, in the words of the forecast."""
    answer, judgement = judged.answer, judged.judgement
    if judged.verdict is Verdict.PASS:
        return {"reads"}
    found = set()
    if answer.error or answer.failure or answer.marks:
        found.add("refuses")
    for difference in judgement.differences if judgement is not None else ():
        found.add("loses" if difference.kind in MISSING else "alters")
    return found or {"reads"}


def checked(path: Path, top: int = 20) -> dict[str, Any]:
    """Run ``check`` on a log, and return the JSON that it prints."""
    done = lab("check", path, "--format", "json", "--top", str(top))
    assert done.code in (0, 1), done.text
    found: dict[str, Any] = json.loads(done.out)
    assert done.code == int(bool(found["tools"] or found["statements"] or found["incidents"]))
    return found


def asked(*, files_only: bool) -> list[str]:
    """The installed subjects, but the kit's own; those that connect to a server need the SQL of the log."""
    return [
        name
        for name, entry in catalogue().items()
        if name != OWN and installed(name) and (entry.reads == "file" or not files_only)
    ]


def main() -> int:
    """Check the logs that are named, or those of the tests and the workload, and print what is confirmed."""
    from conformance.servers.auto import find_installation
    from conformance.servers.specs import parse_spec

    program = find_installation(parse_spec("process")).program("mysqlbinlog")
    problems: list[str] = []
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="binlog-lab-") as directory:
        for path, case in _logs([Path(word) for word in sys.argv[1:]], Path(directory)):
            found = checked(path)
            confirmed, wrong = facts(program, path, found)
            counts["logs"] += 1
            counts["facts that mysqlbinlog confirms"] += confirmed - len(wrong)
            problems += wrong + tools(case, found, asked(files_only=not case.statements), counts)
            print(f"{path.name}: {confirmed} facts, {len(problems)} problems so far", file=sys.stderr, flush=True)
    print(f"tools: {', '.join(asked(files_only=False))}")
    for what, count in sorted(counts.items()):
        print(f"{count:>8} {what}")
    print(*problems, f"{len(problems)} not confirmed", sep="\n")
    return int(bool(problems))


def _logs(named: Sequence[Path], directory: Path) -> Iterator[tuple[Path, DecoderCase]]:
    for path in named or sorted(Path("tests/data/binlogs").glob("*.binlog")):
        yield path, case_of(path)
    if not named:
        yield from parts(directory)


if __name__ == "__main__":
    sys.exit(main())
