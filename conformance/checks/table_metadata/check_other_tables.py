"""The worklog's scenarios 1, 2 and 4 on live pairs: rows on a replica with another table (WL#4618).

The check prints every outcome, one line for each look at the replica: the scenarios' outcome table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.table_metadata.other_tables import NONE, cases_by_conversions
from conformance.harness.experiments.items import each_requirement
from conformance.harness.sql_cases import run_cases
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlCase
    from conformance.harness.check import Check
    from conformance.judge.sql import SqlVerdict

_WORDS: Final = {Verdict.PASS: "allowed", Verdict.INFO: "allowed as observed, not what the source has"}
_CONVERSIONS: Final = "replica_type_conversions"


@pytest.mark.check("other-tables")
@pytest.mark.parametrize("requirement", each_requirement("table_metadata/other-tables"))
def test_other_tables(check: Check, requirement: str) -> None:
    """A replica with another table has the source's values, stops, or does what was observed, with no other error."""

    def tell(case: SqlCase, verdict: SqlVerdict) -> None:
        check.narrate(f"{requirement} {outcome_line(case, verdict)}")

    with check.lab.pair(gtid=True) as pair:
        before = NONE
        try:
            for conversions, cases in cases_by_conversions(requirement, brief=check.quick).items():
                if conversions != before:
                    pair.configure({_CONVERSIONS: f"'{conversions}'"})
                    before = conversions
                run_cases(check.part(f"{requirement}/{conversions or 'none'}"), cases, {}, pair, tell)
        finally:
            if before != NONE and pair.replica.alive():
                pair.configure({_CONVERSIONS: f"'{NONE}'"})


def outcome_line(case: SqlCase, verdict: SqlVerdict) -> str:
    """One line of the outcome table: the look, its result, and whether the result is permitted."""
    statement = case.statements[verdict.index]
    got = verdict.got
    if got in ("", "success"):  # compared with an outcome without rows: show the rows of the outcome that fitted
        rows = next(item.rows for item in statement.outcomes if item.verdict == verdict.verdict and item.rows)
        got = "; ".join("(" + ", ".join("NULL" if cell is None else repr(cell) for cell in row) + ")" for row in rows)
    elif got.startswith("error"):
        number, _, message = got.partition(" Worker ")
        got = f"stops, {number}: {message.rpartition('; ')[2]}" if message else got
    return f"{statement.note}: {got} ({_WORDS.get(verdict.verdict, 'NOT ALLOWED')})"
