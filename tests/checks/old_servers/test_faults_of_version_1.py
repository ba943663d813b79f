"""Servers that still have log_bin_use_v1_row_events: what one that errs would answer, and that it is noticed.

No server that the lab can start has the variable, so the answers are made up (requirements 1, warning 2;
section 2, condition 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cases.sql_case import SqlAnswer
from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.checks.sql_interface.warning_cases import v1_cases
from conformance.judge.sql import judge_sql

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase, SqlStatement

_WARNING: Final = 3646
_TEXT: Final = (
    "When binlog_row_value_options=PARTIAL_JSON, the option log_bin_use_v1_row_events=1 will be ignored and row events"
    " will be written in new format to binary log."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFault:
    """``change``: fields of the answer to the judged statement, and what they become."""

    id: str
    requirement: str
    change: dict[str, Any]


_WRONG: Final[dict[str, dict[str, Any]]] = {
    "missing": {"warnings": ()},
    "another-warning": {"warnings": ((3647, "When binlog_row_image=FULL, ..."),)},
    "refused": {"error": 1231, "message": "wrong value", "warnings": ()},
}
FAULTS: Final = [
    *(
        VersionFault(id=f"{requirement}/{name}", requirement=requirement, change=change)
        for requirement in ("W2a", "W2b", "W2c")
        for name, change in _WRONG.items()
    ),
    *(
        VersionFault(id=f"W2.text/{name}", requirement="W2.text", change={"warnings": ((_WARNING, text),)})
        for name, text in (
            ("one-word", _TEXT.replace("new format", "old format")),
            ("no-cause", _TEXT.replace("binlog_row_value_options=PARTIAL_JSON", "")),
            ("twice", f"{_TEXT} {_TEXT}"),
        )
    ),
    VersionFault(id="D4/not-logged", requirement="D4", change={"form": "none"}),
    VersionFault(id="D4/as-statement", requirement="D4", change={"form": "query"}),
]


def cases() -> list[SqlCase]:
    return [*v1_cases(present=True), *CONDITIONS["D4"]]


def perfect(statement: SqlStatement) -> SqlAnswer:
    outcome = statement.outcomes[0]
    error = outcome.error if isinstance(outcome.error, int) else None
    return SqlAnswer(error=error, warnings=((_WARNING, _TEXT),) if outcome.text else (), form=outcome.form)


def test_a_server_that_gives_the_warning_and_the_form_passes() -> None:
    for case in cases():
        verdicts = judge_sql(case, [perfect(statement) for statement in case.statements])
        assert verdicts
        assert {verdict.verdict for verdict in verdicts} == {"pass"}, case.id


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_planted_fault_is_caught_in_every_case(fault: VersionFault) -> None:
    planted = 0
    for case in cases():
        for index, statement in enumerate(case.statements):
            if fault.requirement not in statement.requirements:
                continue
            if statement.outcomes[0].error is not None and "error" not in fault.change:
                continue  # what is refused has no warning that could be another one
            answers = [perfect(each) for each in case.statements]
            answers[index] = replace(answers[index], **fault.change)
            failing = [item for item in judge_sql(case, answers) if item.failing]
            assert [(item.index, item.requirement) for item in failing] == [(index, fault.requirement)], case.id
            planted += 1
    assert planted
