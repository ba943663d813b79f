"""``expand`` on generated workloads of a real server: ``python -m tests.expansion --updates 10000``.

Four things are compared for each block of updates, none of them with anything that the kit computed:

- every byte of the expanded log with the log that the server writes of the same statements with the option off;
- the rows that ``mysqlbinlog -vv`` prints of both;
- the row changes that python-mysql-replication gives of both;
- the rows that ``mysqlbinlog EXPANDED | mysql`` makes of an empty table, with those of the original.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.expansion.naive_events import compare
from tests.expansion.peer import PEER, lines_of
from tests.expansion.workload import printed_rows, replayed_rows, run_twice
from tests.in_process import lab_here as lab

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from tests.expansion.workload import Twice

_SHOWN = 300  # characters of a difference


@dataclass(slots=True)
class Result:
    """The counts of what was compared, and every difference."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def run_blocks(
    server: ProcessServer,
    directory: Path,
    *,
    seed: str,
    updates: int,
    block: int = 250,
    peer: bool = True,
    alter: Callable[[bytes], bytes] = bytes,
    narrate: Callable[[str], None] = lambda _: None,
) -> Result:
    """Run blocks until the number of updates is reached. ``alter`` changes the expanded log: planted faults do."""
    result = Result()
    with server.connect() as connection, server.schema(connection):
        number = 0
        while result.counts["updates"] < updates:
            wanted = min(block, updates - result.counts["updates"])
            # Names of columns in every second log: readers and the replay find rows by them.
            connection.execute(f"SET GLOBAL binlog_row_metadata = {'FULL' if number % 2 else 'MINIMAL'}")
            twice = run_twice(server, connection, seed, number, wanted, directory)
            found = list(_block(server, connection, twice, result.counts, peer=peer, alter=alter))
            result.problems += [f"block {number} ({twice.case.session.row_image}): {text}" for text in found]
            result.counts["updates"] += twice.updates
            result.counts["blocks"] += 1
            narrate(f"block {number}: {dict(result.counts)}, {len(result.problems)} differences")
            number += 1
        connection.execute("SET GLOBAL binlog_row_metadata = DEFAULT")
    return result


def _block(
    server: ProcessServer,
    connection: Connection,
    twice: Twice,
    counts: Counter[str],
    *,
    peer: bool,
    alter: Callable[[bytes], bytes],
) -> list[str]:
    problems = []
    partial, full = twice.partial, twice.full
    if (partial.rows, partial.errors) != (full.rows, full.errors):
        return ["the two runs of the workload gave other rows: nothing to compare with"]
    expanded = partial.log.with_name(partial.log.name + "-expanded")
    done = lab("expand", partial.log, "-o", expanded)
    if done.code:
        return [done.err]
    counts["events 39"] += int(done.err.partition("rewrote ")[2].partition(" ")[0])
    counts["documents"] += int(done.err.partition(" rows, ")[2].partition(" ")[0])
    counts["events 40"] += int(done.err.partition(" and ")[2].partition(" ")[0])
    expanded.write_bytes(alter(expanded.read_bytes()))
    try:
        equal, found = compare(expanded.read_bytes(), full.log.read_bytes())
        counts.update(equal)
        problems += found
    except AssertionError as error:
        problems.append(f"the file: {error}")
    mine, complaint = printed_rows(server, expanded)
    theirs, _ = printed_rows(server, full.log)
    counts["lines of mysqlbinlog"] += len(theirs)
    if complaint or mine != theirs:
        problems.append(f"mysqlbinlog: {complaint or _other(mine, theirs)}")
    if peer:
        here, there = lines_of(expanded), lines_of(full.log)
        read = sum(line.startswith("{") for line in there)
        counts["row changes that the peer reads"] += read
        counts["row events that the peer refuses"] += len(there) - read
        if here != there:
            problems.append(f"{PEER}: {_other(here, there)}")
    rows, complaint = replayed_rows(server, connection, twice.case, expanded)
    counts["rows"] += len(rows)
    if complaint or rows != partial.rows:
        problems.append(f"mysqlbinlog | mysql: {complaint or _other(rows, partial.rows)}")
    return problems


def _other(mine: object, theirs: object) -> str:
    """The first items of two lists that differ."""
    assert isinstance(mine, list | tuple)
    assert isinstance(theirs, list | tuple)
    pairs = (
        f"{one!r:.{_SHOWN}} and {other!r:.{_SHOWN}}" for one, other in zip(mine, theirs, strict=False) if one != other
    )
    return next(pairs, f"{len(mine)} items and {len(theirs)}")
