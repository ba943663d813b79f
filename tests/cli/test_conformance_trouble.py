"""The main job where something fails: servers that cannot be had, and trouble in the middle of a run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.errors import ServerError
from tests.cli.written_reports import assert_whole, ended, results
from tests.live import Ended, environment, forks_of, lab, nothing_left, run_directories, started, until

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

live = pytest.mark.live


# --- servers that cannot be had --------------------------------------------------------------------------------------


def refused(*arguments: str | Path, place: Path, env: dict[str, str] | None = None) -> Ended:
    """A run that must end with 3, leave nothing, and report that it is not complete."""
    words = ("conformance", "-r", "FR1", "--updates", "100", "--report", "report")
    program = started(*words, *arguments, cwd=place, env=env)
    end = ended(program, place)
    assert end.code == 3, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert_whole(place / "report", 3)
    run = results(place / "report")["run"]
    assert run["complete"] is False
    assert run["incomplete_reason"]
    assert "COULD NOT RUN" in end.out
    assert end.err.count("error:") == 1
    return end


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("process:/bin/true", "/bin/true is not a MySQL server"),
        ("process:/no/such/mysqld", "/no/such/mysqld does not exist"),
        ("mysql://root@127.0.0.1:1", "Connection refused"),
        ("mysql://root@no-such-host.invalid:3306", "no-such-host.invalid"),
        ("docker", "no container engine at unix:///no/such.sock"),
        ("docker:mysql:8.0.36", "there is no such socket"),
    ],
)
def test_a_server_that_cannot_be_had_is_named_and_ends_with_3(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such.sock")
    assert message in refused("--server", spec, place=tmp_path).err


@live
def test_a_server_that_does_not_start_shows_why(installation: Installation, tmp_path: Path) -> None:
    end = refused("--server-option", "no-such-option=1", place=tmp_path)
    assert "ended while starting (exit status" in end.err
    assert "no-such-option" in end.err
    assert "docker" not in end.err


@live
def test_a_refused_login_ends_with_3_and_shows_no_password(server: ProcessServer, tmp_path: Path) -> None:
    end = refused(
        "--server", f"mysql://{server.tcp_address()}", place=tmp_path, env={"BINLOG_LAB_PASSWORD": "guessed-wrongly"}
    )
    assert "Access denied" in end.err
    assert "guessed-wrongly" not in end.text


@pytest.mark.nightly
@live
def test_a_server_without_a_binary_log_cannot_be_judged(installation: Installation, tmp_path: Path) -> None:
    end = refused("--server-option", "skip-log-bin", place=tmp_path)
    assert "binary log" in end.err


# --- trouble in the middle -------------------------------------------------------------------------------------------


def running(place: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """A run far from its end, in the middle of its updates."""
    program = started(
        "conformance", "-r", "FR1", "--updates", "1000000", "--seed", "1", "--report", "report", *arguments, cwd=place,
        env=env,
    )  # fmt: skip
    stream = place / "report" / "run.jsonl"
    assert until(lambda: stream.exists() and b'"updates/event-bytes"' in stream.read_bytes(), program=program), (
        place / "err"
    ).read_text("utf-8")
    return program


def server_of(program: subprocess.Popen[str]) -> int:
    (directory,) = run_directories(program.pid)
    return int(json.loads((directory / "process.json").read_text("utf-8"))["pid"])


@live
def test_a_killed_lab_leaves_no_process_and_no_lock_and_the_next_run_works(
    installation: Installation, tmp_path: Path
) -> None:
    program = running(tmp_path)
    mysqld = server_of(program)
    os.kill(program.pid, signal.SIGKILL)  # the lab alone: server, supervisor and workers must notice by themselves
    program.wait()
    assert nothing_left(program, killed=True)
    with pytest.raises(ProcessLookupError):
        os.kill(mysqld, 0)
    assert records_so_far(tmp_path / "report")[0]["type"] == "run"
    assert not (tmp_path / "report" / "results.json").exists()
    # What the killed run left is incomplete when it is rendered, and gives way to the next run.
    end = lab("report", tmp_path / "report")
    assert "INCOMPLETE" in end.out, end.text
    again = lab("conformance", "-r", "FR1", "--updates", "100", "--report", tmp_path / "report")
    assert again.code == 0, again.text
    assert_whole(tmp_path / "report", 0)


def records_so_far(report: Path) -> list[dict[str, Any]]:
    """The records of a stream whose last line may be torn."""
    lines = (report / "run.jsonl").read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


@live
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(other, marks=pytest.mark.nightly) for other in (signal.SIGTERM, signal.SIGHUP))],
)
def test_an_interrupted_run_stops_its_server_and_is_incomplete(
    installation: Installation, tmp_path: Path, number: signal.Signals
) -> None:
    program = running(tmp_path)
    program.send_signal(number)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 4)
    assert results(tmp_path / "report")["run"]["complete"] is False
    assert "INCOMPLETE" in end.out
    assert "nterrupted" in end.text
    assert "Traceback" not in end.text


@live
def test_an_interruption_while_the_server_starts_leaves_nothing(installation: Installation, tmp_path: Path) -> None:
    program = started("conformance", "-r", "FR1", "--updates", "100", "--report", "report", cwd=tmp_path)
    assert until(lambda: run_directories(program.pid), program=program)
    program.send_signal(signal.SIGINT)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 4)
    assert "Traceback" not in end.text


@live
def test_an_impatient_user_is_not_left_with_a_server(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    for _ in range(3):
        program.send_signal(signal.SIGINT)
        time.sleep(0.1)
    end = ended(program, tmp_path)
    assert end.code != 0, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text


@live
def test_a_worker_that_is_killed_ends_the_run_with_3(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    workers = forks_of(program)
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "a worker process of the lab ended" in end.err
    assert nothing_left(program, killed=True)
    assert_whole(tmp_path / "report", 3)


@live
def test_ctrl_c_at_a_terminal_reaches_all_processes_and_ends_in_order(
    installation: Installation, tmp_path: Path
) -> None:
    program = running(tmp_path)
    os.killpg(program.pid, signal.SIGINT)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text
    assert_whole(tmp_path / "report", 4)


@live
def test_a_server_that_dies_ends_the_run_with_3_and_its_fate(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    os.kill(server_of(program), signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 3)
    assert "died (" in end.err
    assert "SIGKILL" in end.err
    assert "Traceback" not in end.text
    assert results(tmp_path / "report")["run"]["complete"] is False


@live
def test_a_server_that_stands_still_ends_the_run_with_3(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path, env={"BINLOG_LAB_PATIENCE": "4"})
    os.kill(server_of(program), signal.SIGSTOP)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "no answer" in end.err
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 3)
    assert "Traceback" not in end.text


@live
@pytest.mark.nightly
def test_a_server_that_stands_still_at_its_start_ends_the_run_with_3(
    installation: Installation, tmp_path: Path
) -> None:
    program = started("conformance", "-r", "FR1", "--updates", "100", "--report", "report", cwd=tmp_path)
    assert until(lambda: run_directories(program.pid) and server_started(program), program=program)
    os.kill(server_of(program), signal.SIGSTOP)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "does not answer" in end.err
    assert nothing_left(program)


def server_started(program: subprocess.Popen[str]) -> bool:
    return all((directory / "process.json").is_file() for directory in run_directories(program.pid))


@pytest.mark.sampled(1)
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mount") is None, reason="needs root and mount, for a small file system"
)
@live
@pytest.mark.parametrize(
    ("variable", "said"), [("BINLOG_LAB_CACHE", "the disk is full"), ("TMPDIR", "not enough disk space")]
)
def test_a_full_disk_under_cache_or_servers_is_named(
    installation: Installation, tmp_path: Path, variable: str, said: str
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        end = refused("--updates", "100", place=tmp_path, env={variable: str(small)})
        assert said in end.err
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.nightly
def test_a_closed_standard_output_does_not_end_the_report(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "conformance", "--server", "none", "-r", "IP2", "--report", "r"],
        cwd=tmp_path, env=environment(), stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 141, done.stderr
    assert "Traceback" not in done.stderr
    assert_whole(tmp_path / "r", 0)


def limited(place: Path, size: int, arguments: Iterable[str]) -> Ended:
    """A run in which no file can grow beyond ``size`` bytes: writing fails, as on a disk that is full."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from conformance.cli.main import main\n"
        f"sys.argv = {['binlog-lab', *arguments]!r}\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=place, env=environment(), capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", [200, 8_000, 30_000], ids=["first-record", "middle", "rendering"])
def test_a_report_that_cannot_be_written_ends_with_3(tmp_path: Path, size: int) -> None:
    end = limited(tmp_path, size, ["conformance", "--server", "none", "--updates", "1000", "--report", "report"])
    assert end.code == 3, end.text
    assert "report" in end.err
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert not (tmp_path / "report" / "results.json").exists()
    assert ServerError.__name__ not in end.text


@live
def test_ctrl_c_while_workers_start_does_not_reach_them(installation: Installation, tmp_path: Path) -> None:
    program = started("conformance", "-r", "FR1", "--updates", "1000", "--report", "report", cwd=tmp_path)
    assert until(lambda: forks_of(program), program=program)
    for worker in forks_of(program):  # as the terminal does for all, the lab among them: it would end the run
        os.kill(worker, signal.SIGINT)
    end = ended(program, tmp_path)
    assert end.code == 0, end.text
    assert "Traceback" not in end.text
