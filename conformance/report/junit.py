"""``junit.xml``: one test case per check and subject; failure, error and skipped stay apart.

A listed deviation is no failure. A check that did not run is an ``error``. A check that could not decide, does not
apply or was refused is ``skipped`` with that word. A mixture with passes is a passed case that lists the rest in its
output.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from conformance.report import wording
from conformance.verdict import Verdict, summarise

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.report.cells import CheckTotals
    from conformance.report.results import Summary
    from conformance.stream import CaseVerdict

SHOWN = 20  # failures listed per check; run.jsonl has the first ones of each block
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]|[\ud800-\udfff]|[\ufffe\uffff]")  # what XML 1.0 has no place for
_ERRORS = frozenset({Verdict.CRASH, Verdict.TIMEOUT, Verdict.NOT_RUN})
_NO_RESULT = frozenset({Verdict.REFUSED, Verdict.NOT_APPLICABLE})


def write_junit(summary: Summary, path: Path) -> None:
    """Write the file; the caller puts it into place."""
    tree = ET.ElementTree(build(summary))
    ET.indent(tree)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def build(summary: Summary) -> ET.Element:
    """The XML document as elements."""
    root = ET.Element("testsuites", name="binlog-lab")
    failures: defaultdict[tuple[str, str], list[CaseVerdict]] = defaultdict(list)
    for verdict in (*summary.failures, *summary.others):
        failures[verdict.check, verdict.subject].append(verdict)
    suites: dict[str, ET.Element] = {}
    for (check, subject), totals in summary.checks.items():
        if subject not in suites:
            suites[subject] = _suite(root, summary, subject)
        _case(suites[subject], check, subject, totals, failures[check, subject])
    if not summary.complete:
        suite = ET.SubElement(root, "testsuite", name="run")
        case = ET.SubElement(suite, "testcase", classname="binlog-lab", name="run is complete", time="0")
        ET.SubElement(case, "error", message=_clean(f"incomplete: {summary.incomplete_reason}"), type="incomplete")
    for suite in root.findall("testsuite"):
        _count(suite)
    _count(root, nested=True)
    return root


def _suite(root: ET.Element, summary: Summary, subject: str) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=_clean(subject))
    properties = ET.SubElement(suite, "properties")
    known = summary.subjects.get(subject)
    run = summary.run
    facts = {
        "kit": run.kit if run else None,
        "seed": run.seed if run else None,
        "profile": run.profile if run else None,
        "role": known.role if known else None,
        "version": known.version if known else None,
        **{name.replace("_", "-"): figure for name, figure in summary.figures.to_json().items() if name != "ended"},
        **{f"ended {program}": kinds for program, kinds in summary.figures.ended.items()},
    }
    for name, value in facts.items():
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=_clean(str(value)))
    if run:
        suite.set("timestamp", _clean(run.started))
    return suite


def _case(suite: ET.Element, check: str, subject: str, totals: CheckTotals, records: list[CaseVerdict]) -> None:
    case = ET.SubElement(
        suite, "testcase", classname=_clean(subject), name=_clean(check), time=f"{totals.seconds:.3f}"
    )  # fmt: skip
    properties = ET.SubElement(case, "properties")
    for requirement in sorted(totals.requirements):
        ET.SubElement(properties, "property", name="requirement", value=_clean(requirement))
    ET.SubElement(properties, "property", name="cases", value=str(totals.cases))
    if totals.verdicts[Verdict.DEVIATES]:
        ET.SubElement(properties, "property", name="deviating", value=str(totals.verdicts[Verdict.DEVIATES]))
    worst = summarise(totals.verdicts)
    counts = ", ".join(f"{verdict} {totals.verdicts[verdict]}" for verdict in Verdict if totals.verdicts[verdict])
    if totals.failed or worst is Verdict.NOT_RUN:
        tag = "error" if worst in _ERRORS else "failure"
        listed = [record for record in records if record.verdict is not Verdict.PASS]
        element = ET.SubElement(case, tag, message=_clean(f"{worst}: {counts}"), type=worst.value)
        element.text = _clean("\n\n".join(_describe(record) for record in listed[:SHOWN]))
    elif worst is Verdict.INCONCLUSIVE or (worst in _NO_RESULT and not totals.verdicts[Verdict.PASS]):
        reason = next((record.message for record in records if record.message), "")
        ET.SubElement(case, "skipped", message=_clean(f"{worst}: {counts}{'; ' + reason if reason else ''}"))
    elif worst is not Verdict.PASS:
        ET.SubElement(case, "system-out").text = _clean(counts)


def _describe(record: CaseVerdict) -> str:
    lines = [f"{record.case} [{', '.join(record.requirements)}] {record.verdict}: {record.message}"]
    if record.field is not None:
        lines.append(wording.difference(record))
    if record.expected is not None or record.got is not None:
        lines += [f"expected: {_short(record.expected)}", f"got:      {_short(record.got)}"]
    if record.replay:
        lines.append(f"replay: {record.replay}")
    return "\n".join(lines)


def _short(text: str | None, limit: int = 400) -> str:
    if text is None:
        return "(nothing)"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def _clean(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _count(element: ET.Element, *, nested: bool = False) -> None:
    cases = element.findall("testsuite/testcase" if nested else "testcase")
    element.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
