"""The size of an event, added up by hand for a few statements."""

from __future__ import annotations

import pytest

from scenarios.expected.columns import ColumnOutcome
from scenarios.expected.events import QUIET, due

ONE = ColumnOutcome(100, diffs=1, encoded=20, raw=17)


@pytest.mark.parametrize(
    ("image", "keyed", "before", "after", "off"),
    [
        # head 29, column count 1, bitmaps 2, checksum 4; null bits 1 + 1; id and n 4 each, t 6, documents 4 + size.
        ("FULL", True, 4, 4, 36 + 2 + 14 + 94 + 14 + 104),
        ("MINIMAL", True, 1, 1, 36 + 2 + 4 + 104),
        ("MINIMAL", False, 4, 1, 36 + 2 + 14 + 94 + 104),
        ("NOBLOB", True, 3, 3, 36 + 2 + 8 + 94 + 8 + 104),
        ("NOBLOB", False, 4, 3, 36 + 2 + 14 + 94 + 8 + 104),
    ],
)
def test_images_have_their_columns(image: str, keyed: bool, before: int, after: int, off: int) -> None:
    found = due(image, keyed=keyed, sizes=[90], outcomes={0: ONE}, counted=False)
    assert (found.before, found.after, found.off) == (before, after, off)
    assert found.on == off - 100 + 20 + 2
    assert (found.partial, found.bits, found.diffs, found.diff_size, found.raw) == (1, 1, 1, 20, 17)


@pytest.mark.parametrize(
    ("outcome", "grows", "kinds", "bits"),
    [
        (ColumnOutcome(100, diffs=1, encoded=95), 95 - 100 + 2, (1, 0, 0, 0), 1),
        (ColumnOutcome(100, diffs=1, encoded=96), 1, (0, 0, 1, 0), 0),
        (ColumnOutcome(100, diffs=2, encoded=40, same_bytes=True), 2 - 100, (0, 1, 0, 0), 1),
        (ColumnOutcome(100, diffs=0, changed=False), 2 - 100, (0, 1, 0, 0), 1),
        (ColumnOutcome(100), 1, (0, 0, 1, 0), 0),
        (ColumnOutcome(0), 1, (0, 0, 0, 1), 0),
    ],
)
def test_a_column_is_logged_by_the_rules_of_partial_update_5(
    outcome: ColumnOutcome, grows: int, kinds: tuple[int, ...], bits: int
) -> None:
    found = due("MINIMAL", keyed=True, sizes=[100], outcomes={0: outcome}, counted=True)
    assert (found.partial, found.empty, found.whole, found.null) == kinds
    assert found.bits == bits
    assert found.on - found.off == grows


def test_nine_json_columns_take_two_bytes_of_bits() -> None:
    found = due("NOBLOB", keyed=True, sizes=[90] * 9, outcomes={8: ONE}, counted=False)
    assert (found.bits, found.empty, found.partial) == (0b1_1111_1111, 8, 1)
    assert found.on - found.off == 3 - 8 * 90 - 80


def test_a_statement_that_changes_nothing_has_no_event() -> None:
    same = ColumnOutcome(100, changed=False, diffs=0)
    assert due("FULL", keyed=True, sizes=[100], outcomes={0: same}, counted=False) is QUIET
    assert due("FULL", keyed=True, sizes=[100], outcomes={0: same}, counted=True).on
