"""A binary log file, read whole, in pieces and from a position on; and an encrypted one."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.encrypted_file import HEADER_SIZE, EncryptionHeader, encrypted
from conformance.reference.binlog.files import FileReader, decode_file, read_events
from conformance.reference.binlog.header import ENCRYPTED_MAGIC
from conformance.reference.binlog.start_position import read_from
from conformance.reference.encryption.keyring import Keyring
from fuzz.events import file_seeds
from fuzz.mutators.framing import mutate_file
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.errors import CodecError

INVARIANT: Final = (
    "A file gives the same events, notes and error whether it comes at once or in pieces; events tile what was read,"
    " and nothing but what is left is kept. From an event's position on, the events are the rest of them. The head of"
    " an encrypted file is read to the byte or refused."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.binlog.encrypted_file",
    "conformance.reference.binlog.event",
    "conformance.reference.binlog.files",
    "conformance.reference.binlog.format_description",
    "conformance.reference.binlog.header",
    "conformance.reference.binlog.start_position",
)
MAX_LEN: Final = 1280
DICTIONARY: Final = (b"\xfebin", b"\xfdbin", b"\x0f\x01\x00\x00\x00", b"9.7.4", b"5.5.62", bytes(19))
mutate = mutate_file
_LIMIT: Final = 1 << 20
_MASTER: Final = bytes(range(32, 64))
_NAME: Final = "MySQLReplicationKey_11111111-2222-3333-4444-555555555555_1"
_KEYRING: Final = Keyring({_NAME: _MASTER})


def check(data: bytes) -> None:
    """Check a file."""
    if data.startswith(ENCRYPTED_MAGIC):
        _encrypted(data)
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
    _from_a_position(data, events or [], 3 * sum(data[-3:]))


def _encrypted(data: bytes) -> None:
    header, refused = attempt(EncryptionHeader.decode, data)
    if header is None:
        require(refused is not None, "a head is read or refused")
        return
    require(header.encode() == data[:HEADER_SIZE], "a head is written as it was read")
    cipher, _ = attempt(header.unlock, _KEYRING)
    if cipher is not None:
        plain = cipher.crypt(data[HEADER_SIZE:], 0)
        require(cipher.crypt(plain, 0) == data[HEADER_SIZE:], "decryption and encryption are one")
        attempt(cipher.verify, plain)


def _from_a_position(data: bytes, events: list[Event], start: int) -> None:
    """Read from any place, and from the place of an event if the whole file could be read."""
    attempt(lambda: list(read_from(BytesIO(data), start, reader=FileReader(limit=_LIMIT), window=64)))
    if not events:
        return
    chosen = events[start % len(events)]
    place = chosen.position or 0
    rest, _ = attempt(lambda: list(read_from(BytesIO(data), place, reader=FileReader(limit=_LIMIT), window=64)))
    expected = [event.position for event in events if (event.position or 0) >= place]
    found = [event.position for event in rest or ()]
    require(found[-len(expected) :] == expected, "the rest is read from a position on", place, found)


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
    yield (
        "encrypted-whole",
        encrypted(
            b"\xfebin" + bytes(40), master_key_id=_NAME, master_key=_MASTER, password=bytes(range(32)), vector=bytes(16)
        ),
    )
    yield "magic-alone", b"\xfebin"
