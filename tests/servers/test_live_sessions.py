"""Sessions on real servers: statements and their results, time limits, logins, and what a lost one says."""

from __future__ import annotations

import gc
import select
import socket
import threading
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import (
    ConnectionLost,
    LoginRefused,
    ProtocolError,
    ServerDied,
    SqlError,
)
from conformance.servers.roles.injector import took_too_long
from conformance.servers.wire.connection import Address, connect
from tests.live import until

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

pytestmark = pytest.mark.live


def test_values_come_as_the_server_s_bytes(session: Connection) -> None:
    result = session.execute("SELECT NULL, '', 'é', x'00ff', 1.50, JSON_OBJECT('a', 1), REPEAT('x', 70000)")
    assert result.rows[0][:6] == (None, b"", "é".encode(), b"\x00\xff", b"1.50", b'{"a": 1}')
    assert result.rows[0][6] == b"x" * 70000


def test_counts_and_warnings(session: Connection) -> None:
    session.execute("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    inserted = session.execute("INSERT INTO t (n) VALUES (1), (2), (3)")
    assert (inserted.affected, inserted.last_insert_id) == (3, 1)
    updated = session.execute("UPDATE t SET n = n + 1 WHERE id < 3")
    assert updated.affected == 2
    assert "Rows matched: 2" in updated.info
    assert session.execute("SELECT 1/0").warnings == 1
    assert session.warnings() == [("Warning", 1365, "Division by 0")]


def test_a_batch_stops_at_the_first_error_and_names_it(session: Connection) -> None:
    session.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    batch = session.execute_many(["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"])
    assert len(batch.results) == 1
    assert batch.error is not None
    assert (batch.error.position, batch.error.number, batch.error.sqlstate) == (1, 1062, "23000")
    assert session.execute("SELECT COUNT(*) FROM t").scalar() == "1"


def test_a_batch_larger_than_a_packet_is_one_batch(session: Connection) -> None:
    session.execute("CREATE TABLE t (id INT PRIMARY KEY, s LONGTEXT)")
    batch = session.execute_many([f"INSERT INTO t VALUES ({i}, '{'x' * 900_000}')" for i in range(12)])
    assert [result.affected for result in batch.check()] == [1] * 12
    big = session.execute(f"INSERT INTO t VALUES (99, '{'y' * (17 << 20)}')")  # more than one protocol packet
    assert big.affected == 1
    assert session.execute("SELECT s FROM t WHERE id = 99").rows[0][0] == b"y" * (17 << 20)


def test_a_statement_with_more_results_breaks_the_count(session: Connection) -> None:
    session.execute("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END")
    assert session.execute("CALL p()").rows == ()  # the last result is the procedure's own
    with pytest.raises(ProtocolError, match="3 results for 1 statements"):
        session.execute_many(["CALL p()"])


def test_a_time_limit_ends_the_session_but_not_the_server(server: ProcessServer) -> None:
    connection = server.connect(timeout=0.2)
    with pytest.raises(ConnectionLost, match=r"no answer from the server in 0.2 s$") as caught:
        connection.execute("SELECT SLEEP(60)")
    assert not isinstance(caught.value, ServerDied)
    assert took_too_long(caught.value)
    assert connection.closed
    assert server.alive()


def test_a_session_that_was_killed_tells_it(server: ProcessServer) -> None:
    with server.connect() as connection:
        with server.connect() as other:
            other.execute(f"KILL {connection.thread_id}")
        with pytest.raises((ConnectionLost, SqlError)):
            until(lambda: connection.execute("SELECT 1") is None)
        with pytest.raises(ConnectionLost) as caught:
            connection.execute("SELECT 1")
    assert not took_too_long(caught.value)


@pytest.mark.parametrize("seconds", [1, None])
def test_a_server_that_stands_still_at_a_login_is_told_in_one_line(
    seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINLOG_LAB_PATIENCE", "1")
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel accepts, nobody greets
        address = Address(port=silent.getsockname()[1])
        with pytest.raises(ConnectionLost) as caught:
            connect(address, connect_timeout=seconds)
    assert str(caught.value) == f"cannot connect to {address}: no answer from the server in 1 s"


def test_a_login_with_a_wrong_password_or_an_absent_server_is_told(server: ProcessServer) -> None:
    with pytest.raises(LoginRefused, match="1045"):
        connect(replace(server.tcp_address(), password="wrong"))
    with pytest.raises(ConnectionLost, match="2003"):
        connect(Address(host="127.0.0.1", port=1, user="u"))


def test_a_server_lost_during_the_login_leaves_no_socket_open(server: ProcessServer, tmp_path: Path) -> None:
    place = str(tmp_path / "s")

    def serve(listener: socket.socket) -> None:
        """Pass everything on until the first statement behind the login, then hang up."""
        client, _ = listener.accept()
        with client, socket.socket(socket.AF_UNIX) as real:
            real.connect(str(server.address.socket))
            while True:
                ready, _, _ = select.select([client, real], [], [])
                data = ready[0].recv(1 << 16)
                if not data or (ready[0] is client and data[3:5] == b"\0\x03"):
                    return
                (real if ready[0] is client else client).sendall(data)

    with socket.socket(socket.AF_UNIX) as listener, warnings.catch_warnings(record=True) as left:
        listener.bind(place)
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        warnings.simplefilter("always")
        with pytest.raises(ConnectionLost):
            connect(replace(server.address, socket=place))
        thread.join(10)
        gc.collect()
    assert [item for item in left if issubclass(item.category, ResourceWarning)] == []
