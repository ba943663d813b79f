"""A real applier that reads a relay log written by hand, and its checks with faults planted before the judge (FR5)."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.by_hand.injection import SCHEMA, Injection, partial_image, state_of
from conformance.checks.diverged_documents import check_applier
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.judge.damage.applier import judge_transaction
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.servers.roles import applier_cases
from conformance.servers.roles.applier import Applier, Stop, launch_applier
from conformance.servers.roles.applier_cases import apply_transactions, transaction_script
from conformance.servers.run.process import ProcessMaker, ProcessServer
from conformance.stream import Block, CaseVerdict, Finding
from conformance.verdict import Verdict
from generators import applier_transactions, diverged
from generators.draw import Stream
from tests.checks.diverged_documents.planted_transactions import FAULTS, FRAME_FAULTS, faultless
from tests.faults.runner import each, plant_in_outcomes
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection
    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live

IMAGE = partial_image(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)]))
FITS, OTHER = encode({"a": 1}), encode([])
MATRIX = {item.name: item for item in diverged.matrix()}


def row(stored: bytes | None, image: bytes = IMAGE) -> Injection:
    return Injection(name="row", stored=stored, image=image)


GOOD = ApplierTransaction(rows=(row(FITS),))
STOPS = ApplierTransaction(rows=(row(OTHER),), repaired=(FITS,), beside=3)
MIDDLE = ApplierTransaction(rows=(row(FITS), row(OTHER), row(FITS)), repaired=(FITS, FITS, FITS))
DAMAGED = ApplierTransaction(rows=(row(FITS, b"\x09" + IMAGE[1:]),), beside=1)
GONE = ApplierTransaction(rows=(Injection(name="gone", stored=FITS, image=IMAGE, row_exists=False),), repaired=(FITS,))
NULL = ApplierTransaction(rows=(row(None, partial_image(b"")),))
SAMPLE = [GOOD, STOPS, DAMAGED, MIDDLE, GONE, NULL, GOOD]


@pytest.fixture(scope="module")
def target(installation: Installation) -> Iterator[OwnServer]:
    with launch_applier(ProcessMaker(installation)) as running:
        yield running
        running.keep = False  # whatever a crash here was made for


@pytest.fixture
def applier(target: OwnServer) -> Iterator[Applier]:
    applier = Applier(target)
    yield applier
    applier.hang_up()


@pytest.fixture
def found(recorded: Recorded, applier: Applier, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A lab on the tests' servers that feeds the sample, and nothing generated."""
    monkeypatch.setattr(applier_transactions, "matrix", lambda *_: iter(SAMPLE))
    monkeypatch.setitem(SIZES["diverged_documents/applier"], "quick", 0)
    recorded.lab._applier = applier
    return recorded


def die(server: OwnServer) -> None:
    """As at a crash of its own; the report is written when this returns."""
    os.kill(server.pid, signal.SIGSEGV)
    while server.alive():
        time.sleep(0.01)


# --- the applier -----------------------------------------------------------------------------------------------------


def test_outcomes_are_those_of_a_faultless_applier(applier: Applier) -> None:
    outcomes = apply_transactions(applier, SAMPLE)
    assert [outcome.error for outcome in outcomes] == [0, 3648, 1610, 3648, 1032, 0, 0]
    for case, outcome in zip(SAMPLE, outcomes, strict=True):
        expected = faultless(case)
        assert (outcome.stopped, outcome.before, outcome.after, outcome.committed) == (
            expected.stopped,
            expected.before,
            expected.after,
            expected.committed,
        )
        if expected.second_start is not None:
            assert outcome.second_start == expected.second_start
    assert outcomes[1].message
    assert outcomes[5].after == (state_of(encode(None)),)
    assert applier.deaths == 0


def test_it_can_be_started_again_a_hundred_times(applier: Applier) -> None:
    """Stop, repair, start, each with workers that wait for the one that fails: never an outcome of another kind."""
    cases = [ApplierTransaction(rows=(row(OTHER),), repaired=(FITS,), beside=number % 7) for number in range(100)]
    outcomes = apply_transactions(applier, cases)
    assert {judge_transaction(case, outcome).verdict for case, outcome in zip(cases, outcomes, strict=True)} == {
        Verdict.PASS
    }
    assert all(outcome.stopped and outcome.second_start and outcome.second_start.committed for outcome in outcomes)


