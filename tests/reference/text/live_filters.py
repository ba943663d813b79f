# ruff: noqa: T201 (it prints)
"""``decode`` with each filter against mysqlbinlog with the same one, on logs that a real server writes now.

``python -m tests.reference.text.live_filters --rounds 3``: each round has other filters on the same five logs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.files import read_events
from tests.reference.text.filtered_output import filters, ours, real, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conformance.reference.binlog.event import Event
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection

_CHANGES: Final = (
    "INSERT INTO d.t VALUES ({0}, JSON_OBJECT('a', {0}, 'p', REPEAT('p', 70)), {0}), ({1}, '[1, 2]', NULL)",
    "UPDATE d.t SET j = JSON_SET(j, '$.a', 7), n = n + 1 WHERE id = {0}",
    "INSERT INTO other.u VALUES ({0}, 'text')",
    "DELETE FROM d.t WHERE id = {1}",
    "UPDATE other.u SET c = 'changed'",
)
# Five logs, each under other settings of the session.
SETTINGS: Final = (
    (),
    ("SET binlog_row_value_options = PARTIAL_JSON",),
    ("SET binlog_row_value_options = PARTIAL_JSON", "SET binlog_transaction_compression = ON"),
    ("SET binlog_row_image = MINIMAL", "SET gtid_next = 'AUTOMATIC:alpha'"),
    ("SET binlog_format = STATEMENT", "SET binlog_rows_query_log_events = ON"),
)


@dataclass(slots=True)
class Result:
    """How many command lines were compared, by option, and those with another output."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def write_logs(connection: Connection) -> list[Path]:
    """Five closed logs of the server."""
    for sql in ("CREATE SCHEMA d", "CREATE SCHEMA other", "CREATE TABLE d.t (id INT PRIMARY KEY, j JSON, n INT)",
                "CREATE TABLE other.u (id INT PRIMARY KEY, c VARCHAR(20))"):  # fmt: skip
        connection.execute(sql)
    directory = Path(str(connection.variable("log_bin_basename"))).parent
    logs = []
    for number, settings in enumerate(SETTINGS):
        connection.execute("FLUSH BINARY LOGS")
        logs.append(directory / str(connection.execute("SHOW BINARY LOG STATUS").texts()[0][0]))
        for sql in settings:
            connection.execute(sql)
        for place in range(4):
            connection.execute(f"SET timestamp = {1_700_000_000 + 100 * number + 10 * place}")
            for change in _CHANGES:
                connection.execute(change.format(100 * number + 2 * place, 100 * number + 2 * place + 1))
        for sql in ("binlog_row_value_options = DEFAULT", "binlog_transaction_compression = DEFAULT",
                    "binlog_row_image = DEFAULT", "gtid_next = AUTOMATIC", "binlog_format = DEFAULT",
                    "binlog_rows_query_log_events = DEFAULT", "timestamp = DEFAULT"):  # fmt: skip
            connection.execute(f"SET SESSION {sql}")
    connection.execute("FLUSH BINARY LOGS")
    return logs


def compare(
    program: Sequence[str],
    logs: Sequence[Path],
    source: str,
    *,
    rounds: int,
    seed: int = 0,
    alter: Callable[[list[str]], list[str]] = list,
    narrate: Callable[[str], None] = lambda _: None,
) -> Result:
    """Run both programs with the same words. ``alter`` changes those of ``decode``: planted faults do."""
    result = Result()
    names = [str(path) for path in logs]
    seconds = [event.header.timestamp for path in logs for event in _events(path) if event.header.timestamp]
    made = [when for when in seconds if when < 1_700_001_000]
    for number in range(seed, seed + rounds):
        lines = [*filters(names, source, number)]
        for name in names:
            lines += list(times(name, min(made), max(made) + 2, number))[: 4 if rounds == 1 else 16]
        for words in lines:
            result.counts.update(word.partition("=")[0] for word in words if word.startswith("--"))
            result.counts["command lines"] += 1
            theirs, mine = real(program, words), ours(alter(list(words)))
            result.counts["with rows"] += b"\n### " in theirs.text
            if theirs != mine:
                result.problems.append(f"{words}: {_first(theirs.text, mine.text)}")
        narrate(f"round {number}: {len(result.problems)} differences in {result.counts['command lines']} command lines")
    return result


def _events(path: Path) -> Iterator[Event]:
    with path.open("rb") as file:
        yield from read_events(file)


def _first(theirs: bytes, mine: bytes) -> str:
    pairs = zip(theirs.split(b"\n"), mine.split(b"\n"), strict=False)
    return next((f"{a!r:.200} and {b!r:.200}" for a, b in pairs if a != b), f"{len(theirs)} and {len(mine)} bytes")


def run(
    server: ProcessServer, *, rounds: int, seed: int = 0, narrate: Callable[[str], None] = lambda _: None
) -> Result:
    """Write the logs on a server of the caller, and compare."""
    with server.connect() as connection:
        logs = write_logs(connection)
        source = str(connection.variable("server_uuid"))
    return compare(server.program("mysqlbinlog"), logs, source, rounds=rounds, seed=seed, narrate=narrate)


def main() -> int:
    """Run, and print the figures and every difference."""
    from conformance.servers.auto import find_installation
    from conformance.servers.run.process import launch
    from conformance.servers.specs import parse_spec

    parser = argparse.ArgumentParser(prog="python -m tests.reference.text.live_filters", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with launch(find_installation(parse_spec("process"), narrate=lambda _: None)) as server:
        result = run(
            server, rounds=arguments.rounds, seed=arguments.seed, narrate=lambda text: print(text, file=sys.stderr)
        )
    for name, count in sorted(result.counts.items()):
        print(f"{count:>8,} {name}")
    print(f"\n{len(result.problems)} differences")
    for problem in result.problems:
        print(problem)
    return int(bool(result.problems))


if __name__ == "__main__":
    sys.exit(main())
