"""TRANSACTION_PAYLOAD (40): a compressed transaction (binlog-events 15)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final

from conformance.reference.binlog.unfolding import EVENT_RATIO, FREE, split, unfold
from conformance.reference.cursor import Cursor, Decoded, encode_packed
from conformance.reference.errors import DecodeError, Unsupported
from conformance.reference.event_types import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.unfolding import InnerFrame

ZSTD: Final = 0
UNCOMPRESSED: Final = 255

_SIZE: Final = 1
_COMPRESSION: Final = 2
_UNCOMPRESSED_SIZE: Final = 3
PAYLOAD_FIELDS: Final = {
    0: "end", _SIZE: "payload_size", _COMPRESSION: "compression", _UNCOMPRESSED_SIZE: "uncompressed_size",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPayload(Decoded):
    """A compressed transaction. ``payload`` is the compressed frame itself, as a value of its own.

    The content does not determine the frame: that depends on version and parameters of the compressor. The content is
    exact: the events inside encode from typed values to identical bytes. :meth:`compress` with libzstd 1.5 at level 3
    also makes the captured frames of 9.7.4; another version may not.
    """

    type: ClassVar[int] = EventType.TRANSACTION_PAYLOAD
    default_flags: ClassVar[int] = 0

    payload: bytes = field(repr=False)
    compression: int = ZSTD
    uncompressed_size: int | None = None
    unknown: tuple[tuple[int, bytes], ...] = ()

    @classmethod
    def read(cls, cursor: Cursor) -> TransactionPayload:
        known: dict[int, int] = {}
        unknown = []
        while kind := cursor.packed("field"):
            length = cursor.packed("length")
            if kind not in PAYLOAD_FIELDS:
                unknown.append((kind, bytes(cursor.take(length, "value"))))
                continue
            inner = cursor.part(length, "value")
            try:
                known[kind] = inner.packed(PAYLOAD_FIELDS[kind])
                inner.expect_end("value")
            except DecodeError as error:
                raise error.at(f"field[{kind}]") from None
        if _SIZE not in known or _COMPRESSION not in known:
            raise DecodeError("missing-field", "payload size and compression type are required", offset=0)
        payload = bytes(cursor.take(known[_SIZE], "payload"))
        cursor.expect_end("TRANSACTION_PAYLOAD")
        return cls(
            payload=payload,
            compression=known[_COMPRESSION],
            uncompressed_size=known.get(_UNCOMPRESSED_SIZE),
            unknown=tuple(unknown),
        )

    def encode(self) -> bytes:
        fields = [(_COMPRESSION, encode_packed(self.compression))]
        if self.uncompressed_size is not None:
            fields.append((_UNCOMPRESSED_SIZE, encode_packed(self.uncompressed_size)))
        fields += self.unknown
        fields.append((_SIZE, encode_packed(len(self.payload))))
        head = b"".join(encode_packed(kind) + encode_packed(len(value)) + value for kind, value in fields)
        return head + b"\0" + self.payload

    @classmethod
    def compress(cls, events: bytes, level: int = 3) -> TransactionPayload:
        """A payload of encoded events (without checksums, ``log_pos`` 0)."""
        import zstandard

        frame = zstandard.ZstdCompressor(level=level, write_content_size=True).compress(events)
        return cls(payload=frame, uncompressed_size=len(events))

    def uncompressed(self, limit: int | None = None) -> bytes:
        """The events inside, as bytes. What is beyond the bounds is refused before it takes the memory.

        ``limit``: the most bytes; without one, the bounds of :mod:`.unfolding`.
        """
        return b"".join(self.pieces(limit))

    def pieces(self, limit: int | None = None) -> Iterator[bytes]:
        """The bytes of :meth:`uncompressed`, piece by piece."""
        if self.compression == UNCOMPRESSED:
            return iter((self.payload,))
        if self.compression != ZSTD:
            raise Unsupported("compression", "unknown compression", expected="0 or 255", got=self.compression)
        return unfold(self.payload, limit)

    def inner_frames(self, limit: int | None = None) -> Iterator[InnerFrame]:
        """The bytes of each event inside; only one of them is in memory at a time."""
        frame = len(self.payload)
        bounded = limit is None and self.compression == ZSTD
        return split(self.pieces(limit), max(FREE, EVENT_RATIO * frame) if bounded else None, frame)
