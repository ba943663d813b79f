"""The log: ``mysqlbinlog | mysql`` into an empty schema gives the rows of the source."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from conformance.explore.oracles.problem import Problem
from conformance.explore.oracles.tables import Rows, TableFacts, differing_columns, first_difference, read, rows_query
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.explore.world import World

_SECONDS: Final = 60.0
_ERROR: Final = re.compile(r"ERROR (\d+) \(\w+\)[^:]*: (.*)")


def replay_log(world: World, tables: Mapping[str, TableFacts], rows: Mapping[str, Rows]) -> Iterator[Problem]:
    """Print the log of the episode with the schema renamed, execute it, and compare rows."""
    assert world.start is not None
    source, own = world.source, world.own
    if own.execute("XA RECOVER").rows:  # the log would prepare under names that are taken
        return
    target = world.schema("r")
    names = [str(row[0]) for row in own.execute("SHOW BINARY LOGS").texts()]
    wanted = names[names.index(world.start.file) :]
    printed = source.run_program(
        "mysqlbinlog",
        ["--no-defaults", "--skip-gtids", "--disable-log-bin", f"--rewrite-db={world.schema('x')}->{target}",
         f"--database={target}", f"--start-position={world.start.offset}", *wanted],
        files={name: source.files.read(name) for name in wanted}, timeout=_SECONDS,
    )  # fmt: skip
    if printed.returncode != 0:
        yield Problem("mysqlbinlog", "print", printed.words[-400:])
        return
    try:
        own.execute(f"CREATE SCHEMA {target} DEFAULT CHARACTER SET utf8mb4")
        options = ["--binary-mode", "--max-allowed-packet=1G"]
        fed = source.run_program("mysql", options, login=True, stdin=printed.stdout,
                                 timeout=_SECONDS)  # fmt: skip
        if fed.returncode != 0:
            found = _ERROR.search(fed.words)
            yield Problem("mysqlbinlog", f"error {found[1] if found else fed.returncode}", fed.words[-400:])
            return
        replayed = read(own, target, tables)
        for name, table in tables.items():
            if replayed[name] != rows[name]:
                kind = f"rows: {differing_columns(table, rows[name], replayed[name])}"
                yield Problem(
                    "mysqlbinlog", kind, first_difference(table, rows[name], replayed[name]), (rows_query(table, ""),)
                )
    finally:
        with suppress(SqlError):
            own.execute(f"DROP SCHEMA IF EXISTS {target}")
