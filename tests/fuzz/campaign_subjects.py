"""Subjects of campaigns that are no servers: the reference in the place of one, right in everything or with a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.judge.damage.crashes import damage_of_log
from conformance.requirements.deviations import load_deviations
from conformance.servers.programs import LocalProgram
from conformance.servers.roles.mysqlbinlog import ClientEnd
from fuzz.campaigns import channels
from fuzz.campaigns.buckets import Buckets
from fuzz.campaigns.campaign import Campaign
from fuzz.campaigns.channels import Files, Logs, Statements, Transactions
from fuzz.campaigns.findings import About, Findings
from fuzz.campaigns.inputs import APPLIER, CLIENT, REPLICA, STATEMENTS
from fuzz.campaigns.journal import Journal
from fuzz.campaigns.known import read_known
from fuzz.campaigns.trial import Bench
from tests.checks.diverged_documents import planted_injections, planted_transactions
from tests.checks.diverged_documents.faults_of_crashes import PRINTER_DIES_AT
from tests.fuzz.faults_of_campaigns import HUNG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pytest

    from conformance.cases.by_hand.applier_transaction import ApplierOutcome, ApplierTransaction
    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from conformance.servers.roles.relay_log_applier import LogEnd

VERSION = (9, 7, 4)
_PEAK = 40 << 20


class ModelServer:
    """The parts of a server that a channel needs beside its answers."""

    version = "9.7.4"
    program_file = None

    def error_log(self) -> str:
        return ""


class ModelInjector:
    """Answers as ``answer`` says."""

    def __init__(self, answer: Callable[[Injection], InjectionOutcome]) -> None:
        self.answer = answer
        self.server = ModelServer()
        self.deaths = 0

    def run(self, injections: Sequence[Injection]) -> Iterator[InjectionOutcome]:
        for injection in injections:
            outcome = self.answer(injection)
            self.deaths += bool(outcome.death)
            yield outcome


def plant_client(patch: pytest.MonkeyPatch, fault: Any = None, damaged: int = -11) -> None:
    """A mysqlbinlog that ends itself at the listed damages, and shows the fault."""

    def print_bytes(_: object, data: bytes, **__: object) -> ClientEnd:
        damage = damage_of_log(data)
        status, peak = damaged if damage in PRINTER_DIES_AT else 0, _PEAK
        if fault is not None:
            status, peak = fault.change(damage, (status, peak)) or (status, peak)
        return ClientEnd(None if status == HUNG else status, b"", peak)

    patch.setattr(channels, "print_bytes", print_bytes)


class ModelReader:
    """A replica that answers as ``answer`` says."""

    def __init__(self, answer: Callable[[bytes], LogEnd]) -> None:
        self.answer = answer
        self.server = ModelServer()
        self.restarts = 0

    def read(self, data: bytes, _: object) -> LogEnd:
        end = self.answer(data)
        self.restarts += bool(end.death or end.silent or end.waits)
        return end

    def retire(self) -> None:
        """It has no server."""


def plant_applier(patch: pytest.MonkeyPatch, answer: Callable[[ApplierTransaction], ApplierOutcome]) -> None:
    """An applier that answers as ``answer`` says."""
    patch.setattr(channels, "apply_transactions", lambda _, cases: [answer(case) for case in cases])


def campaign(
    tmp_path: Path,
    name: str,
    channel: str,
    *,
    answer: Callable[[Any], Any] = planted_injections.faultless,
    seed: str = "1",
    equal: int = 10,
    listed: bool = True,
    shrink_seconds: float = 0.02,
) -> Campaign:
    """A campaign on a model, through one channel; its findings are in ``tmp_path``."""
    bench = Bench(campaign=name, version=VERSION, deviations=tuple(load_deviations()) if listed else ())
    made: dict[str, Callable[[], Any]] = {
        STATEMENTS: lambda: Statements(ModelInjector(answer), bench),  # type: ignore[arg-type]
        APPLIER: lambda: Transactions(ModelInjector(answer), bench),  # type: ignore[arg-type]
        CLIENT: lambda: Files(LocalProgram(["mysqlbinlog"]), bench),
        REPLICA: lambda: Logs([ModelReader(answer), ModelReader(answer)], bench),  # type: ignore[list-item]
    }
    about = About(campaign=name, seed=seed, subject="a model", command="binlog-lab fuzz server")
    return Campaign(
        name=name,
        seed=seed,
        channels={channel: made[channel]},
        buckets=Buckets(bench, equal, earlier=read_known(tmp_path / "findings")),
        findings=Findings(root=tmp_path / "findings", about=about, as_script=lambda case: f"-- {case.id}\n"),
        journal=Journal(tmp_path / "findings", "binlog-lab fuzz server"),
        narrate=lambda _: None,
        progress=lambda _: None,
        shrink_seconds=shrink_seconds,
    )


faultless_applier = planted_transactions.faultless
