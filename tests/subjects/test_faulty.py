"""Deliberately faulty subjects: each is caught under the right requirement with the right verdict.

They answer through the adapters, read the suite, and are judged as any subject is (``tests/subjects/faulty``). The same
decoder without a fault passes everything.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import OpenedSubject
from conformance.verdict import Verdict
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODULE = "tests.subjects.faulty"
LOSS, FAIL, REFUSED = Verdict.SILENT_LOSS, Verdict.FAIL, Verdict.REFUSED
SELECTED = 17  # one Case of so many stands beside those about the requirement


def spec_of(name: str) -> str:
    """The subject of this name, as ``--subject`` names it."""
    kind, _, rest = name.partition(":")
    if kind == "py":
        return f"py:{MODULE}.{rest}"
    fault, _, options = rest.partition("?")
    command = f"{kind}:{shlex.quote(sys.executable)} -m {MODULE}.{'protocol' if kind == 'jsonl' else 'command'} {fault}"
    return f"{command}{' {file}' if kind == 'cmd' else ''}{'?' + options if options else ''}"


def faulty(name: str, requirement: str, verdict: Verdict, *others: Verdict, cases: int | None = None) -> Fault:
    """A subject; the requirement and verdict that catch it; other verdicts that it may get. ``cases``: how many
    Cases of the suite it meets; else those about the requirement, and a few more."""
    run = {"others": others, "cases": cases}
    return Fault(f"{requirement}-{name}", requirement, name, spec_of(name), verdict.value, run=run)


TABLE = (
    faulty("py:streams:DropsEvent39", "DEC1", LOSS),
    faulty("py:values:FirstDiffOnly", "DEC2", LOSS),
    faulty("py:values:LastDiffFirst", "DEC2", FAIL, LOSS),
    faulty("py:values:ReadsPastTheList", "DEC3", LOSS),
    faulty("py:values:ColumnsBehindDiffsUnread", "DEC3", LOSS, FAIL),
    faulty("py:values:IgnoresThePartialBitmap", "DEC4", LOSS),
    faulty("py:values:DiffsAsDocument", "DEC4", LOSS, FAIL),
    faulty("py:values:JsonNullAsSqlNull", "DEC5", LOSS),
    faulty("py:values:EmptyListAsNull", "DEC5", LOSS),
    faulty("py:values:IntegersThroughDoubles", "DEC6", LOSS),
    faulty("py:values:BooleansAsNumbers", "DEC6", LOSS),
    faulty("py:values:IntegersThroughDoubles", "DEC10", LOSS),
    faulty("py:values:EntryOrder", "DEC7", LOSS, REFUSED, FAIL),
    faulty("py:values:OffsetsFromTheRoot", "DEC7", LOSS, REFUSED, FAIL),
    faulty("py:values:TimeWithoutSign", "DEC8", LOSS),
    faulty("py:values:DecimalsThroughDoubles", "DEC8", LOSS, Verdict.LENIENT),
    faulty("py:values:LosesTypes", "DEC9", Verdict.LENIENT),
    faulty("py:values:TimestampAsDatetime", "DEC9", Verdict.LENIENT),
    faulty("py:values:UnsignedAsSigned", "DEC10", LOSS),
    faulty("py:values:TimeWithoutSign", "DEC11", LOSS),
    faulty("py:values:ZeroDatesAsNull", "DEC11", LOSS),
    faulty("py:values:MembersInLatin1", "DEC12", LOSS),
    faulty("py:values:TextInLatin1", "DEC12", LOSS),
    faulty("py:values:BytesAsText", "DEC13", LOSS),
    faulty("py:values:BytesUpToAZero", "DEC13", LOSS),
    faulty("py:values:FirstColumnsOnly", "DEC14", LOSS),
    faulty("py:values:AbsentAsNull", "DEC14", LOSS),
    faulty("py:values:ImagesSwapped", "DEC14", LOSS, FAIL),
    faulty("py:values:UnsignedAsSigned", "DEC15", LOSS),
    faulty("py:values:MembersShifted", "DEC15", LOSS),
    faulty("py:streams:DropsEvent39Inside40", "DEC16", LOSS),
    faulty("py:streams:DropsPayloads", "DEC16", LOSS),
    faulty("py:streams:StopsAtATaggedGtid", "DEC17", LOSS),
    faulty("py:streams:GtidsWithoutTag", "DEC17", FAIL),
    faulty("py:streams:RolledBackAsCommitted", "DEC18", FAIL),
    faulty("py:streams:DropsXa", "DEC18", LOSS, FAIL),
    faulty("py:streams:QuietAboutDamage", "DEC19", LOSS, Verdict.LENIENT),
    faulty("py:streams:StopsWithoutChecksums", "DEC19", LOSS, Verdict.LENIENT),
    faulty("py:streams:StopsAt", "DEC20", LOSS),
    faulty("py:streams:LosesRowsBehindUnknownEvents", "DEC20", LOSS),
    faulty("py:streams:OneRowsEventForAMap", "DEC21", LOSS),
    faulty("py:streams:NamesInLowerCase", "DEC21", FAIL),
    faulty("py:streams:RepeatsBeforeAnError", "DEC22", FAIL),
    faulty("py:streams:QuietAboutDamage", "DEC22", Verdict.LENIENT, LOSS),
    faulty("py:twelve:DropsDelete", "DEC24", LOSS),
    faulty("py:streams:DropsInsert", "DEC24", LOSS, REFUSED),
    faulty("jsonl:never?timeout=0.5", "DEC23", Verdict.TIMEOUT, cases=3),
    faulty("jsonl:twice", "DEC23", FAIL, cases=3),
    faulty("jsonl:flood?limit=1", "DEC23", FAIL, cases=3),
    faulty("jsonl:crash_on_the_third", "DEC23", Verdict.CRASH, cases=5),
    faulty("jsonl:half_an_answer", "DEC23", Verdict.CRASH, cases=3),
    faulty("jsonl:wrong_id", "DEC23", FAIL, cases=3),
    faulty("jsonl:chatter", "DEC23", FAIL, cases=3),
    faulty("cmd:status_without_words", "DEC23", Verdict.CRASH, cases=3),
    faulty("cmd:last_change_unwritten", "DEC1", LOSS, cases=3),
)


def suite() -> list[DecoderCase]:
    return [case for case in load_suite().cases if not case.sparse]


def chosen(fault: Fault) -> list[DecoderCase]:
    if fault.run["cases"] is not None:
        return suite()[: fault.run["cases"]]
    return [
        case for number, case in enumerate(suite()) if not number % SELECTED or fault.requirement in case.requirements
    ]


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.sampled(30)
@each(TABLE)
def test_a_faulty_subject_is_caught_under_its_requirement(fault: Fault) -> None:
    found: Counter[tuple[str, Verdict]] = Counter()
    with OpenedSubject(fault.change) as subject:
        for case in chosen(fault):
            judgement = subject.judge(case).judgement
            assert judgement is not None
            found[judgement.requirement, judgement.verdict] += 1
    verdict = Verdict(fault.verdict)
    assert found[fault.requirement, verdict], found
    verdicts = {verdict for _, verdict in found} - {Verdict.PASS, Verdict.NOT_APPLICABLE}
    assert verdicts <= {verdict, *fault.run["others"]}, found


def test_the_same_decoder_without_a_fault_passes_everything() -> None:
    with OpenedSubject(f"py:{MODULE}.reading:Reader") as subject:
        judged = {case.id: subject.judge(case) for case in suite()}
    assert {name: item for name, item in judged.items() if item.verdict is not Verdict.PASS} == {}


@pytest.mark.parametrize("spec", ["py:reading:Reader", "jsonl:soundly", "cmd:soundly"])
def test_an_adapter_without_a_fault_passes(spec: str) -> None:
    with OpenedSubject(spec_of(spec)) as subject:
        assert {subject.judge(case).verdict for case in suite()[:5]} == {Verdict.PASS}


def test_one_crash_costs_one_case() -> None:
    with OpenedSubject(spec_of("jsonl:crash_on_the_third")) as subject:
        verdicts = [subject.judge(case).verdict for case in suite()[:5]]
    assert verdicts == [Verdict.PASS, Verdict.PASS, Verdict.CRASH, Verdict.PASS, Verdict.PASS]


def test_each_requirement_has_two_faults() -> None:
    counts = Counter(fault.requirement for fault in TABLE)
    assert {name for name, count in counts.items() if count >= 2} == {f"DEC{number}" for number in range(1, 25)}
