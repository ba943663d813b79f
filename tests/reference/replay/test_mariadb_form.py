"""Logs of MySQL in the words of MariaDB: nothing that stops its replica is left, and the rows are the same."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from conformance.reference.binlog.event import Event, decode_event, encode_event
from conformance.reference.binlog.files import FileReader, decode_file, read_events
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers
from conformance.reference.errors import CodecError, Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.expansion import Expansion
from conformance.reference.replay.full_rows import FullRows, needs_earlier_rows
from conformance.reference.replay.mariadb_form import mariadb_body
from conformance.reference.replay.tables_text import table_rows
from conformance.reference.tables.columns import JSON
from conformance.reference.tables.table_map import TableMap

CORPUS = Path(__file__).parents[2] / "data" / "binlogs"
UNKNOWN = {EventType.PARTIAL_UPDATE_ROWS, EventType.TRANSACTION_PAYLOAD, EventType.GTID_TAGGED}
REFUSED = {
    "07-all-types-metadata-full": "column-type",
    "08-all-types-metadata-minimal": "column-type",
    "09-table-metadata-edge-cases": "column-type",
    "14-rotate-b": "no-base",  # its documents stand in the log before it
    "16-row-split-partition-gipk": "generated-key",
    "20-relay-log": "relay-log",
}


def _expanded(name: str) -> bytes:
    data = (CORPUS / f"{name}.binlog").read_bytes()
    follow = any(map(needs_earlier_rows, read_events(io.BytesIO(data), expand=True)))
    expansion = Expansion(FullRows(follow=follow), mariadb=True)
    out = b""
    for event in read_events(io.BytesIO(data), reader=FileReader(expand=True)):
        start = event.position or 0
        out += b"".join(expansion.event(event, data[start : start + event.header.length]))
    return out + b"".join(expansion.finish())


def _tables(data: bytes) -> object:
    replay = Replay()
    for event in decode_file(data, expand=True):
        replay.event(event)
    return {name: table_rows(state) for name, state in replay.tables.items()}


def _names() -> list[str]:
    return sorted(path.stem for path in CORPUS.glob("*.binlog") if path.stem not in REFUSED)


@pytest.mark.parametrize("name", _names())
def test_what_mariadb_does_not_know_is_gone_and_the_rest_is_there(name: str) -> None:
    expanded = _expanded(name)
    events = decode_file(expanded)  # with all checksums
    assert not UNKNOWN & {event.header.type for event in events}
    for event in events:
        _check(event)
    original = (CORPUS / f"{name}.binlog").read_bytes()
    try:
        wanted = _tables(original)
    except CodecError:  # what the replay refuses of the one, it refuses of the other
        with pytest.raises(CodecError):
            _tables(expanded)
        return
    assert _tables(expanded) == wanted


def _check(event: Event) -> None:
    body = event.body
    if isinstance(body, TableMap):
        assert all(column.type != JSON for column in body.columns)
    if isinstance(body, Query):
        for item in body.status:
            assert item.code <= Status.UPDATED_DB_NAMES or item.code == Status.MARIADB_MICROSECONDS
            if isinstance(item, StatusIntegers) and item.code == Status.CHARSET:
                assert max(item.values) < 248
    assert event.header.log_pos in (0, (event.position or 0) + event.header.length)


@pytest.mark.parametrize(("name", "code"), sorted(REFUSED.items()))
def test_what_mariadb_has_no_words_for_is_refused(name: str, code: str) -> None:
    with pytest.raises(CodecError) as caught:
        _expanded(name)
    assert caught.value.code == code


def test_bodies() -> None:
    tagged = GtidTagged(gno=7, tag="t", last_committed=3, sequence_number=4, transaction_length=9)
    found = mariadb_body(tagged)
    assert isinstance(found, Gtid)
    assert (found.type, found.last_committed, found.sequence_number) == (EventType.ANONYMOUS_GTID, 3, 4)
    status = (
        StatusInteger(Status.MICROSECONDS, 5),
        StatusInteger(Status.CHARSET_DATABASE, 255),
        StatusIntegers(Status.CHARSET, (33, 255, 255)),
        StatusInteger(Status.SQL_REQUIRE_PRIMARY_KEY, 1),
    )
    query = mariadb_body(Query(text=b"BEGIN", status=status))
    assert isinstance(query, Query)
    assert query.status == (
        StatusInteger(Status.CHARSET_DATABASE, 45),
        StatusIntegers(Status.CHARSET, (33, 45, 45)),
        StatusInteger(Status.MARIADB_MICROSECONDS, 5),
    )
    assert decode_event(encode_event(query)).body == query
    known = Query(text=b"BEGIN", status=())
    assert mariadb_body(known) is known


@pytest.mark.parametrize(
    "query",
    [
        Query(text=b"CREATE TABLE t (a INT) COLLATE utf8mb4_0900_as_cs"),
        Query(text=b"CREATE TABLE t (a CHAR(3) CHARACTER SET GB18030)"),
        Query(text=b"BEGIN", status=(StatusIntegers(Status.CHARSET, (249, 249, 249)),)),
    ],
    ids=("collation", "character-set", "session"),
)
def test_statements_that_mariadb_cannot_read(query: Query) -> None:
    with pytest.raises(Unsupported):
        mariadb_body(query)
