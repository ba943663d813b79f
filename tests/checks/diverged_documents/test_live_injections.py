"""Injection into a real server, and the check items of FR5 with faults planted between the server and the judge."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import Injection, InjectionOutcome, partial_image, state_of
from conformance.cases.files import load_any_case
from conformance.checks.deviations import check as test_deviations
from conformance.checks.diverged_documents import check
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.servers.errors import ConnectionLost
from conformance.servers.roles import injector as roles
from conformance.servers.roles.injector import Injector, crash_signature, launch_target, script
from conformance.servers.run.owned import OwnServer
from conformance.servers.run.process import ProcessMaker
from conformance.stream import Block, CaseVerdict, Finding
from conformance.verdict import Verdict
from generators import diverged
from tests.checks.diverged_documents.planted_injections import FAULTS
from tests.faults.runner import each, plant_in_outcomes
from tests.live import until
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.requirements.deviations import Deviation
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault
    from tests.recorded import Recorded

pytestmark = pytest.mark.live

IMAGE = partial_image(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)]))
FITS, OTHER = encode({"a": 1}), encode([])
MATRIX = {item.name: item for item in diverged.matrix()}
# Small, and yet every fault shows on one of them.
SAMPLE = [
    MATRIX[name]
    for name in (
        "replace-a/source",
        "replace-a/array",
        "replace-a/sql-null",
        "empty/sql-null",
        "unchanging-in-place/source",
    )
]


@pytest.fixture(scope="module")
def target(installation: Installation) -> Iterator[OwnServer]:
    with launch_target(ProcessMaker(installation)) as running:
        yield running
        running.keep = False  # whatever a crash here was made for


@pytest.fixture
def injector(target: OwnServer) -> Iterator[Injector]:
    injector = Injector(target)
    yield injector
    injector.hang_up()


@pytest.fixture
def found(recorded: Recorded, injector: Injector, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """A lab on the tests' servers with a small matrix and nothing generated."""
    monkeypatch.setattr(diverged, "matrix", lambda: iter(SAMPLE))
    monkeypatch.setitem(SIZES["diverged_documents/statements"], "quick", 0)
    monkeypatch.setitem(SIZES["diverged_documents/damaged"], "quick", 0)
    recorded.lab._injector = injector
    return recorded


def die(server: OwnServer) -> None:
    """As at a crash of its own; the report is written when this returns."""
    os.kill(server.pid, signal.SIGSEGV)
    while server.alive():
        time.sleep(0.01)


# --- the injector ----------------------------------------------------------------------------------------------------


def test_outcomes_are_read_in_the_transaction_and_nothing_stays(injector: Injector) -> None:
    cases = [
        Injection(name="fits", stored=FITS, image=IMAGE),
        Injection(name="other", stored=OTHER, image=IMAGE),
        Injection(name="null", stored=None, image=IMAGE),
        Injection(name="no row", stored=FITS, image=IMAGE, row_exists=False),
        Injection(name="fits", stored=FITS, image=IMAGE),
    ]
    outcomes = list(injector.run(cases))
    assert [outcome.error for outcome in outcomes] == [0, 3648, 3648, 1032, 0]
    assert outcomes[0] == outcomes[4] == InjectionOutcome(before=state_of(FITS), after=state_of(encode({"a": 2})))
    assert outcomes[1].before == outcomes[1].after == state_of(OTHER)
    assert outcomes[2].after == state_of(None)
    assert outcomes[3].after is None
    assert injector.deaths == 0


