"""The documents of a row change, as the log has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from conformance.checks.lob_versions import log_images
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import PartialJson

if TYPE_CHECKING:
    from conformance.reference.binlog.images import Image


def test_diffs_that_change_nothing_are_read_as_the_source_wrote_them() -> None:
    before = {"j": encode({"a": 1, "b": "x"}), "k": encode([1])}
    again = Diff(Operation.REPLACE, parse_path("$.a"), 2)
    diffs = PartialJson(encode_diffs([again, again]))
    image = cast("Image", {0: 7, 1: diffs, 2: before["k"]})
    assert log_images._documents(image, before) == {"j": encode({"a": 2, "b": "x"}), "k": before["k"]}
