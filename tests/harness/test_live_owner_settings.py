"""The effect of an owner's setting on a run: none, because the lab asks; red rows, where the asking is taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli.conformance import _pytest
from conformance.harness import findings, session
from conformance.harness.settings import Settings
from conformance.runs.check_runs.lab_run import LabRun
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.settings.sessions import Beginning
from conformance.stream import CaseVerdict

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.base import Server
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


class _Run(LabRun):
    """A run that keeps its records."""

    records: list[AnyRecord]

    def sink(self, record: AnyRecord) -> None:
        self.records.append(record)


def planted(setting: str, value: str, requirement: str, checks: str) -> Any:
    """The row of a setting that breaks a requirement where nobody asks for it."""
    return pytest.param(setting, value, requirement, checks, marks=pytest.mark.planted(requirement), id=setting)


@pytest.mark.parametrize(
    ("fault", "value", "requirement", "checks"),
    [
        planted("default_storage_engine", "MyISAM", "FR1", "updates and event_bytes"),
        planted("sql_require_primary_key", "ON", "D11", "conditions and D11"),
        planted("max_error_count", "0", "W1a", "sql_interface and session_warnings"),
    ],
)
def test_without_the_list_the_row_is_red(
    server: ProcessServer, tmp_path: Path, fault: str, value: str, requirement: str, checks: str
) -> None:
    with server.connect() as root:
        before = root.variable(f"global.{fault}")
        root.execute(f"SET GLOBAL {fault} = {value}")
        try:
            assert red(server, tmp_path, requirement, checks) == (set(), None)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Beginning, "put", lambda *_: None)
                patch.setattr(Beginning, "__init__", _nothing_differs)
                found, _ = red(server, tmp_path, requirement, checks)
            assert requirement in found
        finally:
            root.execute(f"SET GLOBAL {fault} = {before}")


def _nothing_differs(beginning: Beginning, _: Any) -> None:
    beginning.differing, beginning.refused, beginning._settable = {}, {}, []


def red(server: ProcessServer, place: Path, requirement: str, checks: str) -> tuple[set[str], str | None]:
    """The requirements that fail in a run about one of them, and why the lab could not go on."""
    wanted = frozenset({requirement})
    settings = Settings(server="process", updates=50, requirements=wanted, seed="3", cases=place)
    run = _Run(lambda _: settings, requirements=wanted)
    run.records = []

    def resolve(*_: Any, **__: Any) -> Server:
        return AttachedServer(Attachment.of(server))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "resolve", resolve)
        patch.setattr(findings, "SECONDS", 0.0)
        _pytest(run, "-k", checks)
    assert run.selected
    failing = {record.requirement for record in run.records if isinstance(record, CaseVerdict) and record.fails}
    told = run.could_not_run or run.usage_error or "; ".join(run.column_errors)
    return failing, told or None