def test_a_server_that_writes_the_report_of_its_crash_is_dying(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the report takes longer than a server may take to be gone."""
    monkeypatch.setattr(roles, "_PATIENCE", -1.0)
    with launch_target(ProcessMaker(installation)) as server:
        server.keep = False
        injector = Injector(server)
        os.kill(server.pid, signal.SIGSEGV)
        assert until(lambda: "got signal 11" in server.error_log())
        assert injector.lost(ConnectionLost("a session"), None).death.startswith("signal 11")


def test_a_script_shows_an_injection_again(target: OwnServer) -> None:
    case = Injection(name="", stored=FITS, image=IMAGE)
    with target.connect() as session:
        session.execute("DROP SCHEMA IF EXISTS binlog_lab_injection")
        *before, last = script(case, target.version)
        for statement in before:
            session.execute(statement)
        result = session.execute(last)
        assert result.rows[0][2] == b'{"a": 2}'


def test_a_server_that_dies_is_an_outcome_and_the_rest_goes_on(
    injector: Injector, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, count = Injector._inject, [0]

    def kill_at_the_second(self: Injector, row: int, image: bytes, before: Any) -> InjectionOutcome:
        count[0] += 1
        if count[0] == 2:
            die(self.server)
        return original(self, row, image, before)

    monkeypatch.setattr(Injector, "_inject", kill_at_the_second)
    outcomes = list(injector.run([Injection(name="", stored=FITS, image=IMAGE)] * 4))
    assert [bool(outcome.death) for outcome in outcomes] == [False, True, False, False]
    assert outcomes[1].death.startswith("signal 11")
    assert outcomes[0] == outcomes[2] == outcomes[3]
    assert injector.deaths == 1


# --- the items -------------------------------------------------------------------------------------------------------


def test_the_items_pass_on_a_server_that_is_right(found: Recorded) -> None:
    lab = found.lab
    run(check.test_diverged_documents, lab)
    run(check.test_damaged_events, lab)
    blocks = {block.check: block for block in found.of(Block)}
    assert blocks["diverged_documents/statements"].cases == len(SAMPLE)
    assert blocks["diverged_documents/damaged"].deviations.keys() == {"invalid-text-in-diffs", "full-values-unread"}
    assert found.of(Finding) == []
    assert found.exit_code == 0


@pytest.mark.sampled(6)
@each(FAULTS)
def test_a_planted_fault_fails_its_item(found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_in_outcomes(monkeypatch, Injector, "run", fault)
    found.catches(fault, check.test_damaged_events if fault.id == "damage-applied" else check.test_diverged_documents)


def test_a_death_keeps_case_log_and_data(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = found.lab
    original = Injector._inject

    def kill(self: Injector, row: int, image: bytes, before: Any) -> InjectionOutcome:
        if before is not None and before.text == b"[1, 2]":
            die(self.server)
        return original(self, row, image, before)

    monkeypatch.setattr(Injector, "_inject", kill)
    with pytest.raises(pytest.fail.Exception, match="1 failed"):
        run(check.test_diverged_documents, lab)
    (verdict,) = found.of(CaseVerdict)
    assert verdict.verdict is Verdict.CRASH
    assert (verdict.got or "").startswith("signal 11")
    (block,) = found.of(Block)
    assert (block.cases, block.verdicts) == (len(SAMPLE), {"pass": len(SAMPLE) - 1, "crash": 1})
    assert lab.settings.cases is not None
    (log,) = lab.settings.cases.glob("crash-*.error.log")
    assert isinstance(lab.server, OwnServer)
    assert crash_signature(log.read_text("utf-8"), lab.server.program_file) == verdict.got
    (data,) = lab.settings.cases.glob("crash-*.data")
    assert (data / "mysql.ibd").exists()
    case = load_any_case(json.loads((lab.settings.cases / f"{verdict.case}.json").read_text("utf-8")))
    assert isinstance(case, EventCase)
    assert case.injection in SAMPLE
    assert any("BINLOG" in statement for statement in verdict.statements)


def _events(lab: Lab) -> tuple[Deviation, ...]:
    return tuple(item for item in lab.deviations if item.id in ("invalid-text-in-diffs", "full-values-unread"))


def test_witnesses_that_are_events_show_their_deviation(found: Recorded) -> None:
    lab = found.lab
    lab.deviations = _events(lab)
    run(test_deviations.test_witnesses, lab)
    assert [block.deviations for block in found.of(Block)] == [{item.id: 1} for item in lab.deviations]


def test_a_deviation_that_is_gone_is_an_unexpected_pass(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = found.lab
    lab.deviations = _events(lab)
    refused = Injector.run

    def mended(self: Injector, injections: Sequence[Injection]) -> Iterator[InjectionOutcome]:
        return (replace(item, error=3649, after=item.before) for item in refused(self, injections))

    monkeypatch.setattr(Injector, "run", mended)
    with pytest.raises(pytest.fail.Exception, match=r"invalid-text-in-diffs: .*full-values-unread: "):
        run(test_deviations.test_witnesses, lab)
    assert found.exit_code == 1


def test_without_the_list_of_deviations_they_are_failures(server: ProcessServer, found: Recorded) -> None:
    lab = found.lab
    lab.deviations = ()
    with pytest.raises(pytest.fail.Exception):
        run(check.test_damaged_events, lab)
    assert {verdict.verdict for verdict in found.of(CaseVerdict)} == {Verdict.FAIL}
    assert found.exit_code == 1
    assert replace(lab.settings, deviations=False).deviations is False


def test_a_server_at_an_address_is_left_alone(found: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = found.lab
    monkeypatch.setattr(Lab, "injector", lambda _: None)
    run(check.test_diverged_documents, lab)
    (verdict,) = found.of(CaseVerdict)
    assert verdict.verdict is Verdict.NOT_APPLICABLE
