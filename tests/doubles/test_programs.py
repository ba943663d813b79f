"""The scripts in front of a double's programs, over programs that only say how they were called."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from conformance.requirements.versions import dialect_of
from conformance.servers.install.installation import Installation, inspect
from tests.doubles.lacking import lacking
from tests.doubles.programs import install

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
#700101  0:00:00 server id 1  end_log_pos 172 CRC32 0xaf91d61f \tUser_var
/*!\\C utf8mb3 *//*!*/;
SET @@session.character_set_client=33,@@session.collation_connection=33,@@session.collation_server=33/*!*/;
SET @`v`:=5/*!*/;
/*!\\C utf8mb4 *//*!*/;
#700101  0:00:00 server id 1  end_log_pos 249 CRC32 0xec6907c5 \tQuery\tthread_id=0
/*!\\C utf8mb4 *//*!*/;
#700101  0:00:00 server id 1  end_log_pos 300 CRC32 0x18a473b3 \tWrite_rows: table id 1 flags: STMT_END_F NO_CHECKS_F
#700101  0:00:00 server id 1  end_log_pos 340 CRC32 0x18a473b3 \tUpdate_rows_partial: table id 1 flags: NO_CHECKS_F
"""
OLDER = """\
#700101  0:00:00 server id 1  end_log_pos 172 CRC32 0xaf91d61f \tUser_var
SET @`v`:=5/*!*/;
#700101  0:00:00 server id 1  end_log_pos 249 CRC32 0xec6907c5 \tQuery\tthread_id=0
/*!\\C utf8mb4 *//*!*/;
#700101  0:00:00 server id 1  end_log_pos 300 CRC32 0x18a473b3 \tWrite_rows: table id 1 flags: STMT_END_F
#700101  0:00:00 server id 1  end_log_pos 340 CRC32 0x18a473b3 \tUpdate_rows_partial: table id 1
"""


@pytest.fixture
def double(tmp_path: Path) -> Installation:
    """The double of 8.0.45 over programs that print their arguments; its mysqlbinlog prints a text."""
    real, folder = tmp_path / "real", tmp_path / "double"
    real.mkdir()
    folder.mkdir()
    for name in ("mysqld", "mysql", "mysqldump", "ibd2sdi", "perror", "mysqladmin"):
        (real / name).write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', "utf-8")
    (tmp_path / "text").write_text(TEXT, "utf-8")
    client = f'#!/bin/sh\n[ "$1" != die ] || kill -SEGV $$\ncat "{tmp_path}/text"\n'
    (real / "mysqlbinlog").write_text(client, "utf-8")
    for path in real.iterdir():
        path.chmod(0o755)
    whole = Installation(
        mysqld=real / "mysqld", program_directories=(real,), version="9.7.4-2", number=(9, 7, 4), origin="made"
    )
    return install(folder, whole, lacking("8.0.45"), dialect_of((8, 0, 45)))


def run(double: Installation, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = double.mysqld if name == "mysqld" else double.program(name)[0]
    return subprocess.run([str(path), *arguments], capture_output=True, text=True, check=False)


def test_the_defaults_of_the_version_stand_before_all_options(double: Installation) -> None:
    done = run(double, "mysqld", "--no-defaults", "--datadir=/a b", "--gtid-mode=ON")
    assert done.stdout.splitlines() == [
        *("--no-defaults", "--gtid-mode=OFF", "--enforce-gtid-consistency=OFF", "--datadir=/a b", "--gtid-mode=ON")
    ]


@pytest.mark.parametrize("option", ["--enable-cascade-triggers=ON", "--server_memory=1", "--activate-mandatory-roles"])
def test_an_option_that_came_later_ends_the_start(double: Installation, option: str) -> None:
    done = run(double, "mysqld", "--no-defaults", option)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"[MY-000067] [Server] unknown variable '{option.removeprefix('--')}'." in done.stderr


def test_an_option_that_may_be_unknown_is_left_out(double: Installation) -> None:
    done = run(double, "mysqld", "--no-defaults", "--loose-server-memory=1", "--loose-mysqlx=OFF")
    assert done.stdout.splitlines()[3:] == ["--loose-mysqlx=OFF"]


def test_the_lab_takes_it_for_the_version(double: Installation) -> None:
    found = inspect(double.mysqld, "here")
    assert (found.version, found.number) == ("8.0.45", (8, 0, 45))


def test_the_client_prints_as_the_older_one(double: Installation) -> None:
    done = run(double, "mysqlbinlog")
    assert (done.returncode, done.stdout) == (0, OLDER)


def test_a_client_says_that_it_is_of_the_version(double: Installation) -> None:
    for name in ("mysqlbinlog", "mysql"):
        said = run(double, name, "--no-defaults", "--version").stdout
        assert said == f"{name}  Ver 8.0.45 for Linux on x86_64 (a double)\n"


def test_a_client_that_dies_is_seen_to_die(double: Installation) -> None:
    assert run(double, "mysqlbinlog", "die").returncode == -signal.SIGSEGV


def test_other_programs_are_the_servers_own(double: Installation) -> None:
    assert run(double, "mysqldump", "--all", "x y").stdout == "--all\nx y\n"
