"""Doctored answers to the statements about the option, and what the judge must say about each.

``python -m tests.judge.planted_statements`` (from the repository's root) prints one line per fault and
``caught/planted`` at the end.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from conformance.cases.sql_case import SqlAnswer
from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.checks.sql_interface import startup_cases, variable_cases, warning_cases
from conformance.checks.table_metadata import variable_cases as metadata_variable_cases
from conformance.checks.table_metadata.other_tables import cases_by_conversions
from conformance.judge.sql import judge_sql
from tests.checks.table_metadata.faults_of_metadata import OTHER_TABLE_FAULTS, VARIABLE_FAULTS
from tests.judge.faults_of_sql import SQL_FAULTS

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase, SqlStatement
    from tests.faults.fault import Fault


_SCENARIOS = ("TMR1", "TMR2", "TMR4")
ALL_FAULTS = (*SQL_FAULTS, *VARIABLE_FAULTS, *OTHER_TABLE_FAULTS)


@cache
def all_cases() -> tuple[SqlCase, ...]:
    """Every Case of the checks on statements, for a server without version 1 row events."""
    return (
        *variable_cases.value_cases(),
        *variable_cases.scope_cases(),
        *variable_cases.restriction_cases(),
        *variable_cases.privilege_cases(),
        *variable_cases.hint_cases(),
        *warning_cases.session_cases(),
        *warning_cases.global_cases(),
        warning_cases.closed_log_case(),
        *startup_cases.command_line_cases(),
        *startup_cases.startup_warning_cases(),
        *metadata_variable_cases.value_cases(),
        *metadata_variable_cases.scope_cases(),
        *metadata_variable_cases.privilege_cases(),
        *metadata_variable_cases.start_cases(),
        *(case for name in _SCENARIOS for cases in cases_by_conversions(name, brief=False).values() for case in cases),
        *(case for name, cases in CONDITIONS.items() if name != "D4" for case in cases),
    )


def perfect(statement: SqlStatement) -> SqlAnswer:
    """The answer that the first outcome describes."""
    outcome = statement.outcomes[0]
    error = 9999 if outcome.error == "any" else outcome.error
    text = f"{outcome.text} {statement.about}"
    return SqlAnswer(
        error=error,
        message=text if error is not None else "",
        warnings=_warnings(statement, outcome.warnings or ()),
        rows=outcome.rows or (),
        form=outcome.form,
    )


def doctored(answer: SqlAnswer, statement: SqlStatement, change: dict[str, object]) -> SqlAnswer:
    """The answer with one field as the fault has it."""
    text = f"{statement.outcomes[0].text} {statement.about}"
    ((name, value),) = change.items()
    if name == "texts":
        return replace(answer, warnings=tuple((number, _reworded(old, value)) for number, old in answer.warnings))
    if name == "warnings":
        assert isinstance(value, tuple)
        return replace(answer, warnings=_warnings(statement, value))
    if name == "text":
        other = str(value)
        return replace(
            answer,
            message=other if answer.error is not None else "",
            warnings=tuple((number, other + statement.about) for number, _ in answer.warnings),
        )
    if name == "error" and value is not None:
        return replace(answer, error=value, message=text)  # type: ignore[arg-type]
    return replace(answer, **{name: value})  # type: ignore[arg-type]


def _warnings(statement: SqlStatement, numbers: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
    """Each with the text that is allowed first, if its text is judged."""
    texts = {allowed.number: allowed.text for allowed in reversed(statement.texts)}
    text = f"{statement.outcomes[0].text} {statement.about}"
    return tuple((number, texts.get(number, text)) for number in numbers)


def _reworded(old: str, change: object) -> str:
    """The text that stands in its place, or the old one with words that stand in the place of others."""
    return change if isinstance(change, str) else old.replace(*change)  # type: ignore[misc]


def verdict(fault: Fault) -> str:
    """Empty if the fault is caught in the first place where it changes anything, else what is wrong."""
    for case in all_cases():
        for index, statement in enumerate(case.statements):
            if fault.requirement not in statement.requirements:
                continue
            if not (re.search(fault.at, statement.text) or re.search(fault.at, statement.note)):
                continue
            answers = [perfect(each) for each in case.statements]
            wrong = doctored(answers[index], statement, fault.change)
            if wrong == answers[index]:
                continue
            answers[index] = wrong
            found = [item for item in judge_sql(case, answers) if item.failing]
            if [item.index for item in found] == [index] and found[0].requirement == fault.requirement:
                return ""
            return f"{case.id}, statement {index}: not caught"
    return "no statement to plant it in"


def main() -> int:
    """Print what is caught."""
    missed = 0
    for fault in ALL_FAULTS:
        problem = verdict(fault)
        missed += bool(problem)
        sys.stdout.write(f"{fault.requirement:4} {fault.id:40} {problem or 'caught'}\n")
    sys.stdout.write(f"{len(ALL_FAULTS) - missed}/{len(ALL_FAULTS)} caught/planted\n")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
