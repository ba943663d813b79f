"""Commands to a running valgrind, with a small program in the place of vgdb."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.run.callgrind import control

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def vgdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, which notes its words in the file ``asked``; a test appends what it does then."""
    program = tmp_path / "vgdb"
    program.write_text(f'#!/bin/sh\necho "$*" >>"{tmp_path}/asked"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return program


def does(vgdb: Path, command: str) -> None:
    vgdb.write_text(f"{vgdb.read_text()}{command}\n")


def asked(vgdb: Path) -> list[str]:
    return vgdb.with_name("asked").read_text().splitlines()


def test_several_commands_go_through_one_connection(vgdb: Path, tmp_path: Path) -> None:
    does(vgdb, "echo answer")
    assert control(tmp_path / "pipes", 7, "v.info", "scheduler", "-c", "dump") == "answer\n"
    assert asked(vgdb) == [f"--max-invoke-ms=0 --vgdb-prefix={tmp_path}/pipes --pid=7 v.info scheduler -c dump"]


def test_a_command_is_sent_again_where_valgrind_closed_the_pipe(vgdb: Path, tmp_path: Path) -> None:
    does(vgdb, f"[ $(wc -l <'{tmp_path}/asked') -ge 3 ] || kill -PIPE $$\necho answer")
    assert control(tmp_path, 7, "dump") == "answer\n"
    assert len(asked(vgdb)) == 3


@pytest.mark.parametrize(
    ("command", "tries", "text"),
    [
        ("kill -PIPE $$", 5, "vgdb dump ended with -13: $"),
        ("echo no such process >&2; exit 1", 1, "vgdb dump ended with 1: no such process"),
    ],
)
def test_a_valgrind_that_does_not_answer_is_an_error(
    vgdb: Path, tmp_path: Path, command: str, tries: int, text: str
) -> None:
    does(vgdb, command)
    with pytest.raises(ServerUnavailable, match=text):
        control(tmp_path, 7, "dump")
    assert len(asked(vgdb)) == tries
