"""What an applier does where the replica is not like its source: another table (A8), JSON values of no bytes (A9),
errors that it was told to ignore (A10), and tables without a key (FR2). Damaged events under the same settings: refused
in IDEMPOTENT mode as in STRICT (FR5; STRICT itself is ``test_applier``), and passed over only where exactly their error
is ignored (A10).

The transactions come from a hand-written relay log, as in ``test_applier``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.injection import SCHEMA, RowState
from conformance.checks.diverged.check_applier import applier_of
from conformance.checks.replica_schema import generate
from conformance.harness.injections import Tried, judged_replica_schema, judged_transaction, record
from conformance.judge.damage.diverged import Judged, show
from conformance.servers.roles import applier_cases, replica_schema
from conformance.servers.roles.applier import Applier, launch_applier
from conformance.servers.roles.injector import STATE, read_states
from conformance.stream import Verdict
from generators import applier_transactions
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.by_hand.applier_transaction import ApplierTransaction
    from conformance.cases.by_hand.replica_schema import ReplicaSchema
    from conformance.harness.lab import Lab
    from generators.draw import Draw

_TABLES = {"quick": 55, "full": 1_000, "soak": 5_000}
_NO_KEY = {"quick": 25, "full": 400, "soak": 5_000}  # of the many Cases of FR2
_VALUES = {"quick": 60, "full": 1_200, "soak": 10_000}
_PART = {"quick": 20, "full": 1, "soak": 1}  # one in so many Cases of requirements FR5, and all on missing rows
_DAMAGES = {"quick": 2, "full": 1, "soak": 1}  # one in so many of the listed damages, for each setting
_BLOCK = 200
_MISSING, _DOES_NOT_FIT = frozenset((1032,)), frozenset((3648,))
_CORRUPTED = frozenset((1610, 3142, 3157, 3649))
_IGNORED = {"quick": (_CORRUPTED,), "full": tuple(frozenset((number,)) for number in sorted(_CORRUPTED))}
_IGNORED["soak"] = _IGNORED["full"]
_NOTHING = RowState(valid=True, text=b"null", size=0, free=0)


def _conclude(failures: int) -> None:
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)


def _replica_schemas(
    lab: Lab, check: str, requirement: str, make: Callable[[Draw, str], ReplicaSchema], verdict: Verdict, count: int
) -> None:
    applier = applier_of(lab, check, requirement)
    if applier is None:
        return
    failures = 0
    draw = Stream(check, lab.settings.seed)
    for block, start in enumerate(range(0, count, _BLOCK)):
        begun = time.perf_counter()
        cases = [make(draw.fork(n), f"s{n - start}") for n in range(start, min(count, start + _BLOCK))]
        outcomes = zip(cases, replica_schema.apply_to_replica_schemas(applier, cases), strict=True)
        tried = [judged_replica_schema(lab, applier.server, case, outcome, verdict) for case, outcome in outcomes]
        failures += record(lab, check, block, tried, time.perf_counter() - begun, requirement=requirement)
    _conclude(failures)


@pytest.mark.requirement("A8")
def test_replica_with_another_table(lab: Lab) -> None:
    """Fewer columns, more columns, no JSON column, another type in its place."""
    _replica_schemas(
        lab, "applier/other-table", "A8", generate.other_table, Verdict.DIFFERS, _TABLES[lab.settings.profile]
    )


@pytest.mark.requirement("FR2")
def test_updates_without_a_key(lab: Lab) -> None:
    """The same rows several times in one transaction, found by all their columns; one that diverged is not found."""
    _replica_schemas(lab, "applier/no-key", "FR2", generate.again, Verdict.FAIL, _NO_KEY[lab.settings.profile])


@pytest.mark.requirement("A9")
def test_json_values_of_no_bytes(lab: Lab) -> None:
    """From events, as what diffs meet, and made of NULL by INSERT IGNORE and UPDATE IGNORE."""
    check = "applier/zero-length"
    applier = applier_of(lab, check, "A9")
    if applier is None:
        return
    failures = 0
    draw = Stream(check, lab.settings.seed)
    count = _VALUES[lab.settings.profile]
    for block, start in enumerate(range(0, count, _BLOCK)):
        begun = time.perf_counter()
        cases = [
            applier_transactions.without_bytes(draw.fork(number)) for number in range(start, min(count, start + _BLOCK))
        ]
        outcomes = zip(cases, applier_cases.apply_transactions(applier, cases), strict=True)
        tried = [judged_transaction(lab, applier.server, case, outcome) for case, outcome in outcomes]
        failures += record(lab, check, block, tried, time.perf_counter() - begun, requirement="A9")
    begun = time.perf_counter()
    made = [_made_of_null(applier, draw.fork("sql", number)) for number in range(count // 10)]
    failures += record(lab, f"{check}-sql", 0, made, time.perf_counter() - begun, requirement="A9")
    _conclude(failures)


def _made_of_null(applier: Applier, draw: Draw) -> Tried:
    """NULL for a column that is NOT NULL, let through by IGNORE."""
    session = applier.session()
    table = f"{SCHEMA}.made"
    update = draw.below(2) == 1
    number = draw.below(1000)
    statements = (
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} (id INT PRIMARY KEY, j JSON NOT NULL)",
        f"INSERT INTO {table} VALUES (-1, JSON_ARRAY({number})), (-2, '{{}}')",
        f"UPDATE IGNORE {table} SET j = NULL WHERE id < 0"
        if update
        else f"INSERT IGNORE INTO {table} SELECT id + {10 + number}, NULL FROM {table}",
    )
    session.execute_many(statements).check()
    states = read_states(session, f"{STATE} FROM {table} WHERE {'id < 0' if update else 'id > 0'} ORDER BY id")
    wrong = next((state for state in states if state != _NOTHING), _NOTHING) if len(states) == 2 else None
    judged = Judged(Verdict.PASS)
    if wrong != _NOTHING:
        judged = Judged(
            Verdict.DIFFERS, "NULL that IGNORE lets through is no value of no bytes", show(_NOTHING), show(wrong)
        )
    return Tried(
        id=f"{'update' if update else 'insert'}-ignore-{number}",
        name=statements[-1],
        judged=judged,
        script=lambda: (*statements, f"{STATE} FROM {table}"),
        texts=2,
    )


@pytest.mark.requirement("A10")
def test_missing_rows_in_idempotent_mode(lab: Lab) -> None:
    """1032 is ignored, 3648 still stops."""
    check = "applier/idempotent"
    applier = applier_of(lab, check, "A10")
    if applier is None:
        return
    with applier.executing("IDEMPOTENT"):
        _ignoring(lab, applier, check, _MISSING)


@pytest.mark.requirement("FR5")
def test_damaged_events_in_idempotent_mode(lab: Lab) -> None:
    """Nothing about damage is ignored there: an error, nothing changed, and the applier can go on."""
    check = "applier/idempotent-damage"
    applier = applier_of(lab, check)
    if applier is None:
        return
    with applier.executing("IDEMPOTENT"):
        _damaged(lab, applier, check, _MISSING, "FR5")


@pytest.mark.requirement("A10")
def test_skipped_errors(lab: Lab) -> None:
    """3648 is ignored by an option of the start, 1032 still stops."""
    check = "applier/skip-errors"
    applier = applier_of(lab, check, "A10")
    if applier is None:
        return
    with _told_to_ignore(lab, applier, _DOES_NOT_FIT) as ignoring:
        _ignoring(lab, ignoring, check, _DOES_NOT_FIT)
        _damaged(lab, ignoring, f"{check}-damage", _DOES_NOT_FIT, "A10")


@pytest.mark.requirement("A10")
def test_skipped_damage(lab: Lab) -> None:
    """The errors of damaged events are ignored by an option of the start: these events are passed over, others stop."""
    check = "applier/skip-damage"
    applier = applier_of(lab, check, "A10")
    if applier is None:
        return
    for ignored in _IGNORED[lab.settings.profile]:
        with _told_to_ignore(lab, applier, ignored) as ignoring:
            _damaged(lab, ignoring, check, ignored, "A10")


def _told_to_ignore(lab: Lab, applier: Applier, ignored: frozenset[int]) -> Applier:
    """Another server, which ignores these errors."""
    lab.narrate("starting a server whose applier ignores an error")
    option = ",".join(map(str, sorted(ignored)))
    return Applier(
        launch_applier(
            applier.server.maker,
            options={**applier.server.options, "replica-skip-errors": option},
            keep=lab.settings.keep,
            narrate=lab.narrate,
        )
    )


def _ignoring(lab: Lab, applier: Applier, check: str, ignored: frozenset[int]) -> None:
    cases = applier_transactions.ignorable(Stream(check, lab.settings.seed), _PART[lab.settings.profile])
    _fed_and_judged(lab, applier, check, list(cases), ignored, "A10")


def _damaged(lab: Lab, applier: Applier, check: str, ignored: frozenset[int], requirement: str) -> None:
    cases = applier_transactions.refused_damage(Stream(check, lab.settings.seed), _DAMAGES[lab.settings.profile])
    _fed_and_judged(lab, applier, check, list(cases), ignored, requirement)


def _fed_and_judged(
    lab: Lab, applier: Applier, check: str, cases: list[ApplierTransaction], ignored: frozenset[int], requirement: str
) -> None:
    failures = 0
    for block, start in enumerate(range(0, len(cases), _BLOCK)):
        begun = time.perf_counter()
        part = cases[start : start + _BLOCK]
        outcomes = zip(part, applier_cases.apply_transactions(applier, part), strict=True)
        tried = [judged_transaction(lab, applier.server, case, outcome, ignored) for case, outcome in outcomes]
        failures += record(lab, check, block, tried, time.perf_counter() - begun, requirement=requirement)
    _conclude(failures)
