"""Checks side by side: one stream in the order of the checks, and a clean end whatever happens to a worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.runs.check_runs.side_by_side import SideBySide, Stop
from conformance.servers.run.process_identity import start_time
from conformance.stream import Block, CaseVerdict, Progress, Subject
from conformance.verdict import Verdict
from tests.cli.written_reports import assert_whole, ended, records, results
from tests.live import forks_of, nothing_left, run_directories, started, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.runs.check_runs.side_by_side import Link
    from conformance.servers.install.installation import Installation

NAMES = ("one", "one", "two", "two", "three")  # the modules of five checks


def checks() -> list[Any]:
    return [SimpleNamespace(path=Path(f"checks/{name}/check.py"), name=f"test_{n}") for n, name in enumerate(NAMES)]


def block(check: int, number: int = 0) -> Block:
    return Block(check=f"c{check}", subject="s", requirements=("FR1",), block=number, cases=1, verdicts={"pass": 1})


def run(work: Callable[[Link], None], sunk: list[Any], *, finish: Callable[[], None] = lambda: None) -> Stop | None:
    side = SideBySide(checks(), sink=sunk.append, narrate=sunk.append, name=lambda check: check.name, most=3)
    assert side.workers == 3
    return side.run(work, finish)


def written(sunk: list[Any]) -> list[str]:
    return [record.check for record in sunk if isinstance(record, Block)]


def test_records_come_in_the_order_of_the_checks_whoever_is_first() -> None:
    def work(link: Link) -> None:
        for numbers in link.modules():
            for link.check in numbers:
                link.tell("hello")
                link.write(Subject(id="s", role="source"))
                time.sleep(0.2 if link.check == 0 else 0)
                link.write(block(link.check))
                link.write(block(link.check, 1))
                link.end("passed")

    sunk: list[Any] = []
    assert run(work, sunk) is None
    assert written(sunk) == [name for number in range(5) for name in [f"c{number}"] * 2]
    assert sum(isinstance(record, Subject) for record in sunk) == 1
    assert sunk.count("hello") == 1
    shown = [record for record in sunk if isinstance(record, Progress)]
    assert [record.done for record in shown] == [1, 2, 3, 4, 5]
    assert sorted(record.note for record in shown) == [f"test_{number}: passed" for number in range(5)]


def test_a_server_that_tells_something_else_is_written_too() -> None:
    def work(link: Link) -> None:
        for numbers in link.modules():
            for link.check in numbers:
                link.write(Subject(id="s", role="source", version=f"9.7.{link.check // 2}"))
                link.end("passed")

    sunk: list[Any] = []
    run(work, sunk)
    assert [record.version for record in sunk if isinstance(record, Subject)] == ["9.7.0", "9.7.1", "9.7.2"]


def test_a_failure_behind_a_long_check_lets_no_further_module_begin() -> None:
    """The failing check is not the first: its records wait, but that it failed is known."""

    def work(link: Link) -> None:
        for numbers in link.modules():
            for link.check in numbers:
                if link.check == 0:
                    time.sleep(0.5)
                verdict = Verdict.FAIL if link.check == 2 else Verdict.PASS
                link.write(CaseVerdict(case="x", requirement="FR1", verdict=verdict, subject="s", check="c", block=0))
                link.end("passed")

    side = SideBySide(
        checks(), sink=lambda _: None, narrate=lambda _: None, name=lambda check: check.name, most=2,
        enough=lambda failed: failed,
    )  # fmt: skip
    assert side.run(work, lambda: None) is None
    assert side.ended == 4  # the second module ended, and the third one never began


def ended_in(place: Path) -> None:
    (place / f"ended {os.getpid()}").touch()


@pytest.mark.parametrize("how", ["stop", "error", "death"])
def test_one_worker_that_cannot_go_on_ends_the_run_and_the_others_clean_up(how: str, tmp_path: Path) -> None:
    def work(link: Link) -> None:
        for numbers in link.modules():
            for link.check in numbers:
                link.write(block(link.check))
                (tmp_path / f"begun {os.getpid()}").touch()
                if link.check == 2:
                    assert until(lambda: len(list(tmp_path.glob("begun *"))) == 3)
                    if how == "stop":
                        link.end("failed", stop=Stop("the server died"))
                        return
                    if how == "error":
                        raise ValueError("x")
                    os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)

    sunk: list[Any] = []
    stop = run(work, sunk, finish=partial(ended_in, tmp_path))
    assert stop is not None
    words = {
        "stop": "the server died",
        "error": "the lab failed: ValueError: x",
        "death": "a worker process of the lab",
    }
    assert stop.message.startswith(words[how])
    assert "c2" in written(sunk)
    assert len(list(tmp_path.glob("ended *"))) == (2 if how == "death" else 3)


HANGING = """
import os, sys, time
from conformance.runs.check_runs import side_by_side
from tests.cli.test_side_by_side import checks, run
side_by_side._ENDING_SECONDS = 1
def work(link):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)
run(work, [], finish=lambda: time.sleep(600))
"""


def test_a_worker_that_cannot_end_is_killed_also_when_its_run_is_gone(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", HANGING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as program:
        assert program.stdout is not None
        try:
            pids = [int(program.stdout.readline()) for _ in range(3)]
        finally:
            program.kill()
    try:
        assert until(lambda: not any(map(start_time, pids)))
    finally:
        for pid in filter(start_time, pids):
            os.kill(pid, signal.SIGKILL)


# --- a real run ------------------------------------------------------------------------------------------------------

live = pytest.mark.live
ROOMS = ("-r", "LOB12", "-r", "LOB19", "--updates", "100", "--seed", "5", "--report", "report")


@pytest.fixture
def program(installation: Installation, tmp_path: Path) -> subprocess.Popen[str]:
    """A run with two workers that both have a server."""
    program = started("conformance", *ROOMS, "--jobs", "2", cwd=tmp_path)
    assert until(lambda: len(servers(program)) >= 2, program=program), (tmp_path / "err").read_text("utf-8")
    # Each worker tells of its server when it has talked to it.
    assert until(
        lambda: all(f"process {pid_of(each)}," in (tmp_path / "err").read_text("utf-8") for each in servers(program)),
        program=program,
    )
    return program


def pid_of(directory: Path) -> int:
    pid: int = json.loads((directory / "process.json").read_text("utf-8"))["pid"]
    return pid


def servers(program: subprocess.Popen[str]) -> list[Path]:
    return [path for path in run_directories(program.pid) if (path / "process.json").is_file()]


@live
def test_the_report_is_the_same_for_any_number_of_workers(installation: Installation, tmp_path: Path) -> None:
    told = []
    for jobs in ("1", "2"):
        place = tmp_path / jobs
        place.mkdir()
        end = ended(started("conformance", *ROOMS, "--jobs", jobs, cwd=place), place)
        assert end.code == 0, end.text
        assert ("checks 1 of" in end.err) == (jobs == "2")
        assert_whole(place / "report", 0)
        told.append([judged(record, place) for record in records(place / "report") if record["type"] not in OF_THE_RUN])
    assert told[0] == told[1]
    assert len(told[0]) > 10


OF_THE_RUN = ("run", "progress", "end")


def judged(record: dict[str, Any], place: Path) -> dict[str, Any]:
    """A record without its time, and without where its report lies, which its commands name."""
    same: dict[str, Any] = json.loads(json.dumps(record).replace(str(place), "PLACE"))
    return {name: value for name, value in same.items() if name != "seconds"}


@pytest.mark.sampled(1)
@live
@pytest.mark.parametrize(("number", "group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_an_interrupted_run_stops_the_servers_of_its_workers(
    program: subprocess.Popen[str], tmp_path: Path, number: signal.Signals, group: bool
) -> None:
    if group:
        os.killpg(program.pid, number)
    else:
        program.send_signal(number)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 4)
    assert "Traceback" not in end.text


@live
def test_a_killed_run_leaves_no_worker_and_no_server(program: subprocess.Popen[str], tmp_path: Path) -> None:
    program.kill()
    program.wait()
    assert nothing_left(program, killed=True)


@live
def test_a_killed_worker_ends_the_run_with_3(program: subprocess.Popen[str], tmp_path: Path) -> None:
    os.kill(forks_of(program)[0], signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "a worker process of the lab ended: number" in end.err
    assert nothing_left(program, killed=True)
    assert results(tmp_path / "report")["run"]["complete"] is False


@live
def test_a_killed_server_ends_the_run_with_3(program: subprocess.Popen[str], tmp_path: Path) -> None:
    for directory in servers(program):
        os.kill(pid_of(directory), signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "died (" in end.err
    assert nothing_left(program)
