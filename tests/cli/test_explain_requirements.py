"""``explain REQ`` and ``explain DEVIATION``: every row of the catalogue and of the list, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.harness.experiments.manifests import all_facts, sentence_of
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.deviations import load_deviations
from conformance.requirements.versions import MARKS, SWITCHES
from conformance.runs.explained.deviation import deviation_lines
from conformance.runs.explained.requirement import requirement_lines
from tests.in_process import lab_here

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_every_requirement_has_its_sentence_source_judges_and_versions() -> None:
    for name, row in REQUIREMENTS.items():
        lines = list(requirement_lines(name))
        text = "\n".join(lines)
        assert all(words in text for words in (row.statement, row.document, row.allowed, row.basis)), name
        checks = [line for line in lines if line.startswith("  - ")]
        assert bool(checks) is (row.reason is None), (name, checks)
        assert all(line.partition(": ")[2] for line in checks), checks
        assert row.reason is None or f"Not judged: {row.reason}" in text, name
        for entry in load_deviations():
            listed = any(line.startswith(f"    {entry.id} ") and entry.versions in line for line in lines)
            assert listed is bool({name, row.within} & set(entry.requirements)), (name, entry.id)
        assert "No deviation is listed" not in text or row.judged_on not in ("model", "decoder"), name


def test_every_deviation_is_told_whole() -> None:
    for entry in load_deviations():
        text = "\n".join(deviation_lines(entry))
        assert entry.reason in text
        assert entry.versions in text
        assert all(version in text for version in entry.observed), entry.id


def test_every_check_has_a_sentence_that_is_read_without_importing_it() -> None:
    assert [facts.id for facts in all_facts() if not sentence_of(facts.id).endswith(".")] == []
    assert sentence_of("updates/nothing") == sentence_of("nowhere/nothing") == ""


def test_features_and_marks_are_those_of_the_table_of_versions() -> None:
    assert {row.feature for row in REQUIREMENTS.values()} - {""} <= set(SWITCHES)
    assert {row.feature for row in REQUIREMENTS.values() if row.document == "WL#2955"} == {"has_event39"}
    assert {mark[0] for switch in SWITCHES.values() for cell in switch.cells for mark in cell.mark.split(", ")} & set(
        MARKS
    ) == set(MARKS)


def test_a_requirement_is_printed_in_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    end = lab_here("explain", "FR5")
    assert end.code == 0, end.text
    assert max(len(line) for line in end.out.splitlines() if not line.startswith("    ")) <= 60
    assert "8.0.3   true   M, S 8.0.15, V 8.0.45" in end.out
    assert "cut-metadata-taken              8.0.3..                       8.0.45, 9.7.4" in end.out


def test_a_file_with_the_name_of_a_requirement_is_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FR5").write_bytes(b"not a log at all")
    end = lab_here("explain", "FR5")
    assert (end.code, "FR5: not a binary log" in end.err) == (2, True), end.text
