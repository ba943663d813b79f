"""The article's dumps are vectors: the reference stores and changes the documents in exactly these bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.checks.lob_pages.article import STEPS, Step, earlier
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.expressions import parse_expression

VECTORS = Path(__file__).parents[2] / "data/vectors/inplace-ranges.json"


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.requirement)
def test_the_reference_makes_the_drawn_bytes(step: Step) -> None:
    document = encode(parse_text(step.document))
    for other in (*earlier(step), step):
        assert document == other.before
        change = update_row({"j": document}, [Assignment("j", parse_expression(other.call))], Columns(("j",)),
                            log_diffs=False).columns["j"]  # fmt: skip
        document = change.after or b""
        assert (document, change.ranges, storage_free(document)) == (other.after, other.ranges, other.free)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.requirement)
def test_the_marks_are_in_the_ranges_and_cover_what_differs(step: Step) -> None:
    written = {at for offset, length in step.ranges for at in range(offset, offset + length)}
    differs = {at for at, (old, new) in enumerate(zip(step.before, step.after, strict=True)) if old != new}
    assert differs <= set(step.marked) <= written


def test_the_recorded_vectors_have_the_same_steps() -> None:
    recorded = [item for item in json.loads(VECTORS.read_text("utf-8"))["vectors"] if item["note"] == "article"]
    assert [(item["before_jsonb_hex"], item["after_jsonb_hex"], item["storage_free_after"]) for item in recorded] == [
        (step.before.hex(), step.after.hex(), step.free) for step in STEPS
    ]
    assert [sorted(map(tuple, item["ranges"])) for item in recorded] == [list(step.ranges) for step in STEPS]
