"""Faults for ``matrix estimate``, written down before the difference, the bounds and the sums that must not have them.

``at`` is what notices a fault:

- ``bounds``: the real cost lies outside
- ``leaves``: more than 1 % off for updates of leaves
- ``rows``: a row of the log has another size
- ``border``: the vectors of the decision
- ``sums``: totals or percentiles differ
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from scenarios.estimate import costs, difference, meter, questions, rows
from scenarios.estimate.costs import FieldCost, field_cost
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from scenarios.estimate.difference import Difference


def _set(owner: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(owner, name, value)


def _field(change: Callable[[bytes | None, bytes | None, FieldCost], FieldCost]) -> Plant:
    return _set(meter, "field_cost", lambda before, after: change(before, after, field_cost(before, after)))


def _ask(name: str, old: str, new: str) -> Plant:
    """A query with other words."""
    true = questions.__dict__[name]

    def asked(*what: Any) -> str:
        text: str = true(*what)
        assert old in text
        return text.replace(old, new)

    return _set(questions, name, asked)


def _leaves_only(patch: pytest.MonkeyPatch) -> None:
    true = difference.__dict__["_element"]

    def leaves(*place: Any, top: bool) -> Difference:
        found: Difference = true(*place, top=top)
        return found._replace(least=found.leaves)

    patch.setattr(difference, "_element", leaves)


def _root_as_diffs(patch: pytest.MonkeyPatch) -> None:
    true = costs.__dict__["difference"]
    patch.setattr(costs, "difference", lambda b, a: true(b, a) or difference.Difference(9, 9, 9))


def _no_paths(patch: pytest.MonkeyPatch) -> None:
    true = difference.diff_size
    patch.setattr(difference, "diff_size", lambda _path, data: true(0, data))


def _no_bits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rows.Layout, "bits", property(lambda _self: 0, lambda _self, _value: None), raising=False)


def _compact(_: bytes | None, after: bytes | None, cost: FieldCost) -> FieldCost:
    return cost if after is None else cost._replace(whole=4 + len(encode(decode(after))))


_COLUMN: Final = "PARTITION BY `schema_name`, `table_name`, `column_name`"
ESTIMATE_FAULTS: Final = (
    Fault("least/subtree-is-never-replaced", "FR11",
          "One REPLACE of a container may be shorter than one diff for each of its leaves.", _leaves_only, at="bounds"),
    Fault("least/arrays-by-position", "FR11", "An element that was removed is one REMOVE, whatever stands behind it.",
          _set(difference, "_least_of_array", lambda *arguments: arguments[-1]), at="bounds"),
    Fault("most/as-the-leaves", "FR12",
          "A statement that sets the whole document is logged whole, however little it changed.",
          _field(lambda _before, _after, cost: cost._replace(most=cost.leaves)), at="bounds"),
    Fault("border/length-bytes-not-counted", "FR12",
          "Diffs are logged only if they and their four length bytes are smaller than the document.",
          _set(costs, "diffs_pay", lambda diffs, document: diffs < document), at="border"),
    Fault("same-bytes/logged-whole", "FR11", "A document whose bytes did not change is an empty list of diffs.",
          _field(lambda before, after, cost: FieldCost(*[cost.whole] * 5) if before == after else cost), at="bounds"),
    Fault("root/as-diffs", "FR12", "There is no diff for the root.", _root_as_diffs, at="border"),
    Fault("leaves/container-instead-of-leaf", "FR11", "An update of a leaf is a diff of that leaf.",
          _field(lambda _before, _after, cost: cost._replace(leaves=cost.members)), at="leaves"),
    Fault("leaves/path-not-counted", "FR11", "A diff is path and value plus a bounded number of bytes.", _no_paths,
          at="leaves"),
    Fault("whole/holes-not-counted", "FR12", "A document is logged with its holes.", _field(_compact), at="rows"),
    Fault("row/value-options-forgotten", "FR12", "A row without diffs grows by one byte, its options.",
          _set(rows, "OPTIONS", 0), at="rows"),
    Fault("row/partial-bits-forgotten", "FR11", "Partial bits are one for each JSON column of the table.", _no_bits,
          at="rows"),
    Fault("row/document-stays-in-minimal-before", "FR11", "A MINIMAL before image has the key's columns alone.",
          _set(rows.Layout, "_minimal_before", None), at="rows"),
    Fault("events/one-for-each-row", "FR11", "Rows of a statement share events up to 8192 bytes.",
          _set(rows.Packing, "starts", lambda *_: True), at="rows"),
    Fault("sums/unjudged-are-judged", "FR11", "What could not be judged is in no saving.",
          _ask("_columns_query", "`word` = ''", "`kind` = 'column'"), at="sums"),
    Fault("sums/a-file-is-left-out", "FR11", "Totals are those of all files.", None, at="sums"),
    Fault("sums/percentile-of-another-column", "FR11", "Percentiles are of one column of one table.",
          _ask("_percentiles_query", _COLUMN, _COLUMN.rpartition(",")[0]), at="sums"),
    Fault("sums/worst-is-the-best", "FR11", "The worst rows are those that cost most.",
          _ask("_worst_query", "DESC", "ASC"), at="sums"),
)  # fmt: skip
