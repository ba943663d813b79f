from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from conformance.servers.auto import Wishes, parse_server_option, resolve
from conformance.servers.errors import ServerUnavailable, SpecError
from conformance.servers.specs import SpecKind, parse_spec

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "s3cr:et/@#%"
QUOTED = "s3cr%3Aet%2F%40%23%25"


@pytest.mark.parametrize(
    "text",
    [
        "auto",
        "process",
        "process:/opt/mysql",
        "docker",
        "docker:mysql:8.0.36",
        "docker:registry.example:5000/mysql@sha256:00",
        "none",
        "mysql://root@127.0.0.1:3306",
        "mysql://a%40b@[::1]:3307",
        "mysql://u@h:1?ssl-mode=REQUIRED",
        "mysql://u@localhost:3306?socket=/run/mysqld/s",
    ],
)
def test_a_spec_is_printed_as_it_was_written(text: str) -> None:
    assert str(parse_spec(text)) == text


def test_what_is_left_out_of_an_address_has_mysql_s_defaults() -> None:
    address = parse_spec("mysql://me@db").address
    assert address is not None
    assert (address.user, address.host, address.port, address.password) == ("me", "db", 3306, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("proces", "unknown kind of server 'proces'"),
        ("process:", "the path is missing"),
        ("docker:", "the image is missing"),
        ("auto:x", "'auto' takes nothing behind it"),
        ("none:", "'none' takes nothing behind it"),
        ("postgres://u@h", "unknown scheme 'postgres'"),
        ("mysql:u@h", "an address begins with mysql://"),
        ("mysql://h:3306", "the user is missing"),
        ("mysql://u@", "the host is missing"),
        ("mysql://u@h:port", "the port is not a number"),
        ("mysql://u@h:70000", "the port is not a number from 0 to 65535"),
        ("mysql://u@h/schema", "got the path '/schema'"),
        ("mysql://u@h#x", "got a '#'"),
        ("mysql://u@h?ssl=1", "unknown option 'ssl'"),
        ("mysql://u@h?password=x", "give a password in BINLOG_LAB_PASSWORD"),
        ("mysql://u@h?ssl-mode=MAYBE", "got ssl-mode=MAYBE"),
        ("mysql://u@h?ssl-mode=VERIFY_CA", "needs the certificate to trust"),
        ("mysql://u@h?ssl-ca=/nonexistent.pem", "is not a file"),
        ("mysql://u@h?ssl-mode=REQUIRED&ssl-mode=DISABLED", "given twice"),
        ("mysql://u@h?ssl-mode=", "has no value"),
        ("mysql://u@h?defaults-file=/nonexistent.cnf", "No such file"),
    ],
)
def test_a_wrong_spec_is_a_usage_error_that_says_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert problem in str(caught.value)
    assert "expected" in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_password_in_an_address_is_used_and_never_shown() -> None:
    spec = parse_spec(f"mysql://me:{QUOTED}@db:3306?ssl-mode=REQUIRED")
    assert spec.login().password == SECRET
    for shown in (str(spec), repr(spec), str(spec.login()), repr(spec.login()), f"{spec}", repr([spec.address])):
        assert SECRET not in shown
        assert QUOTED not in shown


@pytest.mark.parametrize(
    "text",
    [
        f"mysql://me:{QUOTED}@db:port",
        f"mysql://me:{QUOTED}@db/x",
        f"mysql://me:{QUOTED}@db?nope=1",
        f"mysql://me:{QUOTED}@",
        f"mysql:me:{QUOTED}@db",
        f"mariadb://me:{QUOTED}@db",
        f"mysql://me:{QUOTED}@db?ssl-mode=x",
        f"mysql://me:{QUOTED}@[::1",
    ],
)
def test_an_error_about_an_address_does_not_repeat_its_password(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    shown = f"{caught.value!s} {caught.value!r} {caught.value.args} {caught.value.text}"
    assert QUOTED not in shown
    assert SECRET not in shown
    assert caught.value.__cause__ is None  # nor does a traceback through its cause


def test_the_password_comes_from_the_address_then_the_environment_then_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "my.cnf"
    file.write_text('# comment\n[mysqld]\nskip-name-resolve\n[client]\nuser=x\npassword = "from file" \n')
    monkeypatch.delenv("BINLOG_LAB_PASSWORD", raising=False)
    assert parse_spec(f"mysql://u@h?defaults-file={file}").login().password == "from file"
    monkeypatch.setenv("BINLOG_LAB_PASSWORD", "from environment")
    assert parse_spec(f"mysql://u@h?defaults-file={file}").login().password == "from environment"
    assert parse_spec(f"mysql://u:own@h?defaults-file={file}").login().password == "own"


@pytest.mark.parametrize("content", ["password=secret\n", "[mysql]\npassword=secret\n", "[client\npassword=secret\n"])
def test_a_defaults_file_without_a_client_group_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    file = tmp_path / "my.cnf"
    file.write_text(content)
    with pytest.raises(SpecError) as caught:
        parse_spec(f"mysql://u@h?defaults-file={file}")
    assert str(file) in str(caught.value)
    assert "secret" not in str(caught.value)


def test_none_is_no_server() -> None:
    assert resolve("none") is None


def test_a_container_without_an_engine_could_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such.sock")
    with pytest.raises(ServerUnavailable, match=r"no container engine at unix:///no/such\.sock") as caught:
        resolve("docker")
    assert caught.value.exit_code == 3
    assert "DOCKER_HOST" in caught.value.remedy


def test_options_and_wrappers_are_for_servers_that_the_lab_starts() -> None:
    with pytest.raises(SpecError, match="servers that the lab starts"):
        resolve("mysql://u@h", Wishes(options={"sync-binlog": "1"}))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("sync_binlog=1", ("sync-binlog", "1")),
        ("--innodb-page-size=4k", ("innodb-page-size", "4k")),
        ("skip-log-bin", ("skip-log-bin", None)),
        ("init-connect=SET a=b", ("init-connect", "SET a=b")),
        ("secure-file-priv=", ("secure-file-priv", "")),
    ],
)
def test_a_server_option_is_a_name_and_a_value(text: str, parsed: tuple[str, str | None]) -> None:
    assert parse_server_option(text) == parsed


@pytest.mark.parametrize("text", ["", "=1", "--=1", "a b=1", "datadir=/x", "--bind-address=0.0.0.0", "port=1"])
def test_options_that_the_lab_sets_itself_and_nameless_ones_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        parse_server_option(text)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerUnavailable, match="does not exist"):
        resolve(f"process:{tmp_path / 'nowhere'}")
    with pytest.raises(ServerUnavailable, match="no mysqld in"):
        resolve(f"process:{tmp_path}")
    (tmp_path / "mysqld").write_text("#!/bin/sh\necho mysqld Ver 10.11.6-MariaDB for Linux\n")
    with pytest.raises(ServerUnavailable, match="is not executable"):
        resolve(f"process:{tmp_path / 'mysqld'}")
    (tmp_path / "mysqld").chmod(0o755)
    with pytest.raises(ServerUnavailable, match="is not a MySQL server"):
        resolve(f"process:{tmp_path / 'mysqld'}")


def test_kinds_are_words_of_the_contract() -> None:
    assert [kind.value for kind in SpecKind] == ["auto", "process", "docker", "mysql", "none", "recorded"]
    assert pickle.loads(pickle.dumps(parse_spec("auto"))) == parse_spec("auto")
