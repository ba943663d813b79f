"""Generated Cases: the same from the same seed, sound, and of every kind."""

from __future__ import annotations

from conformance.harness.decoders import OpenedSubject
from conformance.harness.updates.generated_logs import generated_case, generated_cases, named_case
from conformance.verdict import Verdict
from tests.live import lab


def test_seed_and_number_give_the_same_case() -> None:
    cases = list(generated_cases("5", 20))
    assert len({case.log for case in cases}) == len(cases) > 15
    assert [named_case(case.id) for case in cases[:3]] == cases[:3]
    assert generated_case("6", 0) != generated_case("5", 0)
    assert named_case("diffs/replace-scalar") is None
    assert named_case("generated/x") is None
    assert {change["operation"] for case in cases for change in case.expected} == {"update"}
    assert any("PARTIAL" in change["event"] for case in cases for change in case.expected)
    assert any(case.resolved != case.expected for case in cases)


def test_the_reference_reads_them_and_a_faulty_subject_does_not() -> None:
    cases = list(generated_cases("5", 30))
    for name, verdict in (("Reader", Verdict.PASS), ("FirstDiffOnly", Verdict.SILENT_LOSS)):
        place = "reading" if name == "Reader" else "values"
        with OpenedSubject(f"py:tests.subjects.faulty.{place}:{name}") as subject:
            worst = min((subject.judge(case).verdict for case in cases), key=list(Verdict).index)
        assert worst is verdict


def test_a_generated_case_is_replayed_by_its_name() -> None:
    end = lab("replay", "decoder:generated/5-1", "--subject", "reference")
    assert end.code == 0, end.text
    assert end.out.startswith("PASS")
