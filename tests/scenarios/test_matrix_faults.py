"""The planted faults of scenario matrices are caught: in the worker, in the budgets, in the aggregation."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases import predict
from conformance.cases.row_images import before_columns
from conformance.reference.binlog import images, rows
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import MysqlError
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import Opaque
from conformance.reference.partial import apply, evaluation
from conformance.reference.partial.decision import Decision, decide
from conformance.reference.partial.diffs import encode_diff
from generators.draw import Stream
from scenarios import digest, worker
from scenarios.budgets import Judgement, judge
from scenarios.codes import Code
from scenarios.engines.update import frame_of
from scenarios.inline import SqliteStore, all_rows
from scenarios.matrix import Matrix, load_matrix, matrix_names
from tests.scenarios.faults_of_matrices import AGGREGATION_FAULTS, BUDGET_FAULTS, WORKER_FAULTS, MatrixFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.partial.diffs import Diff

PER_CELL = 3


def counts_of(matrix: Matrix, each: int = PER_CELL) -> list[int]:
    return [each if int(matrix.cell(cell).get("size", 0)) <= 4096 else 0 for cell in range(matrix.cells)]


def judged(matrix: Matrix, rows_: Sequence[Sequence[int]], counts: list[int]) -> Judgement:
    return judge(matrix, SqliteStore(matrix, rows_), counts)


# -------------------------------------------------------------------------------------------------------------- worker


def _plant(fault: MatrixFault, patch: pytest.MonkeyPatch) -> None:
    match fault.id:
        case "diffs/longer-than-they-are":
            assert encode_diff is evaluation.__dict__["encode_diff"]
            patch.setattr(
                evaluation,
                "encode_diff",
                lambda op, path, data: encode_diff(op, path, None if data is None else data + bytes(30)),
            )
        case "partial/length-bytes-not-counted":
            _decide(patch, lambda diffs, whole: diffs < whole)
        case "partial/one-byte-too-late":
            _decide(patch, lambda diffs, whole: 5 + diffs < whole)
        case "partial/never":
            _decide(patch, lambda diffs, whole: False)
        case "full/value-options-of-three-bytes":
            patch.setattr(images, "encode_packed", lambda number: b"\xfc" + number.to_bytes(2, "little"))
        case "partial/bits-of-one-byte":
            shared = images.RowWriter.shared_image

            def short(self: images.RowWriter, row: images.Row) -> tuple[bytes, frozenset[int]]:
                data, chosen = shared(self, row)
                return data[:2], chosen

            patch.setattr(images.RowWriter, "shared_image", short)
        case "off/one-byte-more":
            make = rows.RowsBody

            def longer(**fields: Any) -> rows.RowsBody:
                extra = (rows.UnknownInfo(7, b""),) if fields["type"] == EventType.UPDATE_ROWS else ()
                return make(**{**fields, "extra": extra})

            patch.setattr(predict, "RowsBody", longer)
        case "image/whole-before-image":
            assert before_columns is predict.__dict__["before_columns"]
            patch.setattr(predict, "before_columns", lambda *_: None)
        case "apply/last-diff-forgotten":
            whole = apply.apply_diffs

            def forgetful(stored: bytes | None, diffs: tuple[Diff, ...], *dialect: Any) -> bytes | None:
                return whole(stored, diffs[:-1] if len(diffs) > 1 else diffs, *dialect)

            patch.setattr(apply, "apply_diffs", forgetful)
        case "apply/string-for-date":
            all_diffs = apply.apply_diffs

            def textual(stored: bytes | None, diffs: tuple[Diff, ...], *dialect: Any) -> bytes | None:
                plain = tuple(
                    diff._replace(value=format_text(diff.value)[1:-1]) if isinstance(diff.value, Opaque) else diff
                    for diff in diffs
                )
                return all_diffs(stored, plain, *dialect)

            patch.setattr(apply, "apply_diffs", textual)
        case "apply/invalid-document":
            patch.setattr("conformance.cases.by_hand.injection.apply_field", lambda *_: b"\x0d\x00")
        case "apply/other-error":

            def refuse(*_: object) -> bytes:
                raise MysqlError(1105, "ER_UNKNOWN_ERROR", "another error")

            patch.setattr("conformance.cases.by_hand.injection.apply_field", refuse)
        case "payload/a-byte-lost":
            compress = TransactionPayload.compress
            patch.setattr(TransactionPayload, "compress", staticmethod(lambda events, *level: compress(events[:-1])))
        case "stream/by-block":
            number = count()
            patch.setattr(worker, "Stream", lambda *_: Stream("whatever comes", next(number)))
        case _:
            raise AssertionError(fault.id)


def _decide(patch: pytest.MonkeyPatch, smaller: Callable[[int, int], bool]) -> None:
    def decided(before: object, after: object, change: Any, *, partial_json: bool) -> Decision:
        true = decide(before, after, change, partial_json=partial_json)
        if true.reason not in ("smaller", "not-smaller"):
            return true
        assert isinstance(after, bytes)
        partial = smaller(len(change.encoded), len(after))
        return Decision(partial, change.encoded if partial else after, "planted")

    patch.setattr(predict, "decide", decided)


@pytest.fixture(autouse=True)
def _fresh_frames() -> Iterator[None]:
    """What a worker's process keeps of its tables is neither without the fault nor left behind with it."""
    frame_of.cache_clear()
    yield
    frame_of.cache_clear()


