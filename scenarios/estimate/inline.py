"""The estimate without Spark: reads one file after the other, and puts the questions to SQLite.

It serves logs that take less time to read than Spark takes to start.
"""

from __future__ import annotations

import sqlite3
from itertools import islice
from typing import TYPE_CHECKING, Any

from scenarios.binlogs.parts import Part
from scenarios.binlogs.reading import Problem, read_part
from scenarios.estimate.meter import TEXTS, Measurement, Meter
from scenarios.estimate.questions import TABLE, Figures, figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.reference.encryption.keyring import Keyring

_BATCH = 10_000


def estimate(files: Iterable[str], limit: int | None = None, keyring: Keyring | None = None) -> Figures:
    """The figures of these logs. ``limit``: the most bytes of a compressed transaction."""
    return figures(Store(item for file in files for item in measure(Part(file), limit, keyring)).query)


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
    """Measurements in SQLite: in memory while they are few, else in a temporary file."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self._connection = sqlite3.connect("")
        names = Measurement._fields
        kinds = ", ".join(f"`{name}` {'TEXT' if name in TEXTS else 'BIGINT'}" for name in names)
        self._connection.execute(f"CREATE TABLE {TABLE} ({kinds})")
        rows = iter(measurements)
        while batch := list(islice(rows, _BATCH)):
            self._connection.executemany(f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(names))})", batch)

    def query(self, text: str) -> Sequence[Sequence[Any]]:
        """The answer in plain values."""
        return self._connection.execute(text).fetchall()
