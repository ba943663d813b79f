"""Several servers in one run: a column each, whatever becomes of the others."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conformance import interrupts
from conformance.harness.experiments.items import FACTS
from conformance.harness.experiments.manifests import CheckFacts
from conformance.harness.settings import Settings
from conformance.harness.updates.run import CampaignFailed
from conformance.runs.check_runs.lab_run import LabRun
from conformance.runs.columns import column_names, server_pairs
from conformance.servers.errors import CaptureError, ConnectionLost, NoBinaryLog, ProtocolError, SqlError
from conformance.servers.recording.tape import NoAnswer
from conformance.stream import Block, CaseVerdict, Subject
from conformance.subjects.answers import SubjectUnavailable
from conformance.user_errors import Usage
from tests.cli.written_reports import assert_whole, records, results
from tests.live import Ended, lab

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

S, R = "servers", "replicas"


def test_a_replica_belongs_to_the_server_before_it() -> None:
    assert server_pairs((), (), ()) == [("auto", "")]
    assert server_pairs(("a", "b", "c"), ("x", "y"), (S, R, S, S, R)) == [("a", "x"), ("b", ""), ("c", "y")]
    with pytest.raises(Usage, match="belongs to the --server before it"):
        server_pairs(("a",), ("x",), (R, S))
    with pytest.raises(Usage, match="two replicas for --server a"):
        server_pairs(("a",), ("x", "y"), (S, R, R))


def test_columns_are_called_by_their_specs() -> None:
    assert column_names(["process", "docker:mysql:8.0", "process", "process"]) == [
        "process", "docker:mysql:8.0", "process#2", "process#3",
    ]  # fmt: skip


def test_the_order_on_the_command_line_counts(tmp_path: Path) -> None:
    wrong = lab("conformance", "--replica", "process", "--server", "process", cwd=tmp_path)
    assert wrong.code == 2
    assert "belongs to the --server before it" in wrong.err
    wrong = lab("conformance", "--server", "a", "--server", "process", cwd=tmp_path)
    assert wrong.code == 2
    assert "unknown kind of server 'a'" in wrong.err
    assert list(tmp_path.iterdir()) == []


def cells(report: Path, requirement: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = results(report)["requirements"][requirement]["subjects"]
    return found


def test_no_column_can_run(tmp_path: Path) -> None:
    """Every column is an error of its own, and the run could not run."""
    end = lab(
        "conformance", "-r", "FR1", "--server", "process:/bin/true", "--server", "process:/nowhere", "--report", "r",
        cwd=tmp_path,
    )  # fmt: skip
    assert end.code == 3, end.text
    assert_whole(tmp_path / "r", 3)
    assert {name: cell["verdict"] for name, cell in cells(tmp_path / "r", "FR1").items()} == {
        "process:/bin/true": "not-run", "process:/nowhere": "not-run",
    }  # fmt: skip
    assert "error: process:/bin/true: /bin/true is not a MySQL server" in end.err
    assert "error: process:/nowhere: " in end.err
    assert results(tmp_path / "r")["totals"]["verdicts"]["pass"] == 0


class Item:
    """A check as pytest has it."""

    def __init__(self, name: str, *requirements: str) -> None:
        self.name = name
        self.path = Path("some/check.py")
        self.stash = {FACTS: CheckFacts(room="some", name=name, requirements=requirements)}

    def iter_markers(self, name: str) -> list[Any]:
        assert name == "judges"
        return []


def column(
    sunk: list[Any],
    *,
    lives: bool = True,
    known: bool = True,
    columns: tuple[str, ...] = ("a", "b"),
    revive: Any = None,
) -> Any:
    """The run of column ``a``, in front of its second check."""
    run: Any = LabRun(lambda _: Settings(), columns=columns, last=False)
    run.sink = sunk.append
    settings = SimpleNamespace(column="a", subject="")
    run._lab = SimpleNamespace(
        settings=settings, lives=lives, known=known, revive=revive, subject="a", sink=sunk.append,
        server=SimpleNamespace(id="under-test"),
    )  # fmt: skip
    run.selected = [Item("one", "FR1"), Item("two", "FR2", "FR3"), Item("three", "FR4")]
    run._run_items = {run.selected[0]}
    return run


REFUSED = SqlError(1064, "42000", "words of another version", statement="SELECT 1")


def test_a_statement_that_the_server_does_not_know_costs_one_check() -> None:
    sunk: list[Any] = []
    run = column(sunk)
    assert run._refused(run.selected[1], REFUSED)
    assert {(record.subject, record.check) for record in sunk} == {("a", "some/two")}
    assert [record.requirement for record in sunk if isinstance(record, CaseVerdict)] == ["FR2", "FR3"]
    assert [record.verdicts for record in sunk if isinstance(record, Block)] == [{"not-run": 1}]
    assert run.column_errors[0].startswith("a: some/two: the server refused a statement of the check itself: 1064")
    assert not run.stops


def test_it_costs_one_check_of_a_run_on_one_server_too() -> None:
    sunk: list[Any] = []
    run = column(sunk, columns=())
    run._lab.settings.column = ""
    assert run._refused(run.selected[1], REFUSED)
    assert [record.verdicts for record in sunk if isinstance(record, Block)] == [{"not-run": 1}]
    assert run.column_errors[0].startswith("some/two: the server refused a statement of the check itself: 1064")
    assert not run.stops


@pytest.mark.parametrize(
    ("error", "options"),
    [(REFUSED, {"lives": False}), (ConnectionLost("gone"), {}), (AssertionError("x"), {})],
)
def test_anything_else_ends_the_column(error: Exception, options: dict[str, Any]) -> None:
    sunk: list[Any] = []
    run = column(sunk, **options)
    assert not run._refused(run.selected[1], error)
    assert sunk == []


def test_the_only_column_that_never_began_ends_the_run_with_its_cause() -> None:
    sunk: list[Any] = []
    run = column(sunk, columns=("a",), known=False)
    run._failed_to_run(SubjectUnavailable("./decoder: no such program"))
    assert run.stops
    assert run.could_not_run == "a: ./decoder: no such program"
    assert [record.type for record in sunk] == ["subject"]  # and no verdict
    assert run.column_errors == []


@pytest.mark.parametrize(("columns", "known"), [(("a", "b"), False), (("a",), True)])
def test_a_column_beside_others_and_one_that_began_say_what_did_not_run(columns: tuple[str, ...], known: bool) -> None:
    sunk: list[Any] = []
    run = column(sunk, columns=columns, known=known)
    run._failed_to_run(SubjectUnavailable("./decoder: no such program"))
    assert not run.stops
    assert {record.check for record in sunk if isinstance(record, Block)} == {"some/two", "some/three"}
    assert run.column_errors == ["a: ./decoder: no such program"]


@pytest.mark.parametrize("error", [ConnectionLost("gone"), CaptureError("the log is cut"), CampaignFailed("died")])
def test_a_death_costs_one_check_and_the_others_run(error: Exception) -> None:
    sunk: list[Any] = []
    revived: list[bool] = []
    run = column(sunk, columns=(), revive=lambda: revived.append(True))
    assert run._outlived(run.selected[1], error)
    assert [record.verdicts for record in sunk if isinstance(record, Block)] == [{"not-run": 1}]
    assert revived == [True]
    assert not run.stops
    assert run.could_not_run is None
    assert [message.split(":")[0] for message in run.column_errors] == ["some/two"]  # so the run ends with 3


def test_a_recorded_death_costs_one_check_though_nothing_can_be_revived() -> None:
    def unrecorded() -> None:
        raise NoAnswer("the recording has no answer to alive")

    run = column([], columns=(), revive=unrecorded)
    assert run._outlived(run.selected[1], ConnectionLost("the connection is closed"))
    assert run.could_not_run is None


def test_a_server_that_dies_under_every_check_ends_the_run() -> None:
    run = column([], columns=(), revive=lambda: None)
    assert [run._outlived(run.selected[1], ConnectionLost("gone")) for _ in range(4)] == [True, True, True, False]


def _refuse() -> None:
    raise OSError("no room")


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (AssertionError("x"), {}),
        (REFUSED, {}),
        (NoBinaryLog("log_bin is OFF"), {}),
        (ConnectionLost("gone"), {"known": False}),  # it never answered
        (ConnectionLost("gone"), {"revive": _refuse}),
        (ConnectionLost("gone"), {"columns": ("a", "b")}),  # its column ends
    ],
)
def test_other_ends_are_ends(error: Exception, options: dict[str, Any]) -> None:
    sunk: list[Any] = []
    run = column(sunk, **{"columns": (), "revive": lambda: None, **options})
    assert not run._outlived(run.selected[1], error)
    assert sunk == []


@pytest.mark.parametrize("error", [IndexError("list index out of range"), ProtocolError("expected one row, got 0")])
@pytest.mark.parametrize("columns", [(), ("a", "b")])
def test_an_answer_that_nobody_foresaw_costs_one_check(error: Exception, columns: tuple[str, ...]) -> None:
    sunk: list[Any] = []
    run = column(sunk, columns=columns)
    assert run._unforeseen(run.selected[1], error)
    assert [record.verdicts for record in sunk if isinstance(record, Block)] == [{"not-run": 1}]
    assert "some/two: it cannot go on with what it was told: " in run.column_errors[0]
    assert str(error) in run.column_errors[0]
    assert not run.stops


def test_a_server_beside_without_a_log_costs_one_check() -> None:
    run = column([], columns=())
    assert run._unforeseen(run.selected[1], NoBinaryLog("log_bin is OFF", "process-5.6.24-85"))
    assert not run._unforeseen(run.selected[1], NoBinaryLog("log_bin is OFF", run._lab.server.id))


@pytest.mark.parametrize(
    ("error", "options"),
    [(IndexError("x"), {"known": False}), (ConnectionLost("gone"), {}), (NoBinaryLog("log_bin is OFF"), {})],
)
def test_without_a_server_there_is_no_other_check(error: Exception, options: dict[str, Any]) -> None:
    sunk: list[Any] = []
    assert not column(sunk, **options)._unforeseen(column(sunk).selected[1], error)
    assert sunk == []


def test_a_recording_that_lacks_an_answer_hides_no_cause() -> None:
    """Behind a bad answer a check asks for something else, which the recording cannot have."""
    sunk: list[Any] = []
    run = column(sunk, columns=())
    run._recording = SimpleNamespace(tapes=SimpleNamespace(problem="the recording has no answer to X"))
    error = NoAnswer("the recording has no answer to X")
    error.__context__ = ProtocolError("expected one row, got 0")
    assert run._unanswered(run.selected[1], SimpleNamespace(excinfo=SimpleNamespace(value=error)))
    assert run.column_errors[0].endswith(
        "some/two: it cannot go on with what it was told: expected one row, got 0; behind that, the recording has"
        " no answer to X"
    )


@pytest.mark.parametrize("error", [None, RuntimeError("cannot release un-acquired lock"), ConnectionLost("gone")])
def test_an_interrupt_ends_the_run_whatever_it_made_of_the_check(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sunk: list[Any] = []
    run = column(sunk, columns=())
    call: Any = SimpleNamespace(excinfo=error and SimpleNamespace(value=error), when="call")
    monkeypatch.setattr(interrupts, "_came", [interrupts.Terminated("SIGTERM")])
    item: Any = run.selected[1]
    item.session = SimpleNamespace(shouldstop=False)
    run.pytest_runtest_makereport(item, call)
    assert item.session.shouldstop
    assert (run.incomplete, run.column_errors, sunk) == ("interrupted", [], [])


def test_what_is_left_of_a_dead_column_did_not_run() -> None:
    sunk: list[Any] = []
    run = column(sunk, known=False)
    run._failed_to_run(ConnectionLost("gone\nwith its log"))
    assert [record.check for record in sunk if isinstance(record, Block)] == ["some/two", "some/three"]
    assert [record.note for record in sunk if isinstance(record, Subject)] == ["could not run: gone"]
    assert run.could_not_run is None
    assert run.column_errors == ["a: gone\nwith its log"]
    after: Any = LabRun(lambda _: Settings(), columns=("a", "b"), before=run)
    assert after.column_errors is run.column_errors


def test_recorded_captures_can_be_a_column(tmp_path: Path) -> None:
    end = lab("conformance", "-r", "IP2", "--updates", "50", "--server", "none", "--server", "none", cwd=tmp_path)
    assert end.code == 0, end.text
    names = ["captures 9.7.4", "captures 8.0.45", "captures 9.7.4#2", "captures 8.0.45#2"]
    found = cells(tmp_path / "report", "IP2")
    assert {name: cell["verdict"] for name, cell in found.items()} == dict.fromkeys(names, "pass")
    assert [subject["id"] for subject in results(tmp_path / "report")["subjects"]] == names


@pytest.fixture(scope="module")
def matrix(
    installation: Installation, old_server: Installation, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Ended, list[str]]:
    """The server twice, a program that is none in between, and an old server."""
    place = tmp_path_factory.mktemp("matrix")
    specs = ["process", "process:/bin/true", f"process:{installation.mysqld}", f"process:{old_server.mysqld}"]
    servers = [word for spec in specs for word in ("--server", spec)]
    words = ("-v", "-r", "FR1", "-r", "D4", "--updates", "100", "--seed", "7")
    end = lab("conformance", *words, *servers, "--report", "report", cwd=place)
    return place / "report", end, specs


@pytest.mark.live
def test_a_column_that_cannot_run_is_an_error_and_the_others_run(matrix: tuple[Path, Ended, list[str]]) -> None:
    report, end, specs = matrix
    assert end.code == 3, end.text
    assert_whole(report, 3)
    found = cells(report, "FR1")
    assert set(found) == set(specs)
    for name in (specs[0], specs[2]):
        assert (found[name]["verdict"], found[name]["failed"], found[name]["not_run"]) == ("pass", 0, 0)
        assert found[name]["cases"] == 100
    assert (found[specs[1]]["verdict"], found[specs[1]]["failed"]) == ("not-run", 0)
    assert "the others" not in end.err
    assert "process:/bin/true: /bin/true is not a MySQL server" in end.err
    data = results(report)
    assert data["totals"]["updates_compared"] == 200
    assert data["totals"]["mismatches"] == 0
    assert data["run"]["incomplete_reason"].startswith("process:/bin/true: ")
    jsonschema.validate(data["subjects"], {"type": "array", "minItems": len(specs)})
    versions = {subject["id"]: subject["version"] for subject in data["subjects"]}
    assert versions[specs[0]] == versions[specs[2]]
    assert versions[specs[1]] is None


@pytest.mark.live
def test_the_columns_run_the_same_cases(matrix: tuple[Path, Ended, list[str]]) -> None:
    report, _, specs = matrix
    digests = {
        spec: [line["digest"] for line in records(report) if line.get("digest") and line["subject"] == spec]
        for spec in specs
    }
    assert digests[specs[0]] == digests[specs[2]] != []


@pytest.mark.live
def test_every_report_has_the_columns(matrix: tuple[Path, Ended, list[str]]) -> None:
    report, end, specs = matrix
    page, junit = (report / "index.html").read_text("utf-8"), (report / "junit.xml").read_text("utf-8")
    for spec in specs:
        assert f'<th scope="col">{spec}<small>' in page
        assert f'<testsuite name="{spec}"' in junit
    header = next(line for line in end.out.splitlines() if line.startswith("requirement"))
    assert header.count("could not run") == 1
    (row,) = [line for line in end.out.splitlines() if line.startswith("FR1 ")]
    assert row.count("✓") == 2
    assert row.count("○ not-run") == 1


@pytest.mark.live
def test_each_server_is_held_against_the_table_of_versions(matrix: tuple[Path, Ended, list[str]]) -> None:
    report, end, specs = matrix
    data = results(report)
    asked = {subject["id"]: subject["asked"] for subject in data["subjects"] if "asked" in subject}
    assert set(asked) == set(specs) - {specs[1]}
    assert data["table_findings"] == []
    for rows in asked.values():
        assert sum(row.get("agrees") is True for row in rows) > 35
    assert "table of versions, process: " in end.out
    assert json.dumps(asked[specs[0]]) == json.dumps(asked[specs[2]])


@pytest.mark.live
def test_nothing_is_applicable_to_an_old_server_and_nothing_fails(matrix: tuple[Path, Ended, list[str]]) -> None:
    report, _, specs = matrix
    verdicts = [line for line in records(report) if line["type"] == "verdict" and line["subject"] == specs[3]]
    assert {line["verdict"] for line in verdicts} == {"not-applicable"}
    assert all("has no partial JSON updates: they came with 8.0.3" in line["message"] for line in verdicts)
    blocks = [line for line in records(report) if line["type"] == "block" and line["subject"] == specs[3]]
    assert {name for line in blocks for name in line["verdicts"]} == {"not-applicable"}
