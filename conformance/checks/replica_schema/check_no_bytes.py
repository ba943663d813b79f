"""A9: JSON values of no bytes on a replica."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.by_hand.injection import SCHEMA, RowState
from conformance.harness.injections import Tried, apply_in_blocks, record_tried
from conformance.judge.damage.diverged import JudgedOutcome, show
from conformance.servers.roles.injector import STATE, read_states
from conformance.verdict import Verdict
from generators import applier_transactions
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check
    from conformance.servers.roles.applier import Applier
    from generators.draw import Draw

_BLOCK: Final = 200  # transactions in one relay log
_NOTHING: Final = RowState(valid=True, text=b"null", size=0, free=0)


@pytest.mark.check("zero-length")
def test_json_values_of_no_bytes(check: Check) -> None:
    """A replica handles JSON values of no bytes from events, under diffs, and from INSERT IGNORE and UPDATE IGNORE."""
    applier = check.needs_applier()
    draw = Stream("applier/zero-length", check.seed)
    cases = [applier_transactions.without_bytes(draw.fork(number)) for number in check.blocks()]
    apply_in_blocks(check, applier, cases, _BLOCK)
    with check.part("sql").block(cases=None) as block:
        record_tried(block, [_made_of_null(applier, draw.fork("sql", number)) for number in range(len(cases) // 10)])


def _made_of_null(applier: Applier, draw: Draw) -> Tried:
    """The value that IGNORE makes of NULL in a column that is NOT NULL."""
    session = applier.session()
    table = f"{SCHEMA}.made"
    update = draw.below(2) == 1
    number = draw.below(1000)
    statements = (
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} (id INT PRIMARY KEY, j JSON NOT NULL)",
        f"INSERT INTO {table} VALUES (-1, JSON_ARRAY({number})), (-2, '{{}}')",
        f"UPDATE IGNORE {table} SET j = NULL WHERE id < 0"
        if update
        else f"INSERT IGNORE INTO {table} SELECT id + {10 + number}, NULL FROM {table}",
    )
    session.execute_many(statements).check()
    query = f"{STATE} FROM {table} WHERE {'id < 0' if update else 'id > 0'} ORDER BY id"
    states = read_states(session, query, most=2)
    wrong = next((state for state in states if state != _NOTHING), _NOTHING) if len(states) == 2 else None
    judged = JudgedOutcome(Verdict.PASS)
    if wrong != _NOTHING:
        judged = JudgedOutcome(
            Verdict.DIFFERS, "NULL that IGNORE lets through is no value of no bytes", show(_NOTHING), show(wrong)
        )
    return Tried(
        id=f"{'update' if update else 'insert'}-ignore-{number}",
        name=statements[-1],
        judged=judged,
        script=lambda: (*statements, f"{STATE} FROM {table}"),
        texts=2,
    )
