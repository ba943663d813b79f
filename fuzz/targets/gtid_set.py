"""GTID sets, in bytes and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.gtid_set import GtidEntry, PreviousGtids
from fuzz.violation import attempt, require
from generators.streams import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = "A set reads the same after it was written, in bytes and as text, whichever it came from."
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.binlog.gtid_set", "conformance.reference.cursor")
MAX_LEN: Final = 256
DICTIONARY: Final = (
    str(SOURCE).encode(), b":1-3", b":1", b":tag:", b",", b"-", b"9223372036854775806", SOURCE.bytes,
    b"\x01\x00\x00\x00\x00\x00\x00\x01",
)  # fmt: skip


def check(data: bytes) -> None:
    """Check the body of an event, or a text."""
    found, _ = attempt(PreviousGtids.decode, data)
    if found is not None:
        _round(found)
    parsed, _ = attempt(PreviousGtids.parse, data.decode("utf-8", "surrogateescape"))
    if parsed is not None:
        again, unread = attempt(PreviousGtids.parse, str(parsed))
        require(again == parsed, "the text of a set is the set", str(parsed), str(unread))
        written, unwritten = attempt(parsed.encode)
        require(written is not None or unwritten, "a set is written or refused")
        if written is not None:
            read, unread = attempt(PreviousGtids.decode, written)
            require(read is not None and read.entries == parsed.entries, "the bytes of a set are the set", str(unread))


def _round(found: PreviousGtids) -> None:
    written, unwritten = attempt(found.encode)
    require(written is not None, "what was read can be written", str(unwritten))
    again, unread = attempt(PreviousGtids.decode, written or b"")
    require(again == found, "what was written reads the same", found, str(unread))
    text, _ = attempt(str, found)
    parsed, unread = attempt(PreviousGtids.parse, text or "")
    full = tuple(entry for entry in found.entries if entry.intervals)
    if len({(entry.uuid, entry.tag) for entry in full}) == len(full) and len(full) == len(found.entries):
        require(parsed is not None, "the text of a set can be read", text, str(unread))
        require(parsed is not None and set(parsed.entries) == set(full), "the text of a set is the set", text)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Sets with and without tags, and texts."""
    entry = GtidEntry(SOURCE, "", ((1, 4), (7, 8)))
    tagged = entry._replace(tag="tag_1")
    yield "empty", PreviousGtids().encode()
    yield "one", PreviousGtids(entries=(entry,)).encode()
    yield "tagged", PreviousGtids(entries=(entry, tagged), tagged=True).encode()
    for number, text in enumerate((
        f"{SOURCE}:1-3:7", f"{SOURCE}:1,{SOURCE}:tag:1-9", f"{SOURCE}:tag:1:other:2-3", "", ",", f"{SOURCE}",
        f" {SOURCE} : 1 - 2 ", f"{SOURCE}:0", f"{SOURCE}:5-2", f"{SOURCE}:1-3:2-5:6", f"{SOURCE}:Tag:9",
    )):  # fmt: skip
        yield f"text-{number}", text.encode()
