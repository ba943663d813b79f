"""Annotated hex as the tests write it down: each field with its bytes, its name and its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from conformance.reference.binlog.event import encode_event
from conformance.reference.jsonb.spans import MemorySorter, write_document_spans
from conformance.reference.text.annotated_hex import explain_event, short
from tests.reference.text.made_logs import Raw

if TYPE_CHECKING:
    from conformance.reference.errors import CodecError
    from conformance.reference.jsonb.spans import DocumentSpan
    from conformance.reference.tables.table_map import TableMap

Parts: TypeAlias = list[tuple[str, str, str]]

HEADER = 19


def body_of(parts: Parts) -> bytes:
    """The bytes of all fields."""
    return b"".join(bytes.fromhex(part) for part, _, _ in parts)


def compact(parts: Parts) -> Parts:
    """Without blanks in the bytes."""
    return [(part.replace(" ", ""), field, meaning) for part, field, meaning in parts]


def explained(code: int, body: bytes, *tables: TableMap) -> tuple[Parts, CodecError | None]:
    """The explanation of an event: the spans behind the header, and the error."""
    data = encode_event(Raw(type=code, data=body), algorithm=0)  # type: ignore[arg-type]
    spans, problem = explain_event(data, {table.table_id: table for table in tables}, 0)
    position = 0
    for span in spans:
        assert span.offset == position
        position += len(span.data)
    assert position == len(data)
    return [(span.data.hex(), span.field, span.meaning) for span in spans if span.offset >= HEADER], problem


def document_spans(data: bytes) -> tuple[list[DocumentSpan], CodecError | None]:
    """The spans of a document in the order of its bytes, and its damage."""
    spans: list[DocumentSpan] = []
    return spans, write_document_spans(data, short, spans.append, MemorySorter())