def test_a_server_that_dies_is_an_outcome_and_the_rest_goes_on(
    applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, count = Applier._stop, [0]

    def kill_at_the_second(self: Applier, session: Connection, coordinator: int, message: str) -> Stop:
        count[0] += 1
        if count[0] == 2:
            die(self.server)
        return original(self, session, coordinator, message)

    monkeypatch.setattr(Applier, "_stop", kill_at_the_second)
    cases = [GOOD, STOPS, GOOD, STOPS, GOOD, STOPS]
    outcomes = apply_transactions(applier, cases)
    assert [bool(outcome.death) for outcome in outcomes] == [False, False, False, True, False, False]
    assert outcomes[3].death.startswith("signal 11")
    judged = [judge_transaction(case, outcome).verdict for case, outcome in zip(cases, outcomes, strict=True)]
    assert judged == [Verdict.PASS, Verdict.PASS, Verdict.PASS, Verdict.CRASH, Verdict.PASS, Verdict.PASS]
    assert applier.deaths == 1


def test_a_death_is_of_the_row_that_the_applier_was_at_not_of_the_last_one_seen(
    applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on between the last look at it and its end: from the first row to the sixth here, where it is held up."""
    cases = [GOOD] * 9
    feed_log, seen = Applier._feed, Applier._look
    last: list[int] = []
    with applier.server.connect() as other:

        def held_up(self: Applier, entries: Any, place: Any) -> None:
            if len(entries) == len(cases):
                other.execute("BEGIN")
                other.execute(f"SELECT id FROM {SCHEMA}.t WHERE id = 6 FOR UPDATE")
            feed_log(self, entries, place)

        def once(self: Applier, session: Connection, entries: Any, place: Any) -> tuple[int, bool]:
            reached = seen(self, session, entries, place)
            if len(entries) == len(cases) and not last:
                place.entry = entries[0]  # as if this look had been at the beginning
                while seen(self, session, entries, type(place)(entries[0]))[0] < 5:
                    time.sleep(0.001)
                last.append(place.entry.number)
                die(self.server)
            return reached

        monkeypatch.setattr(Applier, "_feed", held_up)
        monkeypatch.setattr(Applier, "_look", once)
        outcomes = apply_transactions(applier, cases)
    assert last == [1]
    assert [number for number, outcome in enumerate(outcomes, 1) if outcome.death] == [6]
    judged = [judge_transaction(case, outcome).verdict for case, outcome in zip(cases, outcomes, strict=True)]
    assert judged == [Verdict.CRASH if number == 6 else Verdict.PASS for number in range(1, 10)]
    assert applier.deaths == 1


def test_a_server_that_hangs_is_an_outcome_and_the_rest_goes_on(
    applier: Applier, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conformance.servers.roles import applier as module

    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    with applier.server.connect() as other:
        original = Applier._feed

        def locked(self: Applier, entries: Any, at: Any) -> None:
            if len(entries) == 3:
                other.execute(f"LOCK TABLES {SCHEMA}.t READ, {SCHEMA}.mark READ")
            original(self, entries, at)

        monkeypatch.setattr(Applier, "_feed", locked)
        outcomes = apply_transactions(applier, [GOOD, GOOD, STOPS])
    assert [outcome.silent for outcome in outcomes] == [True, False, False]
    assert not any(outcome.death for outcome in outcomes)
    assert judge_transaction(GOOD, outcomes[0]).verdict is Verdict.TIMEOUT
    assert judge_transaction(STOPS, outcomes[2]).verdict is Verdict.PASS


@pytest.mark.parametrize("case", [STOPS, MIDDLE, DAMAGED], ids=["stops", "middle", "damaged"])
def test_a_script_shows_a_case_again(target: OwnServer, case: ApplierTransaction) -> None:
    with target.connect() as session:
        session.execute(f"DROP SCHEMA IF EXISTS {SCHEMA}")
        session.execute("RESET REPLICA ALL")
        assert isinstance(target, ProcessServer)  # files are removed by hand
        for name in ("lab-relay.000001", "lab-relay.index"):
            (target.data_directory / name).unlink(missing_ok=True)
        shown = [session.execute(statement).texts() for statement in transaction_script(case, target.version)]
    errors = [int(rows[0][0] or 0) for rows in shown if rows and len(rows[0]) == 2]
    assert errors == [faultless(case).error]
    assert len(shown[-3]) == (case.repaired is not None) + case.beside + 1  # the log's own mark at its end
    expected = faultless(case).second_start
    assert expected is not None
    states = [rows for rows in shown if rows and len(rows[0]) == 5]
    assert [rows[0][2] for rows in states[-len(case.rows) :]] == [
        None if state is None or state.text is None else state.text.decode() for state in expected.after
    ]


# --- the items -------------------------------------------------------------------------------------------------------


def test_the_items_pass_on_a_server_that_is_right(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["diverged_documents/applier-damaged"], "quick", 20)
    run(check_applier.test_applier_and_diverged_documents, found.lab)
    monkeypatch.setitem(SIZES["diverged_documents/applier-files"], "quick", 12)
    run(check_applier.test_applier_and_damaged_events, found.lab)
    run(check_applier.test_applier_and_damaged_files, found.lab)
    blocks = {block.check: block for block in found.of(Block)}
    assert blocks["diverged_documents/applier"].cases == len(SAMPLE)
    assert blocks["diverged_documents/applier-files"].verdicts == {"pass": 12}
    assert blocks["diverged_documents/applier-damaged"].deviations.keys() == {
        "invalid-text-in-diffs",
        "full-values-unread",
    }
    assert found.of(Finding) == []
    assert found.exit_code == 0


@pytest.mark.sampled(7)
@each(FAULTS)
def test_a_planted_fault_fails_its_item(found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_in_outcomes(monkeypatch, applier_cases, "apply_transactions", fault)
    found.catches(fault, check_applier.test_applier_and_diverged_documents)


def test_a_server_at_an_address_is_left_alone(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lab, "applier", lambda _: None)
    run(check_applier.test_applier_and_diverged_documents, found.lab)
    assert [str(verdict.verdict) for verdict in found.of(CaseVerdict)] == ["not-applicable"]


def test_generated_groups_pass(applier: Applier) -> None:
    cases = applier_transactions.group(Stream("live-applier", 1))
    judged = [
        judge_transaction(case, outcome)
        for case, outcome in zip(cases, apply_transactions(applier, cases), strict=True)
    ]
    assert {item.verdict for item in judged} == {Verdict.PASS}


@each(FRAME_FAULTS)
def test_a_fault_with_a_damaged_file_fails_its_item(
    found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIZES["diverged_documents/applier-files"], "quick", 4)
    plant_in_outcomes(monkeypatch, applier_cases, "apply_damaged_frames", fault)
    found.catches(fault, check_applier.test_applier_and_damaged_files)
    (block,) = found.of(Block)
    assert block.failures == 4
