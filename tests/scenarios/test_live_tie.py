"""A sample of a matrix on a real server: nothing differs, and what would differ is noticed."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases import predict
from conformance.cli.main import run
from conformance.reference.partial.decision import Decision, decide
from scenarios import live
from scenarios.live import bundles, run_live, sample
from scenarios.matrix import Matrix, MatrixError, load_matrix
from tests.faults.fault import Fault
from tests.faults.runner import each, plant_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from conformance.cases.observation import Observation
    from conformance.servers.run.process import ProcessServer


def test_a_sample_is_of_every_cell_and_in_tables_of_one_kind() -> None:
    matrix = load_matrix("images")
    items = list(sample(matrix, 400))
    assert len({item.replay.split("/")[1] for item in items}) == matrix.cells
    found = list(bundles(items))
    assert sorted(item.replay for bundle in found for item in bundle) == sorted(item.replay for item in items)
    for bundle in found:
        assert len({len(item.scenario.frame.json) for item in bundle}) == 1
        assert len({item.scenario.frame.on.session.row_image for item in bundle}) == 1


def test_scenarios_that_are_no_updates_have_no_live_tie() -> None:
    with pytest.raises(MatrixError, match="matrix safety: its scenarios are no updates"):
        list(sample(load_matrix("safety"), 100))


@pytest.fixture
def wide(tiny: Matrix) -> Matrix:
    """Also with holes, without keys, compressed, large and with several columns."""
    ranges = {**tiny.ranges, "padding": ("none", "hole"), "key": ("primary", "none"), "compression": ("off", "on")}
    ranges["columns"] = (1, 2, 9)
    axes = {**tiny.axes, "size": (100, 70_000)}
    return replace(tiny, axes=axes, ranges=ranges)


@pytest.mark.live
def test_a_real_server_writes_what_the_rows_of_the_matrix_say(wide: Matrix, server: ProcessServer) -> None:
    result = run_live(wide, server, 90, lambda _: None)
    assert result.differences == []
    assert (result.mismatches, result.scenarios, result.cells) == (0, 90, 6)
    assert result.sizes == 180
    assert result.by_size == {100: 45, 70_000: 45}
    assert set(result.by_columns) == {1, 2, 9}
    assert sum(result.by_columns.values()) == 90
    assert result.spread.startswith("documents: 45 of 100 B, 45 of 68.4 KB; JSON columns in the table: ")
    assert result.updates > 180
    assert result.bytes > 10_000_000


def _never(before: object, after: object, change: Any, *, partial_json: bool) -> Decision:
    true = decide(before, after, change, partial_json=partial_json)
    return Decision(False, after, "planted") if true.reason == "smaller" else true  # type: ignore[arg-type]


def _off_by_one(sample: Iterable[Any]) -> Iterator[Any]:
    return (replace(item, event_on=item.event_on + 1) for item in sample)


def _longer(observation: Observation) -> Observation:
    events = tuple(event + b"\0" if event[4] in (31, 39) else event for event in observation.events)
    return replace(observation, events=events)


LIVE_FAULTS = (
    Fault("model-never-partial", "FR11 FR12", "The model decides as the server.",
          lambda patch: patch.setattr(predict, "decide", _never)),
    Fault("size-in-a-row-is-off-by-one", "FR11 FR12", "A row's size is that of the server's event.",
          lambda patch: plant_in(patch, live, "sample", _off_by_one)),
    Fault("an-event-is-a-byte-longer", "FR11 FR12", "The server's event is that of the model, byte for byte.",
          lambda patch: plant_in(patch, live, "run_case", _longer)),
)  # fmt: skip


@pytest.mark.live
@each(LIVE_FAULTS)
def test_what_differs_from_a_real_server_is_noticed(
    fault: Fault, wide: Matrix, server: ProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault.change(monkeypatch)
    result = run_live(wide, server, 12, lambda _: None)
    assert result.mismatches > 0
    assert result.differences[0].startswith("matrix:tiny/")


@pytest.mark.live
@pytest.mark.parametrize(("what", "code", "said"), [("dies", 3, "died (signal SIGKILL)"), ("ctrl-c", 4, "interrupted")])
def test_a_comparison_that_is_broken_off_says_so_and_leaves_no_server(
    what: str, code: int, said: str, installation: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    pids: list[int] = []

    def caught(matrix: Matrix, server: ProcessServer, *others: Any) -> Any:
        pids.append(server.pid)
        return run_live(matrix, server, *others)

    def second(bundle: list[Any], *_: Any) -> Any:
        for number, item in enumerate(bundles(bundle)):
            if number == 1:
                if what == "ctrl-c":
                    raise KeyboardInterrupt
                os.kill(pids[0], signal.SIGKILL)
            yield item

    monkeypatch.setattr(live, "run_live", caught)
    monkeypatch.setattr(live, "bundles", second)
    command = ["matrix", "run", "images", "--scenarios", "360", "--live", "360", "--server", "process"]
    assert run([*command, "--report", str(tmp_path / "report")]) == code
    assert said in capsys.readouterr().err
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert not (tmp_path / "report").exists()
