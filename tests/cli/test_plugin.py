"""The pytest plugin: the checks run as plain pytest, and other people's pytest does not notice it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.live import PATIENCE, environment

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer

pytest_plugins = ["pytester"]

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
NONE = ("--pyargs", "conformance.checks", "--binlog-lab-server", "none")


def run(place: Path, *arguments: str, program: list[str] = PYTEST) -> subprocess.CompletedProcess[str]:
    """Pytest in a directory of its own, as a user of the installed package has it."""
    return subprocess.run(
        [*program, *arguments], cwd=place, env=environment(PYTHONPATH=""), capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.nightly
def test_the_checks_pass_as_plain_pytest_without_a_server(tmp_path: Path) -> None:
    done = run(tmp_path, *NONE, "--binlog-lab-updates", "500", "-rs", "-k", "updates or diff_conditions or boundaries")
    assert done.returncode == 0, done.stdout + done.stderr
    closing = done.stdout.splitlines()[-1]
    assert re.search(r"[1-9]\d* passed", closing)
    assert "skipped" in closing
    assert "needs a server" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_plain_pytest_can_write_the_report_too(tmp_path: Path) -> None:
    done = run(
        tmp_path, *NONE, "--binlog-lab-updates", "200", "--binlog-lab-seed", "9", "--binlog-lab-report", "report",
        "-k", "test_event_bytes or test_text",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / "report" / "results.json").read_text("utf-8"))
    assert results["totals"]["updates_compared"] == 200
    assert results["run"]["seed"] == "9"
    assert results["run"]["complete"] is True
    assert results["run"]["selected"] == 2


@pytest.mark.live
def test_the_checks_pass_as_plain_pytest_with_a_server(server: ProcessServer, tmp_path: Path) -> None:
    address = server.tcp_address()
    done = subprocess.run(
        [*PYTEST, "--pyargs", "conformance.checks", "--binlog-lab-server", f"mysql://{address}",
         "--binlog-lab-updates", "100", "-k", "event_bytes or D2"],
        cwd=tmp_path, env=environment(PYTHONPATH="", BINLOG_LAB_PASSWORD=address.password or ""),
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout.splitlines()[-1]


def test_a_server_that_cannot_be_had_is_an_error_not_a_pass(tmp_path: Path) -> None:
    done = run(tmp_path, "--pyargs", "conformance.checks", "--binlog-lab-server", "process:/bin/true", "-k", "updates")
    assert done.returncode == 2  # stopped: without the server no check says anything
    assert "/bin/true is not a MySQL server" in done.stdout
    assert "passed" not in done.stdout.splitlines()[-1]


def test_a_text_that_names_no_server_is_a_usage_error(pytester: pytest.Pytester) -> None:
    with pytest.raises(pytest.UsageError, match=r"--binlog-lab-server: .*unknown kind of server 'banana'"):
        pytester.parseconfigure("--binlog-lab-server", "banana")


@pytest.mark.nightly
def test_a_report_in_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = run(tmp_path, *NONE, "--binlog-lab-report", ".")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "holds no earlier report" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr


# --- other people's tests --------------------------------------------------------------------------------------------

FOREIGN = """
import sys

def test_nothing_of_the_lab_was_loaded():
    heavy = {
        "conformance.reference", "conformance.checks", "conformance.judge", "conformance.servers", "conformance.report",
        "generators", "mysql", "rich", "jinja2", "zstandard", "click",
    }
    assert not heavy & set(sys.modules)

def test_the_plugin_is_there(pytestconfig):
    assert pytestconfig.pluginmanager.hasplugin("binlog-lab")
