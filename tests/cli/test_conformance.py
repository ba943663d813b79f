"""The main job from end to end: a program of its own against a real server, as a user sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main as frame
from conformance.requirements.catalogue import REQUIREMENTS
from tests.cli.written_reports import assert_whole, digests, ended, records, results
from tests.live import Ended, lab, nothing_left, started, until
from tests.volume import thin

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer

live = pytest.mark.live


# --- a green run -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def green(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A whole run with a server of its own, which must have left nothing."""
    place = tmp_path_factory.mktemp("green")
    program = started("conformance", "--updates", "300", "--seed", "7", "--report", "report", cwd=place)
    end = ended(program, place)
    assert nothing_left(program), end.text
    return place / "report", end


@live
def test_a_run_writes_a_whole_report_and_ends_with_0(green: tuple[Path, Ended]) -> None:
    report, end = green
    assert_whole(report, 0)
    assert end.code == 0, end.text
    assert results(report)["run"]["complete"] is True


@live
def test_every_update_is_compared_and_none_differs(green: tuple[Path, Ended]) -> None:
    totals = results(green[0])["totals"]
    assert totals["updates_compared"] == 300
    assert totals["mismatches"] == 0
    # Size and free space of every JSON column of every visited row, and its text (other checks compare texts too).
    blocks = records(green[0])
    sizes = sum(block.get("sizes_compared", 0) for block in blocks if block.get("check") == "updates/storage")
    texts = sum(block.get("texts_compared", 0) for block in blocks if block.get("check") == "updates/text")
    assert sizes == 2 * texts >= 600
    assert totals["sizes_compared"] >= sizes
    assert totals["texts_compared"] >= texts
    assert totals["bytes_compared"] > 0
    # Beside passes only what the server's version excludes, what the worklog leaves open, and what nobody can decide.
    verdicts = totals["verdicts"]
    harmless = sum(verdicts[name] for name in ("pass", "deviates", "not-applicable", "info", "inconclusive"))
    assert verdicts["deviates"] == totals["deviating"]
    assert harmless == totals["cases"]
    # What the worklogs leave open, what printed text cannot carry (FR7), and FR14 without a build to compare. A page of
    # a dropped table may have left the buffer pool before it is looked at (SDI68).
    named = {
        word: {block["requirement"] for block in blocks if block.get("verdict") == word}
        for word in ("info", "inconclusive")
    }
    open_ones = {"FR7", "TMR1", "TMR2", "TMR4"}
    assert named["info"] == open_ones
    assert {"FR14"} <= named["inconclusive"] <= {"FR14", "SDI68"}


@live
def test_the_summary_says_version_seed_census_and_where_the_report_is(
    green: tuple[Path, Ended], server: ProcessServer
) -> None:
    report, end = green
    for words in (server.version, "seed 7", "300 updates", "0 differ", "census", "updates/s", str(report.name)):
        assert words in end.out, end.text
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert "seed 7" in end.err


@live
def test_the_requirements_of_one_server_are_judged(green: tuple[Path, Ended]) -> None:
    rows = results(green[0])["requirements"]
    judged = {name for name, row in rows.items() if row["verdict"] in ("pass", "deviates")}
    assert judged >= {"FR1", "FR2", "FR11", "FR12", "FR13", "D1", "D2", "D3", "D5", "D6", "D7", "F3", "IP1", "IP2"}
    assert rows["D4"]["verdict"] == "not-applicable"
    assert all(row.get("reason") for row in rows.values() if not row["cases"])
    assert list(rows) == list(REQUIREMENTS)
    assert thin(results(green[0])) == []


@live
def test_the_same_seed_makes_the_same_updates_and_another_seed_others(
    green: tuple[Path, Ended], server: ProcessServer, tmp_path: Path
) -> None:
    first = digests(green[0])
    assert len(first) == 3
    for seed, updates, same in (("7", "200", first[:2]), ("8", "200", None)):
        report = tmp_path / seed
        end = run_on(server, "-r", "FR1", "--seed", seed, "--updates", updates, "--report", report)
        assert end.code == 0, end.text
        if same is not None:
            assert digests(report) == same
        else:
            assert not set(digests(report)) & set(first)


def run_on(server: ProcessServer, *arguments: str | Path) -> Ended:
    """A run on the tests' own server, which is a guest's house to it: no second server has to start."""
    address = server.tcp_address()
    return lab(
        "conformance", "--server", f"mysql://{address}", *arguments, env={"BINLOG_LAB_PASSWORD": address.password or ""}
    )


# --- an address ------------------------------------------------------------------------------------------------------


def schemas(server: ProcessServer) -> list[str | None]:
    with server.connect() as connection:
        return [name for (name,) in connection.execute("SHOW SCHEMAS LIKE 'binlog\\_lab\\_%'").texts()]


