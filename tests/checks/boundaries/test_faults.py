"""The checks of transaction boundaries: each planted fault fails the check of its requirement."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.boundaries import broken_streams, marked_files, transactions
from conformance.checks.boundaries import check as test_boundaries
from conformance.checks.boundaries import check_broken_streams as test_broken_boundaries
from conformance.checks.boundaries import judge as boundaries
from conformance.harness import session as labs
from conformance.harness.profiles import SIZES
from conformance.reference.boundaries import unmarked
from conformance.reference.boundaries.markers import mark
from conformance.reference.boundaries.reader import GroupKind, read_groups
from conformance.reference.event_types import EventType
from conformance.servers.roles.receiver import ReceiverTarget, launch_receiver, warnings_in
from conformance.servers.run.process import ProcessMaker
from conformance.servers.wire.capture import Capture
from conformance.stream import Block, CaseVerdict
from conformance.verdict import Verdict
from generators.draw import Stream
from tests import running
from tests.checks.boundaries.faults_of_boundaries import (
    BINLOG_FAULTS,
    FORMAT_FAULTS,
    GTID_FAULTS,
    MARK_FAULTS,
    OWN_MARK_FAULTS,
    ROW_FORMAT_FAULTS,
    STREAM_FAULTS,
    TABLE_FAULTS,
    TEXT_FAULTS,
    WARNING_FAULTS,
    marking,
)
from tests.faults.runner import each, plant_in
from tests.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault

KINDS = ("rows", "ddl", "statement-intvar")
SMALL = {
    "boundaries/real/dumps": 1,
    "boundaries/marked": 1,
    "boundaries/receiver": 1,
    "boundaries/receiver/transactions": 60,
    "boundaries/row-format": 10,
}


@pytest.fixture(scope="module")
def target(installation: Installation) -> Iterator[ReceiverTarget]:
    with ReceiverTarget(launch_receiver(ProcessMaker(installation))) as running:
        yield running


@pytest.fixture
def found(recorded: Recorded, target: ReceiverTarget, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A lab with the tests' servers, and small checks."""
    monkeypatch.setattr(transactions, "KINDS", {kind: transactions.KINDS[kind] for kind in KINDS})
    monkeypatch.setattr(test_boundaries, "_MARKED_KINDS", (*KINDS, "rows"))
    monkeypatch.setattr(test_boundaries, "_MODES", {"OFF": ("OFF", "AUTOMATIC")})
    for check, size in SMALL.items():
        monkeypatch.setitem(SIZES[check], "quick", size)
    recorded.lab._receiver = target
    return recorded


@pytest.fixture
def offline(tmp_path: Path) -> Recorded:
    return Recorded.of_settings(server="none", cases=tmp_path)


