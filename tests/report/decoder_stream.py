"""A made-up run on decoders: a suite of Cases, subjects with typical habits, and the verdicts about them.

``python -m tests.report.decoder_stream DIR [CASES [SUBJECTS]]`` writes its report.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.stream import (
    DECODER,
    Block,
    CaseInfo,
    CaseVerdict,
    End,
    Evidence,
    Finding,
    KnownIssue,
    RequirementInfo,
    Run,
    Subject,
    Suite,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.stream import AnyRecord

CHECK = "decoders/suite"
REQUIREMENTS = {
    "DEC1": "Every row change of a PARTIAL_UPDATE_ROWS_EVENT reaches the user, or the decoder says that it does not.",
    "DEC2": "All diffs of a column arrive, in their order, each with its operation, path and value.",
    "DEC5": "An unchanged document, SQL NULL, the JSON literal null and a column outside the image are four things.",
    "DEC7": "A document is read through its offsets, whatever the order and gaps of its parts.",
    "DEC10": "Numeric columns keep their value, with sign and scale.",
    "DEC12": "Text columns, ENUM and SET keep their value in each character set.",
    "DEC16": "Row changes inside TRANSACTION_PAYLOAD_EVENT arrive as those outside do.",
    "DEC17": "GTID events with and without a tag are read, and never end the stream.",
    "DEC21": "Rows in several events of a statement, open files, large positions and unusual names change nothing.",
}
GROUPS = {
    "diffs": "DEC2", "events": "DEC1", "nothing": "DEC5", "documents": "DEC7", "columns": "DEC10", "text": "DEC12",
    "payload": "DEC16", "gtid": "DEC17", "files": "DEC21",
}  # fmt: skip
# name, language, url, what it does with each group: (verdict, kind); every third Case of the group unless "all"
HABITS: dict[str, tuple[str, str, dict[str, tuple[Verdict, str, bool]]]] = {
    "reference": ("Python", "", {}),
    "mysqlbinlog": ("C++", "https://dev.mysql.com/", {"nothing": (Verdict.LENIENT, "type", False)}),
    "python-mysql-replication": ("Python", "https://github.com/julien-duponchelle/python-mysql-replication", {
        "diffs": (Verdict.SILENT_LOSS, "missing", True), "payload": (Verdict.SILENT_LOSS, "missing", True),
        "documents": (Verdict.CRASH, "", False), "gtid": (Verdict.REFUSED, "", True),
        "columns": (Verdict.SILENT_LOSS, "altered", False)}),
    "debezium-binlog-client": ("Java", "https://github.com/debezium/mysql-binlog-connector-java", {
        "diffs": (Verdict.SILENT_LOSS, "missing", True), "events": (Verdict.SILENT_LOSS, "missing", True),
        "gtid": (Verdict.FAIL, "invented", False)}),
    "vlasky-zongji": ("JavaScript", "https://github.com/vlasky/zongji", {
        "diffs": (Verdict.REFUSED, "", True), "events": (Verdict.REFUSED, "", True),
        "payload": (Verdict.REFUSED, "", True), "text": (Verdict.TIMEOUT, "", False)}),
    "go-mysql": ("Go", "https://github.com/go-mysql-org/go-mysql", {
        "nothing": (Verdict.SILENT_LOSS, "altered", False)}),
    "rivet": ("Rust", "", {"diffs": (Verdict.REFUSED, "", True), "files": (Verdict.NOT_APPLICABLE, "", True)}),
    "mysql-event-stream": ("C++", "", {"events": (Verdict.SILENT_LOSS, "missing", True)}),
    "powersync-zongji": ("JavaScript", "", {"diffs": (Verdict.SILENT_LOSS, "missing", True)}),
    "mariadb-binlog": ("C++", "https://mariadb.org/", {"events": (Verdict.REFUSED, "", True)}),
}  # fmt: skip
MESSAGES = {
    Verdict.SILENT_LOSS: "Two of three changes arrive, and nothing says that one is missing.",
    Verdict.CRASH: "The process died of signal 11.",
    Verdict.TIMEOUT: "No answer in 20 seconds.",
    Verdict.FAIL: "A change arrives twice.",
    Verdict.REFUSED: "The subject says that it cannot read the event.",
    Verdict.LENIENT: "The value arrives without its MySQL type.",
    Verdict.NOT_APPLICABLE: "It needs file, which the subject does not declare.",
    Verdict.PASS: "type",
}
ISSUE = KnownIssue(
    subject="python-mysql-replication", issue="julien-duponchelle/python-mysql-replication#521", requirements=("DEC2",)
)
GONE = Subject(id="canal", role=DECODER, name="canal", language="Java", unavailable="no Java 17 on this machine")


def records(cases: int = 280, subjects: int = 10) -> tuple[AnyRecord, ...]:
    """The whole run in the order of its stream."""
    run = Run(
        kit="0.1.0", seed=20240607, profile="quick", started="2026-11-07T08:09:10Z", selected=9,
        command="binlog-lab conformance --subject all --report report",
        requirements={name: RequirementInfo(title=title, basis="documentation", judged_on="decoder")
                      for name, title in REQUIREMENTS.items()},
    )  # fmt: skip
    out: list[AnyRecord] = [run, Suite(version="1.0", digest="4f1d22c07a91be03", cases=cases)]
    infos = [_info(number) for number in range(cases)]
    out += infos
    chosen = list(HABITS)[:subjects]
    chosen += [f"another-{number}" for number in range(subjects - len(chosen))]
    for name in chosen:
        language, url, habits = HABITS.get(name, HABITS["go-mysql"])
        out.append(
            Subject(id=f"{name}-1.{len(name)}", role=DECODER, version=f"1.{len(name)}", name=name, language=language,
                    url=url, capabilities=("file", "types"), spec=name)
        )  # fmt: skip
        verdicts = [_verdict(f"{name}-1.{len(name)}", info, number, habits) for number, info in enumerate(infos)]
        counts: dict[str, int] = {}
        for verdict in verdicts:
            counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
        out += verdicts
        out.append(Block(check=CHECK, subject=f"{name}-1.{len(name)}", requirements=tuple(REQUIREMENTS), block=0,
                         cases=cases, verdicts=counts, seconds=3.0))  # fmt: skip
    out += [GONE, ISSUE, _finding(), End(exit_code=1, seconds=187.3)]
    return tuple(out)


def _info(number: int) -> CaseInfo:
    group = list(GROUPS)[number % len(GROUPS)]
    return CaseInfo(
        id=f"{group}/some-shape-{number // len(GROUPS)}", title=f"A log of the group {group}, shape {number}",
        why="An order's status changes in the source and never in the warehouse.", group=group,
        requirements=(GROUPS[group], "DEC1") if number % 5 == 0 and group != "events" else (GROUPS[group],),
        size=300 + 17 * number, server_version="9.7.4",
    )  # fmt: skip


def _verdict(subject: str, info: CaseInfo, number: int, habits: dict[str, tuple[Verdict, str, bool]]) -> CaseVerdict:
    verdict, kind, everywhere = habits.get(info.group, (Verdict.PASS, "", True))
    if not everywhere and number // len(GROUPS) % 3:
        verdict, kind = Verdict.PASS, ""
    common: dict[str, Any] = {
        "case": info.id, "requirement": info.requirements[0], "verdict": verdict, "subject": subject, "check": CHECK,
        "block": 0, "message": MESSAGES[verdict],
    }  # fmt: skip
    if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE):
        return CaseVerdict(**common)
    old = "00140023001200010013000300160002001800010002190005020061626363640565"
    evidence = (
        Evidence(field="header.type", offset=4, expected="27", got="27"),
        Evidence(field="rows[0].partial_columns", offset=46, expected="03", got="03"),
        Evidence(field="rows[0].after.j.diffs[1].data", offset=73, expected=old, got=old[:34] + "ff00" + old[38:60]),
    )
    differs = verdict in (Verdict.SILENT_LOSS, Verdict.FAIL)
    return CaseVerdict(
        **common, kind=kind, level="structure" if differs else "",
        signature=f"{info.requirements[0]}/{verdict}/{kind or 'error'}",
        replay=f"binlog-lab conformance --subject {subject.rpartition('-')[0]} --case {info.id}",
        field="changes[1].after.j" if differs else None, offset=173 + number if differs else None,
        expected='{"diffs": [{"operation": "REPLACE", "path": "$.status", "value": "paid"}]}' if differs else None,
        got='{"diffs": []}' if differs else None,
        evidence=evidence if differs and number // len(GROUPS) % 2 == 0 else (),
        error="unknown event type 39" if verdict is Verdict.REFUSED else "",
        stderr='Traceback (most recent call last):\n  File "adapter.py", line 12\nstruct.error: short read\n'
        if verdict is Verdict.CRASH else "",
    )  # fmt: skip


def _finding() -> Finding:
    return Finding(
        signature="DEC2/silent-loss/missing", subject="python-mysql-replication-1.24", requirement="DEC2",
        case="diffs/some-shape-0", case_file="cases/shrunk.json", replay="binlog-lab replay cases/shrunk.json",
        size_before=2_310, size_after=412, message="Of several diffs of one column only the first arrives.",
    )  # fmt: skip


if __name__ == "__main__":
    from conformance.report.directory import ReportDirectory

    with ReportDirectory(Path(sys.argv[1])) as report:
        for record in records(*map(int, sys.argv[2:])):
            report.write(record)
        report.render()
