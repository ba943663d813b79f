"""The kit on servers that answer as 8.0 and 8.4 do: every check, and faults that must be seen where they are due."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.harness.needs.listed import NEEDS
from conformance.harness.scripts.shell import LIBRARY
from conformance.harness.version_probes import gather
from tests.doubles.fault import double
from tests.doubles.faults import DOUBLE_FAULTS
from tests.doubles.run import Stage
from tests.doubles.server import DoubleMaker, double_of
from tests.faults.runner import each
from tests.faults.servers.bench import words_of
from tests.faults.servers.edits import after, refused

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation
    from tests.faults.fault import Fault

DATA: Final = Path(__file__).parents[1] / "data"
pytestmark = [pytest.mark.live, pytest.mark.slow]

# Reasons that name no need: they are about the kit itself, whatever the server is.
_OTHER_REASONS: Final = ("not judgeable with one release:",)


# Some of each family, and what 9.7.4 cannot play; all of them every night.
_SOME: Final = (*("FR1", "FR7", "D4", "IP1", "S1", "TMP1", "SDI65"),)


@pytest.mark.parametrize(
    ("version", "requirements", "least"),
    [
        pytest.param("8.0.45", _SOME, 10, id="8.0.45-some"),
        pytest.param("8.0.45", (), 100, id="8.0.45", marks=pytest.mark.nightly),
        pytest.param("8.4.10", (), 100, id="8.4.10", marks=pytest.mark.nightly),
    ],
)
def test_no_row_of_a_double_is_red_and_each_that_is_left_out_names_what_is_missing(
    installation: Installation, version: str, requirements: tuple[str, ...], least: int
) -> None:
    with closing(Stage(version)) as stage:
        outcome = stage.run(*requirements)
    assert outcome.problem == ""
    assert outcome.broken == []
    assert outcome.red == set(), "\n".join(f"{one.requirement} {one.check}: {words_of(one)}" for one in outcome.failing)
    assert outcome.contradicted == set()
    assert outcome.selected >= least
    reasons = outcome.left_out
    assert [reason for reason in reasons if not reason.startswith((NEEDS, *_OTHER_REASONS))] == []
    # The log's row events of version 1 are the one thing of 8.0 that 9.7.4 cannot play.
    assert "needs the system variable log_bin_use_v1_row_events" in reasons


# What 9.7.4 cannot play (`left` in versions.toml), as the recorded answers show it; and how names of errors are asked.
_NOT_PLAYED: Final = {
    *("binlog v1", "plugin mysql_native_password", "text parsed double", "text time", "warnings v1", "symbol 1610"),
    "variable log_bin_use_v1_row_events",
}
_OF_A_RUN: Final = re.compile(r"binlog_lab_\w+|CRC32 0x\w+")


def comparable(question: str, answer: Any) -> Any:
    """An answer without what differs between two runs on one server: times, names of schemas, checksums."""
    if question.startswith("events"):
        return [(event[4], len(event)) for event in map(bytes.fromhex, answer)]
    if question == "description":
        event = bytes.fromhex(answer)
        return event[4:13] + event[17:71] + event[75:-4]
    return _OF_A_RUN.sub("*", answer) if isinstance(answer, str) else answer


def test_the_double_answers_as_a_real_8_0_45_did(installation: Installation, tmp_path: Path) -> None:
    recorded = json.loads((DATA / "answers" / "8.0.45.json").read_text("utf-8"))
    double = double_of("8.0.45", installation, tmp_path)
    with DoubleMaker(double.real, double, lambda _: None).launch(server_id=1) as server:
        answers = gather(server)
    assert set(recorded) - _NOT_PLAYED == set(answers) - _NOT_PLAYED
    for question in sorted(set(recorded) - _NOT_PLAYED):
        assert comparable(question, answers[question]) == comparable(question, recorded[question]), question


def test_scripts_for_bug_reports_use_words_that_the_double_knows(installation: Installation, tmp_path: Path) -> None:
    double = double_of("8.0.45", installation, tmp_path)
    maker = DoubleMaker(double.real, double, lambda _: None)
    with maker.launch(server_id=1) as server, server.connect() as connection:
        script = f"{LIBRARY}end_of_log {shlex.join(server.client('mysql'))}\n"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        (shown,) = connection.execute("SHOW MASTER STATUS").texts()
        assert done.stdout.split() == [str(shown[0]), str(shown[1])]
        connection.execute("FLUSH BINARY LOGS")
        assert len(connection.execute("SHOW BINARY LOGS").rows) == 2
        script = f"{LIBRARY}empty_log {shlex.join(server.client('mysql'))}\n"
        subprocess.run(["bash", "-c", script], capture_output=True, check=True)
        assert len(connection.execute("SHOW BINARY LOGS").rows) == 1
        assert connection.execute("SHOW BINLOG EVENTS LIMIT 1").texts()[0][5] == "Server ver: 8.0.45, Binlog ver: 4"
        assert server.relay.broken == ""


@pytest.mark.sampled(2)
@each(DOUBLE_FAULTS)
def test_a_faulty_double_is_red_where_it_is_due_and_nowhere_else(installation: Installation, fault: Fault) -> None:
    with closing(Stage(fault.run["version"], fault)) as stage:
        outcome = stage.run(*fault.requirements, *fault.run["asks"], checks=fault.at, updates=fault.run["updates"])
    assert (outcome.problem, outcome.broken) == ("", [])
    assert outcome.red == fault.due
    assert outcome.contradicted == set(fault.run["contradicts"])
    for name in fault.due:
        told = [words_of(one) for one in outcome.failing if one.requirement == name]
        assert any(re.search(fault.says, words, re.DOTALL) for words in told), told


@pytest.mark.planted("TMP1")
def test_a_statement_that_nobody_foresaw_costs_one_check(installation: Installation) -> None:
    refusing = after("SET SESSION innodb_strict_mode", refused(1193))
    fault = double("refuses", "It refuses a statement that a check needs.", passing={"answer": refusing})
    with closing(Stage("8.0.45", fault)) as stage:
        outcome = stage.run("TMP1", "S2")
    assert (outcome.problem, outcome.broken) == ("", [])
    verdicts = {name: str(cell.verdict) for name, cell in outcome.rows.items()}
    assert (verdicts["TMP1"], verdicts["S2"]) == ("not-run", "pass")
    assert {"TMP1"} <= outcome.red == set(verdicts) - {"S2"}


def test_the_catalogue_has_ten_faults_with_names_of_their_own() -> None:
    assert len({fault.id for fault in DOUBLE_FAULTS}) == len(DOUBLE_FAULTS) >= 10
    assert all(fault.breaks or fault.run["contradicts"] for fault in DOUBLE_FAULTS)
