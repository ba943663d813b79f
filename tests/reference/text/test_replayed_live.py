"""``decode LOG | mysql`` into an empty server, against ``mysqlbinlog LOG | mysql``: rows, tables and GTIDs. So with
``decode --as sql``, and what ``apply --undo --as sql`` takes back."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from conformance.reference.sql.quoting import quote_identifier
from conformance.servers.run.process import launch
from tests.live import PROGRAM, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live

CORPUS: Final = Path(__file__).parents[2] / "data" / "binlogs"
SMALL: Final = ("12-compressed-payload", "17-xa-savepoint-rowsquery")
# Those whose text by the client replays on an empty server: the others need tables from before, or a file.
WHOLE: Final = (
    "01-partial-minimal", "02-partial-off-same-sql", "03-partial-multi-json-noblob", "04-partial-multi-json-full",
    "05-partial-multi-json-minimal", "06-partial-ten-json-columns", "07-all-types-metadata-full",
    "08-all-types-metadata-minimal", "09-table-metadata-edge-cases", "10-tagged-gtids-a", "11-no-gtid",
    "13-statement-format", "14-rotate-a", "15-checksum-none", "16-row-split-partition-gipk", "18-not-closed",
    "20-relay-log", "21-replica-binlog",
)  # fmt: skip
_NO_SQL: Final = ("13-statement-format", "17-xa-savepoint-rowsquery")  # they have what only BINLOG statements say
ORDERS: Final = Path(__file__).parents[3] / "docs" / "tutorials" / "orders.binlog"
_OWN: Final = ("information_schema", "mysql", "performance_schema", "sys")
_ANY_GTID: Final = {"gtid_mode": "ON_PERMISSIVE"}  # takes GTIDs, and transactions without one
Table = tuple[str, list[tuple[bytes | None, ...]]]


class State(NamedTuple):
    """A server behind a replay. ``words``: those of a client that stopped."""

    tables: dict[str, Table]
    gtids: str
    words: str


@pytest.fixture(scope="module")
def empty_server(installation: Installation) -> Iterator[ProcessServer]:
    with launch(installation, options=_ANY_GTID) as running:
        yield running


@pytest.mark.parametrize("name", SMALL)
def test_the_text_replays_as_the_clients_does(empty_server: ProcessServer, mysqlbinlog: list[str], name: str) -> None:
    compare(empty_server, mysqlbinlog, name)


@pytest.mark.nightly
@pytest.mark.parametrize("name", WHOLE)
def test_every_log_replays_as_the_clients_text_does(
    empty_server: ProcessServer, mysqlbinlog: list[str], name: str
) -> None:
    compare(empty_server, mysqlbinlog, name)


def compare(server: ProcessServer, mysqlbinlog: Sequence[str], name: str) -> None:
    log = str(CORPUS / f"{name}.binlog")
    real = replayed(server, printed([*mysqlbinlog, "--no-defaults", log]))
    assert real.words == ""
    assert any(rows for _, rows in real.tables.values()) or name == "15-checksum-none"  # which ends with a DELETE
    assert replayed(server, printed([*PROGRAM, "decode", log])) == real
    if name not in _NO_SQL:
        assert replayed(server, printed([*PROGRAM, "decode", "--as", "sql", log])) == real


def test_the_undo_of_a_set_of_gtids_restores_the_tables(empty_server: ProcessServer) -> None:
    decode = [*PROGRAM, "decode", str(ORDERS)]
    before, gtids, _ = replayed(empty_server, printed([*decode, "--stop-position", "1306"]))
    all_of_it = printed(decode)
    after = replayed(empty_server, all_of_it)
    assert (after.words, after.tables != before) == ("", True)
    undo = printed([*PROGRAM, "apply", str(ORDERS), "--undo", "--as", "sql", "--exclude-gtids", gtids])
    assert undo.count(b"BEGIN;") == 4
    restored = replayed(empty_server, all_of_it + undo)
    assert (restored.words, restored.tables) == ("", before)


def printed(command: Sequence[str]) -> bytes:
    return subprocess.run(command, env=environment(), capture_output=True, check=True).stdout


def replayed(server: ProcessServer, text: bytes) -> State:
    with server.connect() as session:
        empty(session)
        done = server.run_program("mysql", ["--binary-mode"], login=True, stdin=text)
        found = State(tables(session), str(session.execute("SELECT @@global.gtid_executed").scalar()), done.words)
        empty(session)
    return found


def empty(session: Connection) -> None:
    """Leave no schema, no log and no GTID."""
    for schema in schemas(session):
        session.execute(f"DROP SCHEMA {quote_identifier(schema)}")
    session.execute("RESET BINARY LOGS AND GTIDS")


def schemas(session: Connection) -> list[str]:
    return [str(row[0]) for row in session.execute("SHOW SCHEMAS").texts() if row[0] not in _OWN]


def tables(session: Connection) -> dict[str, Table]:
    """All tables by name: how they are made, and their rows in an order of their own."""
    found = {}
    for schema in schemas(session):
        for table, *_ in session.execute(f"SHOW TABLES IN {quote_identifier(schema)}").texts():
            name = f"{quote_identifier(schema)}.{quote_identifier(str(table))}"
            made = str(session.execute(f"SHOW CREATE TABLE {name}").texts()[0][1])
            found[name] = made, sorted(session.execute(f"SELECT * FROM {name}").rows, key=repr)
    return found
