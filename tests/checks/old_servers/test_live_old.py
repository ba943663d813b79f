"""The checks with an old server fail on the faults planted for them; without such a server they say what is missing."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.old_servers import check
from conformance.checks.old_servers import run as servers
from conformance.checks.old_servers.generate import OFF, ON
from conformance.harness.profiles import SIZES
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.old_server import VARIABLE, old_installation
from conformance.servers.roles.relay_log import log_file
from conformance.stream import Block, CaseVerdict
from tests.checks.old_servers.faults_of_old_servers import OLD_FAULTS, RELAY_FAULTS, ROWS_FAULTS, UPDATE_FAULTS
from tests.faults.runner import each, plant_in
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from tests.faults.fault import Fault
    from tests.recorded import Recorded


@pytest.fixture
def found(recorded: Recorded, old_server: Installation, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    for name, size in (("old_servers/binlog", 12), ("old_servers/log", 12), ("old_servers/relay", 2)):
        monkeypatch.setitem(SIZES[name], "quick", size)
    return recorded


@pytest.mark.live
def test_old_and_new_servers_get_on_as_they_must(found: Recorded) -> None:
    run(check.test_binlog_statements_on_an_old_server, found.lab)
    run(check.test_relay_log_of_an_old_server, found.lab)
    run(check.test_log_of_an_old_server, found.lab)
    assert found.of(CaseVerdict) == []
    checks = {record.check for record in found.of(Block)}
    assert checks >= {
        "old_servers/binlog/off",
        "old_servers/binlog/on",
        "old_servers/relay/off",
        "old_servers/relay/on",
        "old_servers/log",
    }


@pytest.mark.live
@each([*OLD_FAULTS, *UPDATE_FAULTS])
def test_an_old_server_that_takes_the_event_or_loses_an_update_fails_the_check(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    real, altered = servers.by_statement, OFF if fault.requirement == "X2" else ON

    def doctored(connection: Any, events: Any, table: str) -> servers.Answer:
        said = real(connection, events, table)
        return servers.Answer(*fault.change(said)) if table == altered else said

    monkeypatch.setattr(servers, "by_statement", doctored)
    found.fails(check.test_binlog_statements_on_an_old_server, "failed" if altered == OFF else "event 39")
    assert found.failing == {"old_servers/binlog/off" if altered == OFF else "old_servers/binlog/on"}
    assert {verdict.requirement for verdict in found.of(CaseVerdict)} == {fault.requirement}


@pytest.mark.live
@each(RELAY_FAULTS)
def test_an_old_applier_that_runs_on_fails_the_check(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, servers, "by_relay_log", fault.change)
    found.fails(check.test_relay_log_of_an_old_server, "failed")
    assert found.failing == {"old_servers/relay/off" if fault.requirement == "X2" else "old_servers/relay/on"}


@pytest.mark.live
def test_another_error_of_an_old_server_differs(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_REFUSED_RELAY_LOG", 1)
    found.fails(check.test_relay_log_of_an_old_server)
    assert found.failing == {"old_servers/relay/error"}
    assert {verdict.verdict for verdict in found.of(CaseVerdict)} == {"differs"}


@pytest.mark.live
@each(ROWS_FAULTS)
def test_other_rows_after_the_log_of_an_old_server_fail_the_check(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, servers, "read", fault.change, call=2)
    found.fails(check.test_log_of_an_old_server, "other rows after the log")
    assert found.failing == {"old_servers/log"}


# --- without an old server -------------------------------------------------------------------------------------------


def test_what_is_missing_and_how_to_get_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path))
    with pytest.raises(ServerUnavailable, match="needs an old server") as refused:
        old_installation()
    assert "binlog-lab servers install --old" in str(refused.value)
    assert VARIABLE in str(refused.value)


@pytest.mark.live
def test_a_server_with_the_feature_is_not_old(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(installation.mysqld))
    with pytest.raises(ServerUnavailable, match=r"which has the feature"):
        old_installation()


def test_a_placed_log_reads_as_a_file() -> None:
    bodies = (FormatDescription(), Xid(xid=1), Xid(xid=2))
    data, ends = log_file([encode_event(body, log_pos=7) for body in bodies])
    events = list(read_events(BytesIO(data)))
    assert [event.header.log_pos for event in events] == list(ends)
    assert [event.body for event in events] == list(bodies)
    assert ends[-1] == len(data)
