"""One generated workload, run twice on a server: with partial JSON, and with the option off and no compression.

Each run has a log file of its own, from FLUSH to FLUSH. The log of the second run is what expanding that of the first
must give: it is the server's own, and no code of the kit had a part in it.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from conformance.cases.script import ReadBack
from conformance.harness.updates.blocks import make_script
from conformance.harness.updates.run import server_limits
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

Rows = list[tuple[bytes | None, ...]]


@dataclass(frozen=True, slots=True)
class Run:
    """The log file of one run, the rows at its end, and the numbers of the errors that statements got."""

    log: Path
    rows: Rows
    errors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Twice:
    """Both runs. ``updates``: rows that the statements visit."""

    case: UpdateCase
    updates: int
    partial: Run
    full: Run


def run_twice(server: ProcessServer, connection: Connection, seed: str, number: int, updates: int, to: Path) -> Twice:
    """Run block ``number`` of a seed in the connection's present schema; copies of its logs stand in ``to``."""

    def change(case: UpdateCase) -> UpdateCase:
        compression = number % 4 == 3  # in every fourth log, transactions are compressed
        return replace(case, session=replace(case.session, partial_json=True, compression=compression))

    script = make_script(seed, number, server_limits(server), updates=updates, change=change)
    case = script.case
    off = replace(case, session=replace(case.session, partial_json=False, compression=False))
    partial = _run(connection, script, case, to / f"{number}-partial")
    full = _run(connection, script, off, to / f"{number}-full")
    return Twice(case, script.updates, partial, full)


def _run(connection: Connection, script: Script, case: UpdateCase, copy: Path) -> Run:
    make_table(connection, case)
    connection.execute("FLUSH BINARY LOGS")
    name = str(connection.execute("SHOW BINARY LOG STATUS").texts()[0][0])
    errors = []
    for sql in [script.insert, *(item.sql for item in script.items if not isinstance(item, ReadBack))]:
        try:
            connection.execute(sql)
        except SqlError as error:
            errors.append(error.number)
    rows = rows_of(connection, case)
    connection.execute("FLUSH BINARY LOGS")
    base = Path(str(connection.variable("log_bin_basename")))
    copy.write_bytes((base.parent / name).read_bytes())
    return Run(copy, rows, tuple(errors))


def make_table(connection: Connection, case: UpdateCase) -> None:
    """The empty table of a Case, in a session of its settings."""
    name = quote_identifier(case.table.name)
    connection.execute_many(
        [*case.session.statements(), f"DROP TABLE IF EXISTS {name}", create_table(case.table)]
    ).check()


def rows_of(connection: Connection, case: UpdateCase) -> Rows:
    """All rows in order of the column that tells them apart, as the server prints them."""
    name = quote_identifier(case.table.name)
    return list(connection.execute(f"SELECT * FROM {name} ORDER BY {quote_identifier(case.selector)}").rows)


def replayed_rows(server: ProcessServer, connection: Connection, case: UpdateCase, log: Path) -> tuple[Rows, str]:
    """The rows that ``mysqlbinlog LOG | mysql`` makes of an empty table, and what the two programs complain about."""
    make_table(connection, case)
    printed = subprocess.run(
        [*server.program("mysqlbinlog"), "--no-defaults", "--skip-gtids", str(log)], capture_output=True, check=False
    )
    with TemporaryFile() as text:
        text.write(printed.stdout)
        text.seek(0)
        fed = subprocess.run(
            [*server.client("mysql"), "--binary-mode", "--max-allowed-packet=1G"],
            stdin=text, capture_output=True, check=False,
        )  # fmt: skip
    complaint = b"" if not (printed.returncode or fed.returncode) else printed.stderr + fed.stderr
    return rows_of(connection, case), complaint.decode("utf-8", "replace")


def printed_rows(server: ProcessServer, log: Path) -> tuple[list[bytes], str]:
    """The row lines that ``mysqlbinlog -vv`` prints of a log, after it verified the checksums; and its complaints."""
    options = ("--no-defaults", "-vv", "--base64-output=DECODE-ROWS", "--verify-binlog-checksum")
    done = subprocess.run([*server.program("mysqlbinlog"), *options, str(log)], capture_output=True, check=False)
    lines = [line for line in done.stdout.split(b"\n") if line.startswith(b"### ")]
    return lines, done.stderr.decode("utf-8", "replace") if done.returncode else ""
