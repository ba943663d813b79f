"""Sets of global transaction ids: their encoding in PREVIOUS_GTIDS and COM_BINLOG_DUMP_GTID, and their text
(binlog-events 5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple
from uuid import UUID

from conformance.reference.binlog.header import Flag
from conformance.reference.cursor import Cursor, Decoded, encode_varint
from conformance.reference.errors import DecodeError, EncodeError
from conformance.reference.event_types import EventType
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

TAG: Final = re.compile(r"[a-z_][a-z0-9_]{0,31}", re.ASCII)
MAX_GNO: Final = (1 << 63) - 2

_TAGGED: Final = 1
_SMALLEST_ENTRY: Final = 16 + 8


class GtidEntry(NamedTuple):
    """The intervals of one UUID and tag. Intervals are half-open and start at 1: ``((1, 4),)`` is 1-3."""

    uuid: UUID
    tag: str
    intervals: tuple[tuple[int, int], ...]


def split_count(word: int) -> tuple[int, bool]:
    """Split the first eight bytes of an encoded set into the number of entries and whether they have tags."""
    tagged = word >> 56 != 0
    return word >> 8 & 0xFFFF_FFFF_FFFF if tagged else word, tagged


def _order(entry: GtidEntry) -> tuple[bytes, str]:
    return entry.uuid.bytes, entry.tag


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousGtids(Decoded):
    """The GTIDs of all earlier files. ``tagged``: whether the set is written in the format with tags.

    A server writes this format once it has seen a tag. An entry with a tag has no other format.
    """

    type: ClassVar[int] = EventType.PREVIOUS_GTIDS
    default_flags: ClassVar[int] = Flag.IGNORABLE

    entries: tuple[GtidEntry, ...] = ()
    tagged: bool = False

    @classmethod
    def read(cls, cursor: Cursor) -> PreviousGtids:
        start = cursor.pos
        word = cursor.u8("count")
        form = word >> 56
        if form not in (0, _TAGGED):
            raise DecodeError(
                "gtid-set-format", "unknown format of a GTID set", offset=start + 7, expected="0 or 1", got=form
            )
        tagged = form == _TAGGED
        if tagged and word & 0xFF != _TAGGED:
            raise DecodeError(
                "gtid-set-format", "the two format bytes differ", offset=start, expected=1, got=word & 0xFF
            )
        count, _ = split_count(word)
        if count > len(cursor) // (_SMALLEST_ENTRY + tagged):
            cursor.refuse(
                DecodeError("truncated", "more entries than bytes", offset=start, expected=count, got=len(cursor))
            )
        entries = []
        for number in cursor.items("entries", count):
            try:
                entries.append(_read_entry(cursor, tagged))
            except DecodeError as error:
                raise error.at(f"entries[{number}]") from None
        cursor.expect_end("GTID set")
        return cls(entries=tuple(entries), tagged=tagged)

    def encode(self) -> bytes:
        tagged = self.tagged or any(entry.tag for entry in self.entries)
        count = len(self.entries)
        word = 1 << 56 | count << 8 | _TAGGED if tagged else count
        out = bytearray(word.to_bytes(8, "little"))
        for entry in self.entries:
            out += entry.uuid.bytes
            if tagged:
                out += encode_tag(entry.tag)
            out += len(entry.intervals).to_bytes(8, "little")
            for start, end in entry.intervals:
                if not 0 < start < end <= MAX_GNO + 1:
                    raise EncodeError("gtid-interval", "not an interval of transaction numbers", got=(start, end))
                out += start.to_bytes(8, "little") + end.to_bytes(8, "little")
        return bytes(out)

    def __str__(self) -> str:
        """The text, as in the variable gtid_executed, on one line."""
        parts: list[str] = []
        previous = None
        for entry in self.entries:
            ranges = ":".join(str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in entry.intervals)
            head = "" if entry.uuid == previous else f"{',' if parts else ''}{entry.uuid}"
            parts.append(f"{head}{':' + entry.tag if entry.tag else ''}:{ranges}")
            previous = entry.uuid
        return "".join(parts)

    @classmethod
    def parse(cls, text: str) -> PreviousGtids:
        """Read the text of a set. White space is ignored; intervals of one UUID and tag are joined."""
        found: dict[tuple[UUID, str], list[tuple[int, int]]] = {}
        for part in filter(None, re.sub(r"\s", "", text).split(",")):
            head, *items = part.split(":")
            tag = ""
            try:
                if not part.isascii():  # int() would take any digits
                    raise ValueError
                uuid = UUID(head)
                for item in items:
                    if TAG.fullmatch(item.lower()):
                        tag = item.lower()
                        continue
                    low, _, high = item.partition("-")
                    found.setdefault((uuid, tag), []).append((int(low), int(high or low) + 1))
            except ValueError:
                raise DecodeError("gtid-set-text", "not a GTID set", got=part[:80]) from None
        return cls(entries=_joined(found.items()))


def _joined(found: Iterable[tuple[tuple[UUID, str], list[tuple[int, int]]]]) -> tuple[GtidEntry, ...]:
    entries = []
    for (uuid, tag), intervals in found:
        merged: list[tuple[int, int]] = []
        for start, end in sorted(intervals):
            if not 0 < start < end:
                raise DecodeError("gtid-interval", "not an interval of transaction numbers", got=(start, end))
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        entries.append(GtidEntry(uuid, tag, tuple(merged)))
    return tuple(sorted(entries, key=_order))


def encode_tag(tag: str) -> bytes:
    raw = tag.encode("utf-8", "surrogateescape")
    return encode_varint(len(raw)) + raw


def read_tag(cursor: Cursor) -> str:
    pos = cursor.pos
    tag = cursor.varint_bytes("tag").decode("utf-8", "surrogateescape")
    if tag and not TAG.fullmatch(tag):
        cursor.refuse(DecodeError("gtid-tag", "not a tag", offset=pos, expected=TAG.pattern, got=shown(tag[:40])))
    return tag


def _read_entry(cursor: Cursor, tagged: bool) -> GtidEntry:
    uuid = UUID(bytes=cursor.take(16, "uuid"))
    tag = read_tag(cursor) if tagged else ""
    count = cursor.u8("interval_count")
    if count > len(cursor) // 16:
        cursor.refuse(
            DecodeError("truncated", "more intervals than bytes", offset=cursor.pos, expected=count, got=len(cursor))
        )
    numbers = [0]
    for _ in cursor.numbered(count):
        numbers += (cursor.u8("start"), cursor.u8("end"))
    # Sorted, disjoint, not touching: every number is above the one before it.
    if any(a >= b for a, b in pairwise(numbers)) or numbers[-1] > MAX_GNO + 1:
        cursor.refuse(DecodeError("gtid-interval", "intervals are not in order", offset=cursor.pos - 16 * count))
    return GtidEntry(uuid, tag, tuple(zip(numbers[1::2], numbers[2::2], strict=True)))
