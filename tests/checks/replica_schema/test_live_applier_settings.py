"""A8, A9, A10 and updates without a key on a real applier, with faults planted between it and the judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.replica_schema import check, check_ignored_errors, check_no_bytes, generate
from conformance.checks.replica_schema import run as replicas
from conformance.harness.profiles import SIZES
from conformance.servers.roles import applier_cases
from conformance.servers.roles import injector as inject
from conformance.servers.roles.applier import Applier, launch_applier
from conformance.servers.run.process import ProcessMaker, ProcessServer
from conformance.stream import Block, CaseVerdict
from generators.damaged_events import STORED
from generators.draw import Stream
from tests.checks.replica_schema.planted_damage import DAMAGE_FAULTS
from tests.checks.replica_schema.planted_schemas import IGNORED, SCHEMA_FAULTS, ZERO_LENGTH
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in_outcomes
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.injection import RowState
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection
    from tests.recorded import Recorded

pytestmark = pytest.mark.live

CHECKS = {
    "A8": check.test_replica_with_another_table,
    "FR2": check.test_updates_without_a_key,
    "A9": check_no_bytes.test_json_values_of_no_bytes,
    "A10": check_ignored_errors.test_missing_rows_in_idempotent_mode,
}


@pytest.fixture(scope="module")
def target(installation: Installation) -> Iterator[OwnServer]:
    with launch_applier(ProcessMaker(installation)) as running:
        yield running


@pytest.fixture
def found(recorded: Recorded, target: OwnServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """A lab on the tests' servers, with few Cases."""
    sizes = {
        "replica_schema/other-table": 16,
        "replica_schema/no-key": 16,
        "replica_schema/zero-length": 20,
        "replica_schema/idempotent/one-in": 40,
        "replica_schema/skip-errors/one-in": 40,
        "replica_schema/idempotent-damage/one-in": 20,
        "replica_schema/skip-errors/damage/one-in": 20,
        "replica_schema/skip-damage/one-in": 20,
    }
    for name, size in sizes.items():
        monkeypatch.setitem(SIZES[name], "quick", size)
    recorded.lab._applier = Applier(target)
    yield recorded
    recorded.lab._applier.hang_up()


def test_the_items_pass_on_a_server_that_is_right(found: Recorded) -> None:
    added = (
        check_ignored_errors.test_skipped_errors,
        check_ignored_errors.test_damaged_events_in_idempotent_mode,
        check_ignored_errors.test_skipped_damage,
    )
    for item in (*CHECKS.values(), *added):
        run(item, found.lab)
    assert {block.check for block in found.of(Block)} == {
        "replica_schema/other-table",
        "replica_schema/no-key",
        "replica_schema/zero-length",
        "replica_schema/zero-length/sql",
        "replica_schema/idempotent",
        "replica_schema/idempotent-damage",
        "replica_schema/skip-errors",
        "replica_schema/skip-errors/damage",
        "replica_schema/skip-damage",
    }
    assert found.of(CaseVerdict) == []
    assert found.exit_code == 0
    assert found.lab._applier is not None
    assert found.lab._applier.session().variable("global.replica_exec_mode") == "STRICT"


@pytest.mark.sampled(4)
@each(SCHEMA_FAULTS)
def test_a_fault_on_another_table_fails_its_item(
    found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant_in_outcomes(monkeypatch, replicas, "apply", fault)
    found.catches(fault, CHECKS[fault.requirement])


@each([*ZERO_LENGTH, *IGNORED])
def test_a_fault_of_an_applier_fails_its_item(found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_in_outcomes(monkeypatch, applier_cases, "apply_transactions", fault)
    found.catches(fault, CHECKS[fault.requirement])


@pytest.mark.sampled(3)
@pytest.mark.planted("SC5")
@each(DAMAGE_FAULTS)
def test_a_fault_of_an_applier_that_meets_damage_fails_its_item(
    found: Recorded, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(case: ApplierTransaction, outcome: ApplierOutcome) -> ApplierOutcome | None:
        return fault.change(case, outcome) if case.rows[0].stored == STORED else None

    plant_in_outcomes(monkeypatch, applier_cases, "apply_transactions", replace(fault, change=damaged))
    found.catches(fault, fault.at)


@pytest.mark.planted("A9")
@pytest.mark.parametrize("size", [1, 2])
def test_a_null_that_gets_bytes_is_noticed(found: Recorded, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def doctored(session: Connection, query: str, *, most: int) -> list[RowState | None]:
        states = inject.read_states(session, query, most=most)
        return [*states[:-1], None if states[-1] is None else replace(states[-1], size=size)]

    monkeypatch.setattr(check_no_bytes, "read_states", doctored)
    fault = Fault("null", "A9", "A JSON null of no bytes has the size 0.", doctored, "differs")
    found.catches(fault, check_no_bytes.test_json_values_of_no_bytes)


@pytest.mark.planted("A10")
@pytest.mark.parametrize("option", [None, "1032"])
def test_a_server_that_ignores_other_errors_is_noticed(
    found: Recorded, option: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(maker: ProcessMaker, *, options: dict[str, str | None], **rest: Any) -> OwnServer:
        given = {name: value for name, value in options.items() if name != "replica-skip-errors"}
        if option is not None:
            given["replica-skip-errors"] = option
        return launch_applier(maker, options=given, **rest)

    monkeypatch.setattr(check_ignored_errors, "launch_applier", other)
    assert not found.passes(check_ignored_errors.test_skipped_errors)
    assert {verdict.requirement for verdict in found.of(CaseVerdict)} == {"A10"}
    assert found.exit_code == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["fewer", "other type"])
def test_a_script_shows_a_case_again(target: OwnServer, kind: str) -> None:
    made = (generate.other_table(Stream("script", number), "s") for number in range(50))
    case = next(case for case in made if case.kind == kind)
    with target.connect() as session:
        session.execute("STOP REPLICA SQL_THREAD")
        session.execute("RESET REPLICA ALL")
        assert isinstance(target, ProcessServer)  # files are removed by hand
        for name in ("lab-relay.000001", "lab-relay.index"):
            (target.data_directory / name).unlink(missing_ok=True)
        shown = [session.execute(statement).texts() for statement in replicas.script(case, target.version)]
        errors = [int(rows[0][0] or 0) for rows in shown if rows and len(rows[0]) == 2]
        assert errors == ([13146] if case.number else [])
        rows = session.execute(f"SELECT COUNT(*) FROM binlog_lab_injection.s WHERE id <= {len(case.rows)}")
        assert int(rows.scalar() or 0) == len(case.rows)
