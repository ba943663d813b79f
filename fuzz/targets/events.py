"""One event of any family: decoding, verifying its checksum, and encoding it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import Event, decode_event
from conformance.reference.binlog.gtid import gtid_text
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from fuzz.events import event_seeds, tables
from fuzz.mutators.framing import mutate_event
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "An event that is read is written as one that reads the same and is written the same again; with a wrong checksum"
    " it is refused, and with the right one it is read as without looking at it."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.binlog",
    "conformance.reference.cursor",
    "conformance.reference.binlog.gtid_text",
)
MAX_LEN: Final = 1024
DICTIONARY: Final = (
    b"\xfc\xff\xff", b"\xfd\xff\xff\xff", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", b"\xfb", b"\xff", b"std\0",
    b"BEGIN", b"8.0.", b"9.7.4",
)  # fmt: skip
mutate = mutate_event
_TABLES: Final = tables()
_NO_SERVER_STORES: Final = ("too-long",)  # but a reader can decode without this knowledge


def check(data: bytes) -> None:
    """Check an event with or without a checksum at its end."""
    for algorithm in (Checksum.CRC32, Checksum.NONE):
        event, refused = attempt(_read, data, algorithm, False)
        verified, bad = attempt(_read, data, algorithm, True)
        require(refused is None or bad, "verifying refuses no less", str(refused))
        require(bad is None or refused or bad.code == "checksum", "verifying looks at the checksum alone", str(bad))
        if event is None:
            continue
        require(verified is None or _same(verified, event), "verifying changes nothing")
        gtid_text(event.body)
        _writing(event, algorithm)


def _read(data: bytes, algorithm: int, verify: bool) -> Event:
    return decode_event(data, algorithm=algorithm, tables=_TABLES, verify=verify)


def _writing(event: Event, algorithm: int) -> None:
    whole, undecoded = attempt(event.typed)
    if whole is None:
        require(isinstance(event.body, LazyRows), "only rows wait for their decoding", str(undecoded))
        return
    written, unwritten = attempt(whole.encode)
    if written is None:
        code = unwritten.code if unwritten is not None else ""
        require(code in _NO_SERVER_STORES, "what was read can be written", str(unwritten), whole)
        return
    again = _read_again(written, algorithm)
    require(_same(again, whole), "what was written reads the same", whole, again)
    require(again.typed().encode() == written, "writing what was written changes nothing", whole)


def _read_again(data: bytes, algorithm: int) -> Event:
    try:
        return _read(data, algorithm, True).typed()
    except CodecError as error:
        require(False, "what was written can be read", str(error), data)
        raise


def _same(a: Event, b: Event) -> bool:
    """Whether the typed values have the same text: NaN is not equal to itself, but its repr is."""
    x, y = a.body, b.body
    return repr(x) == repr(y) and a.header._replace(length=0) == b.header._replace(length=0)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Events of every family."""
    yield from event_seeds()
