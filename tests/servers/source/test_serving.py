"""Dumps to several clients, in large packets, with and without more to come; cuts; and the end of the source."""

from __future__ import annotations

import socket
import threading
from struct import Struct
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ConnectionLost, SqlError
from conformance.servers.source.cuts import CutAfter, CutAt
from conformance.servers.source.log_files import LogFiles, NoLog
from conformance.servers.source.scripted import PASSWORD, USER, ScriptedSource
from conformance.servers.wire.connection import Address, connect
from tests.servers.source.made import address_of, small_log, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.source.server import Source

CRC32 = "SET @source_binlog_checksum = 'CRC32'"
BIG = (1 << 24) - 1


def request(position: int = 4, *, flags: int = 1, server_id: int = 0, file: str = "binlog.000001") -> bytes:
    return b"\x12" + Struct("<IHI").pack(position, flags, server_id) + file.encode()


def read(source: Source, command: bytes, most: int = 10_000) -> list[bytes]:
    """The events of a dump up to its end or to a lost connection."""
    found: list[bytes] = []
    with connect(address_of(source), timeout=20) as session:
        session.execute(CRC32)
        try:
            with session.dump(command) as events:
                for event in events:
                    found.append(event)
                    if len(found) >= most:
                        break
        except ConnectionLost:
            pass
    return found


@pytest.mark.parametrize("over", [-200, -60, -59, -58, -57, 0, 5 << 20, 1 << 24])
def test_events_of_16_mb_and_more_arrive_whole(over: int) -> None:
    """Around the length at which one more packet follows, and beyond it."""
    log = small_log(groups=1, raw=bytes(BIG + over))
    with source_of(log) as source:
        events = read(source, request())
    assert log.endswith(b"".join(events[2:]))
    assert max(map(len, events)) > BIG + over


def test_a_log_on_the_disk_is_served_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mysql-bin.000007"
    path.write_bytes(small_log(groups=3))
    with source_of() as source:
        source.facts.logs = LogFiles.of_paths([path])
        events = read(source, request(file=path.name))
    assert path.read_bytes() == path.read_bytes()[:4] + b"".join(events[1:])


@pytest.mark.parametrize("data", [b"", b"\xfebin", b"\xfdbin" + bytes(600), b"nonsense", b"\xfebin" + bytes(100)])
def test_what_is_no_log_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(NoLog):
        LogFiles.of_paths([path])


def test_a_log_that_names_a_strange_version_is_served_all_the_same() -> None:
    log = small_log().replace(b"9.7.4\0\0\0", b"9\n\xff\0\1\0\0x", 1)
    with source_of(log) as source, connect(address_of(source)) as session:
        assert session.server_version == "9.7.4"
        assert len(session.execute("SHOW BINARY LOG STATUS").rows) == 1
        assert session.execute("SELECT VERSION()").scalar() == "9.7.4"


def test_a_damaged_first_event_is_no_log() -> None:
    log = bytearray(small_log())
    log[4 + 19 + 56] = 0  # header_length
    with pytest.raises(NoLog, match="header-length"):
        LogFiles.of_bytes([("x", bytes(log))])


def test_several_clients_read_at_once() -> None:
    log = small_log(groups=200)
    found: list[list[bytes]] = []
    with source_of(log) as source:
        threads = [threading.Thread(target=lambda: found.append(read(source, request()))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 8
    assert all(log.endswith(b"".join(events[2:])) for events in found)


def test_a_client_that_waits_gets_what_is_written_later() -> None:
    first, second = small_log(groups=1), small_log(groups=2)
    with source_of(first) as source, connect(address_of(source), timeout=20) as session:
        session.execute(CRC32)
        with session.dump(request(server_id=5, flags=0)) as events:
            before = [next(events) for _ in range(8)]
            source.facts.logs.append(second[len(first) :])
            after = [next(events) for _ in range(5)]
        assert second.endswith(b"".join((*before[2:], *after)))
        with connect(address_of(source)) as other:
            assert str(other.execute("SELECT @@global.gtid_executed").scalar()).endswith(":1-2")
            assert str(other.execute("SELECT @@gtid_executed").scalar()).endswith(":1-2")
    assert source.clients == 0


def test_a_replica_that_registers_is_listed() -> None:
    with source_of() as source, connect(address_of(source)) as session:
        session.execute("SET @replica_uuid = 'u-1'")
        session._stream.send(
            b"\x15" + (77).to_bytes(4, "little") + b"\x04host\0\0" + (3306).to_bytes(2, "little") + bytes(8)
        )
        session._stream.result()
        assert session.execute("SHOW REPLICAS").texts() == [("77", "host", "3306", "93", "u-1")]


def test_a_connection_breaks_at_each_position_and_only_once() -> None:
    log = small_log(groups=2)
    for position in range(150, len(log), 7):
        with source_of(log) as source:
            source.armed = CutAt("binlog.000001", position)
            cut, whole = read(source, request()), read(source, request())
            assert source.armed is None
        assert len(cut) < len(whole)
        ends = 4 + sum(map(len, cut[1:]))
        assert ends <= position < ends + len(whole[len(cut)])


@pytest.mark.parametrize("inside", [False, True])
def test_each_dump_breaks_behind_so_many_events(inside: bool) -> None:
    with source_of(cut_each=lambda: CutAfter(3, inside=inside)) as source:
        for _ in range(2):
            assert len(read(source, request())) == 4


def test_closing_ends_clients_that_wait() -> None:
    source = source_of()
    with connect(address_of(source), timeout=20) as session:
        session.execute(CRC32)
        with session.dump(request(server_id=5, flags=0)) as events:
            next(events)
            before = threading.active_count()
            source.close()
            with pytest.raises(ConnectionLost):
                list(events)
    assert threading.active_count() < before
    assert source.clients == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", source.port), 2)


@pytest.mark.parametrize(
    "command", [b"", b"\xff", b"\x12", b"\x1e\1", b"\x1e" + b"\xff" * 40, b"\x15\1", b"\x17", b"\x03\xff\xfe"]
)
def test_a_malformed_command_ends_nothing_but_itself(command: bytes) -> None:
    with source_of() as source:
        with connect(address_of(source), timeout=20) as session:
            session._stream.send(command)
            with pytest.raises((SqlError, ConnectionLost)):
                session._stream.result()
        with connect(address_of(source)) as session:
            assert session.execute("SELECT 1").scalar() == "1"


@pytest.fixture
def scripted() -> Iterator[ScriptedSource]:
    with ScriptedSource([[b"a" * 30], [b"b" * 30]], version="9.7.4") as source:
        yield source


def test_a_script_sends_one_stream_after_the_other(scripted: ScriptedSource) -> None:
    address = Address(port=scripted.port, user=USER, password=PASSWORD, tls=(("ssl-mode", "DISABLED"),))
    for letter in (b"a", b"b", b"b"):
        with connect(address, timeout=20) as session, session.dump(request(position=99)) as events:
            assert [event[:1] for event in (next(events), next(events))][1] == letter
    assert scripted.places == [("made.000001", 99)] * 3
