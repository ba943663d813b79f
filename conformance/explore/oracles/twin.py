"""The twin: the same statements without a partial function give the same answers, warnings and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.problem import INCONCLUSIVE, Problem
from conformance.explore.oracles.tables import Rows, TableFacts, differing_columns, first_difference, rows_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.world import Done

# Which row such a statement refuses first, or whether it meets it at all, is decided by the order of a join.
_BY_PLAN: Final = frozenset(
    {"update-join", "update-left-join", "update-derived", "delete-join", "update-self-join", "update-function",
     "update-joined-view"}
)  # fmt: skip
OUT_OF_SORT_MEMORY: Final = 1038  # how much a sort takes is not the same for the two forms of a value
DECIDED_BY_PLAN: Final = "update-self-join"
"""The shape of statements whose rows are decided by the order of a join: behind one, the twin's rows say nothing."""
QUERIES: Final = ("select", "execute", "call")  # shapes whose rows are rows of the schema


def compare_answers(done: Done) -> Iterator[Problem]:
    """Hold both sides' answers to one statement against each other."""
    base, twin = done.base, done.twin
    if twin is None:
        return
    if base.error != twin.error and (done.step.shape in _BY_PLAN or OUT_OF_SORT_MEMORY in (base.error, twin.error)):
        yield Problem(INCONCLUSIVE, f"error {base.error}/{twin.error} of {done.step.shape}", "")
    elif base.error != twin.error:
        detail = f"{base.error} {base.text} and in the twin {twin.error} {twin.text}"
        yield Problem("twin", f"error {base.error}/{twin.error}", detail)
    elif base.warnings != twin.warnings:
        yield Problem("twin", "warnings", f"warnings {base.warnings} and in the twin {twin.warnings}")
    elif base.rows != twin.rows and done.step.shape.startswith(QUERIES):
        yield Problem("twin", "answer", f"{base.rows[:3]!r} and in the twin {twin.rows[:3]!r}"[:600])


def compare_rows(
    tables: Mapping[str, TableFacts], base: Mapping[str, Rows], twin: Mapping[str, Rows]
) -> Iterator[Problem]:
    """Hold the rows of the two schemas against each other."""
    for name, table in tables.items():
        if base[name] != twin[name]:
            kind = f"rows: {differing_columns(table, base[name], twin[name])}"
            yield Problem("twin", kind, first_difference(table, base[name], twin[name]), (rows_query(table, ""),))
