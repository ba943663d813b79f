"""The checks with an old server fail on the faults planted for them; without such a server they say what is missing."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.old_servers import check
from conformance.checks.old_servers import run as servers
from conformance.checks.old_servers.generate import OFF, ON
from conformance.harness import session as labs
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles.old_server import VARIABLE, old_installation
from conformance.servers.roles.relay_log import log_file
from conformance.stream import Block, CaseVerdict
from tests.checks.old_servers.faults_of_old_servers import OLD_FAULTS, RELAY_FAULTS, ROWS_FAULTS, UPDATE_FAULTS
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord


@pytest.fixture
def records() -> list[AnyRecord]:
    return []


@pytest.fixture
def lab(
    server: ProcessServer,
    old_server: Installation,
    records: list[AnyRecord],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Lab:
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    for name, size in (("old_servers/binlog", 12), ("old_servers/log", 12), ("old_servers/relay", 2)):
        monkeypatch.setitem(SIZES[name], "quick", size)
    return Lab(Settings(cases=tmp_path), records.append)


def failing(records: list[AnyRecord]) -> set[str]:
    return {record.check for record in records if isinstance(record, Block) and record.failures}


def verdicts(records: list[AnyRecord]) -> list[CaseVerdict]:
    return [record for record in records if isinstance(record, CaseVerdict)]


@pytest.mark.live
def test_old_and_new_servers_get_on_as_they_must(lab: Lab, records: list[AnyRecord]) -> None:
    run(check.test_binlog_statements_on_an_old_server, lab)
    run(check.test_relay_log_of_an_old_server, lab)
    run(check.test_log_of_an_old_server, lab)
    assert verdicts(records) == []
    checks = {record.check for record in records if isinstance(record, Block)}
    assert checks >= {
        "old_servers/binlog/off",
        "old_servers/binlog/on",
        "old_servers/relay/off",
        "old_servers/relay/on",
        "old_servers/log",
    }


@pytest.mark.live
@pytest.mark.parametrize("fault", OLD_FAULTS, ids=lambda fault: fault.id)
def test_an_old_server_that_takes_the_event_fails_the_check(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = servers.by_statement

    def doctored(connection: Any, events: Any, table: str) -> servers.Answer:
        said = real(connection, events, table)
        return servers.Answer(*fault.change(said)) if table == ON else said

    monkeypatch.setattr(servers, "by_statement", doctored)
    with pytest.raises(pytest.fail.Exception, match="event 39"):
        run(check.test_binlog_statements_on_an_old_server, lab)
    assert failing(records) == {"old_servers/binlog/on"}
    assert {verdict.requirement for verdict in verdicts(records)} == {"FR10"}


@pytest.mark.live
@pytest.mark.parametrize("fault", UPDATE_FAULTS, ids=lambda fault: fault.id)
def test_an_old_server_that_loses_an_update_fails_the_check(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = servers.by_statement

    def doctored(connection: Any, events: Any, table: str) -> servers.Answer:
        said = real(connection, events, table)
        return servers.Answer(*fault.change(said)) if table == OFF else said

    monkeypatch.setattr(servers, "by_statement", doctored)
    with pytest.raises(pytest.fail.Exception, match="failed"):
        run(check.test_binlog_statements_on_an_old_server, lab)
    assert failing(records) == {"old_servers/binlog/off"}
    assert {verdict.requirement for verdict in verdicts(records)} == {"X2"}


@pytest.mark.live
@pytest.mark.parametrize("fault", RELAY_FAULTS, ids=lambda fault: fault.id)
def test_an_old_applier_that_runs_on_fails_the_check(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = servers.by_relay_log
    monkeypatch.setattr(servers, "by_relay_log", lambda *arguments: fault.change(real(*arguments)))
    with pytest.raises(pytest.fail.Exception, match="failed"):
        run(check.test_relay_log_of_an_old_server, lab)
    assert failing(records) == {"old_servers/relay/off" if fault.requirement == "X2" else "old_servers/relay/on"}


@pytest.mark.live
def test_another_error_of_an_old_server_differs(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_REFUSED_RELAY_LOG", 1)
    with pytest.raises(pytest.fail.Exception):
        run(check.test_relay_log_of_an_old_server, lab)
    assert failing(records) == {"old_servers/relay/error"}
    assert {verdict.verdict for verdict in verdicts(records)} == {"differs"}


@pytest.mark.live
@pytest.mark.parametrize("fault", ROWS_FAULTS, ids=lambda fault: fault.id)
def test_other_rows_after_the_log_of_an_old_server_fail_the_check(
    lab: Lab, records: list[AnyRecord], monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    real = servers.read
    calls: list[Any] = []

    def doctored(*arguments: Any) -> servers.Rows:
        calls.append(real(*arguments))
        return fault.change(calls[-1]) if len(calls) == 2 else calls[-1]  # type: ignore[no-any-return]

    monkeypatch.setattr(servers, "read", doctored)
    with pytest.raises(pytest.fail.Exception, match="other rows after the log"):
        run(check.test_log_of_an_old_server, lab)
    assert failing(records) == {"old_servers/log"}


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
