"""Scanning a log for the boundaries of its transactions, against python-mysql-replication.

    python tests/benchmarks/bench_boundaries.py [--transactions N] [--rounds N]

Both get the same file in the same process and run in turns; CPU time is compared, not the clock. The input is made
here:
transactions of one statement (GTID, BEGIN, TABLE_MAP, rows, XID) as a server writes them, and transactions of every
kind.

``groups``: :func:`read_groups`, which says where each transaction begins and ends, what it is, and its GTID. The peer
has no such thing: it is asked for as little as it offers, GTID, QUERY and XID events only (its ``only_events``), and a
transaction is counted at each GTID.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.header import MAGIC
from conformance.reference.boundaries.reader import GroupKind, read_groups
from generators import streams
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def transactions(count: int, kind: str | None) -> Iterator[bytes]:
    """A file of transactions with GTIDs, of one kind or of every kind."""
    placement = streams.Placement()
    yield MAGIC + b"".join(item.data for item in placement.frame())
    draw = Stream("bench-boundaries")
    for number in range(count):
        for body in streams.group(draw.fork(number), kind, streams.Starts.GTID):
            yield placement.place(body).data


_FILES = {"one statement with rows": "rows", "every kind": None}


class _Control:
    charset = "utf8mb4"

    def _get_dbms(self) -> str:
        return "mysql"


def groups(path: Path) -> int:
    """Transactions of the file."""
    with path.open("rb") as file:
        return sum(group.kind is not GroupKind.FRAME for group in read_groups(file))


_CONTROL = _Control()


class Peer:
    """python-mysql-replication, fed single events (it has no file reader)."""

    def __init__(self) -> None:
        from pymysql.protocol import MysqlPacket
        from pymysqlreplication.event import GtidEvent, QueryEvent, XidEvent
        from pymysqlreplication.packet import BinLogPacketWrapper

        self.packet = MysqlPacket
        self.wrapper = BinLogPacketWrapper
        self.allowed = {GtidEvent, QueryEvent, XidEvent}
        self.gtid = GtidEvent

    def __call__(self, path: Path) -> int:
        data = path.read_bytes()
        pos = len(MAGIC)
        found = 0
        tables: dict[int, Any] = {}
        while pos < len(data):
            length = int.from_bytes(data[pos + 9 : pos + 13], "little")
            packet = self.packet(b"\0" + data[pos : pos + length], "utf8")
            pos += length
            wrapped = self.wrapper(
                packet, tables, _CONTROL, (9, 7, 4), True, self.allowed,
                None, None, None, None, False, False, False, True, False,
            )  # fmt: skip
            if isinstance(wrapped.event, self.gtid):
                str(wrapped.event.gtid)
                found += 1
        return found


def compare(name: str, count: int, rounds: int, directory: Path) -> None:
    """Both over the same file, in turns."""
    path = directory / "bench.binlog"
    with path.open("wb") as file:
        file.writelines(transactions(count, _FILES[name]))
    scanners: dict[str, Callable[[Path], int]] = {"groups": groups}
    try:
        scanners["peer"] = Peer()
    except ImportError:
        print("python-mysql-replication is not installed: no ratios")  # noqa: T201 - the figures are the output
    spent = dict.fromkeys(scanners, 0.0)
    for _ in range(rounds):
        for scanner, scan in scanners.items():
            gc.collect()
            start = process_time()
            found = scan(path)
            spent[scanner] += process_time() - start
            if found != count:
                raise SystemExit(f"{scanner} found {found} of {count} transactions")
    size = path.stat().st_size
    print(f"{name}: {count} transactions, {size / 1e6:.1f} MB, {rounds} times")  # noqa: T201
    for scanner, seconds in spent.items():
        ratio = f", {spent['peer'] / seconds:5.1f} times the peer" if "peer" in spent else ""
        rate, megabytes = rounds * count / seconds, rounds * size / 1e6 / seconds
        print(f"  {scanner:<7} {seconds:7.2f} s CPU, {rate:9.0f} transactions/s, {megabytes:6.0f} MB/s{ratio}")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transactions", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in _FILES:
            compare(name, options.transactions, options.rounds, Path(folder))


if __name__ == "__main__":
    main()
