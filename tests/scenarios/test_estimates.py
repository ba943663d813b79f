"""Estimates from logs: differences of documents, bounds, and the real server's answer to both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from conformance.cli.matrix import command
from conformance.reference.errors import DecodeError, MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import UInt
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.user_errors import InputCorrupt
from generators import documents, updates
from generators.draw import Stream
from scenarios.estimate.costs import FieldCost, field_cost
from scenarios.estimate.difference import difference
from scenarios.estimate.inline import estimate
from tests.scenarios.estimate_checks import compare
from tests.scenarios.leaf_updates import leaf_update
from tests.scenarios.workloads import KINDS

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

DATA = Path(__file__).parents[1] / "data" / "binlogs"
LONG = "x" * 100


@pytest.mark.parametrize(
    ("before", "after", "least", "leaves", "members"),
    [
        # REPLACE $.a by an int: operation, 1 + 3 of the path, 1 + 3 of the value
        ({"a": 1}, {"a": 2}, 9, 9, 9),
        ({"a": 1}, {"a": 1, "b": 2}, 9, 9, 9),
        ({"a": 1, "b": 2}, {"a": 1}, 5, 5, 5),
        ({"a": 1}, {"a": UInt(1)}, 9, 9, 9),
        ({"a": {"b": 1, "c": LONG}}, {"a": {"b": 2, "c": LONG}}, 11, 11, 128),
        # both leaves of a container: with a long path the container is cheaper than its leaves
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 2, "c": 2}}, 22, 22, 27),
        ({"container": {"b": 1, "c": 1}}, {"container": {"b": 2, "c": 2}}, 35, 38, 35),
        # an array: the second of four goes, the others move up
        ([1, 2, 3, 4], [1, 3, 4], 6, 6, 6),
        ([1, 2, 3, 4], [2, 3, 4, 5], 16, 16, 16),
        ([1, 2], [1, 2, 3], 10, 10, 10),
        ([1, 2], [3, 1, 2], 10, 15, 15),
        ({"é": 1}, {"é": 2}, 10, 10, 10),
        ({"a b": 1}, {"a b": 2}, 13, 13, 13),
    ],
)  # fmt: skip
def test_differences_are_counted_to_the_byte(
    before: JsonValue, after: JsonValue, least: int, leaves: int, members: int
) -> None:
    found = difference(encode(before), encode(after))
    assert found is not None
    assert (least, leaves, members) == found


@pytest.mark.parametrize(("before", "after"), [({}, []), ([], 1), (1, 2), ("a", {"a": 1})])
def test_there_is_no_difference_for_another_root(before: JsonValue, after: JsonValue) -> None:
    assert difference(encode(before), encode(after)) is None
    whole = 4 + len(encode(after))
    assert field_cost(encode(before), encode(after)) == (whole,) * 5


def test_arrays_inside_each_other_are_gone_through_once() -> None:
    before: JsonValue = 1
    after: JsonValue = 2
    for _ in range(98):
        before, after = [before, [0]], [after, [0]]
    found = difference(encode(before), encode(after))
    assert found is not None
    assert found.leaves == 1 + 3 + (1 + 98 * 3) + 1 + 3


def test_elements_that_share_bytes_are_refused() -> None:
    """Every container of 40 levels has its child twice, at the same place."""
    made = []
    for leaf in (1, 2):
        inner = b"\x02" + b"\x01\x00\x07\x00\x05" + bytes((leaf, 0))
        for _ in range(40):
            size = 10 + len(inner) - 1
            head = b"\x02\x00" + size.to_bytes(2, "little")
            inner = b"\x02" + head + b"\x02\x0a\x00" * 2 + inner[1:]
        made.append(inner)
    with pytest.raises(DecodeError, match="share"):
        difference(*made)


def test_same_bytes_are_an_empty_list_and_null_has_no_field() -> None:
    document = encode({"a": 1})
    assert field_cost(document, document) == (4 + len(document), 4, 4, 4, 4)
    assert field_cost(document, None) == (0, 0, 0, 0, 0)
    assert field_cost(None, document) == (4 + len(document),) * 5


def _updated(count: int, *, leaves: bool) -> list[tuple[int, FieldCost]]:
    """The cost of generated updates by the model, and the cost that their documents alone tell."""
    out: list[tuple[int, FieldCost]] = []
    for index in range(count):
        draw = Stream("estimates", index)
        stored = encode(documents.medium(draw) if draw.below(3) == 0 else documents.small(draw))
        for _ in range(3):
            expression = (
                leaf_update(draw, "j", stored)
                if leaves
                else updates.partial(draw, "j", stored, nullable=False)
                if draw.below(4)
                else updates.whole(draw, "j", stored, nullable=False)
            )
            try:
                change = update_row({"j": stored}, [Assignment("j", expression)], Columns(("j",)), log_diffs=True)
            except MysqlError:
                continue
            after = change.after["j"]
            if change.logged and isinstance(after, bytes):
                real = decide(stored, after, change.columns["j"], partial_json=True).field or b""
                out.append((len(real), field_cost(stored, after)))
                stored = after
    return out


def test_whatever_an_update_costs_is_between_the_bounds() -> None:
    found = _updated(120, leaves=False)
    assert len(found) > 200
    for real, (whole, least, leaves, members, most) in found:
        assert least <= real <= most <= whole
        assert least <= leaves <= most
        assert least <= members <= most


def test_updates_of_single_values_are_estimated_within_one_per_cent() -> None:
    found = _updated(100, leaves=True)
    real, leaves = sum(real for real, _ in found), sum(cost[2] for _, cost in found)
    assert len(found) > 150
    assert abs(real - leaves) < real / 100


# -------------------------------------------------------------------------------------------------------- a real server


@pytest.mark.sampled(4)
@pytest.mark.live
@pytest.mark.parametrize("kind", KINDS)
def test_a_real_server_s_costs_are_between_the_bounds(kind: str, estimate_logs: Path) -> None:
    found = compare(estimate_logs / f"{kind}.off", estimate_logs / f"{kind}.on")
    assert found.outside == []
    assert found.wrong == []
    assert found.rows >= 60
    assert found.fields == 2 * found.rows
    if kind == "leaves":
        assert found.error < 0.01


@pytest.mark.live
@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB"])
def test_other_images_are_estimated_from_full_ones(image: str, estimate_logs: Path) -> None:
    found = compare(estimate_logs / "mixed.off", estimate_logs / image, image)
    assert found.outside == []
    assert found.wrong == []
    assert found.rows >= 60


# ---------------------------------------------------------------------------------------------------------- the command


def test_what_a_log_does_not_say_is_named() -> None:
    found = estimate([str(DATA / "02-partial-off-same-sql.binlog")])
    (column,) = found.tables[0].columns
    assert column.judged == 1
    assert {reason: rows for reason, (rows, _) in column.unjudged.items()} == {"no before image": 28}
    assert found.tables[0].unjudged == 28


def test_a_log_with_diffs_says_what_they_save() -> None:
    found = estimate([str(DATA / "04-partial-multi-json-full.binlog")])
    sums = found.tables[0].images["FULL"]
    assert sums.costs.least == sums.costs.most == sums.logged < sums.costs.whole
    assert sum(event.size for event in found.events if event.word == "PARTIAL_UPDATE_ROWS_EVENT") == sums.logged


def test_the_command_prints_text_and_json(tmp_path: Path) -> None:
    runner = CliRunner()
    log = str(DATA / "04-partial-multi-json-full.binlog")
    shown = runner.invoke(command, ["estimate", log])
    assert "row image" in shown.stdout
    assert "rows that cost most" in shown.stdout
    data = json.loads(runner.invoke(command, ["estimate", log, "--format", "json"]).stdout)
    assert data["engine"] == "none"
    assert data["log"]["update_events"] == 8
    assert data["tables"][0]["columns"][0]["worst"][0]["file"] == log
    cut = tmp_path / "cut.binlog"
    cut.write_bytes(Path(log).read_bytes()[:3000])
    shown = runner.invoke(command, ["estimate", str(cut)], standalone_mode=False)
    assert "the rest was not read" in shown.stdout
    assert isinstance(shown.exception, InputCorrupt)  # exit code 1
