"""The shapes of documents, diffs and events, each inside a whole log."""

from __future__ import annotations

from functools import partial
from struct import pack
from typing import TYPE_CHECKING, Final

from conformance.reference.cursor import encode_packed
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import BLOB, JSON, LONG, SHORT, TINY, VARCHAR, ColumnType
from conformance.reference.tables.table_map import TableMap
from tests.hostile.documents import DOCUMENTS, TEXTS
from tests.hostile.events import EVENTS
from tests.hostile.logs.log import (
    TABLE_ID,
    HostileLog,
    compressed,
    event,
    inner,
    rows_head,
    table_event,
    transaction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hostile.shape import Shape

_NULLS: Final = b"\0"
_KEY: Final = pack("<I", 7)
_BASE: Final = encode({"a": [1, 2, 3], "b": "text"})


def _field(data: bytes) -> bytes:
    return pack("<I", len(data)) + data


def _image(document: bytes) -> bytes:
    return _NULLS + _KEY + _field(document)


def _insert(document: bytes) -> bytes:
    return event(EventType.WRITE_ROWS, rows_head(2) + _image(document))


def _update(before: bytes, after: bytes) -> bytes:
    return event(EventType.UPDATE_ROWS, rows_head(2, EventType.UPDATE_ROWS) + _image(before) + _image(after))


def _partial(before: bytes, diffs: bytes) -> bytes:
    body = rows_head(2, EventType.PARTIAL_UPDATE_ROWS) + _image(before) + b"\1\1" + _image(diffs)
    return event(EventType.PARTIAL_UPDATE_ROWS, body)


def _diff(path: bytes, data: bytes) -> bytes:
    return b"\0" + encode_packed(len(path)) + path + encode_packed(len(data)) + data


# Where a document can stand in a log, and how often it stands there.
_PLACES: Final[dict[str, tuple[int, Callable[[bytes], bytes]]]] = {
    "inserted": (1, lambda data: transaction(table_event(), _insert(data))),
    "before and after": (3, lambda data: transaction(table_event(), _insert(data), table_event(), _update(data, data))),
    "the value of a diff": (
        1,
        lambda data: transaction(table_event(), _insert(_BASE), table_event(), _partial(_BASE, _diff(b"$.a", data))),
    ),
    "with a diff applied to it": (
        2,
        lambda data: transaction(
            table_event(), _insert(data), table_event(), _partial(data, _diff(b"$[0]", encode(1)) + b"\2\4$[1]")
        ),
    ),
}


def _made_once(shapes: list[Shape]) -> Iterator[Shape]:
    """Shapes that differ in their input, and not only in who reads it."""
    seen = set()
    for shape in shapes:
        data = shape.make(4096)
        if data not in seen:
            seen.add(data)
            yield shape


def _placed(size: int, shape: Shape, place: str) -> bytes:
    often, whole = _PLACES[place]
    return whole(shape.make(size // often))


def _documents() -> Iterator[HostileLog]:
    for shape in _made_once(DOCUMENTS):
        for place in _PLACES:
            yield HostileLog(f"document, {place}", shape.name, partial(_placed, shape=shape, place=place))


def _of_diffs(size: int, shape: Shape) -> bytes:
    return transaction(table_event(), _insert(_BASE), table_event(), _partial(_BASE, shape.make(size)))


def _diffs() -> Iterator[HostileLog]:
    for shape in TEXTS:
        if shape.family == "diffs":
            yield HostileLog("diffs", shape.name, partial(_of_diffs, shape=shape))


_TABLES: Final = {"one byte": TINY, "two bytes": TINY, "three bytes": SHORT, "five bytes": LONG}


_FOUR: Final = TableMap(
    table_id=TABLE_ID, schema="a", table="b", nullable=(True,) * 4,
    columns=(ColumnType(TINY), ColumnType(VARCHAR, 1000), ColumnType(BLOB, 4), ColumnType(JSON, 4)),
)  # fmt: skip


def _table_of(shape: Shape) -> TableMap:
    """The table that the rows of a shape are of."""
    if shape.family == "PARTIAL_UPDATE_ROWS" or "a VARCHAR" in shape.name or "a BLOB" in shape.name:
        return _FOUR
    kind = next((kind for words, kind in _TABLES.items() if words in shape.name), TINY)
    return TableMap(table_id=TABLE_ID, schema="a", table="b", columns=(ColumnType(kind),), nullable=(True,))


def _event_log(size: int, shape: Shape, *, inside: bool) -> bytes:
    code = EventType[shape.family]
    body = shape.make(size)
    table = _table_of(shape)
    if code in _ROWS:
        body = pack("<IH", TABLE_ID, 0) + body[6:]
    if inside:
        return compressed(inner(EventType.TABLE_MAP, table.encode()), inner(code, body))
    return transaction(event(EventType.TABLE_MAP, table.encode()), event(code, body))


_ROWS: Final = (EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS)


def _events() -> Iterator[HostileLog]:
    for shape in _made_once(EVENTS):
        for family, inside in (("event", False), ("event, compressed", True)):
            yield HostileLog(family, shape.id, partial(_event_log, shape=shape, inside=inside))


LOGS: Final[tuple[HostileLog, ...]] = (*_documents(), *_diffs(), *_events())
