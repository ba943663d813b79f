"""A sql Case as a script for people: its statements, with the allowed outcomes of each as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.sql_case import MAIN, REPLICA, SOURCE
from conformance.reference.portable import shown
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement


def script_of(case: SqlCase) -> str:
    """The whole Case. Another session or server, and a start, are comments: one client cannot do them."""
    lines = [f"-- Case {case.id}; requirements: {', '.join(case.requirements)}"]
    if any(outcome.error is not None for statement in case.statements for outcome in statement.outcomes[:1]):
        lines.append("-- A statement is to be refused: run this with mysql --force.")
    if case.schema:
        lines += ["CREATE SCHEMA IF NOT EXISTS lab DEFAULT CHARACTER SET utf8mb4;", "USE lab;"]
    accounts = dict(case.accounts)
    place = (SOURCE, MAIN)
    for statement in case.statements:
        if (statement.node, statement.session) != place:
            place = (statement.node, statement.session)
            account = accounts.get(statement.session)
            lines.append(f"-- server {place[0]}, session {place[1]}{f' of the account {account}' if account else ''}:")
        if statement.node == REPLICA and not statement.at_once:
            lines.append(
                "-- when it has everything that the source wrote; if its applier stops instead, that is the answer:"
            )
        if statement.start is None:
            lines.append(
                f"DELIMITER //\n{statement.sql}//\nDELIMITER ;" if ";" in statement.sql else f"{statement.sql};"
            )
        else:
            lines.append(f"-- start the server again: {statement.text}")
        if statement.judges:
            lines += _expected(statement)
        lines += [f"-- the whole text of {item.number}: {item.text}" for item in statement.texts if not item.deviation]
        if statement.sql and (statement.texts or any(outcome.warnings for outcome in allowed_outcomes(statement))):
            lines.append("SHOW WARNINGS;")
    return "\n".join(lines) + "\n"


def _expected(statement: SqlStatement) -> list[str]:
    return [
        f"-- {'expected' if number == 0 else 'or'}: {outcome_words(outcome)}"
        for number, outcome in enumerate(allowed_outcomes(statement))
    ]


def allowed_outcomes(statement: SqlStatement) -> list[Outcome]:
    """The outcomes that are no difference."""
    return [outcome for outcome in statement.outcomes if outcome.verdict not in (Verdict.FAIL, Verdict.DIFFERS)]


def outcome_words(outcome: Outcome) -> str:
    """An outcome as text for people."""
    if outcome.as_before:
        return "the same as the statement before it"
    parts = ["success" if outcome.error is None else f"error {outcome.error}"]
    if outcome.warnings is not None:
        parts.append(f"warnings {', '.join(map(str, outcome.warnings)) or 'none'}")
    if outcome.notes:
        parts.append(f"with the level Note: {', '.join(map(str, outcome.notes))}")
    if outcome.text:
        parts.append(f"a text with {shown(outcome.text)}")
    if outcome.rows is not None:
        parts.append(f"rows {[list(row) for row in outcome.rows]}")
    if outcome.form:
        parts.append(f"logged as: {outcome.form}")
    return "; ".join(parts)
