"""The check on relay logs without a server: what is listed is matched, what only resembles it is a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import pytest

from conformance.checks.relay_logs import check as relay_logs
from conformance.harness import injections
from conformance.judge.damage.relay_logs import damage_of_relay_log
from conformance.requirements.crashes import (
    GTID_IN_TRANSACTION,
    GTID_TWICE,
    PAYLOAD_UNDESCRIBED,
    ROWS_QUERY_OUTSIDE,
    TRANSACTION_CONTEXT,
)
from conformance.servers.roles.relay_log_applier import LogEnd
from conformance.stream import Block, CaseVerdict, Notice
from tests.checks.diverged_documents.faults_of_crashes import BUILD
from tests.checks.diverged_documents.test_object_entry_faults import FakeServer, on_fake
from tests.faults.fault import Fault
from tests.faults.runner import Faulty, each

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.recorded import Recorded

# As 9.7.4-2 of Debian for amd64 reported them; the last is one of many places.
DEATHS: Final = {
    PAYLOAD_UNDESCRIBED: "signal 11 in mysql::binlog::event::Log_event_header::Log_event_header"
    " < mysql::binlog::event::Binary_log_event::Binary_log_event"
    " < mysql::binlog::event::Format_description_event::Format_description_event"
    f" < Format_description_log_event::Format_description_log_event {BUILD}",
    GTID_IN_TRANSACTION: "signal 11 in Gtid_specification::to_string < Slave_worker::do_report"
    f" < Slave_reporting_capability::report < Gtid_log_event::do_apply_event {BUILD}",
    GTID_TWICE: "signal 11 in Slave_worker::commit_positions < Slave_worker::slave_worker_ends_group"
    f" < slave_worker_exec_job_group {BUILD}",
    ROWS_QUERY_OUTSIDE: f"signal 11 in MDL_ticket::create < MDL_context::try_acquire_lock_impl {BUILD}",
}
ITEM: Final = relay_logs.test_relay_logs_in_an_order_that_no_source_writes
SOUND: Final = 20  # logs of a quick run
LISTED: Final = {
    "replica-crash-at-payload-undescribed",
    "replica-crash-at-gtid-in-transaction",
    "replica-crash-at-gtid-twice",
    "replica-crash-at-rows-query-outside",
}


class FakeReader:
    """Answers as a function says, which is told how often this server got a log."""

    def __init__(self, server: FakeServer, answer: Callable[[str, int], LogEnd]) -> None:
        self.server = server
        self.answer = answer
        self.given = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.retire()

    def read(self, data: bytes, _: object) -> LogEnd:
        self.given += 1
        return self.answer(damage_of_relay_log(data), self.given)

    def retire(self) -> None:
        self.given = 0


def as_released(damage: str, given: int) -> LogEnd:
    """9.7.4: where memory is damaged, the next log but one shows it."""
    if not damage or (damage == ROWS_QUERY_OUTSIDE and given < 3):
        return LogEnd()
    return LogEnd(death=DEATHS[damage])


def lab(
    tmp_path: Path,
    patch: pytest.MonkeyPatch,
    answer: Callable[[str, int], LogEnd],
    *,
    number: tuple[int, int, int] = (9, 7, 4),
    profile: str = "quick",
) -> Recorded:
    """A session whose replicas answer so."""
    found, server = on_fake(tmp_path, number, profile=profile)
    server.installation = None  # type: ignore[assignment]
    patch.setattr(relay_logs, "LogReader", lambda _: FakeReader(server, answer))
    patch.setattr(injections, "_on_fresh", lambda _, again: again(server))
    return found


def test_a_replica_that_shows_what_is_listed_deviates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(tmp_path, monkeypatch, as_released)
    assert found.passes(ITEM)
    (block,) = found.of(Block)
    assert (block.requirements, block.cases, block.failures) == (("RL1",), len(LISTED) + SOUND, 0)
    assert block.verdicts == {"pass": SOUND}
    assert block.deviations == dict.fromkeys(LISTED, 1)
    assert found.exit_code == 0
    assert len(list((tmp_path / "cases").glob("log-*.sql"))) == len(LISTED)


@pytest.mark.parametrize(("lives", "shown"), [(8, True), (9, False)])
def test_an_order_whose_end_is_chance_gets_eight_logs_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lives: int, shown: bool
) -> None:
    """Release 8.0.45 survived 3 of 14 such logs."""
    met = 0

    def by_chance(damage: str, given: int) -> LogEnd:
        nonlocal met
        met += damage == PAYLOAD_UNDESCRIBED
        return LogEnd() if damage == PAYLOAD_UNDESCRIBED and met <= lives else as_released(damage, given)

    found = lab(tmp_path, monkeypatch, by_chance)
    assert found.passes(ITEM) is shown
    (block,) = [record for record in found.of(Block) if record.check == "relay_logs/orders"]
    assert (block.cases, block.verdicts) == (len(LISTED) + SOUND + 8, {"pass": SOUND + min(lives, 9)})
    assert found.exit_code == int(not shown)


def test_a_full_run_gives_logs_that_kill_by_chance_and_does_not_ask_for_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lives_at_chance(damage: str, given: int) -> LogEnd:
        return LogEnd(waits=True) if damage == TRANSACTION_CONTEXT else as_released(damage, given)

    found = lab(tmp_path, monkeypatch, lives_at_chance, profile="full")
    assert found.passes(ITEM)
    (block,) = found.of(Block)
    assert (block.cases, block.verdicts) == (50 + 10 * SOUND, {"pass": 10 + 10 * SOUND})


def test_a_replica_without_the_deviations_is_an_unexpected_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = lab(tmp_path, monkeypatch, lambda *_: LogEnd(error=13121))
    assert not found.passes(ITEM)
    assert {verdict.case for verdict in found.of(CaseVerdict)} == LISTED
    assert found.exit_code == 1


def test_on_a_version_that_was_not_observed_an_end_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = lab(tmp_path, monkeypatch, as_released, number=(10, 1, 0))
    assert not found.passes(ITEM)
    assert {str(verdict.verdict) for verdict in found.of(CaseVerdict)} == {"crash"}


def _at(damage: str, end: LogEnd) -> Callable[[str, int, LogEnd], LogEnd | None]:
    """Another end than that of 9.7.4 at one damage."""
    return lambda met, *_: end if met == damage else None


_SENTENCE: Final = "A listed end is known by its signature alone."
FAULTS: Final = (
    Fault("other-place", "RL1", _SENTENCE, _at(PAYLOAD_UNDESCRIBED, LogEnd(death=DEATHS[GTID_IN_TRANSACTION])),
          "crash"),
    Fault("other-signal", "RL1", _SENTENCE,
          _at(GTID_IN_TRANSACTION, LogEnd(death=DEATHS[GTID_IN_TRANSACTION].replace("11", "6", 1))), "crash"),
    Fault("no-stack", "RL1", _SENTENCE, _at(GTID_IN_TRANSACTION, LogEnd(death=f"signal 11: 0a1,b2c {BUILD}")), "crash"),
    Fault("no-report", "RL1", _SENTENCE, _at(PAYLOAD_UNDESCRIBED, LogEnd(death="no crash report")), "crash"),
    Fault("dies-at-sound-logs", "RL1", _SENTENCE, _at("", LogEnd(death=DEATHS[PAYLOAD_UNDESCRIBED])), "crash"),
    Fault("does-not-answer", "RL1", _SENTENCE, _at(ROWS_QUERY_OUTSIDE, LogEnd(silent=True)), "timeout"),
)  # fmt: skip


@each(FAULTS)
def test_a_fault_is_called_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    lab(tmp_path, monkeypatch, Faulty(fault, as_released)).catches(fault, ITEM)


@pytest.mark.planted("RL1")
@pytest.mark.parametrize(
    ("later", "red", "words"),
    [
        ([True, True, True], False, "4 of 4 servers died of it, 3 with a report"),
        ([False, False, True], False, "2 of 4 servers died of it, 1 with a report"),
        ([False, False, False], True, "1 of 4 servers died of it"),
    ],
    ids=["comes again", "comes again once", "comes never again"],
)
def test_a_listed_crash_whose_report_is_missing_is_tried_on_fresh_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: list[bool], red: bool, words: str
) -> None:
    """``later``: whether each of them dies, with its report."""
    asked = iter(["no crash report (exit status 1)", *(DEATHS[GTID_TWICE] if dies else "" for dies in later)])

    def once_without_report(damage: str, given: int) -> LogEnd:
        if damage != GTID_TWICE:
            return as_released(damage, given)
        return LogEnd(death=next(asked))

    found = lab(tmp_path, monkeypatch, once_without_report)
    assert found.passes(ITEM) is not red
    failing = found.unexplained
    assert [item.requirement for item in failing] == ["RL1"] * red
    told = [*(item.message for item in found.of(Notice)), *(item.message for item in failing)]
    assert len(told) == 1
    assert told[0].endswith(words)


@pytest.mark.planted("RL1")
def test_a_crash_at_another_place_stays_red_and_says_how_often_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where fresh servers die at the listed place."""
    ends = iter([DEATHS[GTID_IN_TRANSACTION], *[DEATHS[GTID_TWICE]] * 3])

    def doctored(damage: str, given: int) -> LogEnd:
        return LogEnd(death=next(ends)) if damage == GTID_TWICE else as_released(damage, given)

    found = lab(tmp_path, monkeypatch, doctored)
    assert not found.passes(ITEM)
    (failing,) = found.unexplained
    assert failing.message.endswith("4 of 4 servers died of it")
