"""The checks of binlog_row_metadata on a real server, and the effect judged on doctored logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.table_metadata import check_variable as test_metadata_variable
from conformance.checks.table_metadata import variable_effect as metadata_effect
from conformance.checks.table_metadata.check_variable import judge
from conformance.checks.table_metadata.variable_effect import Effect, setting_of
from conformance.harness import session as labs
from conformance.harness.profiles import SIZES
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.tables.definitions import Column, Table, table_map
from conformance.stream import Block
from tests.checks.table_metadata.faults_of_metadata import EFFECT_FAULTS
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord
    from tests.faults.fault import Fault

SETTINGS = ("MINIMAL", "FULL", "FULL", "MINIMAL", "FULL")


def effect(seen: Any) -> Effect:
    return Effect(statements=("INSERT",), expected=SETTINGS, seen=tuple(seen))


def test_a_log_that_follows_the_variable_passes() -> None:
    assert judge(effect(SETTINGS)) == []


@each(EFFECT_FAULTS)
def test_a_log_that_does_not_is_noticed(fault: Fault) -> None:
    assert judge(effect(fault.change(list(SETTINGS)))) != []


@pytest.mark.parametrize("setting", ["MINIMAL", "FULL"])
def test_the_setting_is_told_by_the_items(setting: str) -> None:
    columns = (Column(name="id", type="INT"), Column(name="e", type="ENUM", members=("x",)))
    whole = table_map(Table(schema="d", name="t", columns=columns), setting)
    assert setting_of(whole) == setting
    if setting == "FULL":
        object.__setattr__(whole, "metadata", whole.metadata[:-1])
        assert setting_of(whole) == "neither"


@pytest.mark.live
def test_a_real_server_follows_the_variable(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[AnyRecord] = []
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    monkeypatch.setitem(SIZES["table_metadata/variable-effect"], "quick", 2)
    lab = Lab(Settings(cases=tmp_path), records.append)
    run(test_metadata_variable.test_effect, lab)
    run(test_metadata_variable.test_scope, lab)
    made = [record for record in records if isinstance(record, Block)]
    assert not [record.check for record in made if record.failures]
    assert {requirement for record in made for requirement in record.requirements} == {"TMS2", "TMS3"}
    monkeypatch.setattr(metadata_effect, "setting_of", lambda _: "FULL")
    with pytest.raises(pytest.fail.Exception, match="does not follow the variable"):
        run(test_metadata_variable.test_effect, lab)
    with server.connect() as connection:
        assert connection.variable("global.binlog_row_metadata") == "MINIMAL"
