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

from conformance.servers.bundle import cached
from conformance.servers.specs import parse_spec

if TYPE_CHECKING:
    from conformance.servers.installation import Installation

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
        (("start", "--server-option", "=1"), 2, "name of the server option"),
        (("nonsense",), 2, "no such command"),
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
        again = command("servers", "start", "--name", "commandtest", f"process:{installation.mysqld}")
        assert again.returncode == 3
        assert "servers stop commandtest" in again.stderr
    finally:
        stopped = command("servers", "stop", "commandtest")
    assert (stopped.returncode, stopped.stdout) == (0, "")
    assert "stopped" in stopped.stderr
    assert command("servers", "stop", "commandtest").returncode == 2


@pytest.mark.live
def test_installing_again_is_quick_and_prints_the_directory(installation: Installation) -> None:
    if not cached():
        pytest.skip(f"no bundle in the cache: this machine has {installation.origin}")
    answer = command("servers", "install", PATH=os.defpath)
    assert answer.stdout.strip() == str(cached()[0].directory)
    assert answer.returncode == 0
