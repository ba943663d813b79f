"""A client program of this machine: what it is given, and how its end is told."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.servers.child_process import Limits
from conformance.servers.errors import ServerUnavailable
from conformance.servers.programs import LocalProgram


def shell(text: str, **more: bytes) -> LocalProgram:
    return LocalProgram(["sh", "-c", text, "sh"], extra=more)


def test_it_gets_arguments_input_and_files_and_gives_bytes() -> None:
    program = shell('cat given extra; cat; printf "%s|" "$@"; echo words >&2; exit 3', extra=b"\xff")
    done = program.run(["a b", "c"], stdin=b"\0in", files={"given": b"\0one"})
    assert done.returncode == 3
    assert done.stdout == b"\0one\xff\0ina b|c|"
    assert done.words == "words"


_MEASURED = """
import sys
from conformance.servers.programs import LocalProgram
ballast = bytes(range(256)) * (int(sys.argv[1]) << 12)
taken = "x = bytes(range(256)) * (%s << 12)" % sys.argv[2]
print(LocalProgram([sys.executable, "-c", taken]).run([]).peak >> 20)
"""


@pytest.mark.parametrize(("lab", "program", "low", "high"), [(1, 300, 300, 400), (300, 1, 0, 0)])
def test_the_memory_of_the_lab_is_not_the_programs(lab: int, program: int, low: int, high: int) -> None:
    """In MiB. The kernel counts what a process had when it was forked: mysqlbinlog was blamed for a large lab."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, str(lab), str(program)], capture_output=True, text=True, check=True
    )
    assert low <= int(done.stdout) <= high


def test_it_starts_in_a_folder_of_its_own_that_is_gone_afterwards() -> None:
    done = shell("pwd; ls -A; stat -c %a given; touch left").run([], files={"given": b""})
    place, *names = done.stdout.decode().split()
    assert names == ["given", "600"]
    assert not Path(place).exists()


def test_a_signal_is_a_negative_status() -> None:
    assert shell("kill -SEGV $$").run([]).returncode == -signal.SIGSEGV


def test_one_that_takes_too_long_has_no_status() -> None:
    done = shell("echo begun; exec sleep 600").run([], timeout=0.5)
    assert (done.returncode, done.stdout) == (None, b"begun\n")
    assert shell("while :; do :; done").run([], limits=Limits(1, 1 << 30)).returncode is None


def test_memory_beyond_the_limit_is_refused_to_it() -> None:
    program = LocalProgram(["python3", "-c", "x = bytearray(1 << 30)"])
    done = program.run([], limits=Limits(30, 512 << 20))
    assert done.returncode == 1
    assert "MemoryError" in done.words


def test_one_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="no-such-program cannot be started"):
        LocalProgram([str(tmp_path / "no-such-program")]).run([])
