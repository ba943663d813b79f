"""NR2, NR3, NR5: what the comparison of bytes must not call a failure, and what it still must."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.costs.allocations import with_option
from conformance.harness.updates.blocks import Limits, make_script
from conformance.judge.updates.compare import judge
from conformance.judge.updates.permitted_variation import SMALL
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.doctoring import NUMBERS, D, after, body, row, script
from tests.judge.perfect_server import observe
from tests.judge.updates.variations import variations, with_hole

if TYPE_CHECKING:
    from conformance.judge.updates.mismatch import Mismatch
    from conformance.reference.binlog.rows import RowsBody


BLOCKS: Final = 16


def _bitmap_always(old: RowsBody) -> RowsBody:
    return replace(old, rows=tuple(item._replace(value_options=1, partial_columns=0) for item in old.rows))


def _document(step: str, column: str, number: int = 0) -> bytes:
    """The document that the model has after a step."""
    rows = [item for item in script().predictions[NUMBERS[step]].rows if item.change.logged]
    value = rows[number].change.after[column]
    assert isinstance(value, bytes)
    return value


def _collected(step: str, column: str) -> PartialJson:
    return PartialJson(script().predictions[NUMBERS[step]].rows[0].change.columns[column].encoded)


def _other(document: bytes) -> bytes:
    return encode([decode(document)])


_ROOT: Final = PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), "more than the document is" * 9)]))
VARIATIONS: Final = (
    Fault("bitmap-always", "NR2", "A whole document with value_options 1 and an empty bitmap is a byte longer.",
          body("border full", _bitmap_always), "NR2", at="border full"),
    Fault("whole-at-the-border", "NR5",
          "Whole where the diffs are a byte smaller: another server stores the document in fewer bytes.",
          after("border partial", _document("border partial", "k")), "NR5", at="border partial"),
    Fault("diffs-at-the-border", "NR5", "Diffs where the document is as small: another server stores it in more bytes.",
          after("border full", _collected("border full", "k")), "NR5", at="border full"),
    Fault("packed", "NR3", "Whole documents beside diffs, in a server's own bytes: a hole behind the values.",
          after("border full", with_hole(_document("border full", "k"), SMALL)), "NR3", at="border full"),
)  # fmt: skip
FAULTS: Final = (
    Fault("bitmap-of-what-is-partial", "NR2", "A byte more excuses no other row.",
          row("border full", lambda old: old._replace(before=(99,), value_options=1, partial_columns=0)),
          at="border full"),
    Fault("long-growth", "NR2", "A few bytes are not as many as one likes.",
          after("border full", with_hole(_document("border full", "k"), SMALL + 1)), at="border full"),
    Fault("whole-for-little", "NR3",
          "Whole documents where diffs are far smaller are the failure of FR11, not the freedom of NR3.",
          after("one diff", _document("one diff", "j")), at="one diff"),
    Fault("whole-other-document", "NR3", "A whole document is the document of the update.",
          after("border full", _other(_document("border full", "k"))), at="border full"),
    Fault("border-other-document", "NR5", "Whichever form, it says the same.",
          after("border partial", encode(["xxxx", "y"])), at="border partial"),
    Fault("diffs-that-do-not-pay", "NR5",
          "Diffs longer than the document are no choice by size, and these are not of the update.",
          after("border full", _ROOT), at="border full"),
)  # fmt: skip


def found(twin: Fault) -> Mismatch:
    made = script()
    mismatches = [item for item in judge(made, observe(made, **twin.change)).mismatches if item.kind == "event"]
    assert mismatches, "the doctored observation is the perfect one"
    assert mismatches[0].step == NUMBERS[twin.at]
    return mismatches[0]


@pytest.mark.parametrize("twin", VARIATIONS, ids=lambda twin: twin.id)
def test_what_the_worklog_leaves_free_is_found_and_named(twin: Fault) -> None:
    assert found(twin).variation == twin.verdict, twin.sentence


@each(FAULTS)
def test_what_goes_beyond_stays_a_failure(fault: Fault) -> None:
    assert found(fault).variation is None, fault.sentence


def test_the_document_of_the_planted_faults_is_much_larger_than_a_diff() -> None:
    assert len(encode(parse_text(D))) > 4 * SMALL


@pytest.mark.nightly
def test_variations_of_generated_logs_are_permitted_or_failures_as_the_worklog_has_it() -> None:
    """Each row event has twins as another server might have logged it, within what is left free and beyond."""
    counts: Counter[tuple[str, bool]] = Counter()
    limits = Limits()
    for number in range(BLOCKS):
        made = with_option(make_script("liberties", number, limits, updates=50), limits, partial_json=True)
        names = [column.name for column in made.case.table.columns]
        for twin in variations(made, observe(made)):
            counts[twin.requirement, twin.free] += 1
            assert (twin.taken_as(names) is not None) == twin.free, f"block {number}, {twin.step}: {twin.what}"
    assert set(counts) == {(name, free) for name in ("NR2", "NR3", "NR5") for free in (True, False)}
    assert min(counts.values()) >= 20, counts


@pytest.mark.parametrize("taken", [None, "NR5"])
def test_a_judge_that_knows_one_form_or_takes_any_is_noticed(
    monkeypatch: pytest.MonkeyPatch, taken: str | None
) -> None:
    monkeypatch.setattr("tests.judge.updates.variations.variation_of", lambda *_: taken)
    with pytest.raises(AssertionError):
        test_variations_of_generated_logs_are_permitted_or_failures_as_the_worklog_has_it()
