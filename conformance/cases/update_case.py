"""The update Case: a table, its start rows, and the UPDATE statements that are run on it.

The only kind of Case the model predicts. Values of JSON columns are JSONB ``bytes`` (or ``None``), so that a start
document is exact; values of other columns are in the Python form of ``reference.binlog.columns``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from conformance.cases.session import Session

if TYPE_CHECKING:
    from conformance.cases.topology import Topology
    from conformance.reference.partial.expression import Assignment
    from conformance.reference.tables.definitions import Table


class Hazard(StrEnum):
    """The harm a Case may do to a server."""

    NONE = "none"
    STOPS_REPLICA = "stops-replica"
    CORRUPTS_ROW = "corrupts-row"
    MAY_CRASH = "may-crash"


@dataclass(frozen=True, slots=True)
class Step:
    """One UPDATE statement.

    ``rows``: indexes of the selected start rows, in any order; the statement visits them in order of the selector
    column. ``commit``: a transaction ends after this step.
    """

    assignments: tuple[Assignment, ...]
    rows: tuple[int, ...]
    commit: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFrame:
    """The fields with which a Case begins. ``note``: why the Case is kept."""

    id: str
    rev: int = 1
    requirements: tuple[str, ...] = ()
    seed: str = ""
    needs: tuple[str, ...] = ()
    hazard: Hazard = Hazard.NONE
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCase(CaseFrame):
    """One scenario. ``selector`` names a column whose value tells the rows apart; it may change, not to a duplicate.

    ``trigger``: what a BEFORE UPDATE trigger of the table assigns to the columns of NEW; none if empty. ``topology``:
    the replicas of the Case, if any; ``needs`` names them too.
    """

    kind: ClassVar[str] = "update"

    table: Table
    selector: str
    session: Session = field(default_factory=Session)
    rows: tuple[tuple[object, ...], ...]
    trigger: tuple[Assignment, ...] = ()
    steps: tuple[Step, ...]
    topology: Topology | None = None
