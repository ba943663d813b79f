"""Decoders with one public bug each (``tests/subjects/faulty/public_reports``): the suite shows each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.suite import load_suite
from conformance.harness.decoders import OpenedSubject
from conformance.verdict import Verdict
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.subjects.faulty.public_reports import REPORTS, WaitsForTheCommit

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

pytestmark = pytest.mark.slow

MODULE = "tests.subjects.faulty.public_reports"


def reported(name: str, requirement: str, verdict: Verdict, due: str) -> Fault:
    """A decoder, and the Cases that must show it, the first of them with this verdict."""
    return Fault(f"{requirement}-report-{name}", requirement, name, name, verdict.value, at=due.split())


LOSS, FAIL, REFUSED, LENIENT = Verdict.SILENT_LOSS, Verdict.FAIL, Verdict.REFUSED, Verdict.LENIENT
TABLE = (
    reported("FailsAbove250Columns", "DEC14", REFUSED, "columns/columns-251 columns/columns-300"),
    reported(
        "GivesRowsAtXidOnly", "DEC18", LOSS,
        "transactions/myisam transactions/myisam-between transactions/myisam-last",
    ),
    reported("MetadataShiftedInMinimalImages", "DEC14", REFUSED, "columns/minimal-of-many-types"),
    reported("StopsAtStatementsThatAreNotUtf8", "DEC21", REFUSED, "transactions/ddl-not-utf8"),
    reported(
        "RefusesEventsOf19Bytes", "DEC19", REFUSED,
        "checksums/none-event-of-19-bytes checksums/none-ignorable-of-19-bytes",
    ),
    reported(
        "KnowsNoOldColumnTypes", "DEC21", REFUSED,
        "oldtypes/dates oldtypes/dates-5.5 oldtypes/blobs oldtypes/newdate oldtypes/var-string "
        "oldtypes/decimal-null oldtypes/typed-array-null",
    ),
    reported("LargeSetsHighByteFirst", "DEC12", LOSS, "columns/set-9 columns/set-64"),
    reported("Enum0AsTheLastMember", "DEC12", LOSS, "columns/enum-0 columns/enum-0-minimal"),
    reported(
        "NegativeTimeBorrowsFromNoFraction", "DEC11", LOSS,
        "columns/time-6-negative-whole columns/time-1 columns/time-3",
    ),
    reported("RollbackStatementsUnread", "DEC18", FAIL, "transactions/rows-rolled-back"),
    reported("StopsAtSavepoints", "DEC18", REFUSED, "xa/savepoint"),
    reported("KeepsTheFirstTableOfAnId", "DEC21", LOSS, "files/table-id-reused"),
    reported("BinaryWithoutItsZeros", "DEC13", LENIENT, "columns/binary-closing-zeros"),
    reported("FailsAtZeroDatesWithFraction", "DEC11", REFUSED, "columns/datetime-zero"),
    reported("KnowsNoPlainPayload", "DEC16", REFUSED, "transactions/payload-not-compressed"),
    reported(
        "StopsAtUnknownEventsToBeIgnored", "DEC20", REFUSED,
        "transactions/ignorable-100 files/unknown-ignorable-event",
    ),
    reported(
        "KnowsNoGroupReplication", "DEC20", REFUSED,
        "transactions/view-change transactions/transaction-context",
    ),
    reported("StopsAtTextThatIsNone", "DEC12", REFUSED, "charsets/utf8mb4-invalid"),
)  # fmt: skip


@each(TABLE)
def test_each_is_red_in_the_cases_that_are_due(fault: Fault) -> None:
    with OpenedSubject(f"py:{MODULE}:{fault.change}") as subject:
        judged = {name: subject.judge(load_suite().case(name)).judgement for name in fault.at}
    assert all(judgement and judgement.verdict is not Verdict.PASS for judgement in judged.values()), judged
    first = judged[fault.at[0]]
    assert first is not None
    assert (first.verdict.value, first.requirement) == (fault.verdict, fault.requirement)


def suite() -> list[DecoderCase]:
    return [case for case in load_suite().cases if not case.sparse]


def red(name: str) -> dict[str, Verdict]:
    """The Cases of the suite that a decoder does not pass."""
    with OpenedSubject(f"py:{MODULE}:{name}") as subject:
        judged = {case.id: subject.judge(case).verdict for case in suite()}
    return {name: verdict for name, verdict in judged.items() if verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)}


def test_a_sound_decoder_that_waits_for_the_commit_passes_everything() -> None:
    assert red(WaitsForTheCommit.__name__) == {}


def test_eighteen_decoders_were_chosen() -> None:
    assert len(REPORTS) == 18
    assert all(REPORTS.values())
    assert {fault.sentence for fault in TABLE} == {decoder.__name__ for decoder in REPORTS}
