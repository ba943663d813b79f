"""Runs of sql Cases for a check: their verdicts as records, listed deviations apart."""

from __future__ import annotations

import hashlib
import json
import re
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import dump_case
from conformance.harness.check import GUEST, Check
from conformance.harness.findings import StoredCase
from conformance.harness.needs.listed import NEEDS, lacking, rights_of
from conformance.judge.sql import judge_sql
from conformance.judge.updates.forms import BOGUS, form_of
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.versions import applies
from conformance.servers.roles.sql_cases import run_sql
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from conformance.cases.sql_case import SqlCase, SqlStatement
    from conformance.harness.recorder import BlockRecord
    from conformance.harness.session import Lab
    from conformance.judge.sql import SqlVerdict
    from conformance.servers.base import Server
    from conformance.servers.roles.pair import Pair

# Warnings of the option: the census counts the statements that must give, or must not give, each.
_WARNINGS: Final = frozenset(
    name for name, row in REQUIREMENTS.items() if re.fullmatch("W0|W[13][a-e]", name) and row.within is None
)


def judge_live_sql(nodes: Mapping[str, Server], case: SqlCase, pair: Pair | None = None) -> tuple[SqlVerdict, ...]:
    """Run one Case and judge it; on a ``pair``, whose servers are then the nodes."""
    answers = run_sql(nodes, case, pair)
    return judge_sql(
        case, [replace(answer, form=BOGUS if answer.bogus_log else form_of(answer.events)) for answer in answers]
    )


def listed_outcomes(lab: Lab) -> frozenset[str]:
    """Ids of the deviations for this version whose outcomes stand in sql Cases."""
    return frozenset(
        entry.id for entry in lab.deviations if entry.switch is None and applies(entry.versions, lab.version)
    )


def run_cases(
    check: Check,
    cases: Iterable[SqlCase],
    nodes: Mapping[str, Server],
    pair: Pair | None = None,
    tell: Callable[[SqlCase, SqlVerdict], None] = lambda _, __: None,
) -> None:
    """Judge Cases and write their records, a block for each requirement. ``tell`` gets each verdict."""
    cases = list(cases)
    names = {name for case in cases for item in case.statements for name in item.requirements}
    with ExitStack() as stack:
        run = _Run(check, pair, tell, stack, several=len(names) > 1)
        for case in cases:
            if case.needs_own_server and not all(node.started_by_us for node in nodes.values()):
                run.skip(case, GUEST)
            elif missing := _missing(check, case, nodes):
                run.skip(case, missing)
            else:
                run.judge(nodes, case)
        run.finish()


def _missing(check: Check, case: SqlCase, nodes: Mapping[str, Server]) -> str:
    """Why the Case says nothing about this server: what the server lacks, or the account of a guest."""
    guest = not all(node.started_by_us for node in nodes.values())
    needs = (*case.needs, *(rights_of(case) if guest else ()))
    return lacking(check.lab.questions, needs) if needs else ""


def _message(statement: SqlStatement, verdict: SqlVerdict) -> str:
    """Return a record's message about a statement.

    Of a statement whose outcome decides nothing, it says that the server does not show it.
    """
    note = statement.note or "the statement does not end as it should"
    if verdict.verdict is not Verdict.NOT_APPLICABLE or note.startswith(NEEDS):
        return note
    return f"{NEEDS}a server that shows it: {statement.note or statement.text}"


