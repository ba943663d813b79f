"""``matrix estimate --jobs``: the figures of one job, from parts of sound and damaged logs."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.cli.main import run
from scenarios.estimate import inline
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Estimate: TypeAlias = Callable[..., tuple[int, str, str]]

DATA: Final = Path(__file__).parents[1] / "data" / "binlogs"
LOGS: Final = tuple(sorted(DATA.glob("*.binlog")))
LOG: Final = DATA / "04-partial-multi-json-full.binlog"


@pytest.fixture
def estimate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Estimate:
    """Run the command without Spark, on parts of 1500 bytes where there are several jobs."""
    monkeypatch.setattr(inline, "PART_BYTES", 1500)

    def estimated(*words: str | Path) -> tuple[int, str, str]:
        code = run(["matrix", "estimate", "--master", "none", *map(str, words)])
        return code, *capsys.readouterr()

    return estimated


@pytest.mark.nightly
def test_all_logs_together_and_one(estimate: Estimate) -> None:
    for words in ((*LOGS,), ("--format", "json", LOG)):
        alone = estimate(*words)
        assert alone[0] == 0
        assert estimate("--jobs", "3", *words) == alone


@pytest.mark.parametrize("place", [50, 1700, 4000, 6000, 8600])
def test_damage_in_each_part(estimate: Estimate, tmp_path: Path, place: int) -> None:
    data = bytearray(LOG.read_bytes())
    data[place] ^= 1
    log = tmp_path / "damaged"
    log.write_bytes(data)
    alone = estimate("--format", "json", log)
    assert alone[0] == 1
    assert estimate("--format", "json", "--jobs", "3", log) == alone


PART_FAULTS = (
    Fault("a-part-is-left-out", "", "Every part is read.", lambda parts: parts[:1] + parts[2:]),
    Fault("a-part-comes-twice", "", "A part is read once.", lambda parts: [*parts, parts[1]]),
    Fault("a-part-reads-on", "", "A part ends where the next begins.",
          lambda parts: [*parts[:-2], parts[-2]._replace(stop=None), parts[-1]]),
)  # fmt: skip


@each(PART_FAULTS)
def test_what_the_comparison_finds(estimate: Estimate, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    alone = estimate("--format", "json", LOG)
    plant_in(monkeypatch, inline, "parts_of", fault.change)
    assert estimate("--format", "json", "--jobs", "2", LOG) != alone


def test_a_worker_that_dies(estimate: Estimate, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(*_: Any) -> Iterable[Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return ()

    monkeypatch.setattr(inline, "measure", dying)
    code, out, err = estimate("--jobs", "2", LOG)
    assert (code, out) == (3, "")
    assert "a worker process was ended by SIGKILL" in err


def test_spark_has_tasks_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", "estimate", "--jobs", "2", "--master", "local[2]", str(LOG)]) == 2
    assert "without Spark" in capsys.readouterr().err
