"""SQL readings of the bytes of a JSON column, sound or damaged (partial-update 3.5).

A reading is the size, free space and text, or the number of an error.

Observed on 9.7.4 with 149 documents that a trigger had damaged outside their row. JSON_STORAGE_FREE answers 3142 where
the document cannot be measured. The text is that of a lenient reader, with members in stored order, or 1815 where even
that reader fails. A damaged DECIMAL or temporal value gives 3142; of a temporal value that is too long, the first eight
bytes are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError, MysqlError, too_deep
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text, quote
from conformance.reference.jsonb.values import DATE, DATETIME, MAX_DEPTH, TIME, TIMESTAMP, Opaque
from conformance.reference.jsonb.view import View, open_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue

INVALID: Final = 3142
INTERNAL: Final = 1815
_TEMPORAL: Final = (DATE, TIME, DATETIME, TIMESTAMP)
_VALUES: Final = 100_000  # printed of one document: entries can share what they point to


class Reading(NamedTuple):
    """The cells of a SELECT of size, free space and text; or ``error``, the number that ended it, and no cells."""

    cells: tuple[bytes | None, ...] = ()
    error: int = 0


def reading_of(stored: bytes | None) -> Reading:
    """How SQL reads stored bytes, in the order of the SELECT's columns."""
    if stored is None:
        return Reading((None, None, None))
    try:
        free = storage_free(stored)
    except MysqlError as error:
        return Reading(error=error.number)
    except CodecError:
        return Reading(error=INVALID)
    try:
        decode(stored)
        text = "".join(_text(open_document(stored), MAX_DEPTH, [_VALUES]))
    except MysqlError as error:
        return Reading(error=error.number)
    except CodecError:
        return Reading(error=INTERNAL)
    return Reading((b"%d" % len(stored), b"%d" % free, text.encode("utf-8", "surrogateescape")))


def _of_eight_bytes(value: JsonValue) -> JsonValue:
    if isinstance(value, Opaque) and value.field_type in _TEMPORAL:
        return Opaque(value.field_type, value.payload[:8])
    return value


def _text(view: View, room: int, left: list[int]) -> Iterator[str]:
    """The text as stored: members unsorted, and repeated where they are stored twice."""
    left[0] -= 1 + view.count
    if left[0] < 0:
        raise DecodeError("shared-children", "too many values to be printed", offset=view.start)
    if not (view.is_object or view.is_array):
        yield format_text(_of_eight_bytes(view.value()))
        return
    if not room:
        raise too_deep()
    yield "{" if view.is_object else "["
    for index in range(view.count):
        if index:
            yield ", "
        if view.is_object:
            yield f"{quote(view.key(index).decode('utf-8', 'surrogateescape'))}: "
        yield from _text(view.element(index), room - 1, left)
    yield "}" if view.is_object else "]"