"""


def test_an_unrelated_project_is_not_disturbed(tmp_path: Path) -> None:
    (tmp_path / "test_foreign.py").write_text(FOREIGN, encoding="utf-8")
    done = run(tmp_path, "-q", "--strict-markers", "--strict-config", "-W", "error")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout.splitlines()[-1]


def test_a_project_on_several_cores_is_not_disturbed(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "test_foreign.py").write_text("def test_one(): ...\n\ndef test_two(): ...\n", encoding="utf-8")
    done = run(tmp_path, "-q", "--numprocesses", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout.splitlines()[-1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("def test_x():\n    assert 1 == 2\n", 1, "1 failed"),
        ("import nowhere_to_be_found\n", 2, "1 error"),
        ("import pytest\ndef test_x():\n    pytest.exit('stop', returncode=7)\n", 7, "stop"),
        ("import pytest\n@pytest.fixture\ndef f():\n    raise KeyError\ndef test_x(f): pass\n", 1, "1 error"),
        ("", 5, "no tests ran"),
    ],
)
def test_failures_of_an_unrelated_project_are_its_own(tmp_path: Path, content: str, code: int, words: str) -> None:
    (tmp_path / "test_foreign.py").write_text(content, encoding="utf-8")
    done = run(tmp_path, "-q")
    assert done.returncode == code, done.stdout + done.stderr
    assert words in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_the_options_are_shown_in_a_group_of_their_own(tmp_path: Path) -> None:
    done = run(tmp_path, "--help")
    assert "conformance checks for MySQL's partial JSON row events" in done.stdout
    assert "--binlog-lab-server" in done.stdout


OF_ITS_OWN = """
import pytest

@pytest.fixture
def lab():
    return "the laboratory of this project"

@pytest.mark.profile("admin", "guest")
def test_of_a_profile_of_theirs(lab):
    assert lab == "the laboratory of this project"

@pytest.mark.requirement("REQ-7")
def test_of_a_requirement_of_theirs():
    raise AssertionError("their own failure")

@pytest.mark.profile("full")
@pytest.mark.parametrize("requirement", ["FR1", "none"])
def test_of_both(requirement, profile):
    assert (requirement, profile) == ("FR1", "theirs")
"""
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--lab-server", default="theirs")
    parser.addini("profile", "their own key")

@pytest.fixture
def profile(pytestconfig):
    return pytestconfig.getoption("--lab-server")
"""
STRICT = """
[pytest]
strict = true
profile = 7
markers =
    profile(name): a profile of theirs
    requirement(id): a requirement of theirs
"""
WITHOUT = ("-p", "no:binlog-lab")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arguments", [(), ("-m", "profile"), ("-k", "both"), ("--collect-only", "-q"), ("--markers",)])
def test_a_project_with_the_same_names_runs_as_without_the_package(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    pytester.makepyfile(OF_ITS_OWN)
    pytester.makeconftest(CONFTEST)
    pytester.makeini(STRICT)
    done, without = (
        pytester.runpytest_subprocess("-p", "no:cacheprovider", *more, *arguments) for more in ((), WITHOUT)
    )
    assert done.ret == without.ret
    assert _told(done) == _told(without)
    if not arguments:
        done.assert_outcomes(passed=2, failed=2)


def test_a_marker_that_a_project_forgot_to_register_stays_unknown(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.profile('x')\ndef test_x(): pass\n")
    done = pytester.runpytest_subprocess("--strict-markers")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*'profile' not found in `markers`*"])


def test_a_project_next_to_the_checks_keeps_its_items(pytester: pytest.Pytester) -> None:
    theirs = pytester.makepyfile(
        "import pytest\n@pytest.mark.profile('admin')\ndef test_x(): pass\ndef test_lab(lab): pass\n"
    )
    done = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", str(theirs), *NONE,
        "--binlog-lab-updates", "100", "-k", "test_x or test_lab or test_event_bytes",
    )  # fmt: skip
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(["*fixture 'lab' not found*"])  # the checks' short name is not lent to others


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "value"),
    [("PYTEST_ADDOPTS", "-k nothing_of_this_name"), ("PYTEST_PLUGINS", "no_such_plugin"),
     ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")],
)  # fmt: skip
def test_the_command_does_not_listen_to_the_users_pytest(tmp_path: Path, name: str, value: str) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    command = [sys.executable, "-m", "conformance", "conformance", "--server", "none", "--list"]
    listed = run(tmp_path, program=command).stdout
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(**{name: value}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == listed
    assert len(listed.splitlines()) > 50


def _told(done: pytest.RunResult) -> list[str]:
    """The lines that pytest printed, without times and the list of plugins."""
    return [re.sub(r"\d+\.\d+s", "", line).strip("= ") for line in done.outlines if "plugins: " not in line]
