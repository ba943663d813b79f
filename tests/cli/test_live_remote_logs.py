"""Logs of a running server in the place of files: the same bytes, what is written later, and what goes wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from conformance.servers.run.process import launch
from tests.in_process import lab_here
from tests.live import nothing_left, started, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from tests.live import Ended

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def source(installation: Installation) -> Iterator[ProcessServer]:
    """A server of three logs, which tests may kill."""
    with launch(installation) as running:
        write(running, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON)")
        for number in range(2):
            write(
                running,
                f"INSERT INTO d.t VALUES ({number}, JSON_OBJECT('a', {number}))",
                "SET binlog_row_value_options = PARTIAL_JSON",
                "SET binlog_transaction_compression = ON",
                f"UPDATE d.t SET j = JSON_SET(j, '$.a', 7, '$.pad', REPEAT('p', 90)) WHERE id = {number}",
                f"UPDATE d.t SET j = JSON_SET(j, '$.a', 8) WHERE id = {number}",
                "FLUSH BINARY LOGS",
            )
        yield running


@pytest.fixture
def lab(source: ProcessServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run the lab in this process, with the password of the server, or with another."""

    def run(*words: str | Path, password: str = source.tcp_address().password) -> Ended:
        monkeypatch.setenv("BINLOG_LAB_PASSWORD", password)
        return lab_here(*words)

    return run


def write(server: ProcessServer, *statements: str) -> None:
    with server.connect() as connection:
        for sql in statements:
            connection.execute(sql)


def url(server: ProcessServer) -> str:
    address = server.tcp_address()
    return f"mysql://{address.user}@127.0.0.1:{address.port}"


def login(server: ProcessServer) -> dict[str, str]:
    return {"BINLOG_LAB_PASSWORD": server.tcp_address().password}


def logs(server: ProcessServer) -> list[Path]:
    with server.connect() as connection:
        names = [str(row[0]) for row in connection.execute("SHOW BINARY LOGS").texts()]
    return [server.directory / "data" / name for name in names]


@pytest.mark.parametrize(
    "words",
    [
        ("decode",),
        ("decode", "-vv", "--hexdump"),
        ("decode", "--format", "jsonl", "--events", "all"),
        ("decode", "--start-position", "158"),
        ("decode", "--stop-position", "600"),
        ("explain",),
    ],
    ids=" ".join,
)
def test_a_log_of_a_server_reads_as_its_file(
    source: ProcessServer, words: tuple[str, ...], lab: Callable[..., Ended]
) -> None:
    path = logs(source)[0]
    there = lab(*words, "--read-from-remote-server", url(source), path.name)
    again = lab(*words, f"{url(source)}/{path.name}")
    here = lab(*words, path)
    assert there.code == here.code == 0, there.text
    named = here.out.replace(f'"file": "{path}"', f'"file": "{path.name}"')
    assert there.out == again.out == named
    assert there.out


def test_an_address_alone_is_all_logs_in_their_order(source: ProcessServer, lab: Callable[..., Ended]) -> None:
    paths = logs(source)
    there = lab("apply", url(source))
    assert there.code == 0, there.text
    assert there.out == lab("apply", *paths).out
    checked = lab("check", url(source), "--format", "json")
    assert checked.code == 1, checked.text
    assert all(f'"{path.name}"' in checked.out for path in paths)
    files = lab("check", *paths, "--format", "json")
    unclosed = re.sub(r'"is_open": true', '"is_open": false', files.out)  # a server knows that its log is whole
    assert checked.out == unclosed


def test_mysqlbinlog_reads_the_same_events_from_the_server(source: ProcessServer, lab: Callable[..., Ended]) -> None:
    path = logs(source)[0]
    address = source.tcp_address()
    program = [
        *source.program("mysqlbinlog"), "--no-defaults", "-vv", "--read-from-remote-server", "--host=127.0.0.1",
        f"--port={address.port}", f"--user={address.user}", "--get-server-public-key",
    ]  # fmt: skip
    environment = {**os.environ, "MYSQL_PWD": address.password}
    theirs = subprocess.run([*program, path.name], capture_output=True, text=True, check=True, env=environment).stdout
    mine = lab("decode", "-vv", "-R", url(source), path.name).out
    assert [line for line in mine.splitlines() if line.startswith("###")] == [
        line for line in theirs.splitlines() if line.startswith("###")
    ]


