"""Events larger than a window: read as all others, and not copied while they are."""

from __future__ import annotations

import gc
import io
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.binlog.control_events import Opaque, Stop
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import WINDOW, EventDecoder, FileReader, decode_file, read_events
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.rows import LazyRows, PartitionInfo, Row, UnknownInfo, rows_body
from conformance.reference.binlog.statement_events import RowsQuery
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.event_types import EventType
from conformance.reference.tables.columns import BLOB, JSON, LONG, ColumnType, PartialJson
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.reference.binlog.event import Body

_TABLE: Final = TableMap(
    table_id=7,
    schema="s",
    table="t",
    columns=(ColumnType(LONG), ColumnType(BLOB, 4), ColumnType(JSON, 4)),
    nullable=(False, True, True),
)
_BLOB: Final = bytes(range(256)) * (WINDOW // 200)
_ROWS: Final = rows_body(
    _TABLE,
    EventType.PARTIAL_UPDATE_ROWS,
    [
        Row((1, _BLOB, b"\x0c\x01a"), (1, None, PartialJson(_BLOB)), 1, 1),
        Row((2, None, None), (2, b"", b"\x05\x07\x00"), 1, 0),
    ],
    extra=(PartitionInfo(3, 4), UnknownInfo(9, b"rest")),
)
_STOP: Final = 23  # bytes of the last event
_LARGE: Final[dict[str, Body]] = {
    "rows": _ROWS,
    "query": RowsQuery(text=_BLOB),
    "payload": TransactionPayload(payload=_BLOB, compression=UNCOMPRESSED, unknown=((9, b"x"),)),
    "opaque": Opaque(type=99, data=_BLOB),
}


def _file(*bodies: Body) -> bytes:
    writer = FileWriter()
    return b"".join([writer.start(), writer.add(_TABLE), *map(writer.add, bodies), writer.add(Stop())])


@pytest.mark.parametrize("name", _LARGE)
@pytest.mark.parametrize("window", [100_001, WINDOW, 3 * WINDOW])
def test_it_is_read_as_it_was_written(name: str, window: int) -> None:
    body = _LARGE[name]
    data = _file(Stop(), body, body, Stop(), body)
    found = [event.typed() for event in read_events(io.BytesIO(data), window=window)]
    assert [event.body for event in found[3:]] == [Stop(), body, body, Stop(), body, Stop()]
    assert found == decode_file(data)
    assert b"".join(event.encode() for event in found) == data[4:]


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_what_is_fed_may_be_any_buffer(view: type) -> None:
    data = _file(_ROWS, Stop())
    reader = FileReader()
    found = []
    for start in range(0, len(data), 777_777):
        reader.feed(view(data[start : start + 777_777]))
        found += [event.typed().body for event in reader.events()]
    reader.finish()
    assert found[3:] == [_ROWS, Stop(), Stop()]


def test_its_values_are_bytes_that_outlive_it() -> None:
    (lazy,) = [e.body for e in read_events(io.BytesIO(_file(_ROWS))) if isinstance(e.body, LazyRows)]
    rows = list(lazy.rows())
    assert isinstance(lazy.data, memoryview)
    lazy.data.release()
    assert rows == list(_ROWS.rows)
    assert [type(value) for value in rows[0].before or ()] == [int, bytes, bytes]


def test_one_inside_a_compressed_transaction_is_a_view_of_it_if_it_has_rows() -> None:
    opaque = Opaque(type=99, data=_BLOB)
    small = rows_body(_TABLE, EventType.WRITE_ROWS, [Row(None, (1, b"", None))])
    inner = b"".join(encode_event(body, algorithm=Checksum.NONE) for body in (_TABLE, _ROWS, opaque, small))
    payload = TransactionPayload(payload=inner, compression=UNCOMPRESSED)
    bodies = [event.body for event in read_events(io.BytesIO(_file(payload)), expand=True) if event.inner is not None]
    lazy = [body for body in bodies if isinstance(body, LazyRows)]
    assert [type(body.data) for body in lazy] == [memoryview, bytes]
    assert [body.typed() for body in lazy] == [_ROWS, small]
    assert bodies[2] == opaque
    assert type(bodies[2].data) is bytes


def test_values_of_every_type_are_the_same_out_of_a_view(corpus: Path) -> None:
    met: set[int] = set()
    for path in sorted(corpus.glob("*.binlog")):
        with suppress(CodecError):  # files that are not closed, not logs, and so on
            for event in read_events(io.BytesIO(path.read_bytes()), expand=True):
                body = event.body
                if not isinstance(body, LazyRows) or body.table is None:
                    continue
                met.update(column.real_type for column in body.table.columns)
                viewed = replace(body, data=memoryview(bytes(body.data)))
                assert repr(list(viewed.rows())) == repr(list(body.rows()))
                assert viewed.typed() == body.typed()
    assert len(met) >= 22


@pytest.mark.parametrize("cut", [1, 3, 4, 5, len(_BLOB)])
def test_a_cut_one_says_where_the_last_event_begins(cut: int) -> None:
    data = _file(_ROWS)[: -_STOP - cut]
    start = len(_file()) - _STOP
    with pytest.raises(DecodeError) as caught:
        list(read_events(io.BytesIO(data)))
    assert (caught.value.code, caught.value.offset, caught.value.got) == ("truncated", start, len(data) - start)


def test_a_damaged_one_is_refused_again_and_again() -> None:
    data = bytearray(_file(_ROWS))
    start = len(_file()) - _STOP
    data[start + 100] ^= 1
    reader = FileReader()
    for place in range(0, len(data), WINDOW):
        reader.feed(bytes(data[place : place + WINDOW]))
        if place + WINDOW < len(data):
            assert all(event.header.length < WINDOW for event in reader.events())
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            list(reader.events())
        assert (caught.value.code, caught.value.path, reader.position) == ("checksum", (f"event@{start}",), start)


def test_a_value_that_goes_beyond_it_is_named_with_its_place() -> None:
    """The second row's BLOB claims a byte more than there is: not those of the checksum behind it."""
    body = replace(_ROWS, type=EventType.UPDATE_ROWS, rows=(Row((1, _BLOB, None), (2, b"ab", None)),))
    data = _file(body)
    event = bytearray(data[len(_file()) - _STOP : -_STOP])
    event[-4 - 2 - 4] += 1
    decoder = EventDecoder(verify=False)
    decoder.decode(encode_event(_TABLE))
    lazy = decoder.decode(event).body
    assert isinstance(lazy, LazyRows)
    with pytest.raises(DecodeError) as caught:
        list(lazy.rows())
    assert (caught.value.code, caught.value.expected, caught.value.got) == ("truncated", 3, 2)
    assert caught.value.path == ("UPDATE_ROWS_EVENT", "rows[0]", "after", "@2")
    assert caught.value.offset == len(event) - 4 - 2 - 4


def test_a_caller_that_stops_behind_it_goes_on_with_the_next() -> None:
    data = _file(_ROWS, Stop())
    reader = FileReader()
    kinds = []
    for start in range(0, len(data), WINDOW):
        reader.feed(data[start : start + WINDOW])
        while (event := next(reader.events(), None)) is not None:
            kinds.append(event.name)
    reader.finish()
    assert kinds[3:] == ["PARTIAL_UPDATE_ROWS_EVENT", "STOP_EVENT", "STOP_EVENT"]


@pytest.mark.parametrize(("name", "times"), [("rows", 1.2), ("payload", 2.2)])
def test_it_is_there_once(name: str, times: float) -> None:
    """Rows are a view; a compressed transaction is taken out of its event. A growing buffer has an eighth to spare."""
    data = io.BytesIO(_file(_LARGE[name]))
    size = len(_BLOB) * (2 if name == "rows" else 1)
    gc.collect()
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_events(data)) == 5
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= times * size + 3 * WINDOW, peak / size
