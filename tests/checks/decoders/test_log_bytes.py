"""The bytes behind a difference: of every Case of the suite the right event, and of a place its own field."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.decoders.known_issues import issues_of, known_issues
from conformance.checks.decoders.log_bytes import log_bytes
from conformance.checks.decoders.suite import load_suite
from conformance.judge.decoding.difference import Difference, DifferenceKind
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.subjects.builtin.catalogue import catalogue

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase

CASES = {case.id: case for case in load_suite().cases}
THREE = CASES["diffs/three-in-one-column"]


def difference(place: str, change: int | None = 0) -> Difference:
    return Difference(kind=DifferenceKind.ALTERED, place=place, expected="1", got="2", change=change)


def marked(case: DecoderCase, place: str, change: int | None = 0) -> list[tuple[str, str, str]]:
    shown = log_bytes(case, difference(place, change))
    return [(item.field, item.expected or "", item.meaning) for item in shown if item.first]


def test_a_missing_change_is_marked_at_the_type_of_its_event() -> None:
    (first,) = log_bytes(THREE, difference("changes[0]"))
    assert (first.field, first.expected, first.meaning) == ("header.type", "27", "39 (PARTIAL_UPDATE_ROWS_EVENT)")
    assert first.offset is not None
    assert THREE.log[first.offset] == 39


@pytest.mark.parametrize(
    ("place", "field", "meaning"),
    [
        ("changes[0].after.j.diffs[1]", "rows[0].after.j.diffs[1].operation", "INSERT"),
        ("changes[0].after.j.diffs[1].path", "rows[0].after.j.diffs[1].path", "'$.c'"),
        ("changes[0].after.j.diffs[1].value", "rows[0].after.j.diffs[1].data.type", "int16"),
        ("changes[0].before.j.$.pad", "rows[0].before.j.json.type", "small object"),
        ("changes[0].after.n", "rows[0].after.n", "INT 7"),
        ("changes[0].after.no_such_column", "rows[0].after.null_bitmap", "NULL: none"),
    ],
)
def test_a_place_is_marked_at_its_field(place: str, field: str, meaning: str) -> None:
    ((found, _, words),) = marked(THREE, place)
    assert (found, words) == (field, meaning)


def test_every_shown_byte_stands_in_the_log_at_its_offset() -> None:
    for item in log_bytes(THREE, difference("changes[0].after.j.diffs[1]")):
        assert item.offset is not None
        data = bytes.fromhex((item.expected or "").partition("…")[0])
        assert THREE.log[item.offset :].startswith(data)


@pytest.mark.sampled(150)
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_each_case_of_the_suite_has_one_marked_field(case: DecoderCase) -> None:
    if case.sparse:
        return
    for number, change in enumerate(case.expected[:2]):
        image = "after" if change["after"] else "before"
        for column in change[image]:
            assert len(marked(case, f"changes[{number}].{image}.{column}", number)) == 1, column


def test_inside_a_payload_the_event_has_its_number_and_offsets_of_its_own() -> None:
    case = CASES["payload/update"]
    ((field, code, _),) = marked(case, "changes[0]")
    assert (field, code) == (f"inner[{case.expected[0]['inner']}].header.type", "1f")


def test_what_has_no_place_in_the_log_has_no_bytes() -> None:
    assert log_bytes(THREE, difference("changes[7]", 7)) == ()
    assert log_bytes(THREE, difference("changes[0]", None)) == ()
    assert log_bytes(replace(THREE, log=THREE.log[:60]), difference("changes[0]")) == ()
    assert log_bytes(replace(THREE, sparse=1 << 32), difference("changes[0]")) == ()


def test_a_long_value_is_shown_in_part() -> None:
    (value,) = [item for item in log_bytes(CASES["jsonb/string-128"], difference("changes[0].after.j.$"))
                if item.field.endswith(".json.value")]  # fmt: skip
    assert (value.expected or "").endswith("… (128 bytes)")


# -- public reports -------------------------------------------------------------------------------------------


def test_public_reports_name_built_in_subjects_and_requirements_of_decoders() -> None:
    later = {"go-mysql", "debezium-engine", "python-mysql-replication-stream"}  # of another part of the catalogue
    for issue in known_issues():
        assert issue.subject in {*catalogue(), *later}, issue
        assert set(issue.requirements) <= {name for name in REQUIREMENTS if name.startswith("DEC")}
        assert issue.requirements or issue.signatures
    assert len({(issue.subject, issue.issue) for issue in known_issues()}) == len(known_issues())


def test_public_reports_of_a_subject_are_found_by_any_of_its_names() -> None:
    assert {issue.issue for issue in issues_of({"go-mysql", "canal"})} >= {"go-mysql-org/go-mysql#650"}
    assert issues_of({"nobody"}) == []