def test_a_reader_that_never_stops_follows_the_server_over_its_logs(source: ProcessServer, tmp_path: Path) -> None:
    last = logs(source)[-1].name
    words = ("decode", "-R", url(source), "--stop-never", "--format", "jsonl", last)
    program = started(*words, cwd=tmp_path, env=login(source))
    out, err = tmp_path / "out", tmp_path / "err"
    try:
        for number in range(100, 103):
            write(source, f"INSERT INTO d.t VALUES ({number}, '{{}}')", "FLUSH BINARY LOGS")
            assert until(lambda number=number: f'"@1": {number}' in out.read_text(), program=program), err.read_text()  # type: ignore[misc]
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 0, err.read_text()
    finally:
        program.kill()
        program.wait()
    lines = out.read_text().splitlines()
    assert len({line.partition(",")[0] for line in lines}) == 3  # each row in a file of its own
    assert "stopped at offset" in err.read_text()
    assert nothing_left(program)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("words", [("decode",), ("decode", "--format", "jsonl"), ("explain",)], ids=" ".join)
def test_an_interrupt_between_or_within_events_cuts_no_line(
    source: ProcessServer, words: tuple[str, ...], tmp_path: Path
) -> None:
    """Events come without a pause, and Ctrl-C while one of them is read, printed or flushed, or between two logs."""
    last = logs(source)[-1].name
    done = threading.Event()
    out, err = tmp_path / "out", tmp_path / "err"

    def go_on_writing() -> None:
        with source.connect() as connection:
            connection.execute("CREATE TABLE d.busy (id INT)")
            while not done.is_set():
                for _ in range(5):
                    connection.execute("INSERT INTO d.busy VALUES (1)")
                if words != ("explain",):  # which ends with its log
                    connection.execute("FLUSH BINARY LOGS")
            connection.execute("DROP TABLE d.busy")

    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(go_on_writing)
        try:
            for number in range(5):
                program = started(*words, "-R", url(source), "--stop-never", last, cwd=tmp_path, env=login(source))
                try:
                    assert until(lambda least=1000 * number: out.stat().st_size > least, program=program)  # type: ignore[misc]
                    program.send_signal(signal.SIGINT)
                    assert program.wait(60) == 0, err.read_text()
                finally:
                    program.kill()
                    program.wait()
                assert out.read_bytes().endswith(b"\n")
                assert nothing_left(program)
        finally:
            done.set()
            writing.result()


def test_what_cannot_be_read_says_why(source: ProcessServer, lab: Callable[..., Ended]) -> None:
    wrong = lab("decode", "-R", url(source), "binlog.000001", password="wrong")
    assert wrong.code == 3, wrong.text
    assert "Access denied" in wrong.err
    missing = lab("decode", "-R", url(source), "binlog.999999")
    assert missing.code == 2, missing.text
    assert "has no log binlog.999999" in missing.err
    write(source, "CREATE USER poor IDENTIFIED BY 'poor'")
    poor = url(source).replace(source.tcp_address().user, "poor", 1)
    refused = lab("check", poor, password="poor")
    assert refused.code == 3, refused.text
    assert "GRANT REPLICATION SLAVE" in refused.err


def test_a_server_that_is_killed_is_an_error(source: ProcessServer, tmp_path: Path) -> None:
    """The last test of this module: the server is gone afterwards."""
    last = logs(source)[-1].name
    program = started("decode", "-v", "-R", url(source), "--stop-never", last, cwd=tmp_path, env=login(source))
    try:
        write(source, "INSERT INTO d.t VALUES (200, '{}')")
        assert until(lambda: "@1=200" in (tmp_path / "out").read_text(), program=program)
        source.kill()
        assert program.wait(120) == 1
    finally:
        program.kill()
        program.wait()
    assert f"{last}: the server was lost at offset" in (tmp_path / "err").read_text()
    assert "Traceback" not in (tmp_path / "err").read_text()
