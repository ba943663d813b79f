"""Servers that still have log_bin_use_v1_row_events: what one that errs would answer, and that it is noticed.

No server that the lab can start has the variable, so the answers are made up (requirements 1, warning 2;
section 2, condition 4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.sql_case import SqlAnswer
from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.checks.sql_interface.warning_cases import v1_cases
from conformance.judge.sql import judge_sql
from tests.faults.fault import Fault
from tests.faults.runner import each

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase, SqlStatement

_WARNING: Final = 3646
_TEXT: Final = (
    "When binlog_row_value_options=PARTIAL_JSON, the option log_bin_use_v1_row_events=1 will be ignored and row events"
    " will be written in new format to binary log."
)


_RULE: Final = "PARTIAL_JSON overrules version 1 of row events, with a warning."
_WRONG: Final[dict[str, dict[str, Any]]] = {
    "missing": {"warnings": ()},
    "another-warning": {"warnings": ((3647, "When binlog_row_image=FULL, ..."),)},
    "refused": {"error": 1231, "message": "wrong value", "warnings": ()},
}
FAULTS: Final = [
    *(
        Fault(f"{requirement}/{name}", requirement, _RULE, change)
        for requirement in ("W2a", "W2b", "W2c")
        for name, change in _WRONG.items()
    ),
    *(
        Fault(f"W2.text/{name}", "W2.text", _RULE, {"warnings": ((_WARNING, text),)})
        for name, text in (
            ("one-word", _TEXT.replace("new format", "old format")),
            ("no-cause", _TEXT.replace("binlog_row_value_options=PARTIAL_JSON", "")),
            ("twice", f"{_TEXT} {_TEXT}"),
        )
    ),
    Fault("D4/not-logged", "D4", _RULE, {"form": "none"}),
    Fault("D4/as-statement", "D4", _RULE, {"form": "query"}),
]  # fmt: skip


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


@each(FAULTS)
def test_a_planted_fault_is_caught_in_every_case(fault: Fault) -> None:
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
