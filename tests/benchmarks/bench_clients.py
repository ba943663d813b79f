"""Time and client CPU per statement of the ways to talk to a server: ``python tests/benchmarks/bench_clients.py``.

Prints one line per way and kind of work, and the seconds that a server needs to start and stop. The figures in
``conformance.servers`` come from here.
"""

# A program that prints: that is its job.
# ruff: noqa: T201

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.servers.auto import Wishes, resolve
from conformance.servers.run.process import ProcessServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.wire.connection import Connection

STATEMENTS = 20_000
ROWS = 20_000


def measure(name: str, count: int, work: Callable[[], object]) -> None:
    """Run once and print."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name:<44} {count / wall:>9,.0f} /s   client CPU {cpu / count * 1e6:6.2f} us each")


def connector(server: ProcessServer, *, pure: bool) -> Any:
    """The connector's own connection, C extension or not; None if it is not there."""
    import mysql.connector

    try:
        return mysql.connector.connect(
            unix_socket=server.address.socket, user="root", use_pure=pure, raw=True, autocommit=True
        )
    except (mysql.connector.Error, ImportError, AttributeError):
        return None


def run_ours(connection: Connection, statements: list[str]) -> None:
    """Run the statements through the lab's own client, in one call."""
    connection.execute_many(statements).check()


def run_in_connector(connection: Any, statements: list[str]) -> None:
    """One multi-statement packet, all results read."""
    cursor = connection.cursor()
    cursor.execute(";".join(statements))
    while True:
        if cursor.with_rows:
            cursor.fetchall()
        if not cursor.nextset():
            break
    cursor.close()


def run_in_pure_connector(connection: Any, statements: list[str]) -> None:
    """The same by the connector's lowest call that is still its own."""
    for result in connection.cmd_query_iter(";".join(statements)):
        if "columns" in result:
            connection.get_rows(raw=True)


def start() -> ProcessServer:
    """A server as a run would start it."""
    server = resolve("process", Wishes())
    assert isinstance(server, ProcessServer)
    return server


def main() -> None:
    """All of it."""
    for _ in range(2):
        begun = time.perf_counter()
        server = start()
        started = time.perf_counter()
        server.close()
        ended = time.perf_counter()
        print(
            f"copy and start {started - begun:.2f} s (start {server.start_seconds:.2f} s), end {ended - started:.2f} s"
        )
    server = start()
    with server, server.connect() as ours, server.schema(ours) as schema:
        ours.execute("CREATE TABLE t (id INT PRIMARY KEY, j JSON)")
        ours.execute("INSERT INTO t VALUES (1, '{\"a\": 1}')")
        ours.execute("CREATE TABLE r (id INT PRIMARY KEY, s TEXT)")
        ours.execute_many([f"INSERT INTO r VALUES ({number}, '{'abc' * 30}')" for number in range(ROWS)]).check()
        updates = [f"UPDATE t SET j = JSON_SET(j, '$.a', {number}) WHERE id = 1" for number in range(STATEMENTS)]
        nothing = [f"DO {number}" for number in range(STATEMENTS)]
        ways: list[tuple[str, Callable[[list[str]], object]]] = [("ours, batches", partial(run_ours, ours))]
        for pure, name in ((True, "connector in pure Python"), (False, "connector's C extension")):
            connection = connector(server, pure=pure)
            if connection is None:
                print(f"{name}: not available here")
                continue
            run = run_in_pure_connector if pure else run_in_connector
            run(connection, [f"USE {schema}"])
            ways.append((name, partial(run, connection)))
        for name, way in ways:
            measure(f"{name}: UPDATE", STATEMENTS, partial(way, updates))
            measure(f"{name}: DO", STATEMENTS, partial(way, nothing))
            measure(f"{name}: rows", ROWS, partial(way, ["SELECT * FROM r"]))
        in_one = ["BEGIN", *updates, "COMMIT"]
        measure("ours: UPDATE in one transaction", STATEMENTS, lambda: ours.execute_many(in_one).check())
        single = updates[:5000]
        measure("ours: UPDATE one by one", 5000, lambda: [ours.execute(statement) for statement in single])
        capture = server.capture()
        begin = capture.mark()
        ours.execute_many(updates).check()
        taken = capture.since(begin)
        for over_protocol in (False, True):
            reader = type(capture)(server, over_protocol=over_protocol)
            name = "capture over the protocol" if over_protocol else "capture from the file"
            measure(f"{name}: events", len(taken.events), partial(reader.since, begin, taken.end))
            reader.close()
        capture.close()


if __name__ == "__main__":
    main()
