"""Cases for an applier on a server: their rows, their transaction, their repair.

:mod:`conformance.cases.by_hand.applier_transaction` defines the Cases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import SCHEMA, TABLE, TABLE_MAP
from conformance.cases.case_sql import binlog_statement
from conformance.reference.binlog.event import encode_event
from conformance.servers.roles.applier import Transaction, script_of
from conformance.servers.roles.injector import SERVER_ID, STATE, empty_tables, row_event, write_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.damaged_frame import Damage, DamagedFrame
    from conformance.servers.roles.applier import Applier

_SPARE: Final = 1 << 29  # offset from a row's number to the spare row that replaces it at a repair
_ROWS_PER_EVENT: Final = 100
_MAP: Final = encode_event(TABLE_MAP, server_id=SERVER_ID)


def apply_damaged_frames(applier: Applier, cases: Sequence[DamagedFrame]) -> list[ApplierOutcome]:
    """The outcome of each Case of a damaged file, in order."""
    return apply_transactions(applier, [case.transaction for case in cases], [case.damage for case in cases])


def apply_transactions(
    applier: Applier, cases: Sequence[ApplierTransaction], damages: Sequence[Damage | None] | None = None
) -> list[ApplierOutcome]:
    """The outcome of each Case, in order. Every Case has rows of its own in one table."""
    transactions, rows = [], []
    first = 1
    for case, damage in zip(cases, damages or [None] * len(cases), strict=True):
        transactions.append(replace(transaction_of(case, first), damage=damage))
        rows += stored(case, first)
        first += len(case.rows)
    applier.session().execute_many(empty_tables(TABLE)).check()
    starts = range(0, len(rows), _ROWS_PER_EVENT)
    applier.load([(_MAP, write_event(rows[start : start + _ROWS_PER_EVENT])) for start in starts])
    return applier.apply(transactions)


def transaction_of(case: ApplierTransaction, first: int = 1) -> Transaction:
    """The transaction of a Case whose rows have the numbers from ``first`` on.

    The repair replaces the rows by the spare rows: plain SQL, for a session with sql_log_bin=0.
    """
    numbers = range(first, first + len(case.rows))
    table = f"{SCHEMA}.t"
    repair = (
        f"DELETE FROM {table} WHERE id IN ({', '.join(map(str, numbers))})",
        f"UPDATE {table} SET id = id - {_SPARE} WHERE id IN ({', '.join(str(_SPARE + row) for row in numbers)})",
    )
    return Transaction(
        events=(_MAP, row_event(*((number, row.image) for number, row in zip(numbers, case.rows, strict=True)))),
        reads=tuple(f"{STATE} FROM {table} WHERE id = {number}" for number in numbers),
        repair=None if case.repaired is None else repair,
        beside=case.beside,
    )


def stored(case: ApplierTransaction, first: int = 1) -> list[tuple[int, bytes | None]]:
    """The rows at the start of a Case, the spare ones included."""
    rows = [(first + number, item.stored) for number, item in enumerate(case.rows) if item.row_exists]
    return rows + [(_SPARE + first + number, document) for number, document in enumerate(case.repaired or ())]


def damaged_frame_script(case: DamagedFrame, version: str) -> tuple[str, ...]:
    """Statements that repeat a Case of a damaged file; the repair replaces the file by another one."""
    prepare = [*empty_tables(TABLE), binlog_statement(_MAP, write_event(stored(case.transaction)))]
    return script_of(replace(transaction_of(case.transaction), damage=case.damage), prepare, version)


def transaction_script(case: ApplierTransaction, version: str) -> tuple[str, ...]:
    """Statements that repeat a Case."""
    rows = stored(case)
    prepare = [*empty_tables(TABLE), *([binlog_statement(_MAP, write_event(rows))] if rows else [])]
    return script_of(transaction_of(case), prepare, version)
