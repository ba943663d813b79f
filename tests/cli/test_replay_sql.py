"""sql Cases replayed from a file: words, exit codes, listed deviations, guests; and as a script."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.cases.files import dump_case, load_any_case
from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.cli import main as frame
from conformance.requirements.deviations import load_deviations
from tests.live import lab

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer

GOOD = SqlCase(
    id="good",
    requirements=("S1",),
    statements=(SqlStatement(sql="SELECT 1", judges="S1", outcomes=(Outcome(rows=(("1",),)),)),),
)
BAD = replace(GOOD, id="bad", statements=(replace(GOOD.statements[0], sql="SELECT 2"),))
STARTS = replace(GOOD, id="starts", statements=(SqlStatement(start=()), *GOOD.statements))


def witness() -> SqlCase:
    (entry,) = [item for item in load_deviations() if item.id == "sql-log-bin-without-warning"]
    case = load_any_case(json.loads(entry.witness or ""))
    assert isinstance(case, SqlCase)
    return case


def store(case: SqlCase, path: Path) -> Path:
    path.write_text(json.dumps(dump_case(case)), encoding="utf-8")
    return path


def first_words(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if not line.startswith(" ")]


@pytest.mark.live
def test_each_case_has_its_word_and_a_restart_leaves_the_server_for_the_next(tmp_path: Path) -> None:
    files = [store(case, tmp_path / f"{case.id}.json") for case in (STARTS, GOOD, witness(), BAD)]
    end = lab("replay", *files)
    assert end.code == 1, end.text
    assert first_words(end.out) == ["PASS", "PASS", "DEVIATES", "FAILED"]
    assert "listed deviation: sql-log-bin-without-warning" in end.out
    assert "statement 0: rows: SELECT 2" in end.out
    assert "expected ('1')" in end.out
    assert "got      ('2')" in end.out


@pytest.mark.live
def test_without_the_list_a_known_outcome_is_a_failure(tmp_path: Path) -> None:
    end = lab("replay", store(witness(), tmp_path / "case.json"), "--no-deviations")
    assert end.code == 1, end.text
    assert first_words(end.out) == ["FAILED"]
    assert "SET SESSION sql_log_bin=0" in end.out


def end_dumps(server: ProcessServer) -> None:
    """End what earlier tests left: a dump whose client is gone ends at the next event only, and counts as a replica."""
    with server.connect() as session:
        dumps = "FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'"
        for (number,) in session.execute(f"SELECT id {dumps}").texts():
            session.execute_many([f"KILL {number}"])  # it may have ended meanwhile
        while session.execute(f"SELECT COUNT(*) {dumps}").scalar() != "0":
            session.execute("DO SLEEP(0.05)")


@pytest.mark.live
def test_a_guest_is_not_restarted_and_keeps_its_global_values(server: ProcessServer, tmp_path: Path) -> None:
    address = server.tcp_address()
    end_dumps(server)
    changes = replace(GOOD, globals=("binlog_format",))
    files = [store(case, tmp_path / f"{number}.json") for number, case in enumerate((STARTS, changes, GOOD))]
    end = lab("replay", *files, "--server", f"mysql://{address}", env={"BINLOG_LAB_PASSWORD": address.password or ""})
    assert end.code == 3, end.text
    assert first_words(end.out) == ["ERROR", "ERROR", "PASS"], end.text
    assert "needs a server that the lab started itself" in end.out
    assert server.alive()


def test_a_script_and_json_are_printed_without_a_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = store(witness(), tmp_path / "case.json")
    assert frame.run(["replay", str(path), "--as", "sql"]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert "SET SESSION sql_log_bin=0;" in lines
    assert "'success; warnings 3645; a text with ''When the binary log is ''' AS expected" in lines[-2]
    assert lines[-1].endswith("'as expected', 'FAULT') AS verdict;")
    assert frame.run(["replay", str(path), "--as", "json"]) == 0
    assert load_any_case(json.loads(capsys.readouterr().out)) == witness()
