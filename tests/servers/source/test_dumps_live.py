"""The dumps of the lab's source and of a real server, of the same log files: the same events, byte for byte."""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import pytest

from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.servers.errors import SqlError
from conformance.servers.run.process import launch
from conformance.servers.source.log_files import LogFiles
from conformance.servers.source.login import Account
from conformance.servers.source.server import Source
from conformance.servers.wire.connection import Address, connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live
OPTIONS = {"gtid-mode": "ON", "enforce-gtid-consistency": "ON", "binlog-row-metadata": "FULL"}
CRC32 = "SET @source_binlog_checksum = 'CRC32'"
PERIOD = "SET @source_heartbeat_period = 50000000"


class Both(NamedTuple):
    """Sessions are made with these; ``uuid`` is the server's."""

    real: Address
    lab: Address
    uuid: str
    files: list[str]
    sizes: list[int]


@pytest.fixture(scope="module")
def both(installation: Installation) -> Iterator[Both]:
    with launch(installation, options=OPTIONS, server_id=71) as server:
        with server.connect() as session:
            session.execute("CREATE SCHEMA lab")
            session.execute("CREATE TABLE lab.t (id INT PRIMARY KEY, j JSON, b LONGBLOB)")
            for number in range(3):
                session.execute(f"INSERT INTO lab.t VALUES ({number}, '{{}}', NULL)")
            session.execute("FLUSH BINARY LOGS")
            session.execute("SET binlog_row_value_options = 'PARTIAL_JSON'")
            session.execute("UPDATE lab.t SET j = JSON_SET(j, '$.a', id)")
            session.execute("SET binlog_transaction_compression = ON")
            session.execute("UPDATE lab.t SET j = JSON_SET(j, '$.b', id)")
            session.execute("SET gtid_next = 'AUTOMATIC:tag'")
            session.execute("DELETE FROM lab.t WHERE id = 2")
            session.execute("SET gtid_next = 'AUTOMATIC'")
            session.execute("FLUSH BINARY LOGS")
            session.execute("SET binlog_transaction_compression = OFF")
            session.execute("INSERT INTO lab.t VALUES (9, '{}', 'x')")
            session.execute("SET GLOBAL binlog_checksum = NONE")
            session.execute("INSERT INTO lab.t VALUES (10, '{}', NULL)")
            names = [str(row[0]) for row in session.execute("SHOW BINARY LOGS").texts()]
            uuid = str(session.variable("server_uuid"))
            base = Path(str(session.variable("log_bin_basename"))).parent
        logs = LogFiles.of_bytes([(name, (base / name).read_bytes()) for name in names])
        with Source(logs, account=Account(password="p")) as source:
            source.facts.uuid = UUID(uuid)
            lab = Address(port=source.port, user="lab", password="p")
            yield Both(server.tcp_address(), lab, uuid, names, [len(file.data) for file in logs.files])


def by_position(file: str, position: int, flags: int = 1, server_id: int = 0) -> bytes:
    return b"\x12" + Struct("<IHI").pack(position, flags, server_id) + file.encode()


def by_gtid(gtids: str, flags: int = 1) -> bytes:
    data = PreviousGtids.parse(gtids).encode()
    return b"\x1e" + Struct("<HII").pack(flags, 0, 0) + Struct("<QI").pack(4, len(data)) + data


def dumped(address: Address, command: bytes, settings: tuple[str, ...], most: int) -> tuple[list[bytes], str]:
    """The events of a dump, and the error at its end up to where it names a place."""
    events: list[bytes] = []
    session: Connection
    with connect(address, timeout=10) as session:
        for text in settings:
            session.execute(text)
        try:
            with session.dump(command) as found:
                for event in found:
                    events.append(event)
                    if len(events) >= most:
                        break
        except SqlError as error:
            return events, f"{error.number} {error.message[:40]}"
    return events, ""


def same(both: Both, command: bytes, *settings: str, most: int = 10_000) -> list[bytes]:
    """The events, after they were compared."""
    there, here = (dumped(address, command, settings, most) for address in (both.real, both.lab))
    assert here[1] == there[1]
    assert [event[:24] for event in here[0]] == [event[:24] for event in there[0]]
    assert here[0] == there[0]
    return here[0]


def test_all_files_from_the_first_position(both: Both) -> None:
    events = same(both, by_position(both.files[0], 4), CRC32)
    assert len(events) > 30


def test_the_empty_name_is_the_first_file(both: Both) -> None:
    assert same(both, by_position("", 4), CRC32)


def test_each_boundary_of_a_file(both: Both) -> None:
    whole = same(both, by_position(both.files[1], 4), CRC32)
    positions = []
    for event in whole[1:]:
        if event[4] == 4:
            break
        positions.append(int.from_bytes(event[13:17], "little"))
    assert len(positions) > 8
    for position in positions:
        same(both, by_position(both.files[1], position), CRC32, most=6)


def test_a_client_that_reads_no_checksums_gets_those_of_the_file(both: Both) -> None:
    assert same(both, by_position(both.files[1], 4), "SET @source_binlog_checksum = 'NONE'")


def test_a_client_that_says_nothing_of_checksums_is_refused(both: Both) -> None:
    assert len(same(both, by_position(both.files[0], 4))) == 1
    assert len(same(both, by_position(both.files[-1], 4))) > 1  # a file without checksums


def test_a_file_without_checksums_for_a_client_that_reads_them(both: Both) -> None:
    assert same(both, by_position(both.files[-1], 4), CRC32)


@pytest.mark.parametrize(("file", "position"), [(0, 3), (0, 10**6), (0, 5), (None, 4)])
def test_what_cannot_be_sent_is_refused_as_by_the_server(both: Both, file: int | None, position: int) -> None:
    name = "none.000001" if file is None else both.files[file]
    same(both, by_position(name, position), CRC32)


@pytest.mark.parametrize(
    "gtids", ["", "{0}:1", "{0}:1-3", "{0}:2", "{0}:1-5", "{0}:1-6", "{0}:1-7:tag:1", "{0}:tag:1", "{0}:1-99"]
)
def test_a_set_of_gtids(both: Both, gtids: str) -> None:
    same(both, by_gtid(gtids.format(both.uuid)), CRC32)


def test_gtids_of_another_server_are_no_obstacle(both: Both) -> None:
    assert same(both, by_gtid("0b1a5000-0000-4000-8000-000000000001:1-5"), CRC32)


@pytest.mark.parametrize("flags", [0, 2])
def test_heartbeats_of_both_forms(both: Both, flags: int) -> None:
    name, end = both.files[-1], both.sizes[-1]
    events = same(both, by_position(name, end, flags, 4711), CRC32, PERIOD, most=4)
    assert [event[4] for event in events[2:]] == [41 if flags else 27] * 2


def test_a_client_without_a_server_id_waits_for_nothing(both: Both) -> None:
    assert same(both, by_position(both.files[-1], 4, flags=0), CRC32, PERIOD)


def test_a_heartbeat_stands_for_what_a_client_has(both: Both) -> None:
    events = same(both, by_gtid(f"{both.uuid}:1-2", flags=3), CRC32)
    assert 41 in [event[4] for event in events]
