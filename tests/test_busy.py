"""A busy machine is made as it is asked for, and nothing stays of it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests import busy
from tests.busy import GROUPS, NoGroupsError, group, main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def made() -> Iterator[busy.Group]:
    try:
        with group("binlog-lab-test") as one:
            yield one
    except NoGroupsError as error:
        pytest.skip(str(error))


def test_the_command_runs_in_the_group_and_its_exit_code_is_told(
    made: busy.Group, capfd: pytest.CaptureFixture[str]
) -> None:
    program = "import pathlib, sys; print(pathlib.Path('/proc/self/cgroup').read_text()); sys.exit(7)"
    assert main(["--share", "90", "--", sys.executable, "-c", program]) == 7
    said = capfd.readouterr()
    assert "binlog-lab-busy-" in said.out
    assert "90 % of a processor, 0 stops" in said.err
    assert not made.members()
    assert not [*GROUPS.rglob(f"binlog-lab-busy-{os.getpid()}")]


def test_what_a_command_leaves_is_named_and_ended(made: busy.Group, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--share", "90", "--", "sh", "-c", "sleep 600 >/dev/null 2>&1 &"]) == 0
    assert "was left behind" in capfd.readouterr().err
    assert not made.members()


def test_stops_are_made_and_end(made: busy.Group, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy, "_PAUSE", (0.01, 0.02))
    with busy.stopping(made, longest=0.11, seed=1) as stops:
        while len(stops) < 3:
            time.sleep(0.01)
    assert all(0.1 <= length <= 0.11 for length in stops)


def test_without_control_groups_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoGroupsError, match="no control group can be made below"), group("x", tmp_path / "nowhere"):
        pass
