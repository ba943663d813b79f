"""Partial or full for each JSON column of an after-image (partial-update 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from conformance.reference.partial.update import ColumnChange


class Decision(NamedTuple):
    """The form of one JSON column in the after-image: diffs or the whole document, or ``None`` for SQL NULL."""

    partial: bool
    data: bytes | None
    reason: str

    @property
    def field(self) -> bytes | None:
        """The column's bytes in the event, including the 4-byte length."""
        return None if self.data is None else len(self.data).to_bytes(4, "little") + self.data


def decide(before: object, after: object, change: ColumnChange | None, *, partial_json: bool) -> Decision:
    """Partial or full for a JSON column of the after-image (partial-update 5). ``change``: ``None`` if not assigned."""
    if after is None:
        return Decision(False, None, "null")
    assert isinstance(after, bytes)
    if not partial_json:
        return Decision(False, after, "option-off")
    if change is None or change.diffs is None:
        same = before == after
        return Decision(True, b"", "no-diffs-same-bytes") if same else Decision(False, after, "no-diffs")
    if not change.diffs:
        return Decision(True, b"", "empty-diffs")
    if before == after:
        return Decision(True, b"", "same-bytes")
    if diffs_pay(len(change.encoded), len(after)):
        return Decision(True, change.encoded, "smaller")
    return Decision(False, after, "not-smaller")


def diffs_pay(diffs: int, document: int) -> bool:
    """Whether the server logs diffs of this size instead of a document of this size; only the lengths count."""
    return 4 + diffs < document
