"""``binlog-lab cases``: the suite is listed, shown and exported, and the export needs no lab to be used."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.files import load_any_case, validate
from conformance.checks.decoders.data_files import load_files
from conformance.checks.decoders.suite import load_suite
from conformance.checks.decoders.suite.archive import load_suite as read_archive
from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.checks.suite import CAPTURE, suite
from conformance.cli import main as frame
from conformance.reference.binlog.files import decode_file
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.deviations import load_deviations
from conformance.servers.errors import ServerUnavailable
from tests.live import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation

WITNESS = "unchanging-replace-after-auto-wrap"
STATEMENT = "d6-equal"
RECORDED = next(item.id for item in suite() if item.recording is not None)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = frame.run(["cases", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]  # documents hold other line separators


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("export") / "cases"
    assert frame.run(["cases", "export", str(directory)]) == 0
    return directory


# --- the suite -------------------------------------------------------------------------------------------------------


def test_ids_are_unique_and_every_requirement_is_known() -> None:
    items = list(suite())
    assert len({item.id for item in items}) == len(items)
    for item in items:
        assert item.case.requirements
        assert set(item.case.requirements) <= set(REQUIREMENTS)


def test_every_witness_recording_and_statement_is_in_it() -> None:
    items = list(suite())
    origins = [item.origin for item in items]
    assert {f"witness of the deviation {entry.id}" for entry in load_deviations() if entry.witness} <= set(origins)
    assert sum(item.recording is not None for item in items) == 40
    ids = {item.id for item in items}
    assert {case.id for cases in CONDITIONS.values() for case in cases} <= ids


# --- list and show ---------------------------------------------------------------------------------------------------


def test_list_prints_one_line_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "list")
    assert code == 0
    rows = out.splitlines()
    of_subjects = (*load_suite().cases, *load_files().cases)
    assert [row.split()[0] for row in rows] == [item.id for item in suite()] + [case.id for case in of_subjects]
    assert f"{len(rows)} Cases" in err
    assert "update   [FR2]" in next(row for row in rows if row.startswith(WITNESS))


def test_list_keeps_the_cases_of_a_requirement(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "-r", "D6")
    assert code == 0
    assert [row.split()[0] for row in out.splitlines()] == [case.id for case in CONDITIONS["D6"]]


@pytest.mark.parametrize("identity", [WITNESS, RECORDED, STATEMENT])
def test_show_prints_a_case_that_can_be_stored_and_replayed(capsys: pytest.CaptureFixture[str], identity: str) -> None:
    code, out, _ = run(capsys, "show", identity)
    assert code == 0
    data = json.loads(out)
    validate(data)
    assert load_any_case(data).id == identity


def test_show_prints_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    for identity in (WITNESS, RECORDED, STATEMENT):
        code, out, _ = run(capsys, "show", identity, "--as", "sql")
        assert code == 0
        assert f" Case {identity}" in "".join(out.splitlines(keepends=True)[:2])
        assert "UPDATE" in out
        assert "AS expected" in out


def test_show_prints_a_case_for_decoders(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "jsonb/double")
    assert code == 0
    data = json.loads(out)
    case = load_suite().case("jsonb/double")
    assert bytes.fromhex(data["log"]) == case.log
    assert [change["after"]["j"]["json"] for change in data["expected"]][:3] == [0.1, -1.5, 1e308]
    code, out, _ = run(capsys, "show", "jsonb/double", "--as", "sql")
    assert code == 0
    assert out.splitlines()[-1] == f"{case.statements[-1]};"
    code, out, err = run(capsys, "show", "hostile/zeros", "--as", "sql")
    assert (code, out) == (2, "")
    assert "no SQL" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "no-such-case"], "unknown Case no-such-case"),
        (["list", "-r", "FR99"], "unknown requirement FR99"),
        (["list", "-r", "U1"], "no Case of the suite is for U1"),
        (["export"], "DIR"),
        (["show", WITNESS, "--as", "yaml"], "yaml"),
    ],
)
def test_wrong_usage_ends_with_2(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert not out


# --- export ----------------------------------------------------------------------------------------------------------


def test_an_export_has_every_case_and_an_index(exported: Path) -> None:
    items = list(suite())
    index = json.loads((exported / "index.json").read_text("utf-8"))
    assert [entry["id"] for entry in index] == [item.id for item in items]
    for item in items:
        assert json.loads((exported / item.id / "case.json").read_text("utf-8"))["id"] == item.id
        (script,) = (exported / item.id).glob("script.*")
        beginning = {".sql": "-- Case ", ".sh": "#!/bin/bash\n# Case "}[script.suffix]
        assert script.read_text("utf-8").startswith(beginning)
        assert (exported / item.id / CAPTURE).exists() == (item.recording is not None)
    assert CAPTURE in (exported / "README.md").read_text("utf-8")


def test_an_export_has_the_logs_for_decoders(exported: Path) -> None:
    folder = exported / "decoders"
    index = json.loads((folder / "index.json").read_text("utf-8"))
    assert [entry["id"] for entry in index["cases"]] == [case.id for case in load_suite().cases]
    assert str(len(index["cases"])) in (folder / "README.md").read_text("utf-8")
    for entry in load_suite().entries:
        place = folder / entry.case.id
        assert (place / "log.binlog").read_bytes() == entry.case.log
        assert (place / "expected.jsonl").read_bytes().decode().split("\n") == [*entry.expected, ""]
        assert (place / "resolved.jsonl").exists() == (entry.resolved != entry.expected)


def test_an_export_has_the_data_files_for_their_readers(exported: Path) -> None:
    folder = exported / "data-files"
    index = json.loads((folder / "index.json").read_text("utf-8"))
    assert [item["id"] for item in index["cases"]] == [case.id for case in load_files().cases]
    for case in load_files().cases:
        assert (folder / case.id / "table.ibd").read_bytes() == case.log
        assert len(lines(folder / case.id / "expected.jsonl")) == len(case.expected)
    assert "SHOW CREATE TABLE" in (folder / "README.md").read_text("utf-8")


def test_show_prints_the_sql_of_a_data_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "rows/deleted", "--as", "sql")
    assert code == 0
    assert "FLUSH BINARY LOGS" not in out
    assert "-- while another session keeps its snapshot: \nDELETE FROM t WHERE id IN (2, 4);" in out


def test_named_cases_for_decoders_are_exported_alone(tmp_path: Path) -> None:
    archive = tmp_path / "some.zip"
    names = ["xa/rolled-back", "gtid/tagged"]
    assert frame.run(["cases", "export", str(tmp_path / "out"), *names, "--decoders", str(archive)]) == 0
    assert {path.parent.name for path in (tmp_path / "out").rglob("log.binlog")} == {"rolled-back", "tagged"}
    assert {case.id for case in read_archive(archive).cases} == set(names)
    assert json.loads((tmp_path / "out" / "index.json").read_text("utf-8")) == []


def test_exported_logs_hold_the_recorded_events_at_places_of_their_own(exported: Path) -> None:
    for item in suite():
        if item.recording is None:
            continue
        events = decode_file((exported / item.id / CAPTURE).read_bytes())
        assert len(events) == 2 + len(item.recording.data["events"])
        assert all(event.header.log_pos == (event.position or 0) + event.header.length for event in events)


def test_expected_changes_are_what_decode_prints_of_the_file(
    exported: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(exported / RECORDED)
    for name, options in (("expected.jsonl", []), ("resolved.jsonl", ["--resolve"])):
        assert frame.run(["decode", "--format", "jsonl", *options, CAPTURE]) == 0
        assert capsys.readouterr().out == (exported / RECORDED / name).read_text("utf-8")


def test_an_export_shows_diffs_and_the_documents_they_lead_to(exported: Path) -> None:
    diffs = documents = 0
    for item in suite():
        if item.recording is not None:
            diffs += (exported / item.id / "expected.jsonl").read_text("utf-8").count('{"diffs": [{')
            assert '{"diffs":' not in (exported / item.id / "resolved.jsonl").read_text("utf-8")
            before, after = (lines(exported / item.id / name) for name in ("expected.jsonl", "resolved.jsonl"))
            assert [row["position"] for row in before] == [row["position"] for row in after]
            documents += len(after)
    assert diffs > 500
    assert documents > 1000


def test_named_cases_are_exported_alone_and_an_export_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for identities in ([STATEMENT], [WITNESS, WITNESS]):
        code, out, err = run(capsys, "export", str(tmp_path), *identities)
        assert (code, out) == (0, "")
        assert "1 Cases" in err
    assert [entry["id"] for entry in json.loads((tmp_path / "index.json").read_text("utf-8"))] == [WITNESS]


def test_a_directory_with_other_things_and_a_file_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    code, _, err = run(capsys, "export", str(tmp_path), STATEMENT)
    assert code == 2
    assert "holds other things" in err
    assert [item.name for item in tmp_path.iterdir()] == ["mine.txt"]
    code, _, err = run(capsys, "export", str(tmp_path / "mine.txt"), STATEMENT)
    assert code == 2
    assert "is no directory" in err


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, err = run(capsys, "export", str(tmp_path / "file" / "below"), STATEMENT)
    assert code == 3
    assert "file" in err


@pytest.mark.live
def test_the_real_mysqlbinlog_reads_every_exported_log(exported: Path, installation: Installation) -> None:
    try:
        program = installation.program("mysqlbinlog")
    except ServerUnavailable as error:
        pytest.skip(str(error))
    logs = [str(exported / item.id / CAPTURE) for item in suite() if item.recording is not None]
    for log in logs:
        command = [*program, "--no-defaults", "-v", "--base64-output=DECODE-ROWS", "--verify-binlog-checksum", log]
        done = subprocess.run(
            command, env={**os.environ, "TZ": "UTC"}, capture_output=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.count(b"### UPDATE ") > 0


def test_replay_prints_a_case_for_decoders_in_the_same_way(capsys: pytest.CaptureFixture[str]) -> None:
    _, shown, _ = run(capsys, "show", "jsonb/double")
    assert frame.run(["replay", "decoder:jsonb/double", "--as", "json"]) == 0
    assert capsys.readouterr().out == shown
