"""The answers of a server to a sql Case, against the outcomes that the Case allows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.sql_case import Outcome, SqlAnswer, SqlCase, SqlStatement


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlVerdict:
    """What one statement earned. ``field``, ``expected`` and ``got`` tell its difference from the first outcome."""

    index: int
    requirement: str
    verdict: str
    field: str = ""
    expected: str = ""
    got: str = ""
    deviation: str = ""

    @property
    def failing(self) -> bool:
        """Whether it counts as a difference."""
        return self.verdict in ("fail", "differs")


def judge_sql(case: SqlCase, answers: Sequence[SqlAnswer]) -> tuple[SqlVerdict, ...]:
    """One verdict for each statement that judges something, and for each set-up statement that did not succeed."""
    verdicts = []
    for index, (statement, answer) in enumerate(zip(case.statements, answers, strict=True)):
        verdict = _judge(index, statement, answers[max(0, index - 1)], answer, case.requirements[0])
        if statement.judges or verdict.failing:
            verdicts.append(verdict)
    return tuple(verdicts)


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
    if outcome.text and not any(outcome.text in text for text in (answer.message, *(text for _, text in warnings))):
        return "text", outcome.text, answer.message or "; ".join(text for _, text in warnings) or "no text"
    if outcome.rows is not None and outcome.rows != answer.rows:
        return "rows", _row_words(outcome.rows), _row_words(answer.rows)
    if outcome.form and outcome.form != answer.form:
        return "form of the update", outcome.form, answer.form
    return None


def _error_words(number: int | str | None, message: str = "") -> str:
    return "success" if number is None else f"error {number} {message}".rstrip()


def _row_words(rows: tuple[tuple[str | None, ...], ...]) -> str:
    shown = ["(" + ", ".join("NULL" if cell is None else repr(cell) for cell in row) + ")" for row in rows]
    return "; ".join(shown) or "no rows"
