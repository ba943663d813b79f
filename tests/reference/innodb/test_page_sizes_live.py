"""Page sizes of a real server: LOB versions against the binary log, rows of high trees against SELECT.

LOBs on pages of 4K in every run; other sizes and trees at night (``-m nightly``), as recorded trees are read each time.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.binlog.files import decode_file
from conformance.reference.binlog.rows import ROWS_TYPES, RowsBody
from conformance.reference.innodb.btree import index_page, leaf_records
from conformance.reference.innodb.column_values import column_value
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.lob import LobFormat
from conformance.reference.innodb.records import OffPage, level
from conformance.servers.run.process import launch
from tests.reference.innodb.fixture_files import tablespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

MEMBERS: Final = 40
LENGTHS: Final = (9_000, 70_000, 300_000)  # of documents: in one page, one stream, several chunks
UPDATES: Final = 4
KEYS: Final = {"a, b": "a, b", "a DESC, b": "a DESC, b", "b DESC, a": "b DESC, a", "a(90), b": "left(a, 90), b"}
ROWS: Final = 1500


@pytest.fixture(
    scope="module",
    params=[4096, *(pytest.param(size, marks=pytest.mark.nightly) for size in (8192, 16384, 32768, 65536))],
)
def server(request: pytest.FixtureRequest, installation: Installation) -> Iterator[ProcessServer]:
    """A server of its own, with pages of another size."""
    with launch(installation, options={"innodb-page-size": str(request.param)}) as running:
        yield running


@pytest.fixture
def session(server: ProcessServer) -> Iterator[Connection]:
    with server.connect() as connection, server.schema(connection):
        yield connection


def formats(session: Connection) -> dict[str, str]:
    """Row formats by the names of their tables; the largest pages cannot be compressed."""
    size = int(session.variable("innodb_page_size") or 0)
    found = {name: f"ROW_FORMAT={name}" for name in ("DYNAMIC", "COMPACT", "REDUNDANT")}
    for block in (1, 2, 4, 8, 16):
        if block << 10 <= size <= 16384:
            found[f"COMPRESSED{block}"] = f"ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE={block}"
    return found


def exported(server: ProcessServer, session: Connection, table: str) -> Tablespace:
    """A copy of a table's file."""
    session.execute(f"FLUSH TABLES {table} FOR EXPORT")
    schema = session.execute("SELECT DATABASE()").scalar()
    data = (server.data_directory / str(schema) / f"{table}.ibd").read_bytes()
    session.execute("UNLOCK TABLES")
    return tablespace(data)


def fill(session: Connection, table: str, draw: random.Random) -> None:
    """A row of each length, updated some times; one more update is rolled back."""
    for number, length in enumerate(LENGTHS):
        size = length // MEMBERS
        texts = {f"k{n:02}": draw.randbytes(size // 4).hex() + "x" * (size - size // 4 * 2) for n in range(MEMBERS)}
        session.execute(f"INSERT INTO {table} VALUES ({number}, '{json.dumps(texts)}')")
        for update in range(UPDATES + 1):
            key, count = f"$.k{draw.randrange(MEMBERS):02}", draw.randrange(110, size)
            session.execute("BEGIN")
            text = f"REPEAT('{chr(65 + update)}', {count})"
            session.execute(f"UPDATE {table} SET j = JSON_SET(j, '{key}', {text}) WHERE id = {number}")
            session.execute("ROLLBACK" if update == UPDATES // 2 else "COMMIT")


def images(server: ProcessServer) -> dict[tuple[str, object], list[object]]:
    """The documents of each row in the binary log, by table and id."""
    found: dict[tuple[str, object], list[object]] = {}
    for file in sorted(server.data_directory.glob("binlog.0*")):
        for event in decode_file(file.read_bytes(), verify=False):
            if isinstance(event.body, RowsBody) and event.body.type in ROWS_TYPES:
                for row in event.body.rows:
                    if row.after is not None:
                        found.setdefault((event.body.map().table, row.after[0]), []).append(row.after[1])
    return found


def test_every_version_is_an_image_in_the_binary_log(server: ProcessServer, session: Connection) -> None:
    kinds = set()
    with server.connect() as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        for table, options in formats(session).items():
            session.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY, j JSON) {options}")
            fill(session, table, random.Random(table))
        logged = images(server)
        for table in formats(session):
            space = exported(server, session, table)
            opened = LobReader(space)
            for item in large_values(space, table_objects(space)):
                if not isinstance(item.value, OffPage):  # a document of 9,000 bytes in the record of a large page
                    continue
                lob, known = opened.open(item.value), logged[table, item.row.key[0][1]]
                versions = [item.value.prefix + lob.read(version) for version in lob.versions]
                assert versions == known[-len(versions) :], (table, item.row.key)
                assert len(known) == UPDATES + 1
                if lob.format is LobFormat.ZLOB or table == "DYNAMIC":
                    assert len(versions) == len(known), (table, item.row.key)
                kinds.add(lob.format)
        reader.execute("COMMIT")
    assert kinds == {LobFormat.LOB, LobFormat.ZBLOB, LobFormat.ZLOB} or "COMPRESSED1" not in formats(session)


@pytest.mark.nightly
def test_every_row_of_a_high_tree(server: ProcessServer, session: Connection) -> None:
    session.execute(f"SET SESSION cte_max_recursion_depth = {ROWS}")
    longest = min(740, int(session.variable("innodb_page_size") or 0) // 16 * 3 - 28)  # of a key with two parts
    for number, (key, order) in enumerate(KEYS.items()):
        for name, options in formats(session).items():
            if name in {"COMPRESSED1", "COMPRESSED16"}:  # no room for the key, or no compression
                continue
            table = f"{name}_{number}"
            width = longest // 3 if name == "COMPRESSED2" else longest
            columns = f"a varchar({width}) CHARACTER SET latin1 NOT NULL, b int NOT NULL, v varchar(20)"
            session.execute(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key})) {options}")
            session.execute(
                f"INSERT INTO {table} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})"
                f" SELECT concat(repeat(char(97 + i % 7), {width - 60} + i % 50), i), i,"
                " if(i % 3, concat('v', i), NULL) FROM n"
            )
            session.execute(f"DELETE FROM {table} WHERE b % 11 = 0")
            space = exported(server, session, table)
            (found,) = table_objects(space)
            (index,) = clustered_indexes(found)
            height = level(index_page(space, index.root))
            assert height >= 2 or space.flags.compressed or space.flags.logical > 8192, (table, height)
            columns_of = {column["name"]: column for column in found["columns"]}
            places = {field.name: place for place, field in enumerate(index.format.fields)}
            rows = [
                tuple(
                    str(column_value(columns_of[name], value)) if isinstance(value, bytes) else None
                    for name in ("a", "b", "v")
                    for value in (record.values[places[name]],)
                )
                for _, record in leaf_records(space, index.root, index.format)
                if not record.deleted
            ]
            assert rows == session.execute(f"SELECT a, b, v FROM {table} ORDER BY {order}").texts(), table
