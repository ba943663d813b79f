"""The damaged event and field of an input, as the reference reads it: for people who read a finding.

A log whose events are all sound by themselves is damaged in their order: then all events are named.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.by_hand.damaged_log import log_of_image
from conformance.cases.by_hand.injection import Injection
from conformance.reference.binlog.event import decode_body
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC
from conformance.reference.errors import CodecError
from conformance.reference.event_types import EventType, event_name
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.annotated_hex import explain_event
from fuzz.campaigns.inputs import NO_EVENT
from fuzz.mutators.framing import split_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.bytes_case import BytesCase
    from conformance.reference.text.annotated_hex import Span
    from fuzz.campaigns.inputs import RelayLog

_TYPE: Final = 4  # offset of an event's type
_NO_FIELDS: Final = ("rest", "checksum", "hole")  # names of spans for bytes that no field has
_MOST: Final = 5  # damaged events that are named


def damaged_fields(case: Injection | ApplierTransaction | BytesCase | RelayLog) -> list[str]:
    """One line for each damaged event, or one for the order of sound ones."""
    if isinstance(case, Injection):
        return _in_row(case)
    if isinstance(case, ApplierTransaction):
        found = [(number, text) for number, row in enumerate(case.rows) for text in _in_row(row)]
        return [f"row {number}: {text}" if len(case.rows) > 1 else text for number, text in found][:_MOST]
    return _in_log(case.data)


def _in_row(row: Injection) -> list[str]:
    """The damage to the one row event of an injection; without positions, as its log is made for this reading."""
    wanted = event_name(EventType.PARTIAL_UPDATE_ROWS)
    found = [text for _, name, text in _damaged(log_of_image(row.image)) if name == wanted]
    return [f"{wanted}: {text}" for text in found[:1]] or [f"{wanted}: every field can be read ({row.name})"]


def _in_log(data: bytes) -> list[str]:
    found = [f"event {number}, {name}: {text}" for number, name, text in _damaged(data)]
    if found:
        return found[:_MOST]
    events = split_file(data.removesuffix(NO_EVENT))[1:]
    names = [event_name(event[_TYPE]) for event in events if len(event) >= HEADER_SIZE]
    return ["every event can be read by itself; their order: " + ", ".join(names)]


def _damaged(data: bytes) -> Iterator[tuple[int, str, str]]:
    """Number, name and problem of each event that cannot be read. Events are counted from 1."""
    tables: dict[int, TableMap] = {}
    position = len(MAGIC)
    for number, event in enumerate(split_file(data.removesuffix(NO_EVENT))[1:], 1):
        if len(event) > _TYPE:
            name = event_name(event[_TYPE])
            spans, problem = explain_event(event, tables, FOOTER_SIZE)
            if problem is not None:
                place = "" if problem.offset is None else f" at position {position + problem.offset}"
                yield number, name, f"{_field(spans, problem)}{place}: {problem}"
            elif event[_TYPE] == EventType.TABLE_MAP:
                with suppress(CodecError):
                    table = decode_body(EventType.TABLE_MAP, event[HEADER_SIZE:-FOOTER_SIZE], {})
                    assert isinstance(table, TableMap)
                    tables[table.table_id] = table
        position += len(event)


def _field(spans: Sequence[Span], problem: CodecError) -> str:
    """The name of the field that has the offset of a problem, or whose bytes are missing there."""
    offset = -1 if problem.offset is None else problem.offset
    inside = [span.field for span in spans if span.offset <= offset < span.offset + len(span.data)]
    field = inside[-1].removesuffix(".hole") if inside else ""
    return field if field and field not in _NO_FIELDS else ".".join(problem.path) or "its end"
