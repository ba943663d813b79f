"""Faulty servers under the kit's own checks: one real server for all faults, and a run of the kit for each.

A run is that of ``binlog-lab conformance -r REQUIREMENT``: the same items, plugin and records, in this process. What
the records say decides: the requirement that the fault breaks must fail, and the words of a failure must name what is
wrong. A fault that only makes the lab fall over is not caught.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import pytest

from conformance.cli.conformance import _pytest
from conformance.harness import findings, session
from conformance.harness.settings import Settings
from conformance.report.results import Summary
from conformance.runs.check_runs.lab_run import LabRun
from conformance.servers.auto import resolve
from conformance.servers.run.process import ProcessServer
from conformance.stream import CaseVerdict
from tests.faults.servers.fault import REPLICA
from tests.faults.servers.relayed import RelayedServer, relayed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.servers.base import Server
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """The findings of a run on a faulty server. ``by``: the check that failed under each of the fault's requirements.
    ``words``: those of a failure that explains the fault. ``problem``: why the fault is not caught, or not explained;
    empty where it is. ``red``: the rows with a failure in ``results.json``. ``seconds`` of CPU."""

    by: dict[str, str]
    words: str = ""
    problem: str = ""
    red: frozenset[str] = frozenset()
    seconds: float = 0.0


class _Run(LabRun):
    """A run that keeps its records."""

    records: list[AnyRecord]

    def sink(self, record: AnyRecord) -> None:
        self.records.append(record)


@dataclass(slots=True)
class Bench:
    """The server of all runs, and the fault that is armed."""

    seed: str = "1"
    _server: RelayedServer | None = None
    _fault: Fault | None = None
    _beside: list[RelayedServer] = field(default_factory=list)

    def _launched(self, server: RelayedServer) -> None:
        """A server that a check started."""
        self._beside.append(server)
        self._arm(server)

    def _arm(self, server: RelayedServer) -> None:
        fault = self._fault
        here = fault is not None and (fault.change.get("at") == REPLICA) is not (server is self._server)
        server.relay.arm(fault.change if fault and here else {}, fault.id if fault else "")

    def _resolve(self, *arguments: Any, **options: Any) -> Server | None:
        if self._server is None:
            server = _resolve(*arguments, **options)
            assert isinstance(server, ProcessServer)
            self._server = relayed(server, self._launched)
            self._server.kept = True
        self._beside = []
        self._arm(self._server)
        return self._server

    def run(self, requirement: str, *, checks: str = "", updates: int = 100) -> tuple[list[AnyRecord], str]:
        """The records of a run about a requirement, and why the lab could not go on."""
        with TemporaryDirectory() as cases, _quick(), patch.object(session, "resolve", self._resolve):
            wanted = frozenset({requirement})
            settings = Settings(
                server="process", updates=updates, requirements=wanted, seed=self.seed, cases=Path(cases)
            )
            run = _Run(lambda _: settings, requirements=wanted)
            run.records = []
            _pytest(run, *(("-k", checks) if checks else ()))
        problem = run.could_not_run or run.usage_error or ("" if run.selected else "no check was selected")
        return run.records, problem

    def judge(self, fault: Fault) -> Caught:
        """Run the checks of the fault's requirement on the faulty server."""
        begun = _cpu()
        try:
            with pytest.MonkeyPatch.context() as patch:
                if callable(fault.change):
                    fault.change(patch)
                else:
                    self._fault = fault
                records, problem = self.run(fault.requirement, checks=fault.at, **fault.run)
        finally:
            self._fault = None
        if broken := [one.relay.broken for one in (self._server, *self._beside) if one and one.relay.broken]:
            raise SystemExit(f"{fault.id}: the fault itself failed:\n{broken[0]}")
        return verdict(fault, records, problem, _cpu() - begun)

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.kept = False
            self._server.close()


_resolve: Final = resolve
_SHOWN: Final = 1_000  # characters of a failure's words


def _cpu() -> float:
    """Seconds of this process and its ended children."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


@contextlib.contextmanager
def _quick() -> Iterator[None]:
    """Cases are not shrunk: the first failure says enough."""
    with patch.object(findings, "SECONDS", 0.0):
        yield


def verdict(fault: Fault, records: Sequence[AnyRecord], problem: str, seconds: float = 0.0) -> Caught:
    """Judge by the records of a run whether the fault is caught and explained."""
    failing = [record for record in records if isinstance(record, CaseVerdict) and record.fails]
    by: dict[str, str] = {}
    words = ""
    for requirement in fault.requirements:
        told = [(record.check, words_of(record)) for record in failing if requirement in record.requirements]
        explained = [item for item in told if re.search(fault.says, item[1], re.DOTALL)]
        if explained:
            by[requirement] = explained[0][0]
            words = words or explained[0][1]
        elif told:
            problem = problem or f"{requirement} fails, unexplained: {told[0][1][:_SHOWN]}"
        else:
            problem = problem or f"{requirement} does not fail"
    red = red_rows(records)
    if wrong := red ^ fault.due:
        problem = problem or f"red and not due: {sorted(red - fault.due)}; due and not red: {sorted(wrong - red)}"
    return Caught(by=by, words=words[:_SHOWN], problem=problem, red=red, seconds=seconds)


def red_rows(records: Sequence[AnyRecord]) -> frozenset[str]:
    """The rows of ``results.json`` that count failures."""
    rows = Summary(records).to_results()["requirements"]
    return frozenset(name for name, row in rows.items() if row["failed"])


def words_of(record: CaseVerdict) -> str:
    """The text that a failure shows its reader."""
    parts = (record.field, f"expected {record.expected}", f"got {record.got}", record.message)
    evidence = (f"{part.field}: {part.expected} / {part.got}" for part in record.evidence)
    return "; ".join(filter(None, (*parts, *evidence)))
