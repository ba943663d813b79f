"""Decoding speed against python-mysql-replication, and memory of a large file.

    python tests/benchmarks/bench_decode.py [--updates N] [--megabytes N] [--skip-memory]

Both decoders get the same bytes in the same process and run in turns; CPU time is compared, not the clock. The input is
made here with the reference encoder: transactions of one update each (GTID, BEGIN, TABLE_MAP, rows, XID), as a server
writes them. Three shapes of update of a table ``t(id INT PRIMARY KEY, j JSON)``:

* ``partial-minimal``: PARTIAL_UPDATE_ROWS of a 2 KB document, MINIMAL images: the key, one diff;
* ``partial-full``: the same with FULL images, so the before image has the whole document;
* ``full-8k``: UPDATE_ROWS, FULL images, two documents of 8 KB.

Every event is decoded. ``rows``: all rows and diffs are Python values, whole documents stay bytes until someone asks;
``everything``: documents too. The peer always does everything.
"""

from __future__ import annotations

import argparse
import gc
import io
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows, Row, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import decode_diffs
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map
from tests.benchmarks.mysql_replication import Peer
from tests.gtids import gtid
from tests.written_logs import row_group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TABLE = table_map(
    Table(
        schema="shop",
        name="t",
        columns=(Column(name="id", type="INT"), Column(name="j", type="JSON")),
        primary_key=((0, 0),),
    ),
    "FULL",
    table_id=108,
)
_REPLAYED = 1000  # rows
_DIFF = PartialJson(b"\x00\x0a$.quantity\x03\x05\x07\x00")  # JSON_SET(j, '$.quantity', 7)


def document(size: int, seed: int) -> bytes:
    """An order with items, about ``size`` bytes of JSONB, whose numbers and texts differ by ``seed``."""
    rng = random.Random(seed)
    items: list[dict[str, Any]] = []
    value: dict[str, Any] = {"quantity": 1, "customer": "c" * 30, "paid": True, "total": 12.5, "items": items}
    while len(encode(value)) < size:
        items.append({"p": rng.randrange(1000), "sku": f"{rng.getrandbits(64):016x}", "price": rng.random(), "n": None})
    return encode(value)


def _partial(before: bytes | None) -> Callable[[int], Any]:
    def body(number: int) -> Any:
        if before is None:
            row = Row((number,), (_DIFF,))
            return rows_body(_TABLE, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])
        return rows_body(_TABLE, EventType.PARTIAL_UPDATE_ROWS, [Row((number, before), (number, _DIFF))])

    return body


def _full(number: int) -> Any:
    return rows_body(_TABLE, EventType.UPDATE_ROWS, [Row((number, _BEFORE_8K), (number, _AFTER_8K))])


_BEFORE_8K = document(8192, 1)
_AFTER_8K = document(8192, 2)
_SHAPES: dict[str, Callable[[int], Any]] = {
    "partial-minimal": _partial(None),
    "partial-full": _partial(document(2048, 3)),
    "full-8k": _full,
}


def transactions(shape: str, count: int) -> Iterator[bytes]:
    """The file in pieces: its head, then one transaction at a time."""
    writer = FileWriter(timestamp=1795154439)
    yield writer.start()
    body = _SHAPES[shape]
    for number in range(1, count + 1):
        yield writer.group(gtid(number), row_group(_TABLE, body(number), xid=number, update=True))


def replayable(count: int) -> Iterator[bytes]:
    """The file in pieces: ``count`` updates as those of ``partial-minimal`` behind the inserts of their 1,000 rows.

    Each update changes the number, so that a replay takes it.
    """
    writer = FileWriter(timestamp=1795154439)
    yield writer.start()
    for first in range(0, _REPLAYED, 100):
        inserted = [Row(None, (key, document(2048, key))) for key in range(first, first + 100)]
        body = rows_body(_TABLE, EventType.WRITE_ROWS, inserted)
        yield writer.group(gtid(first + 1), row_group(_TABLE, body, xid=first + 1))
    for number in range(count):
        diff = PartialJson(_DIFF.diffs[:-2] + (number % 30_000 + 2).to_bytes(2, "little"))
        row = Row((number % _REPLAYED,), (diff,))
        body = rows_body(_TABLE, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])
        xid = _REPLAYED + number
        yield writer.group(gtid(xid), row_group(_TABLE, body, xid=xid, update=True))


