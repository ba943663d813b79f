"""The commands ``servers`` and ``doctor`` as a user meets them: data on stdout, words on stderr, exit codes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.servers.install.bundle import cached
from conformance.servers.specs import parse_spec

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

ROOT = Path(__file__).parents[2]


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )


@pytest.fixture
def empty(tmp_path: Path) -> dict[str, str]:
    """A cache and a run directory with nothing in them, no mysqld to be found, and no container engine."""
    (tmp_path / "tmp").mkdir()
    return {
        "BINLOG_LAB_CACHE": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path / "tmp"),
        "MYSQLD": "",
        "DOCKER_HOST": "unix:///no/such.sock",
    }


def test_an_empty_list_is_no_data_and_a_hint(empty: dict[str, str]) -> None:
    answer = command("servers", "list", **empty)
    assert (answer.returncode, answer.stdout) == (0, "")
    assert "servers install" in answer.stderr
    assert json.loads(command("servers", "list", "--format", "json", **empty).stdout) == {
        "bundles": [],
        "servers": [],
        "containers": [],
    }


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("stop",), 2, "which server?"),
        (("stop", "nobody"), 2, "no standing server is named nobody"),
        (("stop", "--all"), 0, ""),
        (("start", "docker"), 3, "no container engine at unix:///no/such.sock"),
        (("start", "wrong"), 2, "unknown kind of server 'wrong'"),
        (("start", "mysql://u:secretword@h"), 2, "starts processes"),
        (("start", "process:/nonexistent"), 3, "/nonexistent does not exist"),
        (("start", "--name", "a/b"), 2, "letters, digits"),
        (("start", "--server-option", "port=1"), 2, "the lab sets port itself"),
        (("start", "--server-option", "=1"), 2, "the name is missing or wrong"),
        (("install", "--mysql", "eight"), 2, "--mysql 'eight': expected a series, as 8.0 or 8.4"),
        (("install", "--mysql", "8.4", "--version", "8.4.10"), 2, "does not go with --mysql"),
        (("install", "--mysql", "8.4", "--old"), 2, "neither --refresh nor --version nor --mysql"),
        (("nonsense",), 2, "no such command"),
        (("client",), 2, "PROGRAM"),
        (("client", "psql"), 2, "'psql' is neither a program nor a standing server (named: there is none)"),
        (("client", "nobody", "mysql"), 2, "'nobody' is neither a program nor a standing server"),
    ],
)
def test_exit_codes_and_messages(empty: dict[str, str], words: tuple[str, ...], code: int, message: str) -> None:
    answer = command("servers", *words, **empty)
    assert answer.returncode == code, answer.stderr
    assert message in answer.stderr
    assert "secretword" not in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""


def test_without_apt_the_bundle_could_not_run_and_the_way_out_is_told(empty: dict[str, str], tmp_path: Path) -> None:
    answer = command("servers", "install", **empty, PATH=str(tmp_path))
    assert answer.returncode == 3
    assert "not on this machine" in answer.stderr
    assert "To get it:" in answer.stderr


def test_doctor_tells_what_is_there_as_data(empty: dict[str, str]) -> None:
    answer = command("doctor", "--format", "json", **empty)
    survey = json.loads(answer.stdout)
    assert answer.returncode == (0 if survey["ready"] else 3)
    names = [fact["name"] for fact in survey["facts"]]
    for name in ("server", "mysqld", "bundle", "apt", "cache space", "run space", "python", "docker", "java"):
        assert name in names
    for fact in survey["facts"]:
        assert fact["state"] in ("ok", "missing", "absent")
        assert fact["detail"]


def test_doctor_says_missing_when_no_server_can_be_had(empty: dict[str, str], tmp_path: Path) -> None:
    answer = command("doctor", **empty, PATH=str(tmp_path), JAVA_HOME="")
    if "MISSING  server" not in answer.stdout:
        pytest.skip("this machine has a mysqld in a directory of the system")
    assert answer.returncode == 3
    assert "process:PATH" in answer.stdout
    assert "missing for the main job: server" in answer.stderr


@pytest.mark.live
def test_a_server_is_started_listed_and_stopped_by_name(installation: Installation) -> None:
    started = command("servers", "start", "--name", "commandtest", "--server-id", "9", f"process:{installation.mysqld}")
    assert started.returncode == 0, started.stderr
    try:
        url = started.stdout.strip()
        spec = parse_spec(url)
        assert spec.defaults_file is not None
        assert stat.S_IMODE(spec.defaults_file.stat().st_mode) == 0o600
        listed = json.loads(command("servers", "list", "--format", "json").stdout)
        assert [server["url"] for server in listed["servers"] if server["name"] == "commandtest"] == [url]
        assert [item["version"] for item in listed["bundles"]] == [item.version for item in cached()]
        asked = command("servers", "client", "commandtest", "mysql", "-N", "-e", "SELECT @@server_id")
        assert (asked.returncode, asked.stdout) == (0, "9\n"), asked.stderr
        piped = subprocess.run(
            [sys.executable, "-m", "conformance", "servers", "client", "commandtest", "mysql", "--table"],
            input="SELECT 7 AS n;", capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        assert "| n |" in piped.stdout, piped.stderr
        assert command("servers", "client", "commandtest", "mysql", "-e", "nonsense").returncode == 1
        dump = command("servers", "client", "commandtest", "mysqldump", "--no-data", "mysql", "db")
        assert "CREATE TABLE" in dump.stdout, dump.stderr
        (log,) = command(
            "servers", "client", "commandtest", "mysql", "-N", "-e", "SHOW BINARY LOG STATUS"
        ).stdout.split("\t")[:1]
        read = command("servers", "client", "commandtest", "mysqlbinlog", "--read-from-remote-server", log)
        assert read.returncode == 0, read.stderr
        assert "BINLOG '" in read.stdout
        for words, message in ((("commandtest",), "no word stands behind"), (("commandtest", "ls"), "'ls' stands")):
            wrong = command("servers", "client", *words)
            assert (wrong.returncode, wrong.stdout) == (2, "")
            assert message in wrong.stderr
        again = command("servers", "start", "--name", "commandtest", f"process:{installation.mysqld}")
        assert again.returncode == 3
        assert "servers stop commandtest" in again.stderr
    finally:
        stopped = command("servers", "stop", "commandtest")
    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert "stopped" in stopped.stderr
    assert command("servers", "stop", "commandtest").returncode == 2


@pytest.mark.live
def test_a_client_program_without_a_name_runs_as_it_is(installation: Installation, tmp_path: Path) -> None:
    for program in ("mysql", "mysqlbinlog", "mysqldump"):
        answer = command("servers", "client", program, "--version")
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout.split()[0].endswith(program)
    missing = command("servers", "client", "mysqlbinlog", "--no-defaults", str(tmp_path / "none"))
    assert missing.returncode == 1
    assert "none" in missing.stderr


@pytest.mark.live
def test_installing_again_is_quick_and_prints_the_directory(installation: Installation) -> None:
    if not cached():
        pytest.skip(f"no bundle in the cache: this machine has {installation.origin}")
    answer = command("servers", "install", PATH=os.defpath)
    assert answer.stdout.strip() == str(cached()[0].directory)
    assert answer.returncode == 0
