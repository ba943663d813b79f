"""A bounded child: what is kept of it at the limit, and that nothing which it started is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from conformance.servers.child_process import kill_group, run_child, run_in_time
from conformance.servers.clock import REAL

FOREVER: Final = 600  # seconds that a child would sleep


def lives(pid: int) -> bool:
    """Whether a process is there and does something: one that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    return REAL.until(lambda: not lives(pid), 10, 0.01)


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def test_it_gets_input_and_its_output_comes_whole(tmp_path: Path) -> None:
    done = run_child(
        shell("pwd; echo $WORD; cat; echo told >&2; exit 3"),
        seconds=60,
        stdin=b"\0" * 200_000,  # more than a pipe takes
        directory=tmp_path,
        environment={**os.environ, "WORD": "word"},
    )
    assert done.stdout == f"{tmp_path}\nword\n".encode() + b"\0" * 200_000
    assert (done.returncode, done.words) == (3, "told")


def test_input_that_nobody_reads_holds_nobody() -> None:
    assert run_child(shell("exit 0"), seconds=60, stdin=bytes(1 << 20)).returncode == 0


def test_one_that_hangs_is_killed_with_all_that_it_started_and_its_output_is_kept() -> None:
    done = run_child(shell(f"sleep {FOREVER} & echo $!; echo told >&2; wait"), seconds=0.5)
    assert (done.returncode, done.words) == (None, "told")
    assert ends(int(done.text))


def test_signals_that_it_ignores_save_it_not() -> None:
    done = run_child(shell(f"trap '' TERM INT HUP; echo begun; sleep {FOREVER}"), seconds=0.5)
    assert (done.returncode, done.text) == (None, "begun\n")


def test_what_it_leaves_behind_is_killed_and_holds_nobody_with_its_pipes() -> None:
    done = run_child(shell(f"sleep {FOREVER} & echo $!"), seconds=60)
    assert done.returncode == 0
    assert ends(int(done.text))


def test_it_has_a_session_of_its_own() -> None:
    done = run_child([sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid())"], seconds=60)
    assert done.text == "True\n"


def test_an_interrupted_lab_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C reaches the lab alone, which ends the group."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    place = tmp_path / "pids"

    def interrupt() -> None:
        REAL.until(lambda: place.exists() and place.read_text("ascii").endswith("\n"), 30, 0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_child(shell(f"sleep {FOREVER} & echo $$ $! > {place}; wait"), seconds=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [ends(int(pid)) for pid in place.read_text("ascii").split()] == [True, True]


def test_one_that_must_end_and_does_not_is_an_error() -> None:
    assert run_in_time(shell("echo word"), 60).text == "word\n"
    with pytest.raises(OSError, match=r"^sh did not end within 0\.2 s$"):
        run_in_time(shell(f"sleep {FOREVER}"), 0.2)


def test_one_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_child([str(tmp_path / "no-such-program")], seconds=60)


def test_a_group_that_has_ended_is_killed_without_a_word() -> None:
    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    kill_group(ended.pid)
