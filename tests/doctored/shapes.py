"""The parts of a recorded answer of a server: results of statements, or the events of a dump."""

from __future__ import annotations

import binascii
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.servers.errors import ServerError
from conformance.servers.wire.packets import lenenc, parse_row
from tests.servers.recording.altered import PACKETS, packets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.recording.files import Entry
    from conformance.servers.wire.packets import Row

_END: Final = b"\xfe\0\0\2\0"
LEAST: Final = 19  # bytes of an event


@dataclass(frozen=True, slots=True)
class Rows:
    """A result with rows: the packets of its columns, its rows, and the two packets that end both."""

    columns: tuple[bytes, ...]
    rows: tuple[Row, ...]
    middle: bytes
    end: bytes

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(_name(column) for column in self.columns)


@dataclass(frozen=True, slots=True)
class Ok:
    """A result without rows."""

    affected: int
    insert_id: int
    status: int
    warnings: int
    info: bytes


@dataclass(frozen=True, slots=True)
class Err:
    """An error."""

    number: int
    state: bytes
    text: bytes


Answer = Rows | Ok | Err
Event = bytes


def events_of(entry: Entry) -> list[Event] | None:
    """The events of a dump; ``None`` if the answer is no dump."""
    found = packets(entry)
    if not found or len(found[0]) <= LEAST or found[0][:1] != b"\0":
        return None
    events = [packet[1:] for packet in found if packet[:1] == b"\0"]
    lengths = [int.from_bytes(event[9:13], "little") for event in events]
    return events if all(length == len(event) for length, event in zip(lengths, events, strict=True)) else None


def with_events(entry: Entry, events: Sequence[Event]) -> Entry:
    """The dump with other events, and its end: a reader that goes on behind what was recorded is at the log's end."""
    rest = [packet for packet in packets(entry) if packet[:1] != b"\0"] or [_END]
    return _with(entry, [b"\0" + event for event in events] + rest)


def answers_of(entry: Entry) -> list[Answer] | None:
    """The results in an answer; ``None`` if it cannot be parted so."""
    if entry.kind != PACKETS or events_of(entry) is not None:
        return None
    found = packets(entry)
    out: list[Answer] = []
    place = 0
    try:
        while place < len(found):
            answer, place = _answer(found, place)
            out.append(answer)
    except (IndexError, ValueError, ServerError):
        return None
    return out or None


def _answer(found: list[bytes], place: int) -> tuple[Answer, int]:
    first = found[place]
    if first[:1] == b"\0":
        affected, at = lenenc(first, 1)
        insert_id, at = lenenc(first, at)
        status, warnings = (int.from_bytes(first[at + k : at + k + 2], "little") for k in (0, 2))
        return Ok(affected, insert_id, status, warnings, first[at + 4 :]), place + 1
    if first[:1] == b"\xff":
        return Err(int.from_bytes(first[1:3], "little"), first[4:9], first[9:]), place + 1
    width, _ = lenenc(first, 0)
    columns = tuple(found[place + 1 : place + 1 + width])
    middle = found[place + 1 + width]
    place += 2 + width
    rows = []
    while not (found[place][:1] == b"\xfe" and len(found[place]) < 9):
        if found[place][:1] == b"\xff":
            raise ValueError("an error amid rows")
        rows.append(parse_row(found[place], width))
        place += 1
    return Rows(columns, tuple(rows), middle, found[place]), place + 1


def with_answers(entry: Entry, answers: Sequence[Answer]) -> Entry:
    """The answer with other results."""
    return _with(entry, [packet for answer in answers for packet in _packets(answer)])


def with_packets(entry: Entry, changed: Sequence[bytes]) -> Entry:
    """The answer with other packets."""
    return _with(entry, list(changed))


def _with(entry: Entry, changed: list[bytes]) -> Entry:
    blob = b"".join(len(packet).to_bytes(4, "little") + packet for packet in changed)
    error = entry.answer[1] if isinstance(entry.answer, list) else None
    return replace(entry, answer=[blob, error])


def _packets(answer: Answer) -> list[bytes]:
    match answer:
        case Ok(affected, insert_id, status, warnings, info):
            numbers = b"".join(number.to_bytes(2, "little") for number in (status, warnings & 0xFFFF))
            return [b"\0" + _number(affected) + _number(insert_id) + numbers + info]
        case Err(number, state, text):
            return [b"\xff" + number.to_bytes(2, "little") + b"#" + state + text]
        case Rows(columns, rows, middle, end):
            return [_number(len(columns)), *columns, middle, *map(_row, rows), end]


def _row(row: Row) -> bytes:
    return b"".join(b"\xfb" if value is None else _number(len(value)) + value for value in row)


def _number(number: int) -> bytes:
    if number < 0xFB:
        return bytes((number,))
    if number < 1 << 16:
        return b"\xfc" + number.to_bytes(2, "little")
    if number < 1 << 24:
        return b"\xfd" + number.to_bytes(3, "little")
    return b"\xfe" + number.to_bytes(8, "little")


def _name(column: bytes) -> str:
    at = 0
    for _ in range(4):
        length, at = lenenc(column, at)
        at += length
    length, at = lenenc(column, at)
    return column[at : at + length].decode("utf-8", "replace")


def has_checksum(event: Event) -> bool:
    """Whether the last four bytes are the checksum of those before."""
    return len(event) >= LEAST + 4 and binascii.crc32(event[:-4]).to_bytes(4, "little") == event[-4:]


def sealed(event: Event, like: Event) -> Event:
    """The event with a fitting checksum, if the event that it comes from has one."""
    return event[:-4] + binascii.crc32(event[:-4]).to_bytes(4, "little") if has_checksum(like) else event
