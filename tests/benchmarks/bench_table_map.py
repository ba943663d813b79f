"""Decoding TABLE_MAP events against python-mysql-replication.

    python tests/benchmarks/bench_table_map.py [--events N] [--rounds N]

Both decoders get the same bytes in the same process and run in turns; CPU time is compared, not the clock. The tables
are generated ones (``generators.definitions``) with the metadata of ``binlog_row_metadata`` MINIMAL and FULL, as far as
the peer can read them: no VECTOR, no primary key, ASCII names, and no ENUM or SET whose members are many, long, or not
UTF-8. ``decoded``: types, null bitmap and every optional field as values; ``described``: also each column with all that
is said about it.
"""

from __future__ import annotations

import argparse
import gc
from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.files import EventDecoder
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import table_map
from conformance.reference.tables.table_map import TableMap
from generators.definitions import definition
from generators.draw import Stream
from tests.benchmarks.mysql_replication import Peer

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.tables.definitions import Table

_MODES = ("MINIMAL", "FULL")
_MANY = 128


def tables(count: int) -> list[Table]:
    """Generated tables that both can read."""
    found: list[Table] = []
    number = 0
    while len(found) < count:
        made = definition(Stream("bench", number), schema="shop", name=f"t{number}")
        number += 1
        columns = tuple(
            replace(
                column,
                name=f"column_{place}",
                collation=None if column.members else column.collation,
                charset="utf8mb4" if column.members else column.charset,
            )
            for place, column in enumerate(made.columns)
            if column.type != "VECTOR"
            and len(column.members) < _MANY
            and all(len(member.encode()) < _MANY for member in column.members)
        )
        if columns:
            found.append(replace(made, columns=columns, primary_key=(), charset="utf8mb4", collation=None))
    return found


def events(some: list[Table], mode: str) -> list[bytes]:
    return [encode_event(table_map(table, mode, table_id=number)) for number, table in enumerate(some, 1)]


def decoded(data: list[bytes]) -> int:
    """All that the event holds, typed."""
    decode = EventDecoder().decode
    columns = 0
    for event in data:
        body = decode(event, 4).body
        assert isinstance(body, TableMap)
        columns += len(body.columns)
    return columns


def described(data: list[bytes]) -> int:
    """The same, and each column with what the fields say about it, as the peer has it."""
    decode = EventDecoder().decode
    columns = 0
    for event in data:
        body = decode(event, 4).body
        assert isinstance(body, TableMap)
        columns += len(body.described)
    return columns


def peer() -> Callable[[list[bytes]], int]:
    """python-mysql-replication, fed single events."""
    read = Peer().event

    def columns(data: list[bytes]) -> int:
        found = 0
        for event in data:
            wrapped = read(event)
            assert wrapped.event_type == EventType.TABLE_MAP
            found += wrapped.event.column_count
        return found

    return columns


def compare(some: list[Table], mode: str, rounds: int) -> None:
    """The decoders in turns over the same events."""
    decoders: dict[str, Callable[[list[bytes]], int]] = {"decoded": decoded, "described": described}
    try:
        decoders["peer"] = peer()
    except ImportError:
        print("python-mysql-replication is not installed: no ratios")  # noqa: T201 - the figures are the output
    spent = dict.fromkeys(decoders, 0.0)
    data = events(some, mode)
    expected = decoded(data)
    for _ in range(rounds):
        for name, decoder in decoders.items():
            gc.collect()
            start = process_time()
            found = decoder(data)
            spent[name] += process_time() - start
            if found != expected:
                raise SystemExit(f"{name} found {found} of {expected} columns")
    count = rounds * len(data)
    print(f"{mode}: {count} events, {expected / len(data):.1f} columns each")  # noqa: T201
    for name, seconds in spent.items():
        ratio = f", {spent['peer'] / seconds:5.2f} times the peer" if "peer" in spent else ""
        print(f"  {name:<10} {seconds:7.2f} s CPU, {count / seconds:7.0f} events/s{ratio}")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000, help="different tables")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each decoder")
    options = parser.parse_args()
    some = tables(options.events)
    for mode in _MODES:
        compare(some, mode, options.rounds)


if __name__ == "__main__":
    main()
