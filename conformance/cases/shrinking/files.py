"""Shrinking a file for mysqlbinlog (:mod:`conformance.cases.by_hand.damaged_log`): its user variable, or the value in
its first row event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.by_hand.damaged_log import events_in, log_of_image, log_of_variable, log_of_vector, rows_in
from conformance.cases.by_hand.injection import Injection
from conformance.cases.shrinking.events import shrink_injection
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Callable


def shrink_file(data: bytes, fails: Callable[[bytes], bool], *, seconds: float) -> None:
    """Judge ever smaller files; the caller keeps the last one that failed."""
    if any(kind == EventType.USER_VAR for kind, _ in events_in(data)):
        fails(log_of_variable(b"", 1))
        return
    is_update, row = next(rows_in(data), (False, b""))
    if is_update:
        event = Injection(name="", stored=None, image=row)
        shrink_injection(event, lambda smaller: fails(log_of_image(smaller.image)), seconds=seconds)
    else:
        size = int.from_bytes(row[:4], "little")
        any(fails(log_of_vector(row[4 : 4 + smaller])) for smaller in (1, 2, 3) if smaller < size)
