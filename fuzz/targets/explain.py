"""The explanation of an event byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import Event, decode_event
from conformance.reference.binlog.header import FOOTER_SIZE
from conformance.reference.text.annotated_hex import explain_event
from fuzz.events import event_seeds, tables
from fuzz.mutators.framing import mutate_event
from fuzz.violation import attempt, require

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = "The spans of an event tile it, and it is explained without a problem when it can be read."
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.text.annotated_hex",
    "conformance.reference.jsonb.spans",
)
MAX_LEN: Final = 1024
DICTIONARY: Final = (b"\xfc\xff\xff", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff", b"\xfb", b"std\0", b"9.7.4")
mutate = mutate_event
_TABLES: Final = tables()


def check(data: bytes) -> None:
    """Check an event with a checksum."""
    for footer in (FOOTER_SIZE, 0):
        spans, problem = explain_event(data, _TABLES, footer)
        place = 0
        for span in spans:
            require(span.offset == place, "a span begins where the one before it ends", span)
            require(data[place : place + len(span.data)] == span.data, "a span shows its own bytes", span)
            require(span.data or "." in span.field, "a span has bytes", span)
            require(span.field and isinstance(span.meaning, str), "a span has a name", span)
            place += len(span.data)
        require(place == len(data), "the spans cover the event", place, str(problem))
        whole, refused = attempt(_typed, data, footer)
        if problem is None:
            require(
                whole is not None or (refused is not None and refused.code in _ONLY_READING),
                "what is explained without a problem can be read",
                str(refused),
            )


_ONLY_READING: Final = ("bad-length", "no-table-map")  # neither is in the bytes that have a meaning


def _typed(data: bytes, footer: int) -> Event:
    return decode_event(data, algorithm=1 if footer else 0, tables=_TABLES).typed()


def seeds() -> Iterator[tuple[str, bytes]]:
    """Events of every family."""
    yield from event_seeds()
