"""Older versions of rows on a real server: data file and undo log against the binary log and held snapshots."""

from __future__ import annotations

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


@pytest.mark.parametrize("updates", [40, pytest.param(1000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("row_format", FORMATS)
def test_every_version_is_the_image_in_the_binary_log(
    server: ProcessServer, session: Connection, row_format: str, updates: int
) -> None:
    session.execute(f"CREATE TABLE t ({COLUMNS}) {FORMATS[row_format]}")
    schema = data_file(session).parent.name
    statements = list(Workload(f"undo {row_format}").statements(updates))
    log = Capture(server)
    start = log.mark(session)
    with server.connect() as first, server.connect() as middle:
        first.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        half = len(statements) // 2
        for statement in statements[:half]:
            session.execute(statement)
        middle.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        seen = log.mark(session)
        for statement in statements[half:]:
            session.execute(statement)
        session.execute("COMMIT")
        with histories(session, data_file(session)) as found:
            expected = images(log.since(start), (J, K))
            assert {history.row.key[0][1]: history.end for history in found} == dict.fromkeys(expected)
            for history in found:
                assert found_images(history) == expected[int(str(history.row.key[0][1]))], history.row
        then = images(log.since(start, seen), (J, K))
        selected = middle.execute(f"SELECT id, j, k FROM {schema}.t").rows
        assert first.execute(f"SELECT COUNT(*) FROM {schema}.t").scalar() == "0"
    assert {int(row[0] or 0): row[1:] for row in selected} == {
        key: tuple(None if value is None else format_text(decode(value)).encode() for value in versions[-1].values)
        for key, versions in then.items()
        if versions[-1].change != "DELETE"
    }
