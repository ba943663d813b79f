"""The estimate without Spark: reads one file after the other, and puts the questions to SQLite.

It serves logs that take less time to read than Spark takes to start. Several processes read parts of the files; the
measurements are the same, and come in the same order.
"""

from __future__ import annotations

import pickle
import sqlite3
import sys
from contextlib import closing
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from conformance.forked import Children, in_order
from conformance.logs.part_events import Problem, read_part
from conformance.logs.parts import Part, parts_of
from scenarios.estimate.meter import TEXTS, Measurement, Meter
from scenarios.estimate.questions import TABLE, Figures, figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reference.encryption.keyring import Keyring

_BATCH = 10_000
PART_BYTES: Final = 4 << 20  # of the part that a process reads: seconds of work
_BLOCK: Final = 500  # measurements that a process writes together
_AHEAD: Final = 4  # parts for each job that are read before it is their turn


def estimate(files: Iterable[str], limit: int | None = None, keyring: Keyring | None = None, jobs: int = 1) -> Figures:
    """The figures of these logs. ``limit``: the most bytes of a compressed transaction. ``jobs``: number of
    processes."""
    measured: Iterator[Measurement]
    if jobs == 1:
        measured = (item for file in files for item in measure(Part(file), limit, keyring))
    else:
        measured = _measured(files, limit, keyring, jobs)
    with closing(Store()) as store:
        store.add(measured)
        return figures(store.query)


def _measured(files: Iterable[str], limit: int | None, keyring: Keyring | None, jobs: int) -> Iterator[Measurement]:
    """The measurements of all parts in order, each part measured by a process of its own."""
    works = (partial(_write, part, limit, keyring) for file in files for part in parts_of(file, PART_BYTES))
    with Children(jobs) as children:
        for child in in_order(children, works, ahead=_AHEAD * jobs):
            child.take()
            child.output.seek(0)
            while size := child.output.read(4):
                block = pickle.loads(child.output.read(int.from_bytes(size, "little")))  # noqa: S301 - our own worker wrote it
                yield from map(Measurement._make, block)


def _write(part: Part, limit: int | None, keyring: Keyring | None) -> None:
    """In a worker: write the measurements of a part to its output."""
    output = sys.stdout.buffer
    items = measure(part, limit, keyring)
    while block := [tuple(item) for item in islice(items, _BLOCK)]:
        data = pickle.dumps(block)
        output.write(len(data).to_bytes(4, "little") + data)


def measure(part: Part, limit: int | None = None, keyring: Keyring | None = None) -> Iterator[Measurement]:
    """All measurements of a part of a log."""
    meter = Meter(part.file)
    for item in read_part(part, limit=limit, keyring=keyring):
        if isinstance(item, Problem):
            yield meter.problem(item.position, item.code, item.message)
        else:
            yield from meter.feed(item)
    yield from meter.finish()


class Store:
    """Measurements in SQLite: in memory while they are few, else in a temporary file, until :meth:`close`."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("")
        names = Measurement._fields
        kinds = ", ".join(f"`{name}` {'TEXT' if name in TEXTS else 'BIGINT'}" for name in names)
        self._connection.execute(f"CREATE TABLE {TABLE} ({kinds})")

    def add(self, measurements: Iterable[Measurement]) -> None:
        """Keep measurements too. What their iterator raises comes out."""
        names = Measurement._fields
        rows = iter(measurements)
        while batch := list(islice(rows, _BATCH)):
            self._connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(names))})", batch)

    def query(self, text: str) -> Sequence[Sequence[Any]]:
        """The answer in plain values."""
        return self._connection.execute(text).fetchall()

    def close(self) -> None:
        """Forget the measurements."""
        self._connection.close()
