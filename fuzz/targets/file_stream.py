"""A binary log file, read whole and in pieces."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.files import FileReader, decode_file, read_events
from fuzz.events import file_seeds
from fuzz.mutators.framing import mutate_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.errors import CodecError

INVARIANT: Final = (
    "A file gives the same events, notes and error whether it comes at once or in pieces; events tile what was read,"
    " and nothing but what is left is kept."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.binlog.event",
    "conformance.reference.binlog.files",
    "conformance.reference.binlog.format_description",
    "conformance.reference.binlog.header",
)
MAX_LEN: Final = 1280
DICTIONARY: Final = (b"\xfebin", b"\xfdbin", b"\x0f\x01\x00\x00\x00", b"9.7.4", b"5.5.62", bytes(19))
mutate = mutate_file
_LIMIT: Final = 1 << 20


def check(data: bytes) -> None:
    """Check a file."""
    for verify in (True, False):
        at_once = _read(data, len(data) or 1, verify)
        in_pieces = _read(data, 1 + sum(data[-3:]) % 61, verify)
        require(repr(at_once[0]) == repr(in_pieces[0]), "the events are the same in pieces")
        require(at_once[1] == in_pieces[1], "the notes are the same in pieces", at_once[1], in_pieces[1])
        require(_code(at_once[2]) == _code(in_pieces[2]), "the error is the same in pieces", str(at_once[2]))
        place = 4
        for event in at_once[0]:
            if event.inner is None:
                require(event.position == place, "events tile the file", event)
                place += event.header.length
        require(place <= max(len(data), 4), "no event is longer than the file", place)
    whole, refused = attempt(decode_file, data)
    events, error = attempt(lambda: list(read_events(BytesIO(data), window=64)))
    require(error is None or refused is not None, "typed reading refuses what reading refuses", str(error))
    require(whole is None or len(whole) == len(events or ()), "both readings give all events")


def _read(data: bytes, step: int, verify: bool) -> tuple[list[Event], list[object], CodecError | None]:
    reader = FileReader(verify=verify, expand=True, limit=_LIMIT)
    events: list[Event] = []

    def run() -> None:
        for start in range(0, len(data), step):
            reader.feed(data[start : start + step])
            events.extend(reader.events())
        reader.finish()

    _, error = attempt(run)
    return events, list(reader.notes), error


def _code(error: CodecError | None) -> str:
    return error.code if error is not None else ""


def seeds() -> Iterator[tuple[str, bytes]]:
    """Files of one group each."""
    yield from file_seeds()
    yield "encrypted", b"\xfdbin" + bytes(30)
    yield "magic-alone", b"\xfebin"
