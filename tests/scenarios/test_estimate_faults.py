"""The planted faults of estimates are caught: in differences, costs, rows, events and sums."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from scenarios.binlogs.parts import Part
from scenarios.estimate import costs, difference, meter, questions, rows
from scenarios.estimate.costs import FieldCost, field_cost
from scenarios.estimate.inline import Store, measure
from scenarios.estimate.questions import PERCENTS, WORST, Figures, figures
from tests.scenarios.estimate_checks import compare
from tests.scenarios.faults_of_estimates import ESTIMATE_FAULTS, EstimateFault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scenarios.estimate.difference import Difference
    from scenarios.estimate.meter import Measurement

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


def _field(patch: pytest.MonkeyPatch, change: Callable[[bytes | None, bytes | None, FieldCost], FieldCost]) -> None:
    patch.setattr(meter, "field_cost", lambda before, after: change(before, after, field_cost(before, after)))


def _plant(fault: EstimateFault, patch: pytest.MonkeyPatch) -> None:
    match fault.id:
        case "least/subtree-is-never-replaced":
            true = difference.__dict__["_element"]

            def leaves_only(*place: Any, top: bool) -> Difference:
                found: Difference = true(*place, top=top)
                return found._replace(least=found.leaves)

            patch.setattr(difference, "_element", leaves_only)
        case "least/arrays-by-position":
            patch.setattr(difference, "_least_of_array", lambda *arguments: arguments[-1])
        case "most/as-the-leaves":
            _field(patch, lambda _before, _after, cost: cost._replace(most=cost.leaves))
        case "border/length-bytes-not-counted":
            patch.setattr(costs, "diffs_pay", lambda diffs, document: diffs < document)
        case "same-bytes/logged-whole":
            _field(patch, lambda before, after, cost: FieldCost(*[cost.whole] * 5) if before == after else cost)
        case "root/as-diffs":
            true = costs.__dict__["difference"]
            patch.setattr(costs, "difference", lambda b, a: true(b, a) or difference.Difference(9, 9, 9))
        case "leaves/container-instead-of-leaf":
            _field(patch, lambda _before, _after, cost: cost._replace(leaves=cost.members))
        case "leaves/path-not-counted":
            true = difference.diff_size
            patch.setattr(difference, "diff_size", lambda _path, data: true(0, data))
        case "whole/holes-not-counted":

            def compact(_before: bytes | None, after: bytes | None, cost: FieldCost) -> FieldCost:
                return cost if after is None else cost._replace(whole=4 + len(encode(decode(after))))

            _field(patch, compact)
        case "row/value-options-forgotten":
            patch.setattr(rows, "OPTIONS", 0)
        case "row/partial-bits-forgotten":
            patch.setattr(rows.Layout, "bits", property(lambda _self: 0, lambda _self, _value: None), raising=False)
        case "row/document-stays-in-minimal-before":
            patch.setattr(rows.Layout, "_minimal_before", None)
        case "events/one-for-each-row":
            patch.setattr(rows.Packing, "starts", lambda *_: True)
        case "sums/unjudged-are-judged":
            _ask(patch, "_columns_query", "`word` = ''", "`kind` = 'column'")
        case "sums/percentile-of-another-column":
            true_query = questions.__dict__["_percentiles_query"]
            whole = "PARTITION BY `schema_name`, `table_name`, `column_name`"
            patch.setattr(
                questions, "_percentiles_query", lambda what: true_query(what).replace(whole, whole.rpartition(",")[0])
            )
        case "sums/worst-is-the-best":
            _ask(patch, "_worst_query", "DESC", "ASC")
        case _:
            raise AssertionError(fault.id)


def _ask(patch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    text = questions.__dict__[name]()
    assert old in text
    patch.setattr(questions, name, lambda: text.replace(old, new))


LIVE = [fault for fault in ESTIMATE_FAULTS if fault.by != "sums" and not fault.id.startswith(("border/", "root/"))]


@pytest.mark.live
@pytest.mark.planted("FR11", "FR12")
@pytest.mark.parametrize("fault", LIVE, ids=lambda fault: fault.id)
def test_a_fault_is_caught_by_what_a_real_server_wrote(
    fault: EstimateFault, estimate_logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KIND.get(fault.id, "mixed")
    on, image = estimate_logs / f"{kind}.on", "FULL"
    if fault.id == "row/document-stays-in-minimal-before":
        on, image = estimate_logs / "MINIMAL", "MINIMAL"
    _plant(fault, monkeypatch)
    found = compare(estimate_logs / f"{kind}.off", on, image)
    if fault.by == "bounds":
        assert found.outside
    elif fault.by == "leaves":
        assert found.error > 0.01
    else:
        assert found.outside or found.wrong


@pytest.mark.planted("FR12")
@pytest.mark.parametrize("fault", [fault for fault in ESTIMATE_FAULTS if fault.id.startswith(("border/", "root/"))])
def test_a_fault_of_the_decision_is_caught(fault: EstimateFault, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of partial-update 5: diffs of 17 bytes with their length for a document of 17, and of 18; another
    root."""
    _border()
    _plant(fault, monkeypatch)
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


@pytest.mark.planted("FR11")
@pytest.mark.parametrize(
    "fault", [fault for fault in ESTIMATE_FAULTS if fault.by == "sums"], ids=lambda fault: fault.id
)
def test_a_fault_of_the_sums_is_caught(fault: EstimateFault, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = _measured()
    stored = measured
    if fault.id == "sums/a-file-is-left-out":
        stored = [item for item in measured if LOGS[1] not in item.file]
    else:
        _plant(fault, monkeypatch)
    assert _sums(_figures(stored)) != _added(measured)
