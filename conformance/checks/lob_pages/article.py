"""The byte dumps of the article: each document before and after a call, and what the article marks as changed.

The bytes and marks are the article's own (partial-update 3.4b says where its labels are imprecise). The lengths of the
ranges are not: it draws what differs, and a range is what was written (partial-update 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ARRAY: Final = bytes.fromhex("02 0200 1200 0c0a00 0c0e00 03616263 03646566")
OBJECT: Final = bytes.fromhex(
    "00 0300 2200 19000100 1a000100 1b000100 0c1c00 0c1e00 0c2000 61 62 63 0178 0179 017a"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One call on column ``j`` at path ``{}``, the root. ``marked``: offsets of the bytes marked CHANGED.

    ``ranges``: offset and length of what is written, counted from the type byte. ``free``: JSON_STORAGE_FREE after it.
    """

    requirement: str
    document: str
    call: str
    before: bytes
    after: bytes
    marked: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]
    free: int

    def at(self, root: str, inner: str = "j") -> str:
        """The call on the document at a path of a column, or of another call."""
        return self.call.replace("j, '$", f"{inner}, '{root}", 1)


_SHORTER = ARRAY.replace(b"\3abc", b"\2XYc")
_MOVED = bytes.fromhex("02 0200 1200 0c0a00 0c0d00 025859 0458595a57")
_NUMBER = bytes.fromhex("02 0200 1200 0c0a00 05c801 025859 0458595a57")
_REMOVED = bytes.fromhex(
    "00 0200 2200 19000100 1b000100 0c1c00 0c2000 000c1e000c2000 61 62 63 0178 0179 017a"
)  # fmt: skip
_LIST = '["abc", "def"]'
STEPS: Final = (
    Step("LOB6", _LIST, "JSON_SET(j, '$[0]', 'XY')", ARRAY, _SHORTER, (11, 12, 13), ((11, 3),), 1),
    Step("LOB7", _LIST, "JSON_SET(j, '$[1]', 'XYZW')", _SHORTER, _MOVED, (9, *range(14, 19)), ((8, 3), (14, 5)), 0),
    Step("LOB8", _LIST, "JSON_SET(j, '$[1]', 456)", _MOVED, _NUMBER, (8, 9, 10), ((8, 3),), 5),
    Step("LOB9", '{"a": "x", "b": "y", "c": "z"}', "JSON_REMOVE(j, '$.b')", OBJECT, _REMOVED,
         (1, *range(9, 19)), ((1, 2), (9, 10)), 10),
)  # fmt: skip


def earlier(step: Step) -> tuple[Step, ...]:
    """The steps that the article makes on the same document before this one."""
    place = [other.requirement for other in STEPS].index(step.requirement)
    return tuple(other for other in STEPS[:place] if other.document == step.document)
