"""Deliberately faulty readers of data files: each is caught under the right requirement with the right verdict.

They answer through the adapters and are judged as any subject is. The same reader without a fault passes everything.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.data_files import load_files
from conformance.harness.decoders import OpenedSubject
from conformance.verdict import Verdict
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODULE = "tests.subjects.faulty"
LOSS, FAIL = Verdict.SILENT_LOSS, Verdict.FAIL
BESIDE = ("rows/plain", "entries/plain")  # Cases beside those about the requirement
COMMAND = (*BESIDE, "entries/page-damaged", "entries/no-data-file")


def command(fault: str) -> str:
    return f"cmd:{shlex.quote(sys.executable)} -m {MODULE}.stored_command {fault} {{file}}?roles=sdi"


def faulty(name: str, requirement: str, verdict: Verdict, *others: Verdict) -> Fault:
    """A reader; the requirement and verdict that catch it; other verdicts that it may get."""
    spec = command(name) if name.islower() else f"py:{MODULE}.stored:{name}"
    return Fault(f"{requirement}-{name}", requirement, name, spec, verdict.value, run={"others": others})


TABLE = (
    faulty("FirstEntryOnly", "DAT1", LOSS),
    faulty("EntriesUpToAPage", "DAT1", LOSS),
    faulty("GivesDeletedRows", "DAT2", FAIL),
    faulty("FirstLeafOnly", "DAT2", LOSS),
    faulty("WrongSign", "DAT3", LOSS),
    faulty("EmptyAsNull", "DAT3", LOSS),
    faulty("PrefixOfLargeValues", "DAT4", LOSS),
    faulty("OldVersions", "DAT4", LOSS),
    faulty("NoInstantDefaults", "DAT5", LOSS),
    faulty("DroppedColumnsAsThere", "DAT5", LOSS),
    faulty("FirstTableOnly", "DAT6", LOSS),
    faulty("CompressedAsEmpty", "DAT6", LOSS),
    faulty("SilentAtDamage", "DAT7", LOSS),
    faulty("QuietAboutOtherFiles", "DAT7", LOSS, Verdict.LENIENT),
    faulty("RowsWithoutTable", "DAT8", FAIL),
    faulty("cut_json", "DAT8", FAIL),
)


def chosen(fault: Fault) -> list[DecoderCase]:
    return [case for case in load_files().cases if case.id in BESIDE or fault.requirement in case.requirements]


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@each(TABLE)
def test_a_faulty_reader_is_caught_under_its_requirement(fault: Fault) -> None:
    found: Counter[tuple[str, Verdict]] = Counter()
    with OpenedSubject(fault.change) as subject:
        for case in chosen(fault):
            judged = subject.judge(case)
            if judged.judgement is not None:
                found[judged.judgement.requirement, judged.verdict] += 1
    verdict = Verdict(fault.verdict)
    assert found[fault.requirement, verdict], found
    verdicts = {verdict for _, verdict in found} - {Verdict.PASS}
    assert verdicts <= {verdict, *fault.run["others"]}, found


def test_the_same_reader_without_a_fault_passes_everything() -> None:
    with OpenedSubject(f"py:{MODULE}.stored:Reader") as subject:
        judged = {case.id: subject.judge(case) for case in load_files().cases}
    assert {name: item for name, item in judged.items() if item.verdict is not Verdict.PASS} == {}


def test_a_command_without_a_fault_passes_in_its_role() -> None:
    with OpenedSubject(command("soundly")) as subject:
        verdicts = [subject.judge(case).verdict for case in load_files().cases if case.id in COMMAND]
    assert verdicts == [Verdict.NOT_APPLICABLE, *[Verdict.PASS] * 3]


def test_each_requirement_has_two_faults() -> None:
    counts = Counter(fault.requirement for fault in TABLE)
    assert {name for name, count in counts.items() if count >= 2} == {f"DAT{number}" for number in range(1, 9)}