@pytest.mark.parametrize("fault", WORKER_FAULTS, ids=lambda fault: fault.id)
def test_a_fault_of_the_worker_is_caught(fault: MatrixFault, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = load_matrix(fault.matrix)
    counts = counts_of(matrix)
    if fault.by == "digest":
        counts = counts[:4] + [0] * (matrix.cells - 4)
        good = digest.tally(row for cell in (0, 1, 2, 3) for row in worker.run_block(matrix, cell, 0, PER_CELL))
        assert good == digest.tally(_backwards(matrix, counts))
        _plant(fault, monkeypatch)
        once = digest.tally(row for cell in (0, 1, 2, 3) for row in worker.run_block(matrix, cell, 0, PER_CELL))
        assert once != digest.tally(_backwards(matrix, counts))
        return
    _plant(fault, monkeypatch)
    judgement = judged(matrix, list(all_rows(matrix, counts)), counts)
    assert not judgement.passed
    broken = {item.budget.id for item in judgement.budgets if item.verdict == "fail"}
    if fault.by == "wrong rows":
        assert judgement.unexplained
        assert judgement.wrong[0].replay.startswith(f"matrix:{matrix.name}/")
    else:
        assert fault.by in broken
        offenders = next(item for item in judgement.budgets if item.budget.id == fault.by).offenders
        assert offenders


def _backwards(matrix: Matrix, counts: list[int]) -> list[worker.Row]:
    return [
        row
        for cell in reversed(range(matrix.cells))
        for index in reversed(range(counts[cell]))
        for row in worker.run_block(matrix, cell, index, 1)
    ]


# ------------------------------------------------------------------------------------------------------------- budgets

# For each budget: the column of a row that meets it, and by how much it is changed to break the rule by one (a verdict:
# to which it is changed).
BREAKS: dict[str, dict[str, tuple[str, int]]] = {
    "size-budget": {
        "def1-constant": ("diff_raw", 1),
        "border": ("most_forgone", 5),
        "partial-saves-the-difference": ("event_on", 1),
        "partial-is-smaller": ("event_on", 1),
        "full-plus-one": ("event_on", 1),
        "off-unchanged": ("event_off", 1),
    },
    "break-even": {
        "margin": ("full_size", 1), "border": ("partial_columns", 1), "costs": ("event_on", -1),
        "saves": ("event_on", 1),
    },
    "images": {
        "full-images": ("before_count", -1), "minimal-before": ("before_count", 1), "minimal-after": ("after_count", 3),
        "noblob-keeps-json": ("after_count", 1), "untouched-is-empty": ("partial_diff", 1),
        "null-has-no-bit": ("partial_bits", 1),
    },
    "compression": {
        "payload-only-when-on": ("payload_on", 1), "events-are-the-same": ("event_on", 1),
        "frame-is-bounded": ("payload_on", 257),
    },
    "equivalence": {
        "same-document-same-bytes": ("same_after", -1), "order-of-members": ("same_before", -1),
        "stops-only-when-retyped": ("error", 1), "padding-never-stops": ("verdict", Code.EXPLAINED),
    },
    "safety": {
        "refused-or-readable": ("verdict", Code.QUIET), "logged-applies-to-itself": ("verdict", Code.REFUSED),
        "nothing-applies-to-null": ("error", 1), "damage-is-met": ("verdict", Code.QUIET),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def good_rows() -> dict[str, list[tuple[int, ...]]]:
    out = {}
    for name in matrix_names():
        matrix = load_matrix(name)
        out[name] = list(all_rows(matrix, counts_of(matrix, 5 if name == "safety" else PER_CELL)))
    return out


def _doctored(matrix: Matrix, good: list[tuple[int, ...]], budget_id: str) -> list[list[int]]:
    """Good rows, each changed so far that it just breaks the rule if it meets it."""
    column, change = BREAKS[matrix.name][budget_id]
    place = matrix.columns.index(column)
    out = [list(row) for row in good]
    for row in out:
        if budget_id == "def1-constant":
            names = dict(zip(matrix.columns, row, strict=True))
            row[place] = names["diff_size"] - 19 * names["diffs"] - 1
        elif budget_id == "border" and matrix.name == "size-budget":
            row[place] = 5
        elif budget_id == "partial-is-smaller":
            row[place] = row[matrix.columns.index("event_off")] - 2
        elif budget_id == "minimal-after":
            row[place] = 4
        elif budget_id == "frame-is-bounded":
            names = dict(zip(matrix.columns, row, strict=True))
            row[place] = names["event_on"] + names["table_map"] + change
        elif column == "verdict":
            row[place] = change
        else:
            row[place] += change
    return out


ALL_BUDGETS = [(name, budget.id) for name in matrix_names() for budget in load_matrix(name).budgets]


@pytest.mark.parametrize(("name", "budget_id"), ALL_BUDGETS)
def test_a_budget_passes_good_rows_and_fails_on_rows_that_break_it_by_one(
    name: str, budget_id: str, good_rows: dict[str, list[tuple[int, ...]]]
) -> None:
    matrix = load_matrix(name)
    for rows_, word in ((good_rows[name], "pass"), (_doctored(matrix, good_rows[name], budget_id), "fail")):
        (item,) = (item for item in judged(matrix, rows_, []).budgets if item.budget.id == budget_id)
        assert item.verdict == word, (item.met, item.broken)


@pytest.mark.planted("FR11")
@pytest.mark.parametrize("fault", BUDGET_FAULTS)
@pytest.mark.parametrize(("name", "budget_id"), [("size-budget", "full-plus-one"), ("break-even", "margin")])
def test_a_budget_that_cannot_fail_is_caught(
    fault: str, name: str, budget_id: str, good_rows: dict[str, list[tuple[int, ...]]]
) -> None:
    matrix = load_matrix(name)
    (budget,) = (budget for budget in matrix.budgets if budget.id == budget_id)
    match fault:
        case "always":
            budget = replace(budget, must="verdict = verdict")
        case "off-by-one":
            budget = replace(budget, constants=tuple((key, value + 1) for key, value in budget.constants))
        case "of-another-option":
            budget = replace(budget, where="event_on < 0")
    planted = replace(matrix, budgets=(budget,))
    good, bad = (
        judged(planted, rows_, []).budgets[0].verdict
        for rows_ in (good_rows[name], _doctored(matrix, good_rows[name], budget_id))
    )
    assert (good, bad) != ("pass", "fail")


# --------------------------------------------------------------------------------------------------------- aggregation


@pytest.mark.planted("FR11", "FR12")
@pytest.mark.parametrize("fault", AGGREGATION_FAULTS)
def test_a_fault_of_the_aggregation_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = load_matrix("break-even")
    counts = [4] * matrix.cells
    rows_ = [list(row) for row in all_rows(matrix, counts)]
    verdict = matrix.columns.index("verdict")
    assert judged(matrix, rows_, counts).passed
    match fault:
        case "a-cell-is-left-out":
            rows_ = [row for row in rows_ if row[0] != 7]
        case "wrong-rows-are-left-out":
            rows_[9][verdict] = 11
            assert judged(matrix, rows_, counts).unexplained == 1
            rows_ = [row for row in rows_ if row[verdict] < 10]
        case "a-row-is-counted-twice":
            rows_.append(rows_[5])
        case "a-block-is-missing":
            rows_ = [row for row in rows_ if not (row[0] == 3 and row[1] >= 2)]
        case "a-finished-cell-is-added-again":
            rows_ += [row for row in rows_ if row[0] == 8]
        case "one-column-is-not-in-the-digest":
            last = [[*row[:-1], row[-1] + 1] for row in rows_]
            assert digest.tally(last) != digest.tally(rows_)
            whole = digest.row_hash
            monkeypatch.setattr(digest, "row_hash", lambda row: whole(row[:-1]))
            assert digest.tally(last) == digest.tally(rows_)  # what test_every_column_is_in_the_digest forbids
            return
    judgement = judged(matrix, rows_, counts)
    assert judgement.unsound
    assert not judgement.passed


def test_the_encoder_is_not_what_the_tests_patched() -> None:
    assert encode(1) == b"\x05\x01\x00"
