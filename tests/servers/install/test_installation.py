"""Layouts of MySQL trees, with small programs in the place of mysqld."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.auto import find_installation
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.installation import from_path, on_path, parse_version
from conformance.servers.run.options import default_options, option_words
from conformance.servers.run.process import death_reason
from conformance.servers.specs import parse_spec
from conformance.servers.wire.connection import version_number

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)"


def program(path: Path, text: str = f"echo '{VERSION}'") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VERSION, ("8.4.3", (8, 4, 3))),
        ("/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 (Debian)", ("9.7.4-2", (9, 7, 4))),
        ("mysqld  Ver 8.0.36-debug for Linux on x86_64 (Source distribution)", ("8.0.36-debug", (8, 0, 36))),
        ("mysqld  Ver 5.6.24 for Linux on x86_64 (MySQL Community Server (GPL))", ("5.6.24", (5, 6, 24))),
        ("mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu", None),
        ("mariadbd  Ver 11.4.2", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_version_is_read_and_mariadb_s_usual_words_are_known(
    text: str, expected: tuple[str, tuple[int, int, int]] | None
) -> None:
    assert parse_version(text) == expected


def test_an_official_tarball(tmp_path: Path) -> None:
    program(tmp_path / "bin/mysqld")
    program(tmp_path / "bin/mysqlbinlog")
    (tmp_path / "share/english").mkdir(parents=True)
    (tmp_path / "lib/plugin").mkdir(parents=True)
    found = from_path(tmp_path)
    assert (found.version, found.number, found.launcher) == ("8.4.3", (8, 4, 3), ())
    assert found.options == (
        f"--basedir={tmp_path}",
        f"--lc-messages-dir={tmp_path}/share",
        f"--plugin-dir={tmp_path}/lib/plugin",
    )
    assert found.program("mysqlbinlog") == [str(tmp_path / "bin/mysqlbinlog")]
    with pytest.raises(ServerUnavailable, match="the program mysqldump is not in"):
        found.program("mysqldump")
    assert from_path(tmp_path / "bin/mysqld").options == found.options


def test_a_build_tree(tmp_path: Path) -> None:
    program(tmp_path / "runtime_output_directory/mysqld")
    program(tmp_path / "runtime_output_directory/mysql")
    (tmp_path / "share/english").mkdir(parents=True)
    (tmp_path / "plugin_output_directory").mkdir()
    found = from_path(tmp_path)
    assert f"--plugin-dir={tmp_path}/plugin_output_directory" in found.options
    assert found.program("mysql") == [str(tmp_path / "runtime_output_directory/mysql")]


def test_unpacked_packages_start_through_their_own_loader(tmp_path: Path) -> None:
    program(tmp_path / "usr/sbin/mysqld")
    program(tmp_path / "usr/bin/mysqlbinlog")
    loader = program(tmp_path / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", 'shift 2; exec "$@"')
    found = from_path(tmp_path)
    prefix = [str(loader), "--library-path", str(tmp_path / "usr/lib/x86_64-linux-gnu")]
    assert list(found.launcher) == prefix
    assert found.program("mysqlbinlog") == [*prefix, str(tmp_path / "usr/bin/mysqlbinlog")]
    (tmp_path / "lib/x86_64-linux-gnu").mkdir(parents=True)
    assert from_path(tmp_path).launcher[2] == (f"{tmp_path}/usr/lib/x86_64-linux-gnu:{tmp_path}/lib/x86_64-linux-gnu")


def test_everything_in_one_folder_with_its_own_library(tmp_path: Path) -> None:
    program(tmp_path / "server/mysqld")
    (tmp_path / "server/libaio.so.1").write_text("")
    (tmp_path / "server/share/english").mkdir(parents=True)
    found = from_path(tmp_path)
    assert found.launcher == ("/usr/bin/env", f"LD_LIBRARY_PATH={tmp_path}/server")
    assert f"--basedir={tmp_path}/server" in found.options


def test_a_program_that_fails_to_tell_its_version_is_shown_with_its_words(tmp_path: Path) -> None:
    program(tmp_path / "mysqld", "echo 'libaio.so.1: cannot open shared object file' >&2; exit 127")
    with pytest.raises(ServerUnavailable, match=r"status 127\nlibaio\.so\.1: cannot open"):
        from_path(tmp_path)


def test_mysqld_from_the_environment_goes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = program(tmp_path / "a/mysqld"), program(tmp_path / "b/mysqld")
    monkeypatch.setenv("PATH", str(second.parent))
    monkeypatch.delenv("MYSQLD", raising=False)
    assert on_path() == second
    monkeypatch.setenv("MYSQLD", str(first))
    assert on_path() == first
    assert find_installation(parse_spec("process")).mysqld == first


def test_a_mariadb_on_the_path_is_named_and_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQLD", str(program(tmp_path / "mysqld", "echo mysqld  Ver 10.11.6-MariaDB for debian")))
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("conformance.servers.install.bundle.read_sources", list)
    told: list[str] = []
    with pytest.raises(ServerUnavailable, match="names no archive"):
        find_installation(parse_spec("process"), narrate=told.append)
    assert "is not a MySQL server" in told[0]
    assert "using the bundle" in told[0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9.7.4-2", (9, 7, 4)),
        ("8.0.36-28.1", (8, 0, 36)),
        ("5.6.24-log", (5, 6, 24)),
        ("8.4", (8, 4, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_version_numbers(text: str, number: tuple[int, int, int]) -> None:
    assert version_number(text) == number


def test_options_fit_the_version() -> None:
    old, new = (default_options(number, performance_schema=True) for number in ((5, 6, 24), (9, 7, 4)))
    assert old["binlog-format"] == "ROW"
    assert "binlog-format" not in new
    assert "skip-slave-start" in old
    assert "skip-replica-start" in new
    assert new["performance-schema"] == "ON"
    assert option_words({"sync_binlog": "0", "skip-log-bin": None, "secure-file-priv": ""}) == [
        "--sync-binlog=0",
        "--skip-log-bin",
        "--secure-file-priv=",
    ]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("x\nmysqld got signal 11 ;\ny", "mysqld got signal 11"),
        ("InnoDB: Assertion failure: buf0buf.cc:1:x\nmysqld got signal 6 ;", "Assertion failure: buf0buf.cc:1:x"),
        ("mysqld: a.cc:1: void f(): Assertion `x > 0' failed.", "Assertion `x > 0' failed."),
        ("==1==ERROR: AddressSanitizer: heap-use-after-free on", "ERROR: AddressSanitizer: heap-use-after-free on"),
        ("Shutdown complete", ""),
    ],
)
def test_the_reason_of_a_death_is_found_in_its_log(log: str, reason: str) -> None:
    assert death_reason(log) == reason
