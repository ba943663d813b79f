"""The bench of the surroundings sees a verdict that changed, and the clock that it gives to a server does step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.auto import resolve
from conformance.servers.run.process import ProcessServer
from tests.surroundings.__main__ import main, steps
from tests.surroundings.clock import HOUR, NoCompilerError, SteppingClock, compiled

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

_ROWS = {"FR1": "pass", "FR5": "deviates", "TD1": "pass"}
HOLDS: dict[str, dict[str, Any]] = {
    name: {
        "run": f"{name}-9001", "updates": 2000, "exit_code": 0, "seconds": 1, "load": 1.0,
        "steps": 4 * (name == "clock"), "verdicts": _ROWS,
    }
    for name in ("quiet", "clock", "load")
}  # fmt: skip
ALTERED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a verdict beside a stepping clock": ("clock", {"verdicts": {**_ROWS, "TD1": "fail"}}, "TD1: pass, then fail"),
    "a verdict of a busy run": ("load", {"verdicts": {**_ROWS, "FR5": "pass"}}, "FR5: deviates, then pass"),
    "a verdict of the quiet run": ("quiet", {"verdicts": {**_ROWS, "FR1": "fail"}}, "FR1: fail, then pass"),
    "a row that is gone": ("load", {"verdicts": {"FR1": "pass", "FR5": "deviates"}}, "TD1: pass, then no row"),
    "a row more": ("clock", {"verdicts": {**_ROWS, "TD2": "pass"}}, "TD2: no row, then pass"),
    "no report": ("load", {"verdicts": {}, "exit_code": 3}, "no report"),
    "an exit code": ("load", {"exit_code": 4}, "exit code 4, and 0 in the quiet run"),
    "the exit code of the quiet run": ("quiet", {"exit_code": 1}, "exit code 1"),
    "no step": ("clock", {"steps": 0}, "0 steps of a server's clock were seen"),
    "a step where there was none": ("load", {"steps": 1}, "1 steps of a server's clock were seen"),
}


def run(tmp_path: Path, *words: str, **altered: dict[str, Any]) -> int:
    """The exit status for recorded runs."""
    rows = [{**row, **altered.get(name, {})} for name, row in HOLDS.items()]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return main(["--clock", "1", "--load", "1", "--results", str(results), *words])


def test_equal_verdicts_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 0
    assert "2 runs compared with a quiet one of their seed, 0 do not hold" in capsys.readouterr().out


@pytest.mark.planted
@pytest.mark.parametrize("fault", ALTERED)
def test_what_differs_is_told(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, altered, words = ALTERED[fault]
    assert run(tmp_path, **{name: altered}) == 1
    assert words in capsys.readouterr().out


def test_steps_are_counted_in_a_stream_whose_texts_have_separators(tmp_path: Path) -> None:
    stream = tmp_path / "run.jsonl"
    assert steps(stream) == 0
    records = ({"type": "verdict", "got": "a\u2028b\x85c"}, {"type": "notice", "kind": "clock-step"})
    other = ({"type": "notice", "kind": "another"}, {"type": "notice", "kind": "clock-step"})
    stream.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in (*records, *other)), "utf-8")
    assert steps(stream) == 2


def test_nothing_compared_is_no_success() -> None:
    assert main(["--clock", "0", "--load", "0"]) == 1


def test_a_machine_without_a_compiler_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--clock", "1", "--load", "0"]) == 3
    assert "no clock can be stepped: a C compiler is needed" in capsys.readouterr().err


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return compiled(tmp_path_factory.mktemp("library"))
    except NoCompilerError as problem:
        pytest.skip(str(problem))


@pytest.fixture
def clock(library: Path, tmp_path: Path) -> SteppingClock:
    return SteppingClock(library, tmp_path / "clock")


@pytest.mark.live
def test_the_time_that_a_server_shows_and_logs_steps(
    installation: Installation, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    with resolve("process") as server:  # type: ignore[union-attr]
        assert isinstance(server, ProcessServer)
        with server.connect() as session:
            session.execute("CREATE SCHEMA lab")
            session.execute("CREATE TABLE lab.t (id INT PRIMARY KEY)")

            def hours(number: int) -> list[int]:
                """Whole hours on the machine's clock: of NOW and SYSDATE, behind a wait, and of a row event."""
                row = session.execute("SELECT UNIX_TIMESTAMP(), UNIX_TIMESTAMP(SYSDATE()), SLEEP(0.01)").rows[0]
                position = session.execute("SHOW BINARY LOG STATUS").rows[0]
                session.execute(f"INSERT INTO lab.t VALUES ({number})")
                log = server.data_directory / (position[0] or b"").decode()
                shown = int.from_bytes(log.read_bytes()[int(position[1] or 0) :][:4], "little")
                return [round((int(moment or 0) - time.time()) / HOUR) for moment in (*row[:2], shown)]

            for number, seconds in enumerate((0, HOUR, -HOUR, 0)):
                clock.set(seconds)
                assert hours(number) == [seconds // HOUR] * 3


def test_the_time_of_python_steps_and_its_other_clock_does_not(clock: SteppingClock) -> None:
    clock.set(-10 * HOUR)
    words = [sys.executable, "-c", "import time; print(time.time(), time.monotonic())"]
    said = subprocess.run(words, env={**os.environ, **clock.environment}, capture_output=True, text=True, check=True)
    shown, passed = map(float, said.stdout.split())
    assert round((shown - time.time()) / HOUR) == -10
    assert round((passed - time.monotonic()) / HOUR) == 0