def global_variables(server: ProcessServer) -> dict[str | None, str | None]:
    moving = {"gtid_executed", "innodb_buffer_pool_dump_now", "timestamp"}
    with server.connect() as connection:
        rows = connection.execute("SHOW GLOBAL VARIABLES").texts()
    return {name: value for name, value in rows if name not in moving}


@live
def test_a_server_at_an_address_is_left_as_it_was(server: ProcessServer, tmp_path: Path) -> None:
    before, variables = schemas(server), global_variables(server)
    words = ("-r", "FR1", "-r", "D1", "-r", "D2", "--updates", "200", "--seed", "11")
    end = run_on(server, *words, "--report", tmp_path / "report")
    assert end.code == 0, end.text
    assert_whole(tmp_path / "report", 0)
    assert results(tmp_path / "report")["totals"]["updates_compared"] == 200
    assert schemas(server) == before == []
    assert global_variables(server) == variables
    with server.connect() as connection:  # and nobody stayed behind
        count = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER='lab'"
        assert until(lambda: connection.execute(count).scalar() == "0")


@live
@pytest.mark.parametrize("typed", [False, True], ids=["in the environment", "in the address"])
def test_no_password_appears_anywhere(server: ProcessServer, tmp_path: Path, typed: bool) -> None:
    address = server.tcp_address()
    password = address.password
    assert password
    arguments = ("-r", "IP2", "--updates", "100", "--report", tmp_path / "report")
    if typed:
        url = f"mysql://{address.user}:{password}@{address.host}:{address.port}"
        end = lab("conformance", "--server", url, f"--replica={url}", *arguments)
    else:
        end = run_on(server, *arguments)
    assert end.code == 0, end.text
    assert password not in end.text
    for item in (tmp_path / "report").rglob("*"):
        assert item.is_dir() or password not in item.read_text("utf-8", "replace")


@live
def test_options_for_a_server_at_an_address_are_a_usage_error(server: ProcessServer, tmp_path: Path) -> None:
    end = run_on(server, "--server-option", "x=1", "--updates", "100", "--report", tmp_path / "report")
    assert end.code == 2, end.text
    assert "options and wrappers are for servers that the lab starts" in end.err


# --- selection -------------------------------------------------------------------------------------------------------


@live
def test_a_requirement_selects_its_checks_only(server: ProcessServer, tmp_path: Path) -> None:
    end = run_on(server, "-r", "FR9", "--report", tmp_path / "report")
    assert end.code == 0, end.text
    checks = {record["check"] for record in records(tmp_path / "report") if record["type"] == "block"}
    assert {check.rpartition("/members")[0] for check in checks} == {"option_off"}
    assert results(tmp_path / "report")["run"]["selected"] == 1


def test_the_checks_are_listed_without_a_server() -> None:
    end = lab("conformance", "--list", "-r", "D5", "-r", "IP1")
    assert end.code == 0, end.text
    lines = end.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "diff_conditions/statements[D5]", "triggers/partitions", "updates/event-bytes", "updates/storage",
    ]  # fmt: skip


def test_what_takes_an_hour_is_in_the_profile_soak_only_and_elsewhere_its_figures_are_told(tmp_path: Path) -> None:
    end = lab("conformance", "--list", "-r", "FR15")
    assert end.code == 2
    assert "--profile soak -r FR15" in end.err
    listed = lab("conformance", "--list", "-r", "FR15", "--profile", "soak")
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        "costs/instructions[source]", "costs/instructions[replica]",
    ]  # fmt: skip
    reasons = {}
    for profile in ("quick", "soak"):
        report = tmp_path / profile
        lab("conformance", "--server", "none", "-r", "FR15", "-r", "IP2", "--updates", "100", "--profile", profile,
            "--report", report)  # fmt: skip
        reasons[profile] = results(report)["requirements"]["FR15"].get("reason")
    assert "The same measurement, series by series and not in one run, on 20" in reasons["quick"]
    assert reasons["soak"] is None


def test_without_a_server_recordings_are_judged_and_it_is_said(tmp_path: Path) -> None:
    words = ("-r", "FR1", "-r", "F3", "-r", "D1", "-r", "FR11", "-r", "TI3", "--updates", "300")
    end = lab("conformance", "--server", "none", *words, "--report", tmp_path / "report")
    assert end.code == 0, end.text
    assert_whole(tmp_path / "report", 0)
    found = results(tmp_path / "report")
    assert found["totals"]["updates_compared"] == 600
    assert found["totals"]["mismatches"] == 0
    assert [(each["id"], each["version"]) for each in found["subjects"]] == [
        ("captures 9.7.4", "9.7.4"), ("captures 8.0.45", "8.0.45"), ("model", None),
    ]  # fmt: skip
    assert {name: each["verdict"] for name, each in found["requirements"]["F3"]["subjects"].items()} == {
        "captures 9.7.4": "pass", "captures 8.0.45": "pass",
    }  # fmt: skip
    assert "no server" in end.out
    assert found["requirements"]["D1"]["verdict"] == "not-applicable"
    assert found["requirements"]["FR11"]["verdict"] == "not-applicable"


