"""Older versions of rows on a real server: data file and undo log against the binary log and held snapshots."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.reference.innodb.undo.record import UndoType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from conformance.servers.wire.capture import Capture
from tests.reference.innodb.undo_workload import COLUMNS, FORMATS, Image, Workload, histories, images

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.undo.row_versions import RowHistory
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

J, K = 1, 3  # places of the JSON columns in a row of the table
FIRST_USER_FIELD = 2  # the clustered record has DB_TRX_ID and DB_ROLL_PTR behind the key


@pytest.fixture
def session(server: ProcessServer) -> Iterator[Connection]:
    """A session in a schema of its own."""
    with server.connect() as connection, server.schema(connection):
        connection.execute("SET SESSION binlog_row_image = FULL, binlog_row_value_options = ''")
        yield connection


def data_file(session: Connection) -> Path:
    folder, schema = session.execute("SELECT @@datadir, DATABASE()").texts()[0]
    return Path(str(folder)) / str(schema) / "t.ibd"


def found_images(history: RowHistory) -> list[Image]:
    """The versions of a row, the oldest first, as the binary log would have them."""
    names = {UndoType.INSERT: "INSERT", UndoType.INSERT_OVER_DELETED: "INSERT", UndoType.DELETE: "DELETE",
             UndoType.UPDATE: "UPDATE"}  # fmt: skip
    found = []
    for version in reversed(history.versions):
        assert version.change is not None
        assert version.deleted is (version.change is UndoType.DELETE)
        assert version.open is False
        found.append(Image(names[version.change], tuple(version.read(at + FIRST_USER_FIELD) for at in (J, K))))
    return found


QUICK = (("DYNAMIC", False), ("DYNAMIC", True), ("COMPACT", False), ("REDUNDANT", True), ("COMPRESSED", False))
CAMPAIGNS = [
    *(pytest.param(row_format, keys, 30, id=f"{row_format}-{keys}") for row_format, keys in QUICK),
    *(
        pytest.param(row_format, keys, 1000, id=f"{row_format}-{keys}-many", marks=pytest.mark.nightly)
        for row_format in FORMATS
        for keys in (False, True)
    ),
]


@pytest.mark.parametrize(("row_format", "keys", "updates"), CAMPAIGNS)
def test_every_version_is_the_image_in_the_binary_log(
    server: ProcessServer, session: Connection, row_format: str, keys: bool, updates: int
) -> None:
    session.execute(f"CREATE TABLE t ({COLUMNS}) {FORMATS[row_format]}")
    schema = data_file(session).parent.name
    statements = list(Workload(f"undo {row_format}", keys=keys).statements(updates))
    with closing(Capture(server)) as log, server.connect() as first, server.connect() as middle:
        start = log.mark(session)
        first.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        half = len(statements) // 2
        for statement in statements[:half]:
            session.execute(statement)
        middle.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        seen = log.mark(session)
        for statement in statements[half:]:
            session.execute(statement)
        session.execute("COMMIT")
        expected = images(log.since(start), (J, K))
        with histories(session, data_file(session)) as found:
            assert {history.row.key[0][1]: history.end for history in found} == dict.fromkeys(expected)
            for history in found:
                assert found_images(history) == expected[int(str(history.row.key[0][1]))], history.row
        then = images(log.since(start, seen), (J, K))
        selected = middle.execute(f"SELECT id, j, k FROM {schema}.t").rows
        assert first.execute(f"SELECT COUNT(*) FROM {schema}.t").scalar() == "0"
    if not keys:  # with them, 9.7.4 shows a snapshot what was changed later (innodb-lob 8.4)
        assert {int(row[0] or 0): row[1:] for row in selected} == {
            key: tuple(None if value is None else format_text(decode(value)).encode() for value in versions[-1].values)
            for key, versions in then.items()
            if versions[-1].change != "DELETE"
        }


BIG = "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'z', REPEAT('x', 20000)))"
SMALL = "UPDATE t SET j = JSON_SET(j, '$.a', 17)"


def documents(history: RowHistory, position: int = 3) -> list[str]:
    """The documents of all versions, the newest first."""
    return [format_text(decode(version.read(position) or b""))[:8] for version in history.versions]


def test_behind_a_change_of_the_key_a_snapshot_of_the_server_sees_what_came_later(
    server: ProcessServer, session: Connection
) -> None:
    session.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON)")
    session.execute(BIG)
    schema = data_file(session).parent.name
    with server.connect() as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        session.execute("UPDATE t SET id = 2")
        session.execute(SMALL)
        with histories(session, data_file(session)) as (old, new):
            assert (documents(old), documents(new)) == (['{"a": 1,'] * 2, ['{"a": 17', '{"a": 1,'])
        if server.number == (9, 7, 4):
            assert reader.execute(f"SELECT id, j->'$.a' FROM {schema}.t").texts() == [("1", "17")]


def test_behind_a_change_of_the_key_the_server_does_not_roll_back_small_changes(
    server: ProcessServer, session: Connection
) -> None:
    session.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON)")
    session.execute(BIG)
    session.execute("UPDATE t SET id = 2")
    for statement in ("BEGIN", SMALL, "ROLLBACK"):
        session.execute(statement)
    found = session.execute("SELECT j->'$.a' FROM t").scalar()
    assert found == ("17" if server.number == (9, 7, 4) else "1")