@pytest.mark.live
def test_a_real_server_passes_every_check(
    found: Recorded, server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setitem(SIZES["boundaries/real"], "quick", 1)
    running.run(test_boundaries.test_real_transactions_of_every_kind, found.lab)
    running.run(test_boundaries.test_marked_files_are_printed_and_applied, found.lab)
    running.run(test_broken_boundaries.test_warnings_of_a_receiver, found.lab)
    running.run(test_broken_boundaries.test_what_is_not_row_format_ends_the_client, found.lab)
    (said,) = found.of(CaseVerdict)
    assert (said.requirement, said.verdict) == ("TF1", Verdict.NOT_APPLICABLE)
    assert "no released server writes any" in said.message
    judged = {name for record in found.of(Block) for name in record.requirements}
    of_the_table = {"TD1", "TD2", "TD3", "TD4", "TD5", "TS1", "TS2"}
    assert judged == {"TF1", "TL1", "TF2", "TF3", "TN1", "TN2", "TP1", "TP2", "TP3", *of_the_table}


@pytest.mark.live
@each([*MARK_FAULTS, *FORMAT_FAULTS, *GTID_FAULTS])
def test_wrong_marks_are_noticed(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    plant_in(monkeypatch, boundaries, "mark_events", fault.change)
    monkeypatch.setattr(test_boundaries, "_hear_marked", lambda *_: 0)
    found.fails(test_boundaries.test_real_transactions_of_every_kind, "failed: ")
    assert fault.requirement in found.red


@pytest.mark.live
def test_a_server_that_marks_as_the_worklog_says_is_accepted(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    marking(monkeypatch, lambda events: events)
    running.run(test_boundaries.test_real_transactions_of_every_kind, found.lab)
    assert found.of(CaseVerdict) == []
    (own,) = [record for record in found.of(Block) if record.requirements == ("TF1",)]
    assert own.cases > len(KINDS)
    assert own.verdicts == {"pass": own.cases}


@pytest.mark.live
@each(OWN_MARK_FAULTS)
def test_a_server_that_marks_otherwise_is_refused(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    marking(monkeypatch, fault.change)
    monkeypatch.setattr(test_boundaries, "_MODES", {"ON": ("ON", "AUTOMATIC")})
    found.fails(test_boundaries.test_real_transactions_of_every_kind, "failed: ")
    assert found.red == {"TF1"}, "the kit's own marks do not come from the server's"


@each(OWN_MARK_FAULTS)
def test_wrong_marks_of_a_recorded_log_are_noticed(fault: Fault) -> None:
    data = (Path(__file__).parents[2] / "data/binlogs/13-statement-format.binlog").read_bytes()
    data += (Path(__file__).parents[2] / "data/binlogs/05-partial-multi-json-minimal.binlog").read_bytes()[4:]
    marked = boundaries.mark_events(list(boundaries.split_log(data)))
    groups = len(boundaries.transactions_of(boundaries.without_marks(marked)))
    assert boundaries.has_marks(marked)
    assert not boundaries.has_marks(boundaries.without_marks(marked))
    assert boundaries.judge_own_marks(marked, groups, "coin") == []
    problems = boundaries.judge_own_marks(fault.change(marked), groups, "coin")
    assert problems
    assert {problem.message for problem in problems} == {"the server marks an event otherwise than the worklog's table"}


@pytest.mark.live
@each(STREAM_FAULTS)
def test_a_broken_log_of_the_server_is_noticed(found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    plant_in(monkeypatch, Capture, "since", lambda it: replace(it, events=tuple(fault.change(list(it.events)))))
    monkeypatch.setattr(test_boundaries, "_artificial", lambda *_: 0)
    monkeypatch.setattr(test_boundaries, "_hears_without_warning", lambda *_: True)
    monkeypatch.setattr(test_boundaries, "_hear_marked", lambda *_: 0)
    found.fails(test_boundaries.test_real_transactions_of_every_kind, "failed: ")
    assert fault.requirement in found.red


@pytest.mark.live
@each([*TEXT_FAULTS, *BINLOG_FAULTS])
def test_markers_that_are_not_printed_are_noticed(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    if fault in TEXT_FAULTS:
        plant_in(monkeypatch, marked_files, "text_of", fault.change)
    else:
        client_output = marked_files.client_output

        def changed(program: Any, path: Any, *options: str) -> Any:
            status, text, words = client_output(program, path, *options)
            return status, fault.change(text) if "--skip-gtids" in options else text, words

        monkeypatch.setattr(marked_files, "client_output", changed)
    found.fails(test_boundaries.test_marked_files_are_printed_and_applied, "failed: ")
    assert found.red == {fault.requirement}


@pytest.mark.live
@each(WARNING_FAULTS)
def test_other_warnings_of_a_receiver_are_noticed(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, ReceiverTarget, "hear", lambda it: it._replace(warnings=fault.change(it.warnings)))
    found.fails(test_broken_boundaries.test_warnings_of_a_receiver, "failed: ")
    assert found.red == {fault.requirement}


@pytest.mark.live
@each(ROW_FORMAT_FAULTS)
def test_a_client_that_ends_elsewhere_is_noticed(
    found: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    plant_in(monkeypatch, broken_streams, "run_row_format", lambda it: it._replace(refused=fault.change(it.refused)))
    found.fails(test_broken_boundaries.test_what_is_not_row_format_ends_the_client, "ends elsewhere")
    assert found.red == {fault.requirement}


@each(TABLE_FAULTS)
def test_another_transition_table_is_noticed(offline: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    monkeypatch.setattr(unmarked, "BoundaryParser", fault.change(None))
    offline.fails(test_broken_boundaries.test_corrupted_markers, "other events are told")
    assert offline.red == {fault.requirement}


def test_the_worklogs_table_itself_passes_without_a_server(offline: Recorded) -> None:
    said: list[str] = []
    offline.lab.narrate = said.append
    running.run(test_broken_boundaries.test_corrupted_markers, offline.lab)
    assert offline.of(CaseVerdict) == []
    assert [line for line in said if "corruptions are invalid" in line]


# --- what the judges stand on ----------------------------------------------------------------------------------------


def test_errors_are_told_at_exactly_these_events_by_the_grammar() -> None:
    for markers, expected in (
        ("345", []),
        ("2212345", []),
        ("344", []),
        ("3453", []),
        ("45", [0, 1]),
        ("3244515", [1, 2, 3, 4, 6]),
        ("3345", [1, 2, 3]),
        ("355", [2]),
        ("3657", [1, 2, 3]),
    ):
        assert boundaries.expected_breaks([int(marker) for marker in markers]) == expected


def test_sets_of_gtids_are_taken_apart() -> None:
    uuid, other = "6d31aba5-e4a6-11f1-9d7e-02fc00000001", "11111111-2222-3333-4444-555555555555"
    text = f"{uuid}:1-3:7:lab:1-2,\n{other}:x_1:5"
    names = {f"{uuid}:{number}" for number in (1, 2, 3, 7)} | {f"{uuid}:lab:1", f"{uuid}:lab:2", f"{other}:x_1:5"}
    assert test_boundaries.single_gtids(text) == names
    assert test_boundaries.single_gtids("") == frozenset()


def test_warnings_are_read_from_an_error_log() -> None:
    log = """\
2026-11-20T13:47:14.1Z 11 [System] [MY-014001] [Repl] Replica receiver thread for channel '': connected
2026-11-20T13:47:14.1Z 11 [Warning] [MY-010445] [Repl] An XID is not expected in an event stream outside a transaction.
2026-11-20T13:47:14.1Z 11 [Warning] [MY-010590] [Repl] Unexpected: 'made.000001' binary log file, at position 397.
2026-11-20T13:47:14.1Z 11 [Warning] [MY-010590] [Repl] Unexpected: 'made.000002' binary log file, at position 4.
"""
    found = warnings_in(log.splitlines())
    assert [(item.code, item.file, item.position) for item in found] == [
        (10445, "made.000001", 397),
        (0, "made.000002", 4),
    ]
    assert "outside a transaction" in found[0].words
    assert not found[1].words


def test_corruptions_are_of_every_kind_and_some_are_valid() -> None:
    kinds = set()
    valid = 0
    events = test_broken_boundaries.marked_stream(Stream("t"))
    for number in range(200):
        what, stream = test_broken_boundaries.corrupted(Stream("t", number), events)
        kinds |= set(what.split(", "))
        valid += not boundaries.expected_breaks(boundaries.markers_of(stream))
    assert len(kinds) == 6
    assert 0 < valid < 200


def test_a_relay_log_without_an_event_or_without_a_transaction_is_noticed() -> None:
    data = (Path(__file__).parents[2] / "data/binlogs/20-relay-log.binlog").read_bytes()
    events = list(boundaries.split_log(data))
    gtids = [group.gtid for group in read_groups(BytesIO(data), relay=True) if group.kind is not GroupKind.FRAME]
    assert boundaries.judge_relay_logs([data], gtids) == []
    xid = next(number for number, event in enumerate(events) if event[4] == EventType.XID)
    for changed in (events[:xid] + events[xid + 1 :], events[: xid + 1]):
        assert boundaries.judge_relay_logs([data[:4] + b"".join(changed)], gtids)


def test_a_relay_log_that_is_cut_off_anywhere_is_noticed() -> None:
    data = (Path(__file__).parents[2] / "data/binlogs/20-relay-log.binlog").read_bytes()
    gtids = [group.gtid for group in read_groups(BytesIO(data), relay=True) if group.kind is not GroupKind.FRAME]
    assert all(boundaries.judge_relay_logs([data[:end]], gtids) for end in range(4, len(data)))


@pytest.mark.live
def test_a_relay_log_that_drops_markers_is_noticed(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(heard: Any) -> Any:
        bare = [
            data[:4] + b"".join(mark(event, 0) for event in boundaries.split_log(data)) for data in heard.relay_logs
        ]
        return heard._replace(relay_logs=bare)

    plant_in(monkeypatch, ReceiverTarget, "hear", changed)
    found.fails(test_boundaries.test_real_transactions_of_every_kind, "failed: ")
    assert found.red == {"TL1"}
