"""Updates of JSON columns on a real server: what the reference predicts for the data file, and what changes in it."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conformance.reference.innodb.large_values import LargeValue, LobReader, large_values, table_objects
from conformance.reference.innodb.lob import IndexedLob, Lob, LobFormat, PlainLob
from conformance.reference.innodb.lob_change import Kind, Region, differences, predict_change, problems, regions
from conformance.reference.innodb.records import OffPage
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.expressions import parse_expression
from tests.reference.innodb.fixture_files import tablespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

MEMBERS, LENGTH = 30, 1900


@pytest.fixture
def session(server: ProcessServer) -> Iterator[Connection]:
    """A session in a schema of its own."""
    with server.connect() as connection, server.schema(connection):
        yield connection


class State(NamedTuple):
    """The row as one copy of the file has it."""

    space: Tablespace
    value: LargeValue
    stored: OffPage
    lob: Lob

    @property
    def document(self) -> bytes:
        return self.stored.prefix + self.lob.read()


class DataFile:
    """The file of a table ``t`` with one row, copied while nothing writes to it."""

    def __init__(self, session: Connection, *, verify: bool = True) -> None:
        self._session, self._verify = session, verify
        folder, schema = session.execute("SELECT @@datadir, DATABASE()").rows[0]
        assert folder is not None
        assert schema is not None
        self._path = Path(folder.decode()) / schema.decode() / "t.ibd"

    def copied(self) -> State:
        self._session.execute("FLUSH TABLES t FOR EXPORT")
        data = self._path.read_bytes()
        self._session.execute("UNLOCK TABLES")
        space = tablespace(data, verify=self._verify)
        (value,) = large_values(space, table_objects(space))
        assert isinstance(value.value, OffPage)
        return State(space, value, value.value, LobReader(space).open(value.value))


@contextmanager
def without_purge(server: ProcessServer) -> Iterator[None]:
    """A read view that keeps the older versions of every row changed from now on."""
    with server.connect() as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        yield
        reader.execute("COMMIT")


def predicted(document: bytes, expression: str) -> tuple[bytes, tuple[tuple[int, int], ...] | None]:
    """The document after the update, and its binary diffs; None if the server writes the document whole."""
    change = update_row(
        {"id": 1, "j": document}, [Assignment("j", parse_expression(expression))], Columns(("j",)), log_diffs=False
    ).columns["j"]
    assert change.after is not None
    return change.after, change.ranges if change.in_place else None


def expression(draw: random.Random, document: dict[str, str]) -> str:
    """An update that fits in place; ``document`` follows it. One member in five calls is removed."""
    calls = "j"
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        key = draw.choice(sorted(document))
        if draw.randrange(5) == 0 and len(document) > 10:
            calls = f"JSON_REMOVE({calls}, '$.{key}')"
            del document[key]
            continue
        length = min(draw.choice((1, 20, 60, 97, 99, 100, 300, 1000)), len(document[key]))
        document[key] = draw.choice("xyz") * length
        calls = f"JSON_SET({calls}, '$.{key}', REPEAT('{document[key][:1]}', {length}))"
    return calls


def row_regions(state: State) -> list[Region]:
    """The regions of the record that an update changes: DB_TRX_ID, DB_ROLL_PTR, and the version in the reference."""
    row = state.value.row
    return [Region(row.page, row.transaction, 13, "system"), Region(row.page, state.stored.at + 8, 4, "version")]


def compare(before: State, after: State, ranges: tuple[tuple[int, int], ...]) -> Kind:
    """Hold an update's effect on the file against the prediction."""
    change = predict_change(before.lob, ranges, prefix=len(before.stored.prefix))
    if change.kind is Kind.REWRITTEN:
        assert after.stored.reference.page != before.stored.reference.page
        assert after.lob.current == change.version
        return change.kind
    assert isinstance(before.lob, IndexedLob)
    assert isinstance(after.lob, IndexedLob)
    assert after.stored.reference.page == before.stored.reference.page
    assert problems(change, before.lob, after.lob) == []
    if isinstance(before.lob, PlainLob) and isinstance(after.lob, PlainLob):
        allowed = [*regions(change, before.lob, after.lob), *row_regions(before)]
        assert list(differences(before.space, after.space, allowed)) == []
    return change.kind


def updates(session: Connection, count: int, seed: str, *, length: int = LENGTH) -> list[Kind]:
    """Run updates one after another on the row, and compare each. Every version must stay readable."""
    draw = random.Random(seed)
    document = {f"k{number}": "abcdefghij"[number % 10] * length for number in range(MEMBERS)}
    session.execute(f"INSERT INTO t VALUES (1, '{json.dumps(document)}')")
    file = DataFile(session, verify=False)  # every page of the last copy is verified
    state = file.copied()
    images = {state.lob.current: state.document}
    kinds = []
    for _ in range(count):
        sql = expression(draw, document)
        expected, ranges = predicted(state.document, sql)
        session.execute(f"UPDATE t SET j = {sql}")
        now = file.copied()
        assert ranges is not None
        assert now.document == expected, sql
        free = session.execute("SELECT JSON_STORAGE_FREE(j) FROM t").scalar()
        assert int(free or -1) == storage_free(expected)
        if ranges:
            kinds.append(compare(state, now, ranges))
            if kinds[-1] is Kind.REWRITTEN:
                images.clear()
        images[now.lob.current] = expected
        for version in now.lob.versions:
            assert now.stored.prefix + now.lob.read(version) == images[version], (sql, version)
        assert set(now.lob.versions) == set(images)
        state = now
    last = DataFile(session).copied()
    assert [last.lob.read(version) for version in last.lob.versions] == list(map(state.lob.read, state.lob.versions))
    return kinds


