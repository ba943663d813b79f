"""The main job from end to end: a program of its own against a real server, as a user sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conformance.cli import main as frame
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.servers.errors import ServerError
from tests.live import PATIENCE, Ended, environment, lab, nothing_left, processes_of, run_directories, started, until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.installation import Installation
    from conformance.servers.process import ProcessServer

live = pytest.mark.live
FILES = {"index.html", "results.json", "run.jsonl", "junit.xml"}


def records(report: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (report / "run.jsonl").read_text("utf-8").splitlines()]


def results(report: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((report / "results.json").read_text("utf-8"))
    return data


@cache
def schema(name: str) -> Any:
    schemas = resources.files("conformance.report").joinpath("schemas")
    return json.loads(schemas.joinpath(f"{name}.schema.json").read_text("utf-8"))


def digests(report: Path) -> list[str]:
    return [record["digest"] for record in records(report) if record.get("digest")]


def ended(program: subprocess.Popen[str], place: Path) -> Ended:
    code = program.wait(PATIENCE)
    return Ended(code, (place / "out").read_text("utf-8"), (place / "err").read_text("utf-8"))


def assert_whole(report: Path, code: int) -> None:
    """The stream begins with its run and ends with its end, and everything fits its schema."""
    lines = records(report)
    assert lines[0]["type"] == "run"
    assert lines[-1]["type"] == "end"
    assert lines[-1]["exit_code"] == code == results(report)["run"]["exit_code"]
    assert [line["type"] for line in lines].count("end") == 1
    jsonschema.validate(results(report), schema("results"))
    for line in lines:
        jsonschema.validate(line, schema("stream"))
    assert {item.name for item in report.iterdir()} >= FILES


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
    assert end.code == 0, end.text
    assert_whole(report, 0)
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
    harmless = sum(verdicts[name] for name in ("pass", "not-applicable", "info", "inconclusive"))
    assert harmless + totals["deviating"] == totals["cases"]
    # What the worklogs leave open, and FR14 without a build to compare.
    named = {
        word: {block["requirement"] for block in blocks if block.get("verdict") == word}
        for word in ("info", "inconclusive")
    }
    open_ones = {"NR1", "NR2", "NR3", "NR4", "NR5", "TMR1", "TMR2", "TMR4"}
    assert named == {"info": open_ones, "inconclusive": {"FR14"}}


@live
def test_the_summary_says_version_seed_census_and_where_the_report_is(
    green: tuple[Path, Ended], server: ProcessServer
) -> None:
    report, end = green
    for words in (server.version, "seed 7", "300 updates", "0 mismatches", "census", "updates/s", str(report.name)):
        assert words in end.out, end.text
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert "seed 7" in end.err


@live
def test_the_requirements_of_one_server_are_judged(green: tuple[Path, Ended]) -> None:
    rows = results(green[0])["requirements"]
    judged = {name for name, row in rows.items() if row["verdict"] == "pass"}
    assert judged >= {"FR1", "FR2", "FR11", "FR12", "FR13", "D1", "D2", "D3", "D5", "D6", "D7", "F3", "IP1", "IP2"}
    assert rows["D4"]["verdict"] == "not-applicable"
    assert all(row.get("reason") for row in rows.values() if not row["cases"])
    assert list(rows) == list(REQUIREMENTS)


@live
def test_the_same_seed_makes_the_same_updates_and_another_seed_others(
    green: tuple[Path, Ended], server: ProcessServer, tmp_path: Path
) -> None:
    first = digests(green[0])
    assert len(first) == 3
    for seed, updates, same in (("7", "200", first[:2]), ("8", "200", None)):
        report = tmp_path / seed
        end = run_on(server, "-r", "F3", "--seed", seed, "--updates", updates, "--report", report)
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
    end = run_on(
        server,
        "-r",
        "FR1",
        "-r",
        "FR2",
        "-r",
        "D1",
        "-r",
        "D2",
        "--updates",
        "200",
        "--seed",
        "11",
        "--report",
        tmp_path / "report",
    )
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
    end = run_on(server, "-r", "FR11", "--report", tmp_path / "report")
    assert end.code == 0, end.text
    assert {record["check"] for record in records(tmp_path / "report") if record["type"] == "block"} == {"sizes/twins"}
    assert results(tmp_path / "report")["run"]["selected"] == 1


def test_the_checks_are_listed_without_a_server() -> None:
    end = lab("conformance", "--list", "-r", "D5", "-r", "IP1")
    assert end.code == 0, end.text
    lines = end.out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "conditions/test_condition[D5]", "updates/test_event_bytes", "updates/test_storage",
    ]  # fmt: skip


def test_what_takes_an_hour_is_in_the_profile_soak_only_and_elsewhere_its_figures_are_told(tmp_path: Path) -> None:
    end = lab("conformance", "--list", "-r", "FR15")
    assert end.code == 2
    assert "--profile soak -r FR15" in end.err
    listed = lab("conformance", "--list", "-r", "FR15", "--profile", "soak")
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        "throughput/test_instructions[source]", "throughput/test_instructions[replica]",
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
    end = lab("conformance", "--server", "none", "--updates", "300", "--report", tmp_path / "report")
    assert end.code == 0, end.text
    assert_whole(tmp_path / "report", 0)
    found = results(tmp_path / "report")
    assert found["totals"]["updates_compared"] == 300
    assert found["totals"]["mismatches"] == 0
    assert found["subjects"][0]["id"] == "captures"
    assert "no server" in end.out
    assert found["requirements"]["D1"]["verdict"] == "not-applicable"
    assert found["requirements"]["FR11"]["verdict"] == "not-applicable"


def test_what_recordings_cannot_show_is_no_pass(tmp_path: Path) -> None:
    end = lab("conformance", "--server", "none", "-r", "FR11", "--report", tmp_path / "report")
    assert end.code == 2, end.text
    assert "NOTHING JUDGED" in end.out


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
    end = lab("conformance", "--server", "none", "--updates", "100", "--report", tmp_path)
    assert end.code == 2, end.text
    assert "holds no earlier report" in end.err
    assert "INTERNALERROR" not in end.text
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_report_that_another_run_is_writing_is_left_alone(tmp_path: Path) -> None:
    from conformance.report.directory import ReportDirectory

    with ReportDirectory(tmp_path / "report"):
        end = lab("conformance", "--server", "none", "--updates", "100", "--report", tmp_path / "report")
    assert end.code == 2, end.text
    assert "another run is writing" in end.err
    assert "INTERNALERROR" not in end.text


def test_a_report_that_cannot_be_made_ends_with_3(tmp_path: Path) -> None:
    end = lab("conformance", "--server", "none", "--updates", "100", "--report", "/proc/report")
    assert end.code == 3, end.text
    assert "/proc/report" in end.err
    assert "INTERNALERROR" not in end.text


# --- servers that cannot be had --------------------------------------------------------------------------------------


def refused(*arguments: str | Path, place: Path, env: dict[str, str] | None = None) -> Ended:
    """A run that must end with 3, leave nothing, and report that it is not complete."""
    program = started("conformance", "--updates", "100", "--report", "report", *arguments, cwd=place, env=env)
    end = ended(program, place)
    assert end.code == 3, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert_whole(place / "report", 3)
    run = results(place / "report")["run"]
    assert run["complete"] is False
    assert run["incomplete_reason"]
    assert "COULD NOT RUN" in end.out
    assert end.err.count("error:") == 1
    return end


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("process:/bin/true", "/bin/true is not a MySQL server"),
        ("process:/no/such/mysqld", "/no/such/mysqld does not exist"),
        ("mysql://root@127.0.0.1:1", "Connection refused"),
        ("mysql://root@no-such-host.invalid:3306", "no-such-host.invalid"),
        ("docker", "no container engine at unix:///no/such.sock"),
        ("docker:mysql:8.0.36", "there is no such socket"),
    ],
)
def test_a_server_that_cannot_be_had_is_named_and_ends_with_3(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such.sock")
    assert message in refused("--server", spec, place=tmp_path).err


@live
def test_a_server_that_does_not_start_shows_why(installation: Installation, tmp_path: Path) -> None:
    end = refused("--server-option", "no-such-option=1", place=tmp_path)
    assert "ended while starting (exit status" in end.err
    assert "no-such-option" in end.err
    assert "docker" not in end.err


@live
def test_a_refused_login_ends_with_3_and_shows_no_password(server: ProcessServer, tmp_path: Path) -> None:
    end = refused(
        "--server", f"mysql://{server.tcp_address()}", place=tmp_path, env={"BINLOG_LAB_PASSWORD": "guessed-wrongly"}
    )
    assert "Access denied" in end.err
    assert "guessed-wrongly" not in end.text


@live
def test_a_server_without_a_binary_log_cannot_be_judged(installation: Installation, tmp_path: Path) -> None:
    end = refused("--server-option", "skip-log-bin", place=tmp_path)
    assert "binary log" in end.err


# --- trouble in the middle -------------------------------------------------------------------------------------------


def running(place: Path, *arguments: str) -> subprocess.Popen[str]:
    """A run far from its end, in the middle of its updates."""
    program = started(
        "conformance", "-r", "FR1", "--updates", "1000000", "--seed", "1", "--report", "report", *arguments, cwd=place
    )
    stream = place / "report" / "run.jsonl"
    assert until(lambda: stream.exists() and b'"updates/event-bytes"' in stream.read_bytes(), program=program), (
        place / "err"
    ).read_text("utf-8")
    return program


def server_of(program: subprocess.Popen[str]) -> int:
    (directory,) = run_directories(program.pid)
    return int(json.loads((directory / "process.json").read_text("utf-8"))["pid"])


@live
def test_a_killed_lab_leaves_no_process_and_no_lock_and_the_next_run_works(
    installation: Installation, tmp_path: Path
) -> None:
    program = running(tmp_path)
    mysqld = server_of(program)
    os.kill(program.pid, signal.SIGKILL)  # the lab alone: server, supervisor and workers must notice by themselves
    program.wait()
    assert nothing_left(program)
    with pytest.raises(ProcessLookupError):
        os.kill(mysqld, 0)
    assert records_so_far(tmp_path / "report")[0]["type"] == "run"
    assert not (tmp_path / "report" / "results.json").exists()
    # What the killed run left is incomplete when it is rendered, and gives way to the next run.
    end = lab("report", tmp_path / "report")
    assert "INCOMPLETE" in end.out, end.text
    again = lab("conformance", "-r", "FR1", "--updates", "100", "--report", tmp_path / "report")
    assert again.code == 0, again.text
    assert_whole(tmp_path / "report", 0)


def records_so_far(report: Path) -> list[dict[str, Any]]:
    """Of a stream whose last line may be torn."""
    lines = (report / "run.jsonl").read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


@live
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_stops_its_server_and_is_incomplete(
    installation: Installation, tmp_path: Path, number: signal.Signals
) -> None:
    program = running(tmp_path)
    program.send_signal(number)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 4)
    assert results(tmp_path / "report")["run"]["complete"] is False
    assert "INCOMPLETE" in end.out
    assert "nterrupted" in end.text
    assert "Traceback" not in end.text


@live
def test_an_interruption_while_the_server_starts_leaves_nothing(installation: Installation, tmp_path: Path) -> None:
    program = started("conformance", "--updates", "100", "--report", "report", cwd=tmp_path)
    assert until(lambda: run_directories(program.pid), program=program)
    program.send_signal(signal.SIGINT)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 4)
    assert "Traceback" not in end.text


@live
def test_an_impatient_user_is_not_left_with_a_server(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    for _ in range(3):
        program.send_signal(signal.SIGINT)
        time.sleep(0.1)
    end = ended(program, tmp_path)
    assert end.code != 0, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text


@live
def test_a_worker_that_is_killed_ends_the_run_with_3(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    workers = [pid for pid in processes_of(program) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert "a worker process of the lab ended" in end.err
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 3)


@live
def test_ctrl_c_at_a_terminal_reaches_all_processes_and_ends_in_order(
    installation: Installation, tmp_path: Path
) -> None:
    program = running(tmp_path)
    os.killpg(program.pid, signal.SIGINT)
    end = ended(program, tmp_path)
    assert end.code == 4, end.text
    assert nothing_left(program)
    assert "Traceback" not in end.text
    assert_whole(tmp_path / "report", 4)


@live
def test_a_server_that_dies_ends_the_run_with_3_and_its_fate(installation: Installation, tmp_path: Path) -> None:
    program = running(tmp_path)
    os.kill(server_of(program), signal.SIGKILL)
    end = ended(program, tmp_path)
    assert end.code == 3, end.text
    assert nothing_left(program)
    assert_whole(tmp_path / "report", 3)
    assert "died (" in end.err
    assert "SIGKILL" in end.err
    assert "Traceback" not in end.text
    assert results(tmp_path / "report")["run"]["complete"] is False


def test_a_closed_standard_output_does_not_end_the_report(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "conformance", "--server", "none", "--updates", "100", "--report", "r"],
        cwd=tmp_path, env=environment(), stdout=write, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 141, done.stderr
    assert "Traceback" not in done.stderr
    assert_whole(tmp_path / "r", 0)


def limited(place: Path, size: int, arguments: Iterable[str]) -> Ended:
    """A run in which no file can grow beyond ``size`` bytes: writing fails, as on a disk that is full."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"
        "from conformance.cli.main import main\n"
        f"sys.argv = {['binlog-lab', *arguments]!r}\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=place, env=environment(), capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("size", [200, 8_000, 30_000], ids=["first-record", "middle", "rendering"])
def test_a_report_that_cannot_be_written_ends_with_3(tmp_path: Path, size: int) -> None:
    end = limited(tmp_path, size, ["conformance", "--server", "none", "--updates", "1000", "--report", "report"])
    assert end.code == 3, end.text
    assert "report" in end.err
    assert "Traceback" not in end.text
    assert "INTERNALERROR" not in end.text
    assert not (tmp_path / "report" / "results.json").exists()
    assert ServerError.__name__ not in end.text
