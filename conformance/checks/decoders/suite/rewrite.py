"""Logs written by the kit out of recorded ones: events taken apart, changed, and laid out again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, with_transaction_length
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC, footer_size
from conformance.reference.binlog.rows import STMT_END
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.reference.binlog.event import Body

_GROUP_ENDS: Final = {
    EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.ROTATE, EventType.STOP,
    EventType.FORMAT_DESCRIPTION,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """An event without its place: positions, lengths and checksums are made anew."""

    body: Body
    timestamp: int = 0
    server_id: int = 1
    flags: int | None = None

    @property
    def type(self) -> int:
        return self.body.type

    def raw(self, change: Callable[[bytearray], object] | None = None, *, type_: int | None = None) -> Part:
        """The same with the bytes of its body, changed as told: bytes that no typed body would have."""
        data = bytearray(self.body.encode())  # type: ignore[union-attr]
        if change is not None:
            change(data)
        return replace(self, body=Opaque(type=self.type if type_ is None else type_, data=bytes(data)))


def parts_of(case: DecoderCase) -> list[Part]:
    """The events of a Case's log."""
    return [
        Part(event.body, event.header.timestamp, event.header.server_id, event.header.flags)
        for event in decode_file(case.log)
    ]


def laid(parts: Sequence[Part], *, algorithm: int | None = None, start: int = 0) -> bytes:
    """The file with these events. ``start``: bytes that the file has behind its first event and these bytes have not.

    ``algorithm``: the checksums, if they are to be others than those that the description says.
    """
    if algorithm is None:
        algorithm = next((part.body.algorithm for part in parts if isinstance(part.body, FormatDescription)), 0)
    parts = [_with_algorithm(part, algorithm) for part in parts]
    footer = footer_size(algorithm)
    sizes = [HEADER_SIZE + len(_bytes(part.body)) + footer for part in parts]
    out = bytearray(MAGIC)
    for number, part in enumerate(parts):
        body = part.body
        if isinstance(body, (Gtid, GtidTagged)):
            end = next(
                (at for at in range(number + 1, len(parts)) if parts[at].type in _GROUP_ENDS), len(parts)
            )  # fmt: skip
            body = with_transaction_length(body, sum(sizes[number + 1 : end]), footer)
        out += encode_event(
            body, timestamp=part.timestamp, server_id=part.server_id, log_pos=None, flags=part.flags,
            start=len(out) + (start if number else 0), algorithm=algorithm,
        )  # fmt: skip
    return bytes(out)


def _with_algorithm(part: Part, algorithm: int) -> Part:
    body = part.body
    return replace(part, body=replace(body, algorithm=algorithm)) if isinstance(body, FormatDescription) else part


def _bytes(body: Any) -> bytes:
    data: bytes = body.encode()
    return data


def offsets(log: bytes) -> list[int]:
    """The places where events begin."""
    found = []
    at = len(MAGIC)
    while at < len(log):
        found.append(at)
        at += int.from_bytes(log[at + 9 : at + 13], "little")
    return found


ROWS: Final = (30, 31, 32, 39)


def statement_groups(log: bytes) -> list[tuple[bytes, ...]]:
    """For BINLOG statements: the description, then each statement's TABLE_MAPs and rows."""
    places = offsets(log)
    events = [log[start:end] for start, end in zip(places, [*places[1:], len(log)], strict=True)]
    groups: list[tuple[bytes, ...]] = [(events[0],)]
    open_group: list[bytes] = []
    for event in events:
        if event[4] == EventType.TABLE_MAP or event[4] in ROWS:
            open_group.append(event)
            if event[4] in ROWS and event[HEADER_SIZE + 6] & STMT_END:
                groups.append(tuple(open_group))
                open_group = []
    return groups
