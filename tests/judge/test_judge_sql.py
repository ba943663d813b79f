"""Answers to statements against the outcomes that a Case allows; every planted fault is caught."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.sql_case import Outcome, SqlAnswer, SqlCase, SqlStatement, WarningText
from conformance.checks.sql_interface import warning_texts
from conformance.judge.sql import SqlVerdict, judge_sql
from conformance.verdict import Verdict
from tests.faults.runner import each
from tests.judge import planted_statements
from tests.judge.faults_of_sql import IGNORED_TEXT, ONLY_AFTER_TEXT
from tests.judge.planted_statements import ALL_FAULTS

if TYPE_CHECKING:
    from tests.faults.fault import Fault


@each(ALL_FAULTS)
def test_every_planted_fault_is_caught_where_it_is(fault: Fault) -> None:
    assert planted_statements.verdict(fault) == ""


def test_a_perfect_server_passes_every_case() -> None:
    for case in planted_statements.all_cases():
        answers = [planted_statements.perfect(statement) for statement in case.statements]
        assert {verdict.verdict for verdict in judge_sql(case, answers)} == {"pass"}, case.id


def test_every_judged_requirement_has_two_faults() -> None:
    planted = Counter(fault.requirement for fault in ALL_FAULTS)
    judged = {name for case in planted_statements.all_cases() for item in case.statements for name in item.requirements}
    assert {name for name in judged if planted[name] < 2} == set()


def test_a_shortened_case_means_the_same_to_its_last_statement() -> None:
    plain, fresh = SqlStatement(sql="DO 0"), SqlStatement(sql="DO 1", fresh=True)
    judged = SqlStatement(sql="DO 2", judges="S1")
    case = SqlCase(id="x", requirements=("S1",), statements=(plain, fresh, judged, plain, fresh, judged, judged, plain))
    assert case.shortened(5).statements == (plain, fresh, judged)
    assert case.shortened(6).statements == (plain, fresh, judged, judged)
    assert case.shortened(2).statements == (plain, fresh, judged)
    assert replace(case, statements=(plain, judged, judged)).shortened(1).statements == (plain, judged)


def test_ids_are_unique_and_name_what_they_judge() -> None:
    cases = planted_statements.all_cases()
    assert not [name for name, count in Counter(case.id for case in cases).items() if count > 1]
    for case in cases:
        assert {name for item in case.statements for name in item.requirements} == set(case.requirements), case.id


def judged(answer: SqlAnswer, *outcomes: Outcome, judges: str = "S1", about: str = "") -> SqlVerdict | None:
    item = SqlStatement(sql="SELECT 1", judges=judges, outcomes=outcomes or (Outcome(),), about=about)
    found = judge_sql(SqlCase(id="x", requirements=("FR1",), statements=(item,)), [answer])
    return found[0] if found else None


def words(verdict: SqlVerdict | None) -> tuple[str, str, str]:
    assert verdict is not None
    assert verdict.verdict == "fail"
    return verdict.field, verdict.expected, verdict.got


def test_the_first_outcome_that_fits_gives_the_verdict() -> None:
    outcomes = (Outcome(error=1231), Outcome(error="any", verdict=Verdict.DIFFERS))
    for answer, expected in (
        (SqlAnswer(error=1231), "pass"),
        (SqlAnswer(error=1232), "differs"),
        (SqlAnswer(), "fail"),
    ):
        verdict = judged(answer, *outcomes)
        assert verdict is not None
        assert verdict.verdict == expected


def test_a_difference_is_told_against_the_first_outcome() -> None:
    rows, other = (("a",),), ((None, "b"),)
    assert words(judged(SqlAnswer(), Outcome(error=1231))) == ("error", "error 1231", "success")
    assert words(judged(SqlAnswer(error=3, message="no"))) == ("error", "success", "error 3 no")
    assert words(judged(SqlAnswer(), Outcome(error="any"))) == ("error", "an error", "success")
    assert words(judged(SqlAnswer(rows=other), Outcome(rows=rows))) == ("rows", "('a')", "(NULL, 'b')")
    assert words(judged(SqlAnswer(), Outcome(rows=rows)))[2] == "no rows"
    assert words(judged(SqlAnswer(form="whole"), Outcome(form="partial"))) == ("form of the update", "partial", "whole")
    found = SqlAnswer(warnings=((3647, "late"), (3645, "early")))
    assert words(judged(found, Outcome(warnings=(3645, 3647))))[1:] == ("3645, 3647", "3647 late; 3645 early")
    assert words(judged(found, Outcome(warnings=())))[1] == "none"
    assert words(judged(found, Outcome(text="never"))) == ("text", "never", "late; early")
    assert words(judged(SqlAnswer(), Outcome(text="never")))[2] == "no text"
    note = replace(found, notes=(3645,))
    assert words(judged(note, Outcome(warnings=(3647, 3645)))) == ("level of a warning", "Warning 3645", "Note 3645")
    assert words(judged(found, Outcome(warnings=(3647, 3645), notes=(3647,))))[1:] == ("Note 3647", "Warning 3647")


def test_what_an_outcome_leaves_out_is_not_looked_at() -> None:
    answer = SqlAnswer(warnings=((1287, "old"),), rows=(("1",),), form="whole")
    verdict = judged(answer)
    assert verdict is not None
    assert verdict.verdict == "pass"


def test_warnings_about_something_else_do_not_count() -> None:
    answer = SqlAnswer(warnings=((10068, "self signed"), (13101, "the option row_value_options")))
    verdict = judged(answer, Outcome(warnings=(13101,)), about="row_value_options")
    assert verdict is not None
    assert verdict.verdict == "pass"


def test_a_set_up_statement_is_told_only_if_it_fails() -> None:
    assert judged(SqlAnswer(), judges="") is None
    verdict = judged(SqlAnswer(error=1064), judges="")
    assert verdict is not None
    assert (verdict.requirement, verdict.verdict) == ("FR1", "fail")


def test_a_known_outcome_carries_its_deviation_and_its_difference() -> None:
    known = Outcome(warnings=(), verdict=Verdict.FAIL, deviation="mine")
    verdict = judged(SqlAnswer(), Outcome(warnings=(3645,)), known)
    assert verdict is not None
    assert (verdict.verdict, verdict.deviation, verdict.expected, verdict.got) == ("fail", "mine", "3645", "none")
    mended = judged(SqlAnswer(warnings=((3645, ""),)), Outcome(warnings=(3645,)), known)
    assert mended is not None
    assert (mended.verdict, mended.deviation) == ("pass", "")
    other = judged(SqlAnswer(warnings=((3647, ""),)), Outcome(warnings=(3645,)), known)
    assert other is not None
    assert (other.verdict, other.deviation) == ("fail", "")


def test_there_is_one_answer_for_each_statement() -> None:
    case = SqlCase(id="x", requirements=("S1",), statements=(SqlStatement(sql="SELECT 1"),))
    with pytest.raises(ValueError, match="zip"):
        judge_sql(case, [])
    with pytest.raises(ValueError, match="zip"):
        judge_sql(replace(case, statements=()), [SqlAnswer()])


def test_an_answer_as_before_has_the_same_error_or_rows() -> None:
    first = SqlStatement(sql="SELECT 1")
    second = SqlStatement(sql="SELECT 1", judges="FR2", outcomes=(Outcome(as_before=True),))
    case = SqlCase(id="x", requirements=("FR2",), statements=(first, second))
    anything = replace(first, outcomes=(Outcome(), Outcome(error=3157)))
    too_deep = SqlAnswer(error=3157, message="too deep")
    rows, other = SqlAnswer(rows=(("1",), ("2", None))), SqlAnswer(rows=(("1",), ("3", None)))

    def last(before: SqlAnswer, answer: SqlAnswer) -> SqlVerdict:
        return judge_sql(replace(case, statements=(anything, second)), [before, answer])[-1]

    assert last(rows, rows).verdict == last(too_deep, too_deep).verdict == "pass"
    assert words(last(rows, other)) == ("rows", "('2', NULL)", "('3', NULL)")
    assert words(last(rows, SqlAnswer(rows=(("1",),)))) == ("rows", "('2', NULL)", "no row")
    assert words(last(rows, too_deep)) == ("error", "success", "error 3157 too deep")
    assert words(last(too_deep, rows)) == ("error", "error 3157 too deep", "success")


# --- whole texts of warnings -----------------------------------------------------------------------------------------

OBSERVED = (
    "When {}, the option binlog_row_value_options=PARTIAL_JSON will be ignored and updates will be written in full"
    " format to binary log."
)
WRAP = "Error in diagnostics area: MY-003645 - "


def text_verdict(texts: tuple[WarningText, ...], *given: tuple[int, str], about: str = "") -> tuple[str, str] | None:
    """Verdict and deviation that the texts of the warnings of a statement earn."""
    item = SqlStatement(sql="SET x", judges_texts="W1.text", texts=texts, about=about)
    found = judge_sql(SqlCase(id="x", requirements=("W1.text",), statements=(item,)), [SqlAnswer(warnings=given)])
    assert all(verdict.requirement == "W1.text" for verdict in found)
    return (found[0].verdict, found[0].deviation) if found else None


def test_the_worklogs_text_passes_and_the_observed_one_is_the_deviation_exact_to_the_word() -> None:
    texts = warning_texts.ignored_texts(warning_texts.STATEMENT, observed=warning_texts.STATEMENT)
    seen = OBSERVED.format("binlog_format=STATEMENT")
    assert text_verdict(texts, (3645, IGNORED_TEXT)) == ("pass", "")
    assert text_verdict(texts, (1287, "deprecated"), (3645, seen)) == ("fail", "warning-1-text")
    words = seen.split()
    for number, word in enumerate(words):
        for other in ([], [word.upper() if word.islower() else word + "x"]):
            text = " ".join([*words[:number], *other, *words[number + 1 :]])
            assert text_verdict(texts, (3645, text)) == ("fail", ""), text
    assert text_verdict(texts, (3645, OBSERVED.format("the binary log is closed"))) == ("fail", "")


def test_a_second_warning_with_another_text_is_not_hidden_by_the_first() -> None:
    texts = warning_texts.ignored_texts(warning_texts.STATEMENT, observed=warning_texts.STATEMENT)
    for given in (IGNORED_TEXT, OBSERVED.format("binlog_format=STATEMENT")):
        assert text_verdict(texts, (3645, given), (3645, "other")) == ("fail", "")
        assert text_verdict(texts, (3645, "other"), (3645, given)) == ("fail", "")


def test_without_the_warning_its_text_is_not_judged() -> None:
    assert text_verdict(warning_texts.only_after_texts(), (3645, IGNORED_TEXT)) is None


def test_the_text_of_a_persisted_setting_is_read_behind_the_words_of_the_wrap() -> None:
    texts = warning_texts.ignored_texts_of_persisted(warning_texts.STATEMENT, observed=warning_texts.STATEMENT)
    seen = OBSERVED.format("binlog_format=STATEMENT")
    about = "row_value_options"
    other = (13140, "Error in diagnostics area: MY-001287 - deprecated")
    assert text_verdict(texts, other, (13140, WRAP + IGNORED_TEXT), about=about) == ("pass", "")
    assert text_verdict(texts, (13101, IGNORED_TEXT), about=about) == ("pass", "")
    assert text_verdict(texts, other, (13140, WRAP + seen), about=about) == ("fail", "warning-1-text")
    assert text_verdict(texts, (13140, WRAP + ONLY_AFTER_TEXT), about=about) == ("fail", "")
    assert text_verdict(texts, (13140, WRAP), about=about) == ("fail", "")
    assert text_verdict(texts, (13140, IGNORED_TEXT), about=about) == ("fail", "")
    assert text_verdict(texts, (13101, WRAP + IGNORED_TEXT), about=about) == ("fail", "")


def test_an_empty_text_of_a_start_is_judged_although_it_is_about_nothing() -> None:
    texts = warning_texts.only_after_texts_at_start()
    assert text_verdict(texts, (13103, ""), about="row_value_options") == ("fail", "")
    assert text_verdict(texts, (13103, ONLY_AFTER_TEXT), about="row_value_options") == ("pass", "")
