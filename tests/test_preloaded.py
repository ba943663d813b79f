"""A fork that runs ``binlog-lab`` is a program like another: its end, both outputs, its directory, and its time."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.live import environment, lab
from tests.preloaded import Preloaded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def process() -> Iterator[Preloaded]:
    made = Preloaded(environment())
    yield made
    made.close()


@pytest.mark.parametrize(
    "words",
    [["--version"], ["decode", "no-such-file"], ["cases", "list"], ["decode"], ["no-such-command"]],
    ids=" ".join,
)
def test_a_fork_says_what_the_program_says(process: Preloaded, tmp_path: Path, words: list[str]) -> None:
    fresh = lab(*words, cwd=tmp_path, fresh=True)
    code, out, err = process.run(words, tmp_path, 60.0)
    assert (code, out.decode(), err.decode()) == (fresh.code, fresh.out, fresh.err)


def test_a_run_that_takes_too_long_is_ended_and_the_next_one_runs(process: Preloaded, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless")
    with pytest.raises(subprocess.TimeoutExpired):
        process.run(["decode", "endless"], tmp_path, 0.3)
    assert process.run(["--version"], tmp_path, 60.0)[0] == 0
