"""A sql Case as a script: its statements, and how each judged statement must end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.sql_case import MAIN, SOURCE
from conformance.cases.sql_case_text import allowed_outcomes, outcome_words
from conformance.harness.scripts.checked_sql import AS_EXPECTED, BEFORE, RUN_WITH, ended, refused_with
from conformance.reference.sql.quoting import quote_string

if TYPE_CHECKING:
    from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement

_DIAGNOSTIC = ("GET DIAGNOSTICS", "SHOW WARNINGS")


def is_plain(case: SqlCase) -> bool:
    """Whether one session on one server can run the Case."""
    return all(
        (statement.node, statement.session, statement.start) == (SOURCE, MAIN, None) for statement in case.statements
    )


def statements_script(case: SqlCase) -> str:
    """SQL for one session, of a plain Case."""
    lines = [
        f"-- Case {case.id}; requirements: {', '.join(case.requirements)}",
        f"-- Run it with: {RUN_WITH} < SCRIPT 2>&1",
    ]
    if case.schema:
        lines += ["CREATE SCHEMA IF NOT EXISTS lab DEFAULT CHARACTER SET utf8mb4;", "USE lab;"]
    taken = 0  # diagnostic statements that stand before a check already
    for number, statement in enumerate(case.statements):
        if taken:
            taken -= 1
            continue
        if not statement.requirements:
            lines.append(_text(statement))
            continue
        behind = _diagnostics(case, number + 1)
        taken = len(behind)
        lines += [BEFORE, _text(statement)]
        words, condition = _demanded(statement)
        # No condition can hold what another statement selected: its rows stand in the output above.
        shown = any(outcome.rows is not None or outcome.as_before or outcome.form for outcome in statement.outcomes)
        held = "compare it with the output above" if shown else AS_EXPECTED
        lines += ended(statement.note or statement.sql, words, condition, tuple(map(_text, behind)), held=held)
    return "\n".join(lines) + "\n"


def _texts(statement: SqlStatement) -> list[tuple[int, str]]:
    """The numbers and whole texts that its warnings may have."""
    return [(item.number, item.text) for item in statement.texts if not item.deviation]


def _diagnostics(case: SqlCase, start: int) -> list[SqlStatement]:
    found = []
    for statement in case.statements[start:]:
        if not statement.sql.startswith(_DIAGNOSTIC):
            break
        found.append(statement)
    return found


def _text(statement: SqlStatement) -> str:
    return f"DELIMITER //\n{statement.sql}//\nDELIMITER ;" if ";" in statement.sql else f"{statement.sql};"


def _demanded(statement: SqlStatement) -> tuple[str, str]:
    """The demanded outcome as text, and as a condition on what the diagnostics area held."""
    outcomes = allowed_outcomes(statement)
    words = " or ".join(map(outcome_words, outcomes))
    condition = " OR ".join(f"({_condition(outcome, statement)})" for outcome in outcomes) or "FALSE"
    texts = _texts(statement)
    if texts:
        # Of a number that has texts, only those count.
        words += "; " + " or ".join(f"warning {number} {text}" for number, text in texts)
        known = " OR ".join(f"@number = {number} AND @text = {quote_string(text)}" for number, text in texts)
        numbers = ", ".join(str(number) for number in dict.fromkeys(number for number, _ in texts))
        condition = f"({condition}) AND (COALESCE(@number, 0) NOT IN ({numbers}) OR {known})"
    return words, condition


def _condition(outcome: Outcome, statement: SqlStatement) -> str:
    if outcome.error is None:
        parts = ["@errors = 0"]
    else:
        parts = ["@errors > 0"] if outcome.error == "any" else [refused_with(outcome.error)]
    if outcome.warnings is not None and not statement.about:
        parts.append(f"@conditions - @errors = {len(outcome.warnings)}")
        if outcome.warnings and outcome.error is None:
            parts.append(f"@number = {outcome.warnings[0]}")
    if outcome.text:
        parts.append(f"LOCATE({quote_string(outcome.text)}, COALESCE(@text, ''))")
    return " AND ".join(parts)
