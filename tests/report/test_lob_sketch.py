"""The sketch of an update in the data file: every page of the record, its ranges in place, and the same as text."""

from __future__ import annotations

import itertools
import re
from typing import Any

from conformance.report.html import page
from conformance.report.lob_sketch import WIDTH, sides
from conformance.report.results import Summary
from conformance.stream import LobUpdate


def stored(number: int, **fields: Any) -> dict[str, Any]:
    return {"page": number, "type": "LOB_DATA", "version": 1, "length": 16327, "live": True, "new": False,
            "changed": [], **fields}  # fmt: skip


UPDATE = LobUpdate(
    subject="process-9.7.4",
    statement="UPDATE t SET j = JSON_SET(j, '$.a', '<b>')",
    length=16327,
    before=({"number": 1, "offset": 0, "pages": [stored(6)]},),
    after=(
        {"number": 1, "offset": 0, "pages": [
            stored(8, version=2, new=True, changed=[[0, 1], [16320, 7]]), stored(6, live=False),
        ]},
    ),
)  # fmt: skip


def test_each_page_is_a_box_and_a_sentence() -> None:
    before, after = sides(UPDATE)
    assert [(box.page, box.state) for box in before.boxes] == [(6, "current")]
    assert [(box.page, box.state) for box in after.boxes] == [(8, "current"), (6, "kept")]
    assert after.description == (
        "Piece 1, page 8, LOB_DATA, version 2, current, new, 8 bytes differ from the page that it is a copy of. "
        "Piece 1, page 6, LOB_DATA, version 1, kept until purge."
    )


def test_ranges_of_a_few_bytes_are_seen_inside_the_bar() -> None:
    box = sides(UPDATE)[1].boxes[0]
    assert len(box.ranges) == 2
    assert all(width >= 4 and left >= 0 and left + width <= box.bar for left, width in box.ranges)


def test_boxes_do_not_overlap_and_stay_inside() -> None:
    for side in sides(UPDATE):
        tops = [box.y for box in side.boxes]
        assert all(second - first >= 52 for first, second in itertools.pairwise(tops))
        assert tops[-1] + 52 <= side.height
        assert all(box.x + box.width == WIDTH for box in side.boxes)


def test_the_page_has_both_pictures_with_their_text() -> None:
    text = page(Summary([UPDATE]))
    assert text.count('role="img"') == 2
    for name in re.findall(r'aria-labelledby="(\S+) (\S+)"', text):
        assert all(text.count(f'id="{part}"') == 1 for part in name)
    assert "kept until purge." in text
    assert "&#39;&lt;b&gt;&#39;" in text
    assert 'href="#data-file"' in text


def test_a_run_without_the_check_has_no_picture() -> None:
    assert "data-file" not in page(Summary([]))


def test_the_record_survives_the_stream() -> None:
    assert LobUpdate.from_json(UPDATE.to_json()).after[0]["pages"][0]["changed"] == [[0, 1], [16320, 7]]