class _Run:
    """One list of Cases on its servers."""

    def __init__(
        self,
        check: Check,
        pair: Pair | None,
        tell: Callable[[SqlCase, SqlVerdict], None],
        stack: ExitStack,
        *,
        several: bool,
    ) -> None:
        self._blocks: dict[str, BlockRecord] = {}  # by requirement
        self._stack = stack
        self._several = several
        self._check = check
        self._pair = pair
        self._tell = tell
        self._listed = listed_outcomes(check.lab)
        self._skipped: set[str] = set()
        self._begun = time.perf_counter()

    def _block(self, requirement: str) -> BlockRecord:
        """The block of a requirement; the stack writes it at the end."""
        if requirement not in self._blocks:
            # A check for each requirement: reports charge what no record names to all requirements of a check.
            name = f"{self._check.id}/{requirement}" if self._several else self._check.id
            opened = self._stack.enter_context(self._check.named(name, requirement).block(cases=None))
            self._blocks[requirement] = opened
        return self._blocks[requirement]

    def skip(self, case: SqlCase, reason: str) -> None:
        """Record a Case as not applicable: it would change settings of the server's owner, or the server lacks what
        the Case needs."""
        for statement in case.statements:
            for requirement in statement.requirements:
                block = self._block(requirement)
                block.count(Verdict.NOT_APPLICABLE)
                if requirement not in self._skipped:
                    self._skipped.add(requirement)
                    block.show(Verdict.NOT_APPLICABLE, case=case.id, message=reason)

    def judge(self, nodes: Mapping[str, Server], case: SqlCase) -> None:
        """Run and record one Case."""
        for verdict in judge_live_sql(nodes, case, self._pair):
            self._tell(case, verdict)
            deviation = verdict.deviation if verdict.deviation in self._listed else None
            statement = case.statements[verdict.index]
            if verdict.requirement in _WARNINGS:
                rule, sentence = f"warning/{verdict.requirement}", REQUIREMENTS[verdict.requirement].statement
                self._block(verdict.requirement).exercised({rule: sentence}, {rule: 1})
            self._block(verdict.requirement).count(
                Verdict(verdict.verdict),
                deviation=deviation,
                reason=f"{case.id}: {statement.text}: expected {verdict.expected}, got {verdict.got}",
            )
            if verdict.verdict != Verdict.PASS:
                self._record(nodes, case, verdict, deviation)

    def _record(self, nodes: Mapping[str, Server], case: SqlCase, verdict: SqlVerdict, deviation: str | None) -> None:
        block = self._block(verdict.requirement)
        findings = block.check.lab.findings
        signature = f"{block.check.id}:{verdict.requirement}:{verdict.deviation or verdict.field}"
        if not findings.shows(self._check.id, signature):
            return
        stored = findings.store(dump_case(case)) if verdict.failing else StoredCase(case.id)
        statement = case.statements[verdict.index]
        block.show(
            Verdict(verdict.verdict),
            field=verdict.field,
            expected=verdict.expected,
            got=verdict.got,
            message=_message(statement, verdict),
            signature=signature,
            statements=tuple(item.text for item in case.statements[: verdict.index + 1])[-10:],
            deviation=deviation,
            **stored.fields,
        )
        if deviation is None:
            message = f"{statement.text}: expected {verdict.expected}, got {verdict.got}"
            block.find(signature, stored, partial(self._shortened, nodes, case, verdict), message=message)

    def _shortened(
        self, nodes: Mapping[str, Server], case: SqlCase, verdict: SqlVerdict, _: float
    ) -> dict[str, Any] | None:
        """The statements that matter to the failed one, if they alone show the same difference."""
        shortened = case.shortened(verdict.index)
        if shortened == case:
            return None
        judged = judge_live_sql(nodes, shortened, self._pair)
        alone = [item for item in judged if item.requirement == verdict.requirement][-1:]
        if [(item.field, item.deviation) for item in alone] != [(verdict.field, verdict.deviation)]:
            return None
        content = json.dumps(dump_case(replace(shortened, id="")), sort_keys=True).encode()
        return dump_case(replace(shortened, id=f"{case.id}-{hashlib.blake2b(content, digest_size=4).hexdigest()}"))

    def finish(self) -> None:
        """Divide the time of the Cases among their requirements."""
        for block in self._blocks.values():
            block.seconds = (time.perf_counter() - self._begun) / len(self._blocks)
