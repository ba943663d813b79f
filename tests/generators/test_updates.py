"""The mix of generated updates reaches every row of the evaluation and decision tables (partial-update 2,
partial-update 5)."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.partial.decision import decide
from conformance.reference.partial.expression import Assignment, Call, Column, Columns, Function, Literal, Wrapped
from conformance.reference.partial.update import RowChange, eligible_columns, update_row
from generators import documents, updates
from generators.documents import Size
from generators.draw import Stream, mix

if TYPE_CHECKING:
    from conformance.reference.partial.expression import Expression

COLUMNS = Columns(("j",))

RULES = {
    "in-place/root", "in-place/parent-missing", "in-place/object-cell-replace", "in-place/object-cell-set",
    "in-place/array-member", "in-place/scalar-parent", "in-place/scalar-parent-set-cell", "in-place/absent-replace",
    "in-place/absent-set", "in-place/no-room", "in-place/fits-changed", "in-place/fits-same", "tree/replace",
    "tree/replace-root", "tree/absent-replace", "tree/parent-missing", "tree/array-insert", "tree/array-insert-front",
    "tree/object-insert", "tree/auto-wrap", "tree/auto-wrap-front", "tree/auto-wrap-root", "tree/nothing",
    "remove/root", "remove/missing", "remove/in-place", "remove/tree", "strip/dropped", "null/path", "null/document",
    "eligible/no",
}  # fmt: skip
REASONS = {"null", "no-diffs", "no-diffs-same-bytes", "empty-diffs", "same-bytes", "smaller", "not-smaller"}


@cache
def run() -> tuple[Counter[str], int]:
    """Two hundred documents, twenty updates each: how often each rule, decision and property came."""
    seen: Counter[str] = Counter()
    total = 0
    for number in range(200):
        start = Stream("updates", number)
        row: dict[str, object] = {"n": 0, "j": encode(documents.document(start))}
        for step in range(20):
            draw = start.fork(step)
            stored = row["j"]
            assert stored is None or isinstance(stored, bytes)
            expression: Expression
            if draw.below(8) == 7 or (stored is None and draw.below(2)):
                expression = updates.whole(draw, "j", stored)
            else:
                expression = updates.partial(draw, "j", stored, sources=("n",))
            change = update_row(row, [Assignment("j", expression)], COLUMNS, log_diffs=True)
            count(seen, stored, change)
            total += 1
            row = {"n": 0, "j": change.columns["j"].after}
    return seen, total


def count(seen: Counter[str], stored: bytes | None, change: RowChange) -> None:
    column = change.columns["j"]
    seen.update(set(column.rules))
    decision = decide(stored, column.after, column, partial_json=True)
    seen[decision.reason] += 1
    seen["full"] += decision.field is not None and not decision.partial
    seen["holes"] += stored is not None and storage_free(stored) > 0
    seen["in place"] += column.in_place
    for diff in column.diffs or ():
        seen[diff.operation.name] += 1
    if column.after is not None:
        seen["over 4 KB"] += len(column.after) > 4096
        seen["over 64 KB"] += len(column.after) > 65536
        if column.diffs:
            seen["boundary"] += abs(len(column.after) - 4 - len(column.encoded)) <= 1


def test_every_row_of_the_evaluation_tables_is_taken() -> None:
    seen, _ = run()
    assert {rule for rule in RULES if not seen[rule]} == set()


def test_every_decision_is_made() -> None:
    seen, _ = run()
    assert {reason for reason in REASONS if not seen[reason]} == set()
    assert min(seen[operation] for operation in ("REPLACE", "INSERT", "REMOVE")) > 200


@pytest.mark.parametrize(
    ("what", "least", "most"),
    [
        ("full", 0.15, 0.45),
        ("holes", 0.20, 0.60),
        ("in place", 0.30, 0.70),
        ("boundary", 0.005, 0.10),
        ("over 4 KB", 0.08, 0.22),
        ("over 64 KB", 0.005, 0.06),
    ],
)
def test_the_mix(what: str, least: float, most: float) -> None:
    seen, total = run()
    assert least < seen[what] / total < most


def test_partial_is_always_eligible_and_whole_hardly_ever() -> None:
    eligible = 0
    for number in range(400):
        draw = Stream("eligible", number)
        stored = encode(documents.document(draw, sizes=(Size.SMALL,)))
        assert eligible_columns([Assignment("j", updates.partial(draw, "j", stored))], ["j"]) == {"j"}
        whole = Assignment("j", updates.whole(draw, "j", stored, documents_from=("k",)))
        eligible += bool(eligible_columns([whole], ["j"]))
    assert eligible == 0


def functions(expression: Expression) -> list[object]:
    found: list[object] = []
    while not isinstance(expression, Column):
        if isinstance(expression, Wrapped):
            found.append(expression.wrapper)
            expression = expression.inner
        elif isinstance(expression, Call):
            found.append(expression.function)
            expression = expression.document
        else:
            found.append(type(expression))
            break
    return found


def test_all_functions_come_in_chains_of_up_to_four() -> None:
    lengths: Counter[int] = Counter()
    names: Counter[object] = Counter()
    stored = encode({"a": [1, {"b": "text"}], "c": "x"})
    for number in range(1500):
        draw = Stream("chains", number)
        chain = functions(updates.partial(draw, "j", stored))
        lengths[len(chain)] += 1
        names.update(chain)
        names.update(functions(updates.whole(draw, "j", stored, documents_from=("k",))))
    assert {1, 2, 3, 4} <= set(lengths)
    assert set(Function) <= set(names)
    assert {"COALESCE", "IF", "CAST"} <= {str(name) for name in names}
    assert Literal in names


def test_a_column_that_is_not_null_never_becomes_null() -> None:
    for number in range(1500):
        draw = Stream("not null", number)
        stored = encode(documents.document(draw, sizes=mix((Size.SMALL, 1), (Size.TINY, 1))))
        for expression in (
            updates.partial(draw, "j", stored, nullable=False),
            updates.whole(draw, "j", stored, nullable=False),
        ):
            change = update_row({"n": 0, "j": stored}, [Assignment("j", expression)], COLUMNS, log_diffs=True)
            assert change.after["j"] is not None


def test_what_is_refused_is_refused_with_every_number() -> None:
    numbers: Counter[int] = Counter()
    stored = encode({"a": [1, {"b": "text"}], "c": "x"})
    for number in range(200):
        expression = updates.refused(Stream("refused", number), "j", stored)
        with pytest.raises(MysqlError) as caught:
            update_row({"j": stored}, [Assignment("j", expression)], COLUMNS, log_diffs=True)
        numbers[caught.value.number] += 1
    assert set(numbers) == {3143, 3149, 3153, 3157, 3165}


def test_documents_come_back_from_null() -> None:
    for number in range(50):
        assert isinstance(updates.whole(Stream("null", number), "j", None), Literal)
        chain = updates.partial(Stream("null", number), "j", None)
        change = update_row({"j": None}, [Assignment("j", chain)], COLUMNS, log_diffs=True)
        assert change.after["j"] is None
