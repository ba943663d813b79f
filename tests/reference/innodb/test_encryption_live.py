"""Encrypted tables of a real server with a keyring: dictionary information, rows and LOB versions."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.encryption.keyring import Keyring
from conformance.reference.innodb.large_values import LobReader, large_values, table_objects
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi_views.information_schema import drift, facts_of_file, facts_of_server
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.text import format_text
from tests.keyring_server import server_with_keyring
from tests.live import lab
from tests.reference.innodb.encrypted_files import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reference.innodb.pages import Tablespace
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

TABLES: Final = {
    "dynamic": "ROW_FORMAT=DYNAMIC",
    "redundant": "ROW_FORMAT=REDUNDANT",
    "compressed": "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4",
    "zlib": "COMPRESSION='zlib'",
    "general": "TABLESPACE shared",
}
GENERAL: Final = "CREATE TABLESPACE shared ADD DATAFILE 'shared.ibd' ENCRYPTION='Y'"
INSERT: Final = (
    "INSERT INTO {} VALUES (1, JSON_ARRAY('small')), (2, JSON_OBJECT('a', REPEAT('x', 3000), 'b', REPEAT('y', 60000)))"
)
UPDATE: Final = "UPDATE {} SET j = JSON_SET(j, '$.a', REPEAT('v', {})) WHERE id = 2"


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keyring") / "keyring"


@pytest.fixture(scope="module")
def server(installation: Installation, keyring: Path) -> Iterator[ProcessServer]:
    with server_with_keyring(installation, keyring) as running:
        yield running


@pytest.fixture(scope="module")
def session(server: ProcessServer) -> Iterator[Connection]:
    """A session in a schema with an encrypted table of each kind, rows of three versions, after a rotation."""
    with server.connect() as connection, server.connect() as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        for sql in ("CREATE SCHEMA s", "USE s", GENERAL):
            connection.execute(sql)
        for name, options in TABLES.items():
            connection.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY, j JSON) {options} ENCRYPTION='Y'")
            connection.execute(INSERT.format(name))
            connection.execute(UPDATE.format(name, 2000))
        connection.execute("ALTER INSTANCE ROTATE INNODB MASTER KEY")
        for name in TABLES:
            connection.execute(UPDATE.format(name, 1000))
        yield connection


@contextmanager
def exported(server: ProcessServer, session: Connection, table: str) -> Iterator[Path]:
    """The file of a table while it is on disk as a whole."""
    session.execute(f"FLUSH TABLES {table} FOR EXPORT")
    try:
        yield server.data_directory / "s" / f"{table}.ibd"
    finally:
        session.execute("UNLOCK TABLES")


def documents(space: Tablespace) -> tuple[list[tuple[str]], int]:
    """Column j of every row, and the most versions that a row has."""
    found, versions, reader = [], 0, LobReader(space)
    for item in large_values(space, table_objects(space)):
        raw = item.value
        if isinstance(raw, OffPage):
            lob = reader.open(raw)
            versions = max(versions, len(lob.versions))
            raw = raw.prefix + lob.read()
        found.append((format_text(decode(raw)),))
    return found, versions


@pytest.mark.parametrize("table", [name for name in TABLES if name != "general"])
def test_an_encrypted_file_has_what_the_server_says(
    server: ProcessServer, session: Connection, keyring: Path, table: str
) -> None:
    with exported(server, session, table) as file:
        space = opened(file.read_bytes(), keyring=Keyring.parse(keyring.read_bytes()))
    (found,) = table_objects(space)
    facts = facts_of_server(lambda sql: session.execute(sql).texts(), "s", table)
    assert drift(facts_of_file(found), facts) == []
    rows = session.execute(f"SELECT j FROM {table} ORDER BY id").texts()
    assert documents(space) == (rows, 1 if table in {"compressed", "redundant"} else 3)


def test_the_commands_take_a_keyring(server: ProcessServer, session: Connection, keyring: Path, tmp_path: Path) -> None:
    file = tmp_path / "dynamic.ibd"
    with exported(server, session, "dynamic") as source:
        file.write_bytes(source.read_bytes())
    done = lab("sdi", "--create", "--keyring", keyring, file)
    assert (done.code, done.err) == (0, "")
    assert "ENCRYPTION='Y'" in done.out
    listed = lab("lob", "--format", "json", "--no-documents", "--keyring", keyring, file)
    assert listed.code == 0, listed.text
    assert [len(item["versions"]) for item in json.loads(listed.out)] == [1, 3]
    refused = lab("sdi", file)
    assert refused.code == 1
    assert "page[3].type: the page is encrypted, and no keyring opens it" in refused.err


def test_a_general_tablespace_after_a_shutdown(server: ProcessServer, session: Connection, keyring: Path) -> None:
    rows = session.execute("SELECT j FROM general ORDER BY id").texts()
    server.stop()
    space = opened((server.data_directory / "shared.ibd").read_bytes(), keyring=Keyring.parse(keyring.read_bytes()))
    assert space.flags.shared
    assert documents(space)[0] == rows
    files = [server.data_directory / "shared.ibd", *sorted((server.data_directory / "s").glob("*.ibd"))]
    logs = sorted(server.data_directory.glob("binlog.0*"))
    done = lab("apply", *logs, "--verify", *files, "--keyring", keyring)
    assert done.code == 0, done.text
    assert "10 rows equal" in done.err
