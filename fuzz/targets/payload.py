"""TRANSACTION_PAYLOAD: its fields, its frame, and the events inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries.source import mark_inside, split_inner
from conformance.reference.errors import DecodeError
from fuzz.events import PLAIN, row_bodies
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.violation import attempt, require
from generators.draw import Stream
from generators.streams import GROUPS, group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body

INVARIANT: Final = (
    "A payload is written as it was read; it never grows beyond the limit that was asked for; the events inside tile"
    " it, marked or not."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.binlog.files",
    "conformance.reference.binlog.payload",
    "conformance.reference.boundaries.source",
)
MAX_LEN: Final = 512
DICTIONARY: Final = (b"\x28\xb5\x2f\xfd", b"\x02\x01\x00", b"\x02\x01\xff", b"\x03\x03\xfc\x00\x01", b"\x00\x28\xb5")
LIMIT: Final = 1 << 16


def check(data: bytes) -> None:
    """Check the body of an event."""
    payload, _ = attempt(TransactionPayload.decode, data)
    if payload is None:
        return
    written = payload.encode()
    require(TransactionPayload.decode(written) == payload, "what was written reads the same", payload)
    inner, refused = attempt(payload.uncompressed, LIMIT)
    decoder = EventDecoder(limit=LIMIT)
    event = Event(Header(0, payload.type, 1, len(data) + 19, 0, 0), payload, None, 4)
    events, damaged = attempt(lambda: list(decoder.inner_events(event)))
    if inner is None:
        require(damaged is not None, "no events come from a frame that is refused", str(refused))
        return
    require(len(inner) <= LIMIT or payload.compression == 255, "nothing grows beyond the limit", len(inner))
    pieces, torn = attempt(lambda: list(split_inner(inner)))
    require(torn is not None or b"".join(pieces or ()) == inner, "events tile their payload")
    require(events is None or len(events) == len(pieces or ()), "there are as many events as pieces")
    if pieces:
        marked, _ = attempt(mark_inside, inner)
        require(marked is not None and len(marked) == len(inner), "marking changes flags alone")
        require(damaged is None or isinstance(damaged, DecodeError) or damaged.code, "damage is told", str(damaged))


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Edit the events inside, and compress them again."""
    draw = SeedDraw(seed)
    payload, _ = attempt(TransactionPayload.decode, data)
    inner, _ = attempt(payload.uncompressed, LIMIT) if payload is not None else (None, None)
    if inner is None or draw.below(3) == 0:
        return edited(draw, data, max_size)
    out = TransactionPayload.compress(edited(draw, inner, LIMIT)).encode()
    return out if len(out) <= max_size else edited(draw, data, max_size)


def _of(bodies: list[Body]) -> TransactionPayload:
    return FileWriter().compressed(bodies)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Transactions of every kind, compressed and not, and a bomb of a few bytes."""
    for kind in GROUPS:
        bodies = group(Stream("fuzz", "payload", kind), kind, "nothing")
        if bodies and kind != "compressed":
            yield kind, _of(bodies).encode()
    rows = _of([PLAIN, *(body for name, body in row_bodies() if name == "rows-partial")])
    yield "partial", rows.encode()
    inner = rows.uncompressed()
    yield "not-compressed", TransactionPayload(payload=inner, compression=255, uncompressed_size=len(inner)).encode()
    yield "bomb", TransactionPayload.compress(bytes(1 << 21)).encode()
    yield "nested", _of([rows]).encode()
    yield "nothing-inside", TransactionPayload.compress(b"").encode()
    yield "unknown-field", TransactionPayload(payload=inner, compression=255, unknown=((9, b"x"),)).encode()
