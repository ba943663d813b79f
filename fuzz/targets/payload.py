"""TRANSACTION_PAYLOAD: its fields, its frame, and the events inside."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.payload import ZSTD, TransactionPayload
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.boundaries.source import mark_inside, split_inner
from conformance.reference.errors import DecodeError
from fuzz.events import PLAIN, row_bodies
from fuzz.mutators.draw import SeedDraw
from fuzz.mutators.framing import edited
from fuzz.naive import payload as naive
from fuzz.naive.pieces import Refused
from fuzz.violation import attempt, require
from generators.draw import Stream
from generators.streams import GROUPS, group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body

INVARIANT: Final = (
    "The naive reader finds the same fields, content, and events, or refuses them too; a payload never grows beyond the"
    " limit; the events inside tile it, marked or not."
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
    payload, refused = attempt(TransactionPayload.decode, data)
    try:
        other = naive.read(data)
    except Refused as reason:
        require(payload is None, "both readers refuse the same payloads", str(reason))
        return
    require(payload is not None, "both readers read the same payloads", str(refused))
    assert payload is not None
    fields = payload.compression, payload.uncompressed_size, payload.payload
    require(fields == other, "both readers find the same fields", fields, other)
    require(TransactionPayload.decode(payload.encode()) == payload, "what was written reads the same", payload)
    _content(data, payload, other)


def _content(data: bytes, payload: TransactionPayload, other: naive.Payload) -> None:
    """Compare what the frame holds, and the events inside."""
    inner, refused = attempt(payload.uncompressed, LIMIT)
    try:
        wanted = naive.content(other)
    except Refused as reason:
        require(inner is None, "both refuse the same frames", str(reason))
        wanted = b""
    else:
        grows = len(wanted) > LIMIT and payload.compression == ZSTD
        require((inner is None) == grows, "a frame is refused for its size alone", len(wanted), str(refused))
        require(grows or inner == wanted, "both find the same content", len(wanted))
    decoder = EventDecoder(limit=LIMIT)
    event = Event(Header(0, payload.type, 1, len(data) + 19, 0, 0), payload, None, 4)
    events, damaged = attempt(lambda: list(decoder.inner_events(event)))
    if inner is None:
        require(damaged is not None, "no events come from a frame that is refused", str(refused))
        return
    found, stopped = naive.events(wanted)
    pieces, torn = attempt(lambda: list(split_inner(inner)))
    require((torn is None) == (not stopped), "both refuse the same event", stopped, str(torn))
    require(torn is not None or pieces == [raw for _, raw in found], "both find the same pieces")
    if events is not None:
        types = [item.header.type for item in events]
        require(not stopped and types == [code for code, _ in found], "both find the same events", types, stopped)
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
    yield "byte-behind-the-frame", replace(rows, payload=rows.payload + b"x").encode()
    yield "bomb", TransactionPayload.compress(bytes(1 << 21)).encode()
    yield "nested", _of([rows]).encode()
    yield "nothing-inside", TransactionPayload.compress(b"").encode()
    yield "unknown-field", TransactionPayload(payload=inner, compression=255, unknown=((9, b"x"),)).encode()
