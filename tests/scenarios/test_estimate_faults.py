"""The planted faults of estimates are caught: in differences, costs, rows, events and sums."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.logs.parts import Part
from conformance.reference.jsonb.encode import encode
from scenarios.estimate.costs import field_cost
from scenarios.estimate.inline import Store, measure
from scenarios.estimate.questions import PERCENTS, WORST, Figures, figures
from tests.faults.runner import each
from tests.scenarios.estimate_checks import compare
from tests.scenarios.faults_of_estimates import ESTIMATE_FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenarios.estimate.meter import Measurement
    from tests.faults.fault import Fault

DATA = Path(__file__).parents[1] / "data" / "binlogs"
LOGS = ("02-partial-off-same-sql", "03-partial-multi-json-noblob", "04-partial-multi-json-full")
# The updates that notice a fault, where it is not every kind.
KIND = {
    "least/subtree-is-never-replaced": "subtrees",
    "least/arrays-by-position": "arrays",
    "most/as-the-leaves": "whole",
    "same-bytes/logged-whole": "columns",
    "leaves/container-instead-of-leaf": "leaves",
    "leaves/path-not-counted": "leaves",
}


@pytest.mark.sampled(5)
@pytest.mark.live
@each(fault for fault in ESTIMATE_FAULTS if fault.at in ("bounds", "leaves", "rows"))
def test_a_fault_is_caught_by_what_a_real_server_wrote(
    fault: Fault, estimate_logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KIND.get(fault.id, "mixed")
    on, image = estimate_logs / f"{kind}.on", "FULL"
    if fault.id == "row/document-stays-in-minimal-before":
        on, image = estimate_logs / "MINIMAL", "MINIMAL"
    fault.change(monkeypatch)
    found = compare(estimate_logs / f"{kind}.off", on, image)
    if fault.at == "bounds":
        assert found.outside
    elif fault.at == "leaves":
        assert found.error > 0.01
    else:
        assert found.outside or found.wrong


@each(fault for fault in ESTIMATE_FAULTS if fault.at == "border")
def test_a_fault_of_the_decision_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of partial-update 5: diffs of 17 bytes with their length for a document of 17, and of 18; another
    root."""
    _border()
    fault.change(monkeypatch)
    with pytest.raises(AssertionError):
        _border()


def _border() -> None:
    for end, cost in (("", 21), ("z", 17)):
        before, after = encode(["kkkk", end]), encode(["xxxx", end])
        assert field_cost(before, after).leaves == cost
    assert field_cost(encode([1] * 20), encode({"a": "x" * 40})).least == 58


# ---------------------------------------------------------------------------------------------------------------- sums


def _measured() -> list[Measurement]:
    return [item for name in LOGS for item in measure(Part(str(DATA / f"{name}.binlog")))]


def _sums(found: Figures) -> dict[Any, Any]:
    """The figures, flat."""
    out: dict[Any, Any] = {}
    for table in found.tables:
        for column in table.columns:
            key = (table.schema, table.name, column.name)
            out[key] = (column.rows, column.judged, column.changed, column.before, column.logged, *column.costs)
            out[*key, "percentiles"] = column.percentiles
            out[*key, "worst"] = [tuple(worst) for worst in column.worst]
        for image, sums in table.images.items():
            out[table.schema, table.name, image] = (sums.rows, sums.logged, *sums.costs)
    out["events"] = sorted(tuple(event) for event in found.events)
    return out


def _added(measured: Sequence[Measurement]) -> dict[Any, Any]:
    """The same without SQL."""
    out: dict[Any, Any] = {}
    columns: dict[tuple[str, str, str], list[Measurement]] = defaultdict(list)
    images: dict[tuple[str, str, str], list[Measurement]] = defaultdict(list)
    for item in measured:
        if item.kind == "column":
            columns[item.schema_name, item.table_name, item.column_name].append(item)
        elif item.kind == "row" and item.word:
            images[item.schema_name, item.table_name, item.word].append(item)
    for key, items in columns.items():
        judged = [item for item in items if not item.word]
        changed = [item for item in judged if item.changed]
        names = ["before", "logged", "whole", "least", "leaves", "members", "most"]
        out[key] = (len(items), len(judged), len(changed), *(sum(getattr(i, name) for i in judged) for name in names))
        measures = {
            "whole": sorted(item.whole for item in changed),
            "leaves": sorted(item.leaves for item in changed),
            "saved": sorted(item.whole - item.leaves for item in changed),
        }
        out[*key, "percentiles"] = (
            {name: tuple(s[-(-p * len(s) // 100) - 1] for p in PERCENTS) for name, s in measures.items()}
            if changed
            else {}
        )
        ranked = sorted(changed, key=lambda item: (-item.leaves, item.file, item.position, item.inner, item.number))
        out[*key, "worst"] = [
            (item.file, item.position, item.inner, item.number, item.logged, item.whole, item.leaves)
            for item in ranked[:WORST]
        ]
    for key, items in images.items():
        names = ["logged", "whole", "least", "leaves", "members", "most"]
        sums = (sum(getattr(item, name) + getattr(item, f"{name}_heads") for item in items) for name in names)
        out[key] = (len(items), *sums)
    out["events"] = sorted(
        (item.file, item.word, bool(item.number), item.amount, item.logged) for item in measured if item.kind == "event"
    )
    return out


def _figures(measured: list[Measurement]) -> Figures:
    with closing(Store()) as store:
        store.add(measured)
        return figures(store.query)


def test_figures_are_sums_of_measurements() -> None:
    measured = _measured()
    assert any(item.word for item in measured if item.kind == "column")
    assert _sums(_figures(measured)) == _added(measured)


@each(fault for fault in ESTIMATE_FAULTS if fault.at == "sums")
def test_a_fault_of_the_sums_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = _measured()
    stored = measured
    if fault.change is None:
        stored = [item for item in measured if LOGS[1] not in item.file]
    else:
        fault.change(monkeypatch)
    assert _sums(_figures(stored)) != _added(measured)
