"""Replicas whose table differs from the source's, on a server whose applier reads a relay log written by hand.

Every Case has a table of its own. The repair after an error puts a table like the source's in its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import SCHEMA
from conformance.cases.case_sql import binlog_statement
from conformance.checks.replica_schema.case import written
from conformance.checks.replica_schema.judge import judge
from conformance.harness.injections import Tried, keep_run
from conformance.reference.sql.quoting import quote_identifier
from conformance.servers.roles.applier import Transaction, script_of
from conformance.servers.roles.injector import SERVER_ID, empty_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome
    from conformance.checks.replica_schema.case import ReplicaSchema
    from conformance.harness.session import Lab
    from conformance.reference.tables.definitions import Table
    from conformance.servers.roles.applier import Applier
    from conformance.servers.run.owned import OwnServer
    from conformance.verdict import Verdict

_FIRST_ID: Final = 10  # the first table id of a Case; lower ids belong to the marks and to injected events


def apply(applier: Applier, cases: Sequence[ReplicaSchema]) -> list[ApplierOutcome]:
    """The outcome of each Case, in order. Their tables have different names."""
    assert len({case.source.name for case in cases}) == len(cases)
    applier.session().execute_many([text for case in cases for text in _tables(case)]).check()
    applier.load([_rows(case, 2 * number) for number, case in enumerate(cases)])
    return applier.apply([transaction_of(case, number) for number, case in enumerate(cases)])


def transaction_of(case: ReplicaSchema, number: int = 0) -> Transaction:
    """The transaction of a Case; ``number`` makes the id of its table."""
    name, spare = (f"{SCHEMA}.{quote_identifier(table)}" for table in (case.source.name, _spare(case).name))
    return Transaction(
        events=case.events(SERVER_ID, _FIRST_ID + number),
        reads=(_read(case.replica),),
        rows=max(len(case.held), len(case.rows)),
        repair=(f"DROP TABLE {name}", f"RENAME TABLE {spare} TO {name}") if case.number else None,
    )


def _tables(case: ReplicaSchema) -> list[str]:
    return empty_tables(case.replica, *([_spare(case)] if case.number else ()))


def _rows(case: ReplicaSchema, number: int) -> tuple[bytes, ...]:
    """The events that write the rows of both tables."""
    table_id = _FIRST_ID + number
    events = written(case.replica, case.held, server_id=SERVER_ID, table_id=table_id)
    if case.number:
        events += written(_spare(case), case.rows, server_id=SERVER_ID, table_id=table_id + 1)
    return events


def script(case: ReplicaSchema, version: str) -> tuple[str, ...]:
    """Statements that run a Case again."""
    return script_of(transaction_of(case), [*_tables(case), binlog_statement(*_rows(case, 0))], version)


def tried(lab: Lab, server: OwnServer, case: ReplicaSchema, outcome: ApplierOutcome, verdict: Verdict) -> Tried:
    """Judge a Case. ``verdict``: the verdict for an outcome that is wrong and leaves the replica sound."""
    item = Tried(
        id=case.id,
        name=case.name,
        judged=judge(case, outcome, verdict),
        script=lambda: script(case, server.version),
        texts=len(case.held),
        death=outcome.death,
    )
    if outcome.death:
        keep_run(lab, server, item)
    return item


def _spare(case: ReplicaSchema) -> Table:
    return replace(case.source, name=f"{case.source.name}_spare")


def _read(table: Table) -> str:
    """All rows as text; each column reads as the injector's ``STATE`` reads a document, without its sizes."""
    columns = ", ".join(
        f"{name} IS NULL, IF({name} IS NULL, NULL, 1), CAST({name} AS CHAR), NULL, NULL"
        for name in (quote_identifier(column.name) for column in table.columns)
    )
    return f"SELECT {columns} FROM {SCHEMA}.{quote_identifier(table.name)} ORDER BY id"
