"""The rules that the census counts at borders: of sizes, of names, and of values that stand in the place of others."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from conformance.reference.binlog.rows import fixed_size
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import SMALL_LIMIT
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.values import DATETIME, INT32, LARGE, TIMESTAMP, UINT32, Opaque, UInt
from conformance.reference.jsonb.view import open_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.jsonb.values import JsonValue

_NAMES: Final = {"path/U+036F": "\u036f".encode(), "path/U+0370": "\u0370".encode()}
_COMPARED: Final = 2048  # bytes of documents whose values are compared one by one
_DOUBLE_AND_INTEGER: Final = ({float, int}, {float, UInt})


def is_full(event: RowsBody, limit: int) -> bool:
    """Whether an event of several rows has exactly the greatest size."""
    return len(event.rows) > 1 and fixed_size(event) + sum(map(len, event.encoded_rows())) == limit


def of_paths(encoded: bytes) -> Iterator[str]:
    """The rules of the names in a list of diffs."""
    return (rule for rule, raw in _NAMES.items() if raw in encoded)


def of_documents(before: bytes | None, after: bytes | None) -> Iterator[str]:
    """The rules of what a document is exactly at, and of the values of a small one that an update compares."""
    if before is None:
        return
    if len(before) > SMALL_LIMIT:
        if len(before) == SMALL_LIMIT + 1 and before[0] not in LARGE:
            yield "document/65535-bytes"
        size, has_uint32 = _small_size(before)
        if size == SMALL_LIMIT + 1:
            yield "document/65536-bytes"
        if has_uint32:
            yield "document/uint32-in-large"
    elif after is not None and before != after and max(len(before), len(after)) <= _COMPARED:
        with suppress(MysqlError):  # in place a document may come to nest deeper than it can be read
            yield from _compared(decode(before), decode(after))


def _small_size(stored: bytes) -> tuple[int, bool]:
    """The bytes that a large container without holes would have as a small one; whether it has inlined uint32."""
    document = open_document(stored)
    if not document.is_large:
        return 0, False
    kinds = stored[document.values : document.values_end : 5]
    wide = kinds.count(UINT32) + kinds.count(INT32)
    # The header is four bytes shorter, an entry of a key or value two; int32 and uint32 stand behind the entries.
    size = len(stored) - 1 - 4 - document.count * (4 if document.is_object else 2) + 4 * wide
    return (0 if storage_free(stored) else size), UINT32 in kinds


def _compared(before: JsonValue, after: JsonValue) -> Iterator[str]:
    """The rules of the values that stand in the place of others, where both documents have one shape."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() & after.keys():
            yield from _compared(before[name], after[name])
    elif isinstance(before, list) and isinstance(after, list):
        for old, new in zip(before, after, strict=False):
            yield from _compared(old, new)
    elif isinstance(before, Opaque) and isinstance(after, Opaque):
        kinds = {before.field_type, after.field_type}
        if kinds == {TIMESTAMP, DATETIME} and before.payload == after.payload:
            yield "compare/timestamp-datetime"
    elif {type(before), type(after)} in _DOUBLE_AND_INTEGER:
        numbers = cast("tuple[float, float]", (before, after))
        yield from (f"compare/double-2^{power}" for power in (53, 63) if all(_is_near(n, power) for n in numbers))


def _is_near(number: float, power: int) -> bool:
    """Whether a number is within some gaps of the doubles from a power of two."""
    return abs(number - (1 << power)) <= 4 << power - 53
