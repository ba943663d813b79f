"""A transaction given to a replica's applier by hand, and what the applier did (requirements FR5).

The transaction first inserts a row into the table of marks, whose presence shows that the transaction was applied. It
then updates rows of the table of :mod:`conformance.cases.by_hand.injection` in one event. An applier that stops at it
starts again after a repair: every row gets a document that the event fits. A damaged event fits no document: the lab
skips its transaction.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import SCHEMA, Demand, Injection, InjectionOutcome, RowState, predict
from conformance.reference.dialect import MYSQL
from conformance.reference.tables.definitions import Column, Table, table_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.dialect import Dialect

# ER_REPLICA_WORKER_STOPPED_PREVIOUS_THD_ERROR, of workers that only waited for the failed worker. The coordinator may
# repeat this number instead of the true one (observed on 9.7.4).
AFTER_ANOTHER: Final = 3030
MARKS: Final = Table(
    schema=SCHEMA, name="mark", columns=(Column(name="id", type="INT", nullable=False),), primary_key=((0, 0),)
)
MARKS_MAP: Final = table_map(MARKS, table_id=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplierTransaction:
    """One Case. ``rows``: the rows of the event, each with the document it meets. ``repaired``: for each row a document
    that the event fits; ``None`` where there is none. ``beside``: small transactions that may run at the same time."""

    rows: tuple[Injection, ...]
    repaired: tuple[bytes, ...] | None = None
    beside: int = 0

    @property
    def id(self) -> str:
        """The id, by content."""
        total = hashlib.blake2b(digest_size=6)
        for part in (*(row.id.encode() for row in self.rows), *(self.repaired or ()), bytes((self.beside,))):
            total.update(len(part).to_bytes(4, "little") + part)
        return f"feed-{total.hexdigest()}"

    @property
    def name(self) -> str:
        """The names of its rows."""
        return " + ".join(row.name for row in self.rows)

    @property
    def hazard(self) -> str:
        """The hazard of the first row that has one."""
        return next((row.hazard for row in self.rows if row.hazard != "none"), "none")

    def after_repair(self) -> tuple[Injection, ...]:
        """The rows that the event meets after the repair."""
        assert self.repaired is not None
        return tuple(
            replace(row, stored=document, row_exists=True, number=None, demand=Demand.EITHER)
            for row, document in zip(self.rows, self.repaired, strict=True)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondStart:
    """The second start of the applier: the error that stopped it at the same transaction (0: it went on).

    The rows, the mark and the transactions beside it are those at the end of the relay log.
    """

    error: int = 0
    message: str = ""
    after: tuple[RowState | None, ...] = ()
    committed: bool = False
    beside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplierOutcome:
    """The outcome of a transaction at the applier.

    ``error``: the error number of the worker that failed; ``coordinator``: Last_SQL_Errno. ``before`` and ``after``:
    the rows before the transaction, and at the stop or, where there was none, at the end. ``committed``: whether the
    mark is there at that time. ``second_start``: only after a stop. ``death``: signature of a crash; ``reading``: the
    crash came when the rows were read at the end.
    """

    stopped: bool = False
    error: int = 0
    coordinator: int = 0
    message: str = ""
    before: tuple[RowState | None, ...] = ()
    after: tuple[RowState | None, ...] = ()
    committed: bool = False
    beside: int = 0
    second_start: SecondStart | None = None
    death: str = ""
    reading: bool = False
    silent: bool = False  # neither stopped nor at the end in the stated time

    def of_row(self, number: int) -> InjectionOutcome:
        """One row of the event as the outcome of an injection."""
        return InjectionOutcome(
            error=self.error,
            message=self.message,
            before=self.before[number],
            after=self.after[number] if self.after else None,
            death=self.death,
            reading=self.reading,
            silent=self.silent,
        )


def repair_of(injection: Injection, documents: Iterable[bytes | None], dialect: Dialect = MYSQL) -> bytes | None:
    """The first of some documents that the event fits, where the event refuses the row's own."""
    for document in documents:
        if document is None or document == injection.stored:
            continue
        fitting = replace(injection, stored=document, row_exists=True, number=None)
        state = predict(fitting, dialect).state
        if state is not None and state.sound:
            return document
    return None