def table(session: Connection, options: str) -> None:
    session.execute(f"CREATE TABLE t (id INT PRIMARY KEY, j JSON) {options}")


def test_updates_change_the_predicted_bytes_of_the_file_and_no_others(
    server: ProcessServer, session: Connection
) -> None:
    table(session, "ROW_FORMAT=DYNAMIC")
    with without_purge(server):
        kinds = updates(session, 80, "dynamic")
    assert set(kinds) == {Kind.SMALL, Kind.COPIED}


@pytest.mark.parametrize("row_format", ["COMPACT", "REDUNDANT"])
def test_a_range_in_the_prefix_of_the_record_rewrites_the_value(
    server: ProcessServer, session: Connection, row_format: str
) -> None:
    table(session, f"ROW_FORMAT={row_format}")
    with without_purge(server):
        kinds = updates(session, 25, row_format)
    assert Kind.REWRITTEN in kinds


def test_large_compressed_values_are_copied_by_chunks(server: ProcessServer, session: Connection) -> None:
    table(session, "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8")
    with without_purge(server):
        kinds = updates(session, 20, "zlob", length=9000)
    assert set(kinds) == {Kind.COPIED}


def test_small_compressed_values_are_rewritten(server: ProcessServer, session: Connection) -> None:
    table(session, "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4")
    with without_purge(server):
        kinds = updates(session, 4, "zblob")
    assert set(kinds) == {Kind.REWRITTEN}


@pytest.mark.parametrize(("bytes_written", "kind"), [(100, Kind.SMALL), (101, Kind.COPIED)])
def test_the_limit_of_small_changes(server: ProcessServer, session: Connection, bytes_written: int, kind: Kind) -> None:
    table(session, "")
    with without_purge(server):
        session.execute(f"INSERT INTO t VALUES (1, '{json.dumps({f'k{n}': 'a' * LENGTH for n in range(MEMBERS)})}')")
        file = DataFile(session)
        before = file.copied()
        # A string of 99 bytes is written with one byte of length.
        sql = f"JSON_SET(j, '$.k7', REPEAT('b', {bytes_written - 1}))"
        _, ranges = predicted(before.document, sql)
        assert ranges is not None
        assert sum(length for _, length in ranges) == bytes_written
        session.execute(f"UPDATE t SET j = {sql}")
        assert compare(before, file.copied(), ranges) is kind


def test_rollback_leaves_a_gap_in_the_versions(server: ProcessServer, session: Connection) -> None:
    table(session, "")
    session.execute(f"INSERT INTO t VALUES (1, '{json.dumps({f'k{n}': 'a' * LENGTH for n in range(MEMBERS)})}')")
    file = DataFile(session)
    with without_purge(server):
        before = file.copied()
        session.execute("BEGIN")
        session.execute("UPDATE t SET j = JSON_SET(j, '$.k1', REPEAT('b', 500))")
        session.execute("ROLLBACK")
        after = file.copied()
        assert (after.lob.current, after.lob.versions, after.document) == (1, (1,), before.document)
        session.execute("UPDATE t SET j = JSON_SET(j, '$.k1', REPEAT('c', 500))")
        assert file.copied().lob.versions == (1, 3)


def test_a_small_change_behind_a_rolled_back_copy_takes_the_version_of_the_first_page(
    server: ProcessServer, session: Connection
) -> None:
    table(session, "")
    session.execute(f"INSERT INTO t VALUES (1, '{json.dumps({f'k{n}': 'a' * LENGTH for n in range(MEMBERS)})}')")
    with without_purge(server):
        session.execute("BEGIN")
        session.execute("UPDATE t SET j = JSON_SET(j, '$.k1', REPEAT('b', 500))")
        session.execute("ROLLBACK")
        before = DataFile(session).copied()
        assert (before.lob.current, before.lob.versions) == (1, (1,))
        sql = "JSON_SET(j, '$.k1', REPEAT('c', 20))"
        _, ranges = predicted(before.document, sql)
        assert ranges is not None
        session.execute(f"UPDATE t SET j = {sql}")
        after = DataFile(session).copied()
        assert (after.lob.current, after.lob.all_pages) == (2, before.lob.all_pages)
        assert compare(before, after, ranges) is Kind.SMALL


def test_many_pieces_have_index_pages(session: Connection) -> None:
    table(session, "")
    session.execute(f"INSERT INTO t VALUES (1, JSON_ARRAY({', '.join(f'REPEAT({n}, 60000)' for n in range(10, 21))}))")
    state = DataFile(session).copied()
    assert isinstance(state.lob, PlainLob)
    assert state.lob.format is LobFormat.LOB
    assert len(state.lob.index_pages) >= 1
    assert state.document.hex() == hex_of_document(session)


def hex_of_document(session: Connection) -> str:
    """The stored bytes, by way of the reference's encoder."""
    from conformance.reference.jsonb.encode import encode
    from conformance.reference.jsonb.parse import parse_text

    text = session.execute("SELECT j FROM t").rows[0][0]
    assert text is not None
    return encode(parse_text(text.decode())).hex()


def test_a_compressed_value_of_many_chunks_has_index_pages(session: Connection) -> None:
    table(session, "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8")
    parts = ", ".join(f"REPEAT({n}, 60000)" for n in range(10, 99))
    session.execute(f"INSERT INTO t VALUES (1, JSON_ARRAY({parts}))")
    state = DataFile(session).copied()
    assert isinstance(state.lob, IndexedLob)
    assert (state.lob.format, len(state.lob.entries)) == (LobFormat.ZLOB, 82)
    assert state.document.hex() == hex_of_document(session)
