"""The home-made server image is used like the official one: environment, arguments, data directory, scripts."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import tarfile
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.containers import compose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docker.models.containers import Container

    from docker import DockerClient

    Start = Callable[..., Container]

pytestmark = pytest.mark.container
_READY_SECONDS = 120
_PASSWORD = 'it\'s \\ a "word" $HOME `id`'


@pytest.fixture
def start(engine: DockerClient, mysql_image: str) -> Iterator[Start]:
    """Starts containers of the image; files are put in before the entry point runs; all is removed afterwards."""
    made: list[Container] = []

    def begin(*arguments: str, files: dict[str, bytes] | None = None, **options: Any) -> Container:
        container = engine.containers.create(mysql_image, list(arguments), network_mode="none", **options)
        made.append(container)
        if files:
            container.put_archive("/", _tar(files))
        container.start()
        return container

    yield begin
    for container in made:
        container.remove(force=True, v=True)


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o755 if content.startswith(b"#!") else 0o644
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _log(container: Container) -> str:
    return bytes(container.logs()).decode("utf-8", "replace")


def _run(container: Container, command: list[str], password: str = "") -> tuple[int, str]:
    """Exit code and output of a program in the container."""
    answer = container.exec_run(command, environment={"MYSQL_PWD": password})
    assert isinstance(answer.output, bytes)
    assert answer.exit_code is not None
    return answer.exit_code, answer.output.decode("utf-8", "replace").strip()


def _mysql(user: str, *options: str) -> list[str]:
    """The client over TCP, without headings."""
    return ["mysql", "--batch", "--skip-column-names", f"--user={user}", "--host=127.0.0.1", *options]


def _ask(container: Container, sql: str, user: str = "root", password: str = "") -> str:
    """Run a statement in the container, and return its output."""
    code, output = _run(container, _mysql(user, f"--execute={sql}"), password)
    assert code == 0, output
    return output


def _await(container: Container, password: str = "") -> None:
    """Wait for the server itself; only it listens on TCP."""
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        container.reload()
        assert container.status == "running", _log(container)
        with contextlib.suppress(AssertionError):
            _ask(container, "SELECT 1", password=password)
            return
        time.sleep(0.3)
    pytest.fail(f"not ready after {_READY_SECONDS} s:\n{_log(container)}")


def _ends(container: Container) -> tuple[int, str]:
    return int(container.wait(timeout=_READY_SECONDS)["StatusCode"]), _log(container)


def test_without_a_password_option_it_refuses_and_says_which_there_are(start: Start) -> None:
    code, log = _ends(start())
    assert code == 1
    assert "MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD, MYSQL_RANDOM_ROOT_PASSWORD" in log


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"MYSQL_USER": "root", "MYSQL_PASSWORD": "x"}, "MYSQL_USER is root"),
        ({"MYSQL_USER": "someone"}, "MYSQL_PASSWORD is not"),
        ({"MYSQL_PASSWORD": "x"}, "MYSQL_USER is not"),
        ({"MYSQL_DATABASE": "a", "MYSQL_DATABASE_FILE": "/etc/hostname"}, "MYSQL_DATABASE_FILE are both set"),
        ({"MYSQL_DATABASE_FILE": "/no/such"}, "cannot read /no/such"),
    ],
)
def test_a_contradiction_is_refused_before_anything_is_made(
    start: Start, environment: dict[str, str], expected: str
) -> None:
    code, log = _ends(start(environment={"MYSQL_ALLOW_EMPTY_PASSWORD": "1", **environment}))
    assert code == 1
    assert expected in log
    assert "making the data directory" not in log


def test_an_option_that_mysqld_does_not_know_is_refused_with_its_message(start: Start) -> None:
    code, log = _ends(start("--no-such-option=1", environment={"MYSQL_ALLOW_EMPTY_PASSWORD": "1"}))
    assert code == 1
    assert "no-such-option" in log


def test_programs_of_the_image_run_without_a_data_directory(start: Start) -> None:
    for command in (["mysqld", "--version"], ["--version"], ["mysqlbinlog", "--version"], ["ibd2sdi", "--version"]):
        code, log = _ends(start(*command))
        assert code == 0, log
        assert re.search(r"Ver \d+\.\d+\.\d+", log), log


def test_arguments_are_options_of_mysqld_which_runs_as_user_mysql(start: Start) -> None:
    container = start("--server-id=77", "--log-bin=elsewhere", environment={"MYSQL_ALLOW_EMPTY_PASSWORD": "yes"})
    _await(container)
    assert _ask(container, "SELECT @@server_id, @@log_bin_basename") == "77\t/var/lib/mysql/elsewhere"
    _, status = _run(container, ["cat", "/proc/1/status"])
    assert re.search(r"^Name:\s+mysqld$", status, re.MULTILINE)
    assert re.search(r"^Uid:\s+999\s+999\s+999\s+999$", status, re.MULTILINE)
    # Root's accounts are no events: a replica must not get them.
    assert _ask(container, "SHOW BINLOG EVENTS").count("Query") == 0
    assert _ask(container, "SELECT @@GLOBAL.gtid_executed") == ""
    assert _ask(container, "SELECT Host FROM mysql.user WHERE User = 'root' ORDER BY Host") == "%\nlocalhost"


def test_password_host_database_user_files_and_scripts_are_those_of_the_official_image(start: Start) -> None:
    insert = b"mysql --user=root --execute=\"INSERT INTO my_db.seen VALUES ('%s')\""
    scripts = {
        "1.sql": b"CREATE TABLE seen (what VARCHAR(20)); INSERT INTO seen VALUES ('sql');",
        "2.sql.gz": gzip.compress(b"INSERT INTO seen VALUES ('gz');"),
        "3.sh": b"#!/bin/sh\nMYSQL_PWD=$MYSQL_ROOT_PASSWORD " + insert % b"run",
        "4.sh": b"MYSQL_PWD=$MYSQL_ROOT_PASSWORD " + insert % b"$(id -un)",
        "5.txt": b"no script",
    }
    files = {f"docker-entrypoint-initdb.d/{name}": text for name, text in scripts.items()}
    files["run/secret"] = _PASSWORD.encode() + b"\n"
    container = start(
        files=files,
        environment={
            "MYSQL_ROOT_PASSWORD_FILE": "/run/secret",
            "MYSQL_ROOT_HOST": "127.0.0.1",
            "MYSQL_DATABASE": "my_db",
            "MYSQL_USER": "some'one",
            "MYSQL_PASSWORD": _PASSWORD,
        },
    )
    _await(container, _PASSWORD)
    # The scripts ran in the order of their names, in the database, as user mysql where they were sourced.
    assert _ask(container, "SELECT what FROM my_db.seen", password=_PASSWORD).split() == ["sql", "gz", "run", "mysql"]
    assert "5.txt is no script" in _log(container)
    assert _ask(container, "SELECT Host FROM mysql.user WHERE User = 'root' ORDER BY 1", password=_PASSWORD) == (
        "127.0.0.1\nlocalhost"
    )
    mine = {"user": "some'one", "password": _PASSWORD}
    assert _ask(container, "CREATE TABLE my_db.t (a INT); SELECT CURRENT_USER()", **mine) == "some'one@%"
    # The underscore of the database's name is no pattern.
    code, output = _run(container, _mysql("some'one", "--execute=CREATE DATABASE myxdb"), _PASSWORD)
    assert code == 1
    assert "Access denied" in output
    assert _PASSWORD not in _log(container)

    # Stopped and started again, it keeps what it has.
    container.stop(timeout=60)
    code, log = _ends(container)
    assert code == 0, log
    container.start()
    _await(container, _PASSWORD)
    assert _ask(container, "SELECT COUNT(*) FROM my_db.seen", password=_PASSWORD) == "4"
    assert _log(container).count("making the data directory") == 1


def test_the_health_check_of_the_compose_files_is_not_fooled_by_the_temporary_server(start: Start) -> None:
    check = compose.load(compose.DIRECTORY / "pair.yaml")["services"]["source"]["healthcheck"]["test"]
    assert check[0] == "CMD-SHELL"
    health = ["sh", "-c", check[1].replace("$$", "$")]
    wait = b"until [ -e /tmp/go-on ]; do sleep 0.1; done"
    container = start(files={"docker-entrypoint-initdb.d/1.sh": wait}, environment={"MYSQL_ROOT_PASSWORD": "secret"})
    deadline = time.monotonic() + _READY_SECONDS
    while "running /docker-entrypoint-initdb.d/1.sh" not in _log(container) and time.monotonic() < deadline:
        time.sleep(0.1)
    by_socket = ["mysql", "--user=root", "--execute=SELECT 1"]
    assert _run(container, by_socket, "secret")[0] == 0
    assert _run(container, health)[0] != 0
    _run(container, ["touch", "/tmp/go-on"])
    _await(container, "secret")
    assert _run(container, health)[0] == 0


def test_a_failing_script_ends_the_container(start: Start) -> None:
    container = start(
        files={"docker-entrypoint-initdb.d/1.sql": b"SELECT * FROM no_such.tables;"},
        environment={"MYSQL_ALLOW_EMPTY_PASSWORD": "1"},
    )
    code, log = _ends(container)
    assert code == 1
    assert "no_such" in log
    assert "the data directory is ready" not in log


def test_a_random_password_is_printed_and_works(start: Start) -> None:
    container = start(environment={"MYSQL_RANDOM_ROOT_PASSWORD": "1", "MYSQL_ONETIME_PASSWORD": "1"})
    found = None
    for _ in range(200):
        found = re.search(r"GENERATED ROOT PASSWORD: (\S+)", _log(container))
        if found:
            break
        time.sleep(0.1)
    assert found, _log(container)
    # Expired: nothing but a new password is accepted (1820).
    deadline = time.monotonic() + _READY_SECONDS
    output = ""
    while "1820" not in output and time.monotonic() < deadline:
        _, output = _run(container, _mysql("root", "--connect-expired-password", "--execute=SELECT 1"), found[1])
        time.sleep(0.3)
    assert "1820" in output
