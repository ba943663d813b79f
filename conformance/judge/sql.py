"""The answers of a server to a sql Case, against the outcomes that the Case allows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from conformance.reference.portable import shown
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.sql_case import Outcome, SqlAnswer, SqlCase, SqlStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlVerdict:
    """The verdict on one statement. ``field``, ``expected`` and ``got`` are its difference from the first outcome."""

    index: int
    requirement: str
    verdict: Verdict
    field: str = ""
    expected: str = ""
    got: str = ""
    deviation: str = ""

    @property
    def failing(self) -> bool:
        """Whether the verdict counts as a difference."""
        return self.verdict.failing


def judge_sql(case: SqlCase, answers: Sequence[SqlAnswer]) -> tuple[SqlVerdict, ...]:
    """One verdict for each statement that judges something, and for each set-up statement that did not succeed.

    Where a statement judges the texts of its warnings, another one follows if such a warning was given.
    """
    verdicts = []
    for index, (statement, answer) in enumerate(zip(case.statements, answers, strict=True)):
        verdict = _judge(index, statement, answers[max(0, index - 1)], answer, case.requirements[0])
        if statement.judges or verdict.failing:
            verdicts.append(verdict)
        if statement.judges_texts and (text := _judge_texts(index, statement, answer)) is not None:
            verdicts.append(text)
    return tuple(verdicts)


def _judge_texts(index: int, statement: SqlStatement, answer: SqlAnswer) -> SqlVerdict | None:
    """Judge the first text that is not allowed, or that is a listed one; ``None`` without a warning of their
    numbers."""
    numbers = {allowed.number for allowed in statement.texts}
    given = [(number, text) for number, text in answer.warnings if number in numbers]
    given = [(number, text) for number, text in given if statement.about in text] or given
    verdicts = [_judge_text(index, statement, number, text) for number, text in given]
    return max(verdicts, key=lambda item: (item.failing and not item.deviation, item.failing), default=None)


def _judge_text(index: int, statement: SqlStatement, number: int, text: str) -> SqlVerdict:
    expected = next(allowed.text for allowed in statement.texts if allowed.number == number)
    match = next((item for item in statement.texts if (item.number, item.text) == (number, text)), None)
    differs = text != expected
    return SqlVerdict(
        index=index,
        requirement=statement.judges_texts,
        verdict=match.verdict if match else Verdict.FAIL,
        field="whole text" if differs else "",
        expected=f"{number} {expected}" if differs else "",
        got=f"{number} {text}" if differs else "",
        deviation=match.deviation if match else "",
    )


def _judge(index: int, statement: SqlStatement, before: SqlAnswer, answer: SqlAnswer, fallback: str) -> SqlVerdict:
    requirement = statement.judges or fallback
    differences = [
        _unlike(before, answer) if outcome.as_before else _difference(outcome, answer, statement.about)
        for outcome in statement.outcomes
    ]
    field, expected, got = differences[0] or ("", "", "")
    for outcome, difference in zip(statement.outcomes, differences, strict=True):
        if difference is None:
            return SqlVerdict(
                index=index,
                requirement=requirement,
                verdict=outcome.verdict,
                field=field,
                expected=expected,
                got=got,
                deviation=outcome.deviation,
            )
    return SqlVerdict(
        index=index, requirement=requirement, verdict=statement.otherwise, field=field, expected=expected, got=got
    )


def _unlike(before: SqlAnswer, answer: SqlAnswer) -> tuple[str, str, str] | None:
    """Field, expected and got where two answers differ; of rows, the first one that does."""
    if before.error != answer.error:
        return "error", _error_words(before.error, before.message), _error_words(answer.error, answer.message)
    for ours, theirs in zip_longest(before.rows, answer.rows):
        if ours != theirs:
            return (
                "rows",
                "no row" if ours is None else _row_words((ours,)),
                "no row" if theirs is None else _row_words((theirs,)),
            )
    return None


def _difference(outcome: Outcome, answer: SqlAnswer, about: str) -> tuple[str, str, str] | None:
    """Field, expected and got of the first difference."""
    if outcome.error == "any":
        if answer.error is None:
            return "error", "an error", "success"
    elif outcome.error != answer.error:
        return "error", _error_words(outcome.error), _error_words(answer.error, answer.message)
    warnings = [(number, text) for number, text in answer.warnings if about in text]
    if outcome.warnings is not None and outcome.warnings != tuple(number for number, _ in warnings):
        return (
            "warnings",
            ", ".join(map(str, outcome.warnings)) or "none",
            "; ".join(f"{number} {text}" for number, text in warnings) or "none",
        )
    if outcome.warnings is not None and (unlike := _level_unlike(outcome, answer, outcome.warnings)):
        return unlike
    if outcome.text and not any(outcome.text in text for text in (answer.message, *(text for _, text in warnings))):
        return "text", outcome.text, answer.message or "; ".join(text for _, text in warnings) or "no text"
    if outcome.rows is not None and outcome.rows != answer.rows:
        return "rows", _row_words(outcome.rows), _row_words(answer.rows)
    if outcome.form and outcome.form != answer.form:
        return "form of the update", outcome.form, answer.form
    return None


def _level_unlike(outcome: Outcome, answer: SqlAnswer, numbers: Sequence[int]) -> tuple[str, str, str] | None:
    """Field, expected and got of the first of these warnings that comes with the other level."""
    for number in numbers:
        due, given = ("Note" if number in notes else "Warning" for notes in (outcome.notes, answer.notes))
        if due != given:
            return "level of a warning", f"{due} {number}", f"{given} {number}"
    return None


def _error_words(number: int | str | None, message: str = "") -> str:
    return "success" if number is None else f"error {number} {message}".rstrip()


def _row_words(rows: tuple[tuple[str | None, ...], ...]) -> str:
    found = ["(" + ", ".join("NULL" if cell is None else shown(cell) for cell in row) + ")" for row in rows]
    return "; ".join(found) or "no rows"
