"""Whole relay logs for a real replica: read, refused, waited for, and the end of the server noticed."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cases.server_death import parse_death
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import MAGIC
from conformance.reference.event_types import EventType
from conformance.servers.roles import relay_log_applier
from conformance.servers.roles.relay_log import applier_status, last_commit, log_file
from conformance.servers.roles.relay_log_applier import LogEnd, LogReader, SteadyLogReader, launch_replica, log_script
from conformance.servers.run.process import ProcessMaker
from conformance.servers.run.stack import build_of
from conformance.servers.run.symbols import symbols_of
from fuzz.campaigns.inputs import NO_EVENT
from generators import streams
from generators.draw import Stream
from generators.streams import TABLES
from tests.live import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.roles.relay_log import ApplierStatus
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def reader(installation: Installation) -> Iterator[LogReader]:
    with LogReader(partial(launch_replica, ProcessMaker(installation))) as running:
        yield running


def log_of(*, without: int = 0) -> bytes:
    """A sound transaction, without so many of its last events."""
    bodies = streams.group(Stream("replica-log"), "empty", streams.Starts.ANONYMOUS)
    return MAGIC + b"".join(item.data for item in streams.placed(bodies[: len(bodies) - without]))


def broken_log() -> bytes:
    """With another byte in its last event, whose checksum says so."""
    data = bytearray(log_of())
    data[-6] ^= 1
    return bytes(data)


def log_with_bad_gtids() -> bytes:
    bodies = (FormatDescription(), Opaque(type=EventType.PREVIOUS_GTIDS, data=b"\xff" * 8))
    return log_file(encode_event(body, server_id=streams.SERVER_ID) for body in bodies)[0]


@pytest.mark.parametrize(
    ("log", "end"),
    [
        (log_of(), LogEnd()),
        (broken_log(), LogEnd(error=13121)),
        (b"\xfebiX" + log_of()[4:], LogEnd(error=13117)),
        (log_with_bad_gtids(), LogEnd(refused=True, error=1773)),
        (log_of(without=1), LogEnd(waits=True)),
    ],
    ids=["sound", "another byte", "no log", "no GTID set", "half a transaction"],
)
def test_what_becomes_of_a_log_and_the_next_one_is_read(reader: LogReader, log: bytes, end: LogEnd) -> None:
    assert reader.read(log, TABLES) == end
    assert reader.read(log_of(), TABLES) == LogEnd()
    assert reader.deaths == 0


def test_transactions_of_all_kinds_are_read(reader: LogReader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of their statements, and incidents, stop nothing."""
    # A loaded machine may let an applier stand for three seconds that has more to read.
    monkeypatch.setattr(relay_log_applier, "_STANDING", 10.0)
    ends = {}
    for kind in streams.GROUPS:
        if kind == "group-replication":
            continue  # its TRANSACTION_CONTEXT damages the server's memory, which may end it (a listed crash)
        bodies = streams.group(Stream("replica-log", kind), kind, streams.Starts.GTID)
        ends[kind] = reader.read(MAGIC + b"".join(item.data for item in streams.placed(bodies)), TABLES)
    assert {kind for kind, end in ends.items() if end == LogEnd()} >= {
        "rows",
        "ddl",
        "empty",
        "savepoint",
        "compressed",
        "incident",
    }
    assert not {kind: end for kind, end in ends.items() if end.death or end.silent}


def stands(pid: int) -> bool:
    """Whether all threads of a process are stopped."""
    states = [
        path.read_text("ascii").rpartition(")")[2].split()[0] for path in Path(f"/proc/{pid}/task").glob("*/stat")
    ]
    return set(states) == {"T"}


def reported(server: OwnServer) -> bool:
    return "got signal 11" in server.error_log()


def crash(server: OwnServer) -> None:
    """Its report has begun when this returns; the threads of the session and the applier still go on."""
    os.kill(server.pid, signal.SIGSEGV)
    assert until(lambda: reported(server))


