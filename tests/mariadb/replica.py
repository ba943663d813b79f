"""A replica of MariaDB behind partial JSON of MySQL: ``python -m tests.mariadb replica``.

A real MySQL runs generated updates with partial JSON, some of them in compressed transactions. ``expand --for mariadb``
rewrites its logs, a real MariaDB replicates them from the lab's source, and the rows of both servers are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.binlog.files import decode_file
from conformance.reference.event_types import EventType
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.errors import SqlError
from tests.expansion.workload import rows_of, run_twice
from tests.in_process import lab_here as lab
from tests.mariadb.campaign import Result
from tests.mariadb.server import running
from tests.source_campaigns.mariadb import follow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.cases.update_case import UpdateCase
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from tests.expansion.workload import Twice


def run(
    server: ProcessServer,
    updates: int,
    seed: str,
    directory: Path,
    narrate: Callable[[str], None] = lambda _: None,
    *,
    alter: Callable[[bytes], bytes] = bytes,
) -> Result:
    """Run blocks of updates on MySQL and let MariaDB follow. ``alter`` changes a log: planted faults do."""
    result = Result()
    with server.connect() as source, server.schema(source), running(["--skip-grant-tables"]) as replica:
        session = replica.session
        result.version = str(session.execute("SELECT VERSION()").scalar())
        schema = str(source.execute("SELECT DATABASE()").scalar())
        session.execute("SET GLOBAL innodb_strict_mode = OFF")
        session.execute(f"CREATE DATABASE {quote_identifier(schema)} CHARACTER SET utf8mb4")
        session.execute(f"USE {quote_identifier(schema)}")
        number = 0
        while result.counts["updates"] < updates:
            twice = run_twice(server, source, seed, number, min(250, updates - result.counts["updates"]), directory)
            result.counts["blocks"] += 1
            result.counts["updates"] += twice.updates
            found = _block(session, twice, result, alter)
            result.problems += [f"block {number}: {text}" for text in found]
            narrate(f"block {number}: {dict(result.counts)}, {len(result.problems)} differences")
            number += 1
    return result


def _block(session: Connection, twice: Twice, result: Result, alter: Callable[[bytes], bytes]) -> list[str]:
    counts = result.counts
    log = twice.partial.log
    expanded = log.with_name(log.name + "-for-mariadb")
    done = lab("expand", log, "-o", expanded, "--for", "mariadb")
    if done.code:
        counts[f"blocks refused by expand: {done.err.rpartition('[')[2].strip(']' + chr(10))}"] += 1
        return [] if "[column-type]" in done.err or "[generated-key]" in done.err else [done.err]
    problem = _made(session, twice.case)
    if problem is not None:
        counts[f"blocks whose table MariaDB refuses with {problem}"] += 1
        return []
    events = int(done.err.partition("rewrote ")[2].partition(" ")[0])
    counts["events 39"] += events
    counts["events 40"] += int(done.err.partition(" and ")[2].partition(" ")[0])
    counts["documents of diffs"] += int(done.err.partition(" rows, ")[2].partition(" ")[0])
    error = follow(session, alter(_without_rotate(expanded.read_bytes())))
    if error:
        return [f"the replica stopped: {error}"]
    rows = rows_of(session, twice.case)
    counts["blocks that MariaDB followed"] += 1
    counts["updates that MariaDB followed"] += twice.updates
    counts["rows"] += len(rows)
    if rows != twice.partial.rows:
        pairs = [pair for pair in zip(rows, twice.partial.rows, strict=False) if pair[0] != pair[1]]
        return [f"{len(rows)} rows for {len(twice.partial.rows)}, {len(pairs)} differ: {str(pairs[:1])[:600]}"]
    return []


def _without_rotate(log: bytes) -> bytes:
    """The log without the ROTATE at its end, behind which the lab's source has no file."""
    last = decode_file(log)[-1]
    return log[: last.position] if last.header.type == EventType.ROTATE else log


def _made(session: Connection, case: UpdateCase) -> int | None:
    """Make the empty table in the replica; the number of the error with which MariaDB refuses its definition."""
    name = quote_identifier(case.table.name)
    session.execute(f"DROP TABLE IF EXISTS {name}")
    text = create_table(case.table).replace("utf8mb4_0900_ai_ci", "utf8mb4_general_ci")
    try:
        session.execute(text.replace("utf8mb4_0900_as_cs", "utf8mb4_bin").replace("utf8mb4_0900_bin", "utf8mb4_bin"))
    except SqlError as error:
        return error.number
    return None
