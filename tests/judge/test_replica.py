"""The comparison of a replica with its source, and what explains a stop: every planted fault of FR2 is noticed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.judge.replica import LoggedRow as Logged
from conformance.judge.replica import (
    Relation,
    ReplicaModel,
    Sides,
    Stop,
    Transaction,
    compare_tables,
    differences_of,
    judge_stop,
    relation_of,
    transactions,
)
from conformance.reference.dialect import MYSQL
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import Opaque, UInt
from conformance.reference.jsonb.view import View
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.document import Document, element_index
from conformance.reference.partial.paths import Member, parse_path
from conformance.reference.tables.columns import PartialJson
from conformance.servers.roles.pair import place_of
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge import doctoring
from tests.judge.perfect_server import observe

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

NAMES = ["id", "n", "j"]
DOCUMENT: JsonValue = {"a": 1, "b": "text", "z": "y"}


def sides(ours: JsonValue, theirs: JsonValue, **changed: object) -> Sides:
    """One row on both sides."""
    made = Sides(
        source=((1, 7, encode(ours)),),
        replica=((1, 7, encode(theirs)),),
        source_texts=((format_text(ours).encode(),),),
        replica_texts=((format_text(theirs).encode(),),),
        equal=((relation_of(encode(ours), encode(theirs)).equal,),),
    )
    return replace(made, **changed)  # type: ignore[arg-type]


def kinds(found: Sides, relation: Relation | None = None) -> set[str]:
    model = ReplicaModel([{"id": 1, "n": 7, "j": encode(DOCUMENT)}], ["j"])
    relations = None if relation is None else {(0, "j"): relation}
    return {item.kind for item in compare_tables(NAMES, ["j"], found, [0], model, relations).found}


def with_hole() -> bytes:
    """The document in other bytes: a member was taken out in place."""
    document = Document(encode({"a": 1, "b": "text", "y": "pad", "z": "y"}))
    root = document.root()
    assert isinstance(root, View)
    document.remove_bytes(root, element_index(root, Member("y")))
    return document.stored()


def test_equal_tables_pass() -> None:
    assert kinds(sides(DOCUMENT, DOCUMENT)) == set()


COMPARED = (
    Fault("replica-text", "FR2", "after catching up every row is compared as text",
          lambda: sides(DOCUMENT, {"a": 2, "b": "text", "z": "y"}), at={"text", "equal", "bytes"}),
    Fault("replica-number-type", "FR2", "stored bytes are equal when both sides started identical",
          lambda: sides(DOCUMENT, {"a": 1.0, "b": "text", "z": "y"}), at={"text", "bytes"}),
    Fault("replica-row-missing", "FR2", "every row is compared", lambda: sides(DOCUMENT, DOCUMENT, replica=()),
          at={"rows"}),
    Fault("replica-other-column", "FR2", "every row is compared",
          lambda: sides(DOCUMENT, DOCUMENT, replica=((1, 8, encode(DOCUMENT)),)), at={"column"}),
    Fault("replica-layout", "FR2", "stored bytes are equal when both sides started identical",
          lambda: sides(DOCUMENT, DOCUMENT, replica=((1, 7, with_hole()),)), at={"bytes"}),
)  # fmt: skip
"""``at``: the kinds of the differences."""


@each(COMPARED)
def test_a_doctored_replica_is_noticed(fault: Fault) -> None:
    assert kinds(fault.change()) == fault.at


def test_other_bytes_than_on_the_source_are_counted_when_the_applier_makes_them() -> None:
    model = ReplicaModel([{"j": with_hole()}], ["j"])
    found = sides(DOCUMENT, DOCUMENT, replica=((1, 7, with_hole()),))
    result = compare_tables(NAMES, ["j"], found, [0], model)
    assert (result.found, result.other_bytes) == ([], 1)


# --- FR4 -------------------------------------------------------------------------------------------------------------


def test_a_relation_that_did_not_hold_before_is_not_wanted() -> None:
    other = sides({"d": Opaque(10, b"12345678")}, {"d": "x"}, replica=((1, 7, encode(DOCUMENT)),))
    assert kinds(other, Relation(text=False, equal=False)) == set()


RELATED = (
    Fault("text-relation", "FR4", "documents equal as text stay equal as text", Relation(text=True, equal=False),
          at="text"),
    Fault("equal-relation", "FR4", "documents equal by = stay equal by =", Relation(text=False, equal=True),
          at="equal"),
)  # fmt: skip


@each(RELATED)
def test_a_relation_that_is_lost_is_noticed(fault: Fault) -> None:
    assert kinds(sides({"a": 2}, DOCUMENT), fault.change) == {fault.at}


def test_relations_and_kinds_of_unlike_documents() -> None:
    one, double, date = encode([1]), encode([1.0]), encode([opaque.date(2020, 1, 1)])
    assert relation_of(one, double) == Relation(text=False, equal=True)
    assert relation_of(date, encode(["2020-01-01"])) == Relation(text=True, equal=False)
    assert relation_of(None, None) == Relation()
    assert relation_of(None, one) == Relation(text=False, equal=False)
    assert differences_of(encode(DOCUMENT), with_hole()) == {"padded"}
    assert differences_of(one, double) == {"numbers"}
    assert differences_of(date, encode(["2020-01-01"])) == {"retyped"}
    assert differences_of(one, encode([2])) == {"diverged"}
    assert differences_of(with_hole(), encode({"other": 1})) == {"padded", "diverged"}
    assert differences_of(one, None) == {"diverged"}


# --- stops -----------------------------------------------------------------------------------------------------------

SAME = encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 1)])
REFUSED = Transaction(start=100, end=900, gtid="g:1", rows=(Logged(3, 0, {"j": PartialJson(SAME)}, 870),))
TEXT = "Could not apply JSON diff in table t, column j., Error_code: 3648; end_log_pos 870"


def model(**switches: bool) -> ReplicaModel:
    dialect = replace(MYSQL, behaviour=replace(MYSQL.behaviour, **switches))
    return ReplicaModel([{"j": encode(DOCUMENT)}], ["j"], dialect)


def test_a_replace_that_changes_no_byte_is_refused_and_known_by_its_switch() -> None:
    refusal = model().apply(REFUSED)
    assert refusal is not None
    assert (refusal.step, refusal.row, refusal.column, refusal.number) == (3, 0, "j", 3648)
    assert refusal.switch == "refuse_unchanging_replace"
    stop = Stop(number=3648, message=TEXT, offset=(place_of(TEXT) or ("", 0))[1])
    assert judge_stop(refusal, REFUSED, stop).deviation == "refuse_unchanging_replace"
    assert model().apply(REFUSED, unless="refuse_unchanging_replace") is None


def test_a_refused_transaction_leaves_all_rows_alone() -> None:
    applied = encode_diffs([Diff(Operation.INSERT, parse_path("$.new"), 5)])
    rows = (Logged(0, 0, {"j": PartialJson(applied)}), Logged(1, 1, {"j": PartialJson(SAME)}))
    replica = ReplicaModel([{"j": encode(DOCUMENT)}, {"j": encode(DOCUMENT)}], ["j"])
    assert replica.apply(replace(REFUSED, rows=rows)) is not None
    assert replica.rows == [{"j": encode(DOCUMENT)}, {"j": encode(DOCUMENT)}]


STOPS = (
    Fault("stop-elsewhere", "FR2", "a stop is known only where the applier refuses exactly that diff",
          (Stop(number=3648, message=TEXT, offset=1200), Stop(number=3648, message=TEXT, offset=869))),
    Fault("stop-of-another-kind", "FR2", "a stop is known only with the number of the refusal",
          (
              Stop(number=1032, message=TEXT, offset=870),
              Stop(number=3648, message=TEXT.replace("column j.", "column k."), offset=870),
          )),
)  # fmt: skip


@each(STOPS)
def test_another_stop_is_not_explained(fault: Fault) -> None:
    for stop in fault.change:
        assert judge_stop(model().apply(REFUSED), REFUSED, stop).deviation is None


@pytest.mark.planted("FR2")
def test_with_the_switch_off_the_same_stop_has_no_explanation() -> None:
    refusal = model(refuse_unchanging_replace=False).apply(REFUSED)
    assert refusal is None
    found = judge_stop(refusal, None, Stop(number=3648, message=TEXT, offset=870))
    assert (found.kind, found.deviation) == ("stop", None)


def test_a_diff_that_no_switch_makes_fit_is_a_failure() -> None:
    missing = encode_diffs([Diff(Operation.REPLACE, parse_path("$.nowhere"), 1)])
    transaction = replace(REFUSED, rows=(Logged(0, 0, {"j": PartialJson(missing)}, 870),))
    refusal = model().apply(transaction)
    assert refusal is not None
    assert refusal.switch is None
    assert judge_stop(refusal, transaction, Stop(number=3648, message=TEXT, offset=870)).deviation is None


def test_inside_a_compressed_transaction_its_range_is_the_place() -> None:
    compressed = replace(REFUSED, rows=tuple(row._replace(end=0) for row in REFUSED.rows))
    refusal = model().apply(compressed)
    for offset, known in ((100, False), (101, True), (900, True), (901, False)):
        found = judge_stop(refusal, compressed, Stop(number=3648, message=TEXT, offset=offset))
        assert (found.deviation is not None) is known


def test_the_rows_of_a_log_belong_to_their_statements_and_start_rows() -> None:
    script = doctoring.script()
    found = transactions(script, observe(script).events)
    logged = [
        (number, row.index)
        for number, prediction in enumerate(script.predictions)
        for row in prediction.rows
        if row.change.logged
    ]
    assert [(row.step, row.row) for item in found for row in item.rows] == logged
    replica = ReplicaModel(
        [dict(zip([c.name for c in script.case.table.columns], row, strict=True)) for row in script.case.rows],
        list(script.model.columns.json),
    )
    for item in found:
        assert item.start < item.end
        assert replica.apply(item) is None
    assert replica.rows == [replica.documents(row) for row in script.model.rows]


# --- tables without a key --------------------------------------------------------------------------------------------

DATE = encode({"d": opaque.date(2020, 1, 1), "a": 1})
SEARCHED = Logged(2, 0, {"j": PartialJson(encode_diffs([Diff(Operation.INSERT, parse_path("$.new"), 5)]))}, 870)
NOT_FOUND = Stop(number=1032, message="Can't find record in 't', Error_code: 1032; end_log_pos 870", offset=870)


def searched(theirs: bytes | None, ours: bytes | None = DATE, **switches: bool) -> tuple[ReplicaModel, Transaction]:
    dialect = replace(MYSQL, behaviour=replace(MYSQL.behaviour, **switches))
    found = replace(REFUSED, rows=(SEARCHED._replace(before={"j": ours}),))
    return ReplicaModel([{"j": theirs}], ["j"], dialect, keyless=True), found


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        (DATE, True),
        (encode({"d": opaque.date(2020, 1, 1), "a": UInt(1)}), True),
        (encode({"d": opaque.date(2020, 1, 1), "a": 1.0}), False),
        (encode({"d": "2020-01-01", "a": 1}), False),
        (None, False),
    ],
)
def test_without_a_key_a_row_is_found_if_its_documents_are_equal_in_value_and_text(
    theirs: bytes | None, found: bool
) -> None:
    replica, transaction = searched(theirs)
    refusal = replica.apply(transaction)
    assert (refusal is None) is found
    if refusal is not None:
        assert (refusal.number, refusal.switch) == (1032, "looks_up_by_before_image")
        assert replica.rows == [{"j": theirs}]
        assert judge_stop(refusal, transaction, NOT_FOUND).deviation == "looks_up_by_before_image"


@pytest.mark.planted("FR4")
def test_a_stop_at_a_row_that_the_reference_finds_is_not_explained() -> None:
    replica, transaction = searched(encode({"d": "2020-01-01", "a": 1}), looks_up_by_before_image=False)
    assert replica.apply(transaction) is None
    assert judge_stop(None, None, NOT_FOUND).deviation is None


@pytest.mark.planted("FR4")
def test_a_replica_that_finds_a_row_by_its_text_alone_is_not_explained() -> None:
    """A replica then goes on, or meets the next thing that it refuses."""
    replica, transaction = searched(encode({"d": "2020-01-01", "a": 1}))
    refusal = replica.apply(transaction)
    assert judge_stop(refusal, transaction, Stop(number=3648, message=TEXT, offset=870)).deviation is None
    assert replica.apply(transaction, unless="looks_up_by_before_image") is None


def test_rows_that_are_found_are_changed_before_another_is_missed() -> None:
    replica = ReplicaModel([{"j": encode({"d": "2020-01-01"})}, {"j": encode(DOCUMENT)}], ["j"], keyless=True)
    rows = (
        SEARCHED._replace(before={"j": DATE}),
        Logged(2, 1, {"j": PartialJson(SAME)}, 870, {"j": encode(DOCUMENT)}),
    )
    refusal = replica.apply(replace(REFUSED, rows=rows))
    assert refusal is not None
    assert (refusal.number, refusal.row) == (3648, 1)
