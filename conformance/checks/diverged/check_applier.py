"""FR5 on a real applier: the transactions of a hand-written relay log meet documents that they were not made for.

Either the applier stops with an error, nothing of the transaction is there, and after a repair of the row it is started
again and applies it and the later ones; or every row is a document that can be read. The server lives. What a damaged
event stopped can only go on after the transaction is skipped, because no document fits it; what a damaged file stopped,
after the file is repaired.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.harness.injections import judged_frame, judged_transaction, record
from conformance.servers.roles import applier_cases
from generators import applier_transactions
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.by_hand.applier_transaction import ApplierTransaction
    from conformance.harness.lab import Lab
    from conformance.servers.roles.applier import Applier

_PART = {"quick": 9, "full": 1, "soak": 1}  # one in so many Cases of the matrix (requirements FR5)
_GROUPS = {"quick": 1, "full": 20, "soak": 600}  # of about a hundred transactions
_DAMAGED = {"quick": 50, "full": 1_000, "soak": 20_000}
_FILES = {"quick": 25, "full": 500, "soak": 5_000}  # damaged transactions in the files
_MEMBERS = {"quick": 3, "full": 12, "soak": 60}  # one in three of them may end the server
_BLOCK = 250  # transactions in one relay log


def applier_of(lab: Lab, check: str, requirement: str = "FR5") -> Applier | None:
    """The server whose applier is fed; ``None``: there can be none, which is recorded."""
    if lab.server is None:
        pytest.skip("needs a server: its applier is fed with a relay log")
    applier = lab.applier()
    if applier is None:
        lab.not_applicable(
            check, requirement, "a relay log is written only for a server that the lab starts beside the one under test"
        )
    return applier


def _run(lab: Lab, applier: Applier, check: str, cases: Sequence[ApplierTransaction]) -> None:
    """Feed, judge and record in blocks."""
    failures = 0
    allowed = applier.server.hazards()
    cases = [case for case in cases if case.hazard in allowed]
    for block, start in enumerate(range(0, len(cases), _BLOCK)):
        begun = time.perf_counter()
        part = cases[start : start + _BLOCK]
        outcomes = zip(part, applier_cases.apply_transactions(applier, part), strict=True)
        tried = [judged_transaction(lab, applier.server, case, outcome) for case, outcome in outcomes]
        failures += record(lab, check, block, tried, time.perf_counter() - begun)
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)


@pytest.mark.requirement("FR5")
def test_applier_and_diverged_documents(lab: Lab) -> None:
    """The matrix of requirements FR5 and generated groups: stop, repair, start again."""
    check = "applier/diverged"
    applier = applier_of(lab, check)
    if applier is None:
        return
    draw = Stream("applier", lab.settings.seed)
    cases = list(applier_transactions.matrix(draw.fork("matrix"), _PART[lab.settings.profile]))
    for number in range(_GROUPS[lab.settings.profile]):
        cases += applier_transactions.group(draw.fork("group", number))
    _run(lab, applier, check, cases)


@pytest.mark.requirement("FR5")
def test_applier_and_damaged_events(lab: Lab) -> None:
    """One field changed at a time: stop, skip, start again."""
    check = "applier/damaged"
    applier = applier_of(lab, check)
    if applier is None:
        return
    draw = Stream("applier-damaged", lab.settings.seed)
    cases = list(applier_transactions.listed_damage(draw.fork("listed")))
    cases += [applier_transactions.damage(draw.fork(number)) for number in range(_DAMAGED[lab.settings.profile])]
    _run(lab, applier, check, cases)


@pytest.mark.requirement("FR5")
def test_applier_and_damaged_files(lab: Lab) -> None:
    """An event that cannot even be parsed: stop, the file repaired in its place, start again."""
    check = "applier/files"
    applier = applier_of(lab, check)
    if applier is None:
        return
    failures = 0
    draw = Stream("applier-files", lab.settings.seed)
    count = _FILES[lab.settings.profile]
    for block, start in enumerate(range(0, count, _BLOCK)):
        begun = time.perf_counter()
        cases = [
            applier_transactions.damaged_frame(draw.fork(number)) for number in range(start, min(count, start + _BLOCK))
        ]
        outcomes = zip(cases, applier_cases.apply_damaged_frames(applier, cases), strict=True)
        tried = [judged_frame(lab, applier.server, case, outcome) for case, outcome in outcomes]
        failures += record(lab, check, block, tried, time.perf_counter() - begun)
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)


@pytest.mark.requirement("FR5")
def test_applier_and_damaged_members(lab: Lab) -> None:
    """Damage that may end the server: the applier meets what BINLOG statements showed.

    Each in a relay log of its own: a server that is ended right after a stop could be put down to the Case before.
    """
    check = "applier/members"
    applier = applier_of(lab, check)
    if applier is None:
        return
    begun = time.perf_counter()
    draw = Stream("applier-members", lab.settings.seed)
    tried = []
    for number in range(_MEMBERS[lab.settings.profile]):
        case = applier_transactions.member(draw.fork(number), number)
        (outcome,) = applier_cases.apply_transactions(applier, [case])
        tried.append(judged_transaction(lab, applier.server, case, outcome))
    failures = record(lab, check, 0, tried, time.perf_counter() - begun)
    if failures:
        pytest.fail(f"{failures} cases failed; see the report", pytrace=False)
