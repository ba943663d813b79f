"""How a replica's rows are rebuilt: what differs afterwards, and what does not."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.cases.script import build_script
from conformance.cases.session import Session
from conformance.cases.update_case import UpdateCase
from conformance.checks.replicas import check_rebuilt as test_rebuilt_replicas
from conformance.harness.pairs.rebuilding import KINDS, RebuildKind, from_text, other_numbers, rebuild_by
from conformance.harness.pairs.run import rows_after
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.judge.replica import differences_of, relation_of
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.values import JsonValue, UInt, same
from conformance.reference.tables.definitions import Column, Table
from conformance.stream import AnyRecord, Block
from generators.draw import Stream
from tests.running import run

DRAW = Stream("rebuilding")
TABLE = Table(
    schema="lab",
    name="t",
    columns=(
        Column(name="id", type="INT", nullable=False),
        Column(name="n", type="INT"),
        Column(name="j", type="JSON"),
    ),
    primary_key=((0, 0),),
)
DOCUMENTS: tuple[JsonValue, ...] = ({"a": 1, "b": [2.5]}, [3, "x"], 7, None)
CASE = UpdateCase(
    id="",
    table=TABLE,
    selector="id",
    session=Session(),
    rows=(*((number, 0, encode(item)) for number, item in enumerate(DOCUMENTS, 1)), (9, 0, None)),
    steps=(),
)
UNLIKE = {
    "padded-source": {"padded"},
    "padded-replica": {"padded"},
    "retyped": {"padded", "retyped"},
    "numbers": {"padded", "numbers"},
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_objects_and_arrays_become_unlike_in_the_way_of_the_kind(kind: RebuildKind) -> None:
    script = build_script(kind.prepare(CASE, trap=True))
    rebuild = rebuild_by(kind.rule(CASE, "seed"))
    rows = rows_after(script, rebuild.after)
    made = rebuild.make(script.case, rows)
    documents = [(row["j"], item["j"]) for row, item in zip(rows, made.documents, strict=True)]
    for ours, theirs in documents[:2]:
        assert isinstance(ours, bytes)
        assert theirs is not None
        assert differences_of(ours, theirs) == UNLIKE[kind.name]
        assert (storage_free(ours) > 0) is (kind.name != "padded-replica")
        assert (storage_free(theirs) > 0) is (kind.name == "padded-replica")
    assert documents[4] == (None, None)
    assert made.statements[0] == "DELETE FROM `t`"
    assert len(script.predictions) >= rebuild.after


def test_the_text_of_a_document_loses_types_but_not_text() -> None:
    value: JsonValue = {"d": opaque.date(2020, 1, 1), "u": UInt(5), "x": 1.0, "m": opaque.decimal_from_text("1.50")}
    made = from_text(DRAW, value)
    assert same(made, {"d": "2020-01-01", "u": 5, "x": 1.0, "m": opaque.decimal_from_text("1.50")})
    assert relation_of(encode(value), encode(made)).text


def test_other_numbers_are_equal_and_not_the_same() -> None:
    for number in (0, 1, -1, 2**62, UInt(3), 2.0, 2.5, 1e300, 2**53 + 1):
        for place in range(8):
            made = other_numbers(DRAW.fork(place, str(number)), [number, True, "1"])
            assert relation_of(encode([number, True, "1"]), encode(made)).equal
            assert same(made, [number, True, "1"]) is (number in (1e300, 2.5, 2**62))
            assert same(decode(encode(made)), made)


@pytest.mark.parametrize(
    ("updates", "retyped", "verdicts"),
    [(20_000, 6_000, {"pass": 1}), (20_000, 5_900, {"inconclusive": 1}), (19_000, 6_000, {"inconclusive": 1})],
)
def test_a_full_run_with_fewer_differing_rows_than_planned_says_so(
    updates: int, retyped: int, verdicts: dict[str, int]
) -> None:
    records: list[AnyRecord] = []
    lab = Lab(Settings(server="none", profile="full"), records.append)
    met = Counter({"updates": updates, "padded": 9_000, "retyped": retyped, "numbers": 5_000})
    run(test_rebuilt_replicas.test_enough_rows_differed, lab, met=met)
    (block,) = [item for item in records if isinstance(item, Block)]
    assert block.verdicts == verdicts


def test_numbers_stay_what_they_became_when_other_parts_of_the_document_go() -> None:
    whole: JsonValue = {"a": 1, "b": [2, 3, {"c": 4}]}
    made = other_numbers(DRAW, whole)
    assert isinstance(made, dict)
    assert same(other_numbers(DRAW, {"b": [2, 3, {"c": 4}]}), {"b": made["b"]})
    assert same(other_numbers(DRAW, {"a": 1}), {"a": made["a"]})