def rows(data: bytes) -> int:
    """Decode every event, row and diff with the reference; documents stay bytes, as whoever compares or copies them
    wants them."""
    updates = 0
    for event in read_events(io.BytesIO(data)):
        body = event.body
        if isinstance(body, LazyRows):
            for row in body.rows():
                for value in row.after or ():
                    if type(value) is PartialJson:
                        decode_diffs(value.diffs)
                updates += 1
    return updates


def everything(data: bytes) -> int:
    """The same, and every document as Python values."""
    updates = 0
    for event in read_events(io.BytesIO(data)):
        body = event.body
        if isinstance(body, LazyRows):
            for row in body.rows():
                for value in (*(row.before or ()), *(row.after or ())):
                    if type(value) is PartialJson:
                        decode_diffs(value.diffs)
                    elif type(value) is bytes:
                        decode(value)
                updates += 1
    return updates


def compare(shape: str, count: int, rounds: int) -> None:
    """The decoders in turns over pieces of the same input."""
    decoders: dict[str, Callable[[bytes], int]] = {"rows": rows, "everything": everything}
    try:
        decoders["peer"] = Peer()
    except ImportError:
        print("python-mysql-replication is not installed: no ratios")  # noqa: T201 - the figures are the output
    share = max(1, count // rounds)
    spent = dict.fromkeys(decoders, 0.0)
    done = 0
    size = 0
    while done < count:
        pieces = min(share, count - done)
        data = b"".join(transactions(shape, pieces))
        size += len(data)
        done += pieces
        for name, decoder in decoders.items():
            gc.collect()
            start = process_time()
            found = decoder(data)
            spent[name] += process_time() - start
            if found != pieces:
                raise SystemExit(f"{name} found {found} of {pieces} updates")
    print(f"{shape}: {done} updates, {size / 1e6:.1f} MB")  # noqa: T201
    for name, seconds in spent.items():
        ratio = f", {spent['peer'] / seconds:5.2f} times the peer" if "peer" in spent else ""
        print(f"  {name:<10} {seconds:7.2f} s CPU, {done / seconds:7.0f} updates/s{ratio}")  # noqa: T201


def memory(megabytes: int) -> None:
    """Peak memory of decoding one file of this size, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.binlog"
        written = 0
        with path.open("wb") as file:
            for piece in transactions("full-8k", megabytes * 1_000_000 // (len(_BEFORE_8K) * 2 + 350)):
                written += file.write(piece)
        command = [sys.executable, __file__, "--decode", str(path)]
        answer = subprocess.run(command, check=True, capture_output=True, text=True)
        print(f"memory: a file of {written / 1e6:.0f} MB, {answer.stdout.strip()}")  # noqa: T201


def _peak() -> float:
    """Most memory of this process so far, in MB. Linux counts it since exec; elsewhere a parent's may be counted."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _decode_one(path: str) -> None:
    base = _peak()
    count = 0
    with Path(path).open("rb") as file:
        for event in read_events(file):
            if isinstance(event.body, LazyRows):
                count += sum(1 for _ in event.body.rows())
    print(f"{count} rows decoded, peak {_peak():.0f} MB of which {base:.0f} MB before reading")  # noqa: T201


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=50_000, help="partial updates (a tenth of it for full-8k)")
    parser.add_argument("--rounds", type=int, default=10, help="turns of each decoder")
    parser.add_argument("--megabytes", type=int, default=400, help="size of the file of the memory check")
    parser.add_argument("--skip-memory", action="store_true")
    parser.add_argument("--decode", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.decode:
        _decode_one(options.decode)
        return
    compare("partial-minimal", options.updates, options.rounds)
    compare("partial-full", options.updates, options.rounds)
    compare("full-8k", max(1, options.updates // 10), options.rounds)
    if not options.skip_memory:
        memory(options.megabytes)


if __name__ == "__main__":
    main()
