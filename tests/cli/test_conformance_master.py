"""``conformance --master``: which servers it is for, and what is said where there is no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli.main import run
from conformance.extras import to_install
from scenarios.spark import session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("servers", [["none"], ["mysql://root@127.0.0.1:1"], ["docker"], ["process", "process"]])
def test_servers_that_executors_cannot_have_for_themselves_are_refused(
    servers: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word for server in servers for word in ("--server", server)]
    assert run(["conformance", "--master", "local[1]", *given, "--report", str(tmp_path / "report")]) == 2
    assert "--master needs one --server that each executor can start" in capsys.readouterr().err
    assert not (tmp_path / "report").exists()


def test_without_spark_the_run_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None if name == "pyspark" else name)
    assert run(["conformance", "--master", "local[1]", "--report", str(tmp_path / "report")]) == 3
    assert f"pyspark; to get it: {to_install('spark')}" in capsys.readouterr().err
