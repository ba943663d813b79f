"""Running sql Cases for a check: their verdicts as records, listed deviations apart."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.files import dump_case
from conformance.judge.sql import judge_sql
from conformance.judge.updates.forms import form_of
from conformance.requirements.versions import applies, in_observed_range
from conformance.servers.roles.sql_cases import run_sql
from conformance.stream import Block, CaseVerdict, Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from conformance.cases.sql_case import SqlCase
    from conformance.harness.lab import Lab
    from conformance.judge.sql import SqlVerdict
    from conformance.servers.base import Server
    from conformance.servers.roles.pair import Pair

_FINDINGS: Final = 5  # distinct failures of a check that are shrunk
_SHOWN: Final = 20  # records of a check with a statement of their own; the counts are always whole
GUEST: Final = "changes global values, makes accounts or restarts: only on a server that the lab started itself"


@dataclass(slots=True)
class _Count:
    verdicts: Counter[str] = field(default_factory=Counter)
    deviations: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    differing: int = 0
    uncounted: int = 0  # mere differences outside the observed versions


def judge_live_sql(nodes: Mapping[str, Server], case: SqlCase, pair: Pair | None = None) -> tuple[SqlVerdict, ...]:
    """Run one Case and judge it; on a ``pair``, whose servers are then the nodes."""
    answers = run_sql(nodes, case, pair)
    return judge_sql(case, [replace(answer, form=form_of(answer.events)) for answer in answers])


def listed_outcomes(lab: Lab) -> frozenset[str]:
    """Ids of the deviations whose outcomes stand in sql Cases, and that are known for this version."""
    return frozenset(
        entry.id for entry in lab.deviations if entry.switch is None and applies(entry.versions, lab.version)
    )


def run_cases(
    lab: Lab,
    check: str,
    cases: Iterable[SqlCase],
    nodes: Mapping[str, Server],
    pair: Pair | None = None,
    tell: Callable[[SqlCase, SqlVerdict], None] = lambda _, __: None,
) -> None:
    """Judge Cases, write what was found, and fail if a statement ended as no Case allows. ``tell`` hears of each."""
    cases = list(cases)
    run = _Run(
        lab, check, pair, tell, {name for case in cases for item in case.statements for name in item.requirements}
    )
    for case in cases:
        if case.needs_own_server and not all(node.started_by_us for node in nodes.values()):
            run.skip(case)
        else:
            run.judge(nodes, case)
    run.finish()


class _Run:
    def __init__(
        self,
        lab: Lab,
        check: str,
        pair: Pair | None,
        tell: Callable[[SqlCase, SqlVerdict], None],
        requirements: set[str],
    ) -> None:
        self._lab = lab
        self._pair = pair
        self._tell = tell
        self._item = check
        self._several = len(requirements) > 1
        self._listed = listed_outcomes(lab)
        self._counts: dict[str, _Count] = defaultdict(_Count)
        self._skipped: set[str] = set()
        self._problems: list[str] = []
        self._signatures: set[str] = set()
        self._shown = 0
        self._begun = time.perf_counter()

    def _check(self, requirement: str) -> str:
        """A check for each requirement: reports charge what no record names to all requirements of a check."""
        return f"{self._item}/{requirement}" if self._several else self._item

    def skip(self, case: SqlCase) -> None:
        for statement in case.statements:
            for requirement in statement.requirements:
                self._counts[requirement].cases += 1
                self._counts[requirement].verdicts[str(Verdict.NOT_APPLICABLE)] += 1
                if requirement not in self._skipped:
                    self._skipped.add(requirement)
                    self._lab.sink(
                        CaseVerdict(
                            case=case.id,
                            requirement=requirement,
                            verdict=Verdict.NOT_APPLICABLE,
                            subject=self._lab.subject,
                            check=self._check(requirement),
                            block=0,
                            message=GUEST,
                        )
                    )

    def judge(self, nodes: Mapping[str, Server], case: SqlCase) -> None:
        for verdict in judge_live_sql(nodes, case, self._pair):
            self._tell(case, verdict)
            count = self._counts[verdict.requirement]
            count.cases += 1
            deviating = verdict.deviation in self._listed
            if deviating:
                count.deviations[verdict.deviation] += 1
            else:
                count.verdicts[verdict.verdict] += 1
                if verdict.failing:
                    self._note(case, verdict, count)
            if verdict.verdict != Verdict.PASS:
                self._record(nodes, case, verdict, deviating=deviating)

    def _note(self, case: SqlCase, verdict: SqlVerdict, count: _Count) -> None:
        count.differing += 1
        if verdict.verdict == Verdict.DIFFERS and not in_observed_range(self._lab.version):
            count.uncounted += 1
            return
        statement = case.statements[verdict.index]
        self._problems.append(f"{case.id}: {statement.text}: expected {verdict.expected}, got {verdict.got}")

    def _record(self, nodes: Mapping[str, Server], case: SqlCase, verdict: SqlVerdict, *, deviating: bool) -> None:
        check = self._check(verdict.requirement)
        signature = f"{check}:{verdict.requirement}:{verdict.deviation or verdict.field}"
        new = signature not in self._signatures
        self._signatures.add(signature)
        self._shown += 1
        if self._shown > _SHOWN and not new:
            return
        path = self._lab.store(dump_case(case)) if verdict.failing else None
        statement = case.statements[verdict.index]
        self._lab.sink(
            CaseVerdict(
                case=case.id,
                requirement=verdict.requirement,
                verdict=Verdict(verdict.verdict),
                subject=self._lab.subject,
                check=check,
                block=0,
                field=verdict.field,
                expected=verdict.expected,
                got=verdict.got,
                message=statement.note or "the statement does not end as it should",
                signature=signature,
                statements=tuple(item.text for item in case.statements[: verdict.index + 1])[-10:],
                deviation=verdict.deviation if deviating else None,
                case_file=None if path is None else str(path),
                replay=None if path is None else self._lab.replay_of(path),
            )
        )
        if path is not None and new and not deviating and len(self._signatures) <= _FINDINGS:
            self._shrink(nodes, case, verdict, path, signature)

    def _shrink(
        self, nodes: Mapping[str, Server], case: SqlCase, verdict: SqlVerdict, path: Path, signature: str
    ) -> None:
        """A finding: the statements that matter to the one that failed, if they alone show the same difference."""
        culprit = case.statements[verdict.index]
        small = case.shortened(verdict.index)
        self._lab.narrate(f"shrinking {path.name} ({signature})")
        judged = judge_live_sql(nodes, small, self._pair)
        again = [item for item in judged if item.requirement == verdict.requirement][-1:]
        if small != case and again and (again[0].field, again[0].deviation) == (verdict.field, verdict.deviation):
            content = json.dumps(dump_case(replace(small, id="")), sort_keys=True).encode()
            small = replace(small, id=f"{case.id}-{hashlib.blake2b(content, digest_size=4).hexdigest()}")
            path = self._lab.store(dump_case(small)) or path
        else:
            small = case
        self._lab.sink(
            Finding(
                signature=signature,
                case=small.id,
                case_file=str(path),
                replay=self._lab.replay_of(path),
                requirement=verdict.requirement,
                subject=self._lab.subject,
                check=self._check(verdict.requirement),
                size_before=len(json.dumps(dump_case(case))),
                size_after=len(json.dumps(dump_case(small))),
                message=f"{culprit.text}: expected {verdict.expected}, got {verdict.got}",
            )
        )

    def finish(self) -> None:
        seconds = (time.perf_counter() - self._begun) / max(1, len(self._counts))
        for requirement, count in sorted(self._counts.items()):
            self._lab.sink(
                Block(
                    check=self._check(requirement),
                    subject=self._lab.subject,
                    requirements=(requirement,),
                    block=0,
                    cases=count.cases,
                    verdicts=dict(count.verdicts),
                    failed=count.differing - count.uncounted if count.uncounted else None,
                    mismatches=count.differing,
                    deviating=count.deviations.total(),
                    deviations=dict(count.deviations),
                    seconds=seconds,
                )
            )
        if self._problems:
            more = f"; and {len(self._problems) - 5} more" if len(self._problems) > 5 else ""
            pytest.fail("; ".join(self._problems[:5]) + more, pytrace=False)