@pytest.fixture
def struck(reader: LogReader, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The next look at the applier is preceded by the signal that is put here."""
    blows: list[int] = []

    def strike(server: OwnServer, session: Connection) -> ApplierStatus:
        if blows:
            blow = blows.pop()
            os.kill(server.pid, blow)
            while blow == signal.SIGSTOP and not stands(server.pid):  # till then a thread may still answer
                time.sleep(0.001)
        return applier_status(server, session)

    monkeypatch.setattr(relay_log_applier, "applier_status", strike)
    return blows


def test_the_end_of_a_server_is_that_of_its_log(reader: LogReader, struck: list[int]) -> None:
    struck.append(signal.SIGSEGV)
    before = reader.deaths
    end = reader.read(log_of(without=1), TABLES)
    death = parse_death(end.death)
    assert death is not None
    assert death.signal == 11
    assert reader.deaths == before + 1
    assert "got signal 11" in reader.server.error_log()  # it can be asked for until the next log
    assert reader.read(log_of(), TABLES) == LogEnd()
    assert reader.deaths == before + 1


def test_a_death_has_names_where_the_server_s_file_keeps_any(
    reader: LogReader, struck: list[int], installation: Installation
) -> None:
    struck.append(signal.SIGSEGV)
    death = parse_death(reader.read(log_of(without=1), TABLES).death)
    assert death is not None
    if not symbols_of(installation.mysqld).names:
        pytest.skip(f"needs a server with names of its functions: {installation.mysqld} keeps none")
    assert death.frames
    assert all("0x" not in frame and "(" not in frame for frame in death.frames)
    assert build_of(reader.server.error_log()) == death.build
    assert reader.read(log_of(), TABLES) == LogEnd()


def test_a_server_that_writes_the_report_of_its_crash_does_not_wait(
    reader: LogReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the report takes longer than an applier may stand still."""

    def strike(server: OwnServer, session: Connection) -> ApplierStatus:
        status = applier_status(server, session)
        if not reported(server):
            crash(server)
        return replace(status, state="an event")

    monkeypatch.setattr(relay_log_applier, "_STANDING", -1.0)
    monkeypatch.setattr(relay_log_applier, "applier_status", strike)
    assert reader.read(log_of(without=1), TABLES).death.startswith("signal 11")
    monkeypatch.undo()
    assert reader.read(log_of(), TABLES) == LogEnd()


def test_a_server_that_does_not_answer_is_ended(
    reader: LogReader, struck: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_log_applier, "_PATIENCE", 3.0)
    struck.append(signal.SIGSTOP)
    before, restarts = reader.deaths, reader.restarts
    assert reader.read(log_of(), TABLES) == LogEnd(silent=True)
    assert not reader.server.alive()
    monkeypatch.undo()
    assert reader.read(log_of(), TABLES) == LogEnd()
    assert (reader.deaths, reader.restarts) == (before, restarts + 1)


def test_a_script_shows_a_log_again(reader: LogReader) -> None:
    text = ";\n".join(log_script(log_of(), TABLES))
    assert log_of().hex() in text
    assert text.index("CREATE TABLE IF NOT EXISTS lab.t") < text.index("START REPLICA")


# --- a reader for many logs ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def steady(installation: Installation) -> Iterator[SteadyLogReader]:
    with SteadyLogReader(partial(launch_replica, ProcessMaker(installation))) as running:
        yield running


def test_a_replica_that_waits_goes_on_with_the_next_log_and_is_not_ended(steady: SteadyLogReader) -> None:
    pid = steady.server.pid
    for _ in range(3):
        assert steady.read(log_of(without=1), TABLES) == LogEnd(waits=True)
        assert steady.read(log_of(), TABLES) == LogEnd()
    assert (steady.server.pid, steady.restarts, steady.deaths) == (pid, 0, 0)


def test_an_event_on_its_way_to_a_worker_is_waited_for(
    steady: SteadyLogReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At some looks all workers wait, and nothing is committed: the coordinator has read the log a moment ago."""
    looks = [0] * 5
    monkeypatch.setattr(relay_log_applier, "last_commit", lambda it: looks.pop() if looks else last_commit(it))
    assert steady.read(log_of(), TABLES) == LogEnd()
    assert not looks


def test_a_steady_reader_tells_the_same_as_another(steady: SteadyLogReader) -> None:
    assert steady.read(broken_log(), TABLES) == LogEnd(error=13121)
    assert steady.read(log_with_bad_gtids(), TABLES) == LogEnd(refused=True, error=1773)
    assert steady.read(log_of() + NO_EVENT, TABLES) == LogEnd(error=13121)
    assert steady.read(log_of(without=1) + NO_EVENT, TABLES) == LogEnd(error=13121)
    assert steady.read(log_of(), TABLES) == LogEnd()
    assert steady.restarts == 0


def test_a_death_brings_its_report_along(steady: SteadyLogReader, monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(server: OwnServer, session: Connection) -> ApplierStatus:
        if server.pid == victim and not reported(server):
            crash(server)
        return applier_status(server, session)

    victim = steady.server.pid
    monkeypatch.setattr(relay_log_applier, "applier_status", strike)
    end = steady.read(log_of(without=1), TABLES)
    assert end.death.startswith("signal 11")
    assert "got signal 11" in end.report
    assert steady.read(log_of(), TABLES) == LogEnd()
