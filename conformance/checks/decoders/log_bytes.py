"""The bytes of the log behind a difference: field by field with their meaning, the first differing field marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.files import EventDecoder
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER, HEADER_SIZE, MAGIC, Checksum
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.errors import CodecError
from conformance.reference.text.annotated_hex import Span, explain_event, short
from conformance.stream import Evidence

if TYPE_CHECKING:
    from conformance.cases.decoder_case import DecoderCase
    from conformance.judge.decoding.difference import Difference

_LIMIT: Final = 1 << 24  # bytes of an uncompressed payload
_BEFORE, _AFTER = 2, 8  # fields around the first differing one
_SHOWN: Final = 32  # bytes of a field
_CHANGE: Final = re.compile(r"^changes\[\d+\]\.?")
_DIFF_VALUE: Final = re.compile(r"(\.diffs\[\d+\])\.value$")
_ALWAYS: Final = re.compile(r"\.(value_options|partial_columns|(before|after)\.null_bitmap)$")


def log_bytes(case: DecoderCase, difference: Difference) -> tuple[Evidence, ...]:
    """The fields around a difference; none where the log has no expected change for it, or is damaged there."""
    if difference.change is None or difference.change >= len(case.expected) or case.sparse:
        return ()
    change = case.expected[difference.change]
    try:
        start, spans = _event(case.log, int(change["position"]), change.get("inner"))
    except (CodecError, LookupError):
        return ()
    row = f"rows[{int(change.get('row') or 0)}]"
    place = _CHANGE.sub("", difference.place)
    first = _first(spans, f"{row}.{_field(place)}" if place else "header.type")
    if first is None:
        return ()
    shown = {index for index, span in enumerate(spans) if span.field == "header.type"}
    if place:
        shown |= {n for n, span in enumerate(spans) if span.field.startswith(row) and _ALWAYS.search(span.field)}
        near = range(max(0, first - _BEFORE), min(len(spans), first + _AFTER))
        shown |= {index for index in near if spans[index].field.startswith(f"{row}.")}
    inside = "" if change.get("inner") is None else f"inner[{change['inner']}]."  # offsets in the uncompressed bytes
    return tuple(_evidence(start, inside, spans[index], first=index == first) for index in sorted(shown))


def _field(place: str) -> str:
    """The field of the log that holds the value at a place of a change."""
    column, inside, _ = place.partition(".$")
    diff = _DIFF_VALUE.sub(r"\1.data", column)
    return f"{column}.json" if inside and diff == column else diff


def _first(spans: list[Span], place: str) -> int | None:
    """The span whose field is the place or begins inside it; else of the nearest place around it."""
    while place:
        for index, span in enumerate(spans):
            if span.field == place or span.field.startswith((f"{place}.", f"{place}[")):
                return index
        place = place.rpartition(".")[0] if not place.endswith("]") else place.rpartition("[")[0]
    return None


def _event(log: bytes, position: int, inner: int | None) -> tuple[int, list[Span]]:
    """Where the offsets of an event begin to count, and its spans."""
    decoder = EventDecoder(verify=False, limit=_LIMIT)
    start = len(MAGIC)
    while start + HEADER_SIZE <= len(log):
        data = log[start : start + max(HEADER_SIZE, HEADER.unpack_from(log, start)[3])]
        if start == position and inner is None:
            footer = FOOTER_SIZE if decoder.algorithm == Checksum.CRC32 else 0
            return start, explain_event(data, decoder.tables, footer)[0]
        event = decoder.decode(data, start)
        if start == position and isinstance(event.body, TransactionPayload):
            uncompressed = event.body.uncompressed(decoder.limit)
            begin = 0
            for number, each in enumerate(decoder.inner_events(event)):
                if number == inner:
                    return begin, explain_event(uncompressed[begin : begin + each.header.length], decoder.tables, 0)[0]
                begin += each.header.length
        start += len(data)
    raise LookupError(position)


def _evidence(start: int, inside: str, span: Span, *, first: bool) -> Evidence:
    more = f"… ({len(span.data):,} bytes)" if len(span.data) > _SHOWN else ""
    return Evidence(
        field=f"{inside}{span.field}", offset=start + span.offset, expected=span.data[:_SHOWN].hex() + more,
        meaning=short(span.meaning), first=first,
    )  # fmt: skip