def test_what_recordings_cannot_show_is_no_pass(tmp_path: Path) -> None:
    end = lab("conformance", "--server", "none", "-r", "FR11", "--report", tmp_path / "report")
    assert end.code == 2, end.text
    assert "NOTHING JUDGED" in end.out


def test_a_run_that_is_stopped_by_its_limit_is_incomplete_and_says_so(tmp_path: Path) -> None:
    words = ("conformance", "--server", "none", "-r", "FR1", "-r", "TMF1", "--updates", "50", "--report")
    end = lab(*words, tmp_path / "time", "--max-time", "0.001", "-q")
    assert end.code == 4, end.text
    assert results(tmp_path / "time")["run"]["incomplete_reason"] == "stopped after 0.001 s (--max-time)"
    assert "INCOMPLETE" in end.out.splitlines()[0]
    first = lab(*words, tmp_path / "x", "-x")  # nothing fails
    assert (first.code, results(tmp_path / "x")["run"]["complete"]) == (0, True), first.text


# --- wrong usage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "FR99"], "unknown requirement FR99"),
        (["-r", "U1"], "U1: a user story"),
        (["--server", "bogus"], "unknown kind of server 'bogus'"),
        (["--server", "mysql://"], "server spec"),
        (["--server", "none", "--server", "bogus"], "unknown kind of server 'bogus'"),
        (["--replica", "none"], "belongs to the --server before it"),
        (["--server", "none", "--replica", "bogus"], "unknown kind of server 'bogus'"),
        (["--server", "none", "--replica", "none", "--replica", "none"], "two replicas for --server none"),
        (["--nonsense"], "no such option"),
        (["--updates", "0"], "--updates"),
        (["--updates", "many"], "--updates"),
        (["--profile", "huge"], "--profile"),
        (["--allow", "everything"], "--allow"),
        (["--server-option", "=1"], "server option"),
        (["--server-option", "datadir=/"], "the lab sets datadir itself"),
        (["--deviations", "/no/such/file"], "/no/such/file"),
    ],
)
def test_wrong_usage_is_said_and_ends_with_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report"
    if "FR3" in arguments:  # needs the collection of the checks, which is a pytest of its own
        end = lab("conformance", *arguments, "--report", report)
    else:
        code = frame.run(["conformance", *arguments, "--report", str(report)])
        captured = capsys.readouterr()
        end = Ended(code, captured.out, captured.err)
    assert end.code == 2, end.text
    assert message in end.err
    assert end.out == ""
    assert not report.exists()


DEVIATION = """
[[deviation]]
id = "mine"
requirements = ["FR2"]
switch = "{switch}"
versions = "8.0.3.."
witness = "witness.json"
reason = "a test"
"""


@pytest.mark.parametrize(
    ("switch", "witness", "message"),
    [
        ("no_such_switch", "{}", "no dialect switch 'no_such_switch'"),
        ("partial_remove", "{}", "the witness is not a Case"),
        ("partial_remove", "[", "the witness is not a Case"),
        ("partial_remove", "[]", "the witness is not a Case"),
    ],
)
def test_a_list_of_deviations_that_names_what_nobody_knows_ends_with_2(
    switch: str, witness: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.toml").write_text(DEVIATION.format(switch=switch), encoding="utf-8")
    (tmp_path / "witness.json").write_text(witness, encoding="utf-8")
    assert frame.run(["conformance", "--deviations", str(tmp_path / "list.toml")]) == 2
    assert message in capsys.readouterr().err


def test_a_directory_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    end = lab("conformance", "--server", "none", "-r", "IP2", "--updates", "100", "--report", tmp_path)
    assert end.code == 2, end.text
    assert "holds no earlier report" in end.err
    assert "INTERNALERROR" not in end.text
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_report_that_another_run_is_writing_is_left_alone(tmp_path: Path) -> None:
    from conformance.report.directory import ReportDirectory

    with ReportDirectory(tmp_path / "report"):
        end = lab("conformance", "--server", "none", "-r", "IP2", "--updates", "100", "--report", tmp_path / "report")
    assert end.code == 2, end.text
    assert "another run is writing" in end.err
    assert "INTERNALERROR" not in end.text


def test_a_report_that_cannot_be_made_ends_with_3(tmp_path: Path) -> None:
    end = lab("conformance", "--server", "none", "-r", "IP2", "--updates", "100", "--report", "/proc/report")
    assert end.code == 3, end.text
    assert "/proc/report" in end.err
    assert "INTERNALERROR" not in end.text
