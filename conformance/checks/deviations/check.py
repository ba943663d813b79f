"""Every run shows each listed deviation by its witness Case: an entry that no longer holds is an error."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.files import load_any_case
from conformance.cases.sql_case import SqlCase
from conformance.cases.update_case import UpdateCase
from conformance.harness.check import GUEST
from conformance.harness.needs.listed import lacking, rights_of
from conformance.harness.shrinking import judge_live
from conformance.harness.sql_cases import judge_live_sql
from conformance.harness.witnesses import record_witness
from conformance.judge.damage.diverged import judge_injection
from conformance.requirements.versions import applies, dialect_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.files import AnyCase
    from conformance.harness.check import Check
    from conformance.judge.sql import SqlVerdict
    from conformance.requirements.deviations import Deviation
    from conformance.servers.base import Server
    from conformance.servers.roles.injector import Injector


@pytest.mark.check("witness")
def test_witnesses(check: Check) -> None:
    """The witness Case of each listed deviation shows that deviation, and nothing else."""
    lab = check.lab
    server = check.needs_server("a server: witnesses are run, not recorded")
    for number, deviation in enumerate(lab.witnessed):
        if deviation.witness is None or not applies(deviation.versions, lab.version) or not lab.asked_for(deviation):
            continue
        case = load_any_case(json.loads(deviation.witness))
        if isinstance(case, UpdateCase) and case.topology is not None:
            continue  # a pair shows it: replicas/witness
        if case.hazard not in server.hazards():
            leave = f"needs leave, --allow {case.hazard}: the witness of {deviation.id} has this hazard"
            check.not_applicable(leave, deviation.requirements[0])
            continue
        if isinstance(case, SqlCase) and case.needs_own_server and not server.started_by_us:
            check.not_applicable(GUEST, deviation.requirements[0])
            continue
        if not server.started_by_us and (missing := lacking(lab.questions, rights_of(case))):
            check.not_applicable(missing, deviation.requirements[0])
            continue
        begun = time.perf_counter()
        if isinstance(case, EventCase):
            injector = lab.injector()
            if injector is None:
                only = "needs a server that the lab starts beside the one under test: events are injected"
                check.not_applicable(only, deviation.requirements[0])
                continue
            shown, found = _judge_event(injector, case, deviation)
        elif isinstance(case, SqlCase):
            verdicts = judge_live_sql({"source": server}, case)
            if any(verdict.verdict is Verdict.NOT_APPLICABLE for verdict in verdicts):
                unseen = f"needs a server that shows what the witness of {deviation.id} looks at"
                check.not_applicable(unseen, deviation.requirements[0])
                continue
            shown, found = _of_sql(verdicts, deviation)
        else:
            shown, found = _judge(server, case, deviation)
        record_witness(
            check,
            deviation,
            number,
            shown=shown,
            found="; ".join(found),
            looked_at="no difference",
            seconds=time.perf_counter() - begun,
        )


def _judge_event(injector: Injector, case: EventCase, deviation: Deviation) -> tuple[bool, list[str]]:
    """Judge the witness event of a deviation, in a server beside the one under test."""
    (outcome,) = injector.run([case.injection])
    judged = judge_injection(case.injection, outcome, dialect_of(injector.server.number))
    words = [] if judged.verdict is Verdict.PASS else [f"{judged.rule}: expected {judged.expected}, got {judged.got}"]
    return bool(words) and judged.deviation == deviation.switch, words


def _of_sql(verdicts: Iterable[SqlVerdict], deviation: Deviation) -> tuple[bool, list[str]]:
    """Whether the answers to a sql Case show the deviation and nothing else; and what they show, as text."""
    differing = [verdict for verdict in verdicts if verdict.failing]
    words = [f"{item.field}: expected {item.expected}, got {item.got}" for item in differing]
    return bool(differing) and all(verdict.deviation == deviation.id for verdict in differing), words


def _judge(server: Server, case: AnyCase, deviation: Deviation) -> tuple[bool, list[str]]:
    """Whether the Case shows the deviation and nothing else; and what it shows, as text."""
    if not isinstance(case, UpdateCase):
        raise TypeError(f"the witness of {deviation.id} is no update, sql or events Case")
    result = judge_live(server, case)
    found = [*result.judgement.mismatches, *result.faults.found]
    words = [f"{item.kind} {item.field}: {item.message or item.got[:200]}" for item in found]
    return bool(found) and all(mismatch.deviation == deviation.switch for mismatch in found), words
