"""``matrix report DIR``: what a run wrote is what is rendered again, from its results alone."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from conformance.cli.main import run
from scenarios import results, runs
from scenarios.budgets import judge
from scenarios.costs import Cost, Memory
from scenarios.inline import SqliteStore, all_rows
from scenarios.live import Live
from scenarios.manifest import MANIFEST, Manifest
from scenarios.overview import overview
from scenarios.rendered import SUMMARY, write

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.matrix import Matrix

FILES = ("index.html", "results.json", SUMMARY)


@pytest.fixture
def directory(tiny: Matrix, tmp_path: Path) -> Path:
    """The report of a run with all that can be shown: a broken budget, a wrong row, a server's difference."""
    counts = tiny.share(24)
    rows = [list(row) for row in all_rows(tiny, counts)]
    rows[0][tiny.columns.index("event_off")] += 1
    rows[1][tiny.columns.index("verdict")] = 11
    live = Live("MySQL 9.7.4", scenarios=24, cells=6, mismatches=1, differences=["matrix:tiny/0/1: it differs"])
    facts = runs.Facts(
        matrix=tiny, started="2026-01-01", seconds=2.0, scenarios=20, resumed=4, command="binlog-lab matrix run tiny",
        environment={"python": "3.11"}, live=live, costs=(Cost(100, 24, 2400, 0.5),), memory=Memory(1, 2, 3, 4, 5),
    )  # fmt: skip
    with closing(SqliteStore(tiny, rows)) as store:
        judgement, seen = judge(tiny, store, counts), overview(tiny, store)
    manifest = Manifest(tmp_path, tiny, counts, "rows")
    manifest.start()
    manifest.add(dict(judgement.cells))
    write(tmp_path, results.results(facts, judgement, seen))
    return tmp_path


def test_the_files_are_those_that_the_run_wrote(
    directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = {name: (directory / name).read_bytes() for name in FILES}
    for name in ("index.html", SUMMARY):
        (directory / name).unlink()
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as where it is not installed
    assert run(["matrix", "report", str(directory)]) == 0
    assert {name: (directory / name).read_bytes() for name in FILES} == written
    captured = capsys.readouterr()
    content = json.loads(written["results.json"])
    assert captured.out == content["digest"] + "\n"
    assert "24 scenarios in 6 cells: 1 of 2 budgets hold, 1 unexplained rows." in captured.err
    page = written["index.html"].decode()
    for text in ("Over budget", "matrix:tiny/0/1: it differs", "binlog-lab replay matrix:tiny/0/0", "What it took"):
        assert text in page


def test_a_run_that_was_broken_off_is_said_with_what_is_done(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / "results.json").unlink()
    assert run(["matrix", "report", str(directory)]) == 4
    assert "a run of tiny with 24 scenarios was broken off: 6 of 6 cells are done" in capsys.readouterr().err


def test_rows_that_are_not_whole_stay_incomplete(directory: Path) -> None:
    content = json.loads((directory / "results.json").read_text("utf-8"))
    content["run"] |= {"complete": False, "exit_code": 4, "unsound": ["cell 3: expected 4 rows, got 3"]}
    (directory / "results.json").write_text(json.dumps(content), "utf-8")
    assert run(["matrix", "report", str(directory)]) == 4
    assert "cell 3: expected 4 rows, got 3" in (directory / "index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("results.json", "{", "results.json: not JSON"),
        ("results.json", "[]", "results.json: expected the results of a matrix run, got other ones"),
        ("results.json", '{"schema": 1, "run": {}}', "expected the results of a matrix run, got other ones"),
        ("results.json", '{"matrix": {}, "run": {"complete": false}}', "not what this version writes (KeyError"),
        (MANIFEST, "{", "manifest.jsonl: not a manifest"),
        (MANIFEST, '{"digest": "0"}', "they are not of one run"),
    ],
)
def test_what_cannot_be_rendered_is_said(
    name: str, text: str, message: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (directory / name).write_text(text, "utf-8")
    assert run(["matrix", "report", str(directory)]) == 2
    assert message in capsys.readouterr().err


def test_a_directory_without_a_report_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["matrix", "report", str(tmp_path)]) == 2
    assert "no matrix run has its report here (no results.json, no manifest.jsonl)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert run(["matrix", "report", str(tmp_path / "none")]) == 2
