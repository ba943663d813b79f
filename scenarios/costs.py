"""The costs of a run, beside its findings: CPU time of the workers by size of the documents, and peak memory.

Costs are no part of a result: the same run takes another time elsewhere. The time is the CPU time of the worker's
process (generating, predicting, encoding, decoding, applying, making Arrow batches). So rates are those of one core
that does nothing else, however busy the machine was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scenarios.sql import RAW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.budgets import Store
    from scenarios.matrix import Matrix

TOOK: Final = "took"
"""A column behind those of the matrix, in no digest: nanoseconds of CPU time that a batch took, in its first row, and
0 in the others. A batch is of one cell."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of scenarios of one size.

    ``size``: in bytes, ``None`` if the cells do not differ by size. ``documents``: bytes of their documents, each
    counted once. ``seconds``: CPU time.
    """

    size: int | None
    scenarios: int
    documents: int
    seconds: float

    @property
    def rate(self) -> float:
        """Scenarios a second on one core."""
        return self.scenarios / self.seconds if self.seconds else 0.0

    @property
    def throughput(self) -> float:
        """Megabytes (10^6) of documents a second on one core."""
        return self.documents / 1e6 / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Sampled peaks of resident memory in bytes.

    ``worker``: the largest Python worker. ``workers``, ``together``: the largest sums at one time (pages that processes
    share count in each).
    """

    driver: int = 0
    jvm: int = 0
    worker: int = 0
    workers: int = 0
    together: int = 0

    def or_more(self, other: Memory) -> Memory:
        """The larger value of each field."""
        return Memory(*(max(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__))


def costs(matrix: Matrix, store: Store) -> list[Cost]:
    """Costs by size, the smallest first. The store's rows must have the column ``TOOK``."""
    answer = store.query(
        f"SELECT `cell`, count(*), sum(`document`), coalesce(sum(`{TOOK}`), 0) FROM {RAW} GROUP BY `cell`"
    )
    sums: dict[int | None, list[int]] = {}
    for cell, *counts in answer:
        size = matrix.cell(int(cell)).get("size")
        entry = sums.setdefault(None if size is None else int(size), [0, 0, 0])
        for place, count in enumerate(counts):
            entry[place] += int(count)
    return [
        Cost(size, scenarios, documents, nanoseconds / 1e9)
        for size, (scenarios, documents, nanoseconds) in sorted(sums.items(), key=lambda item: item[0] or 0)
    ]


def words(found: Sequence[Cost], memory: Memory | None) -> list[str]:
    """The costs as lines for a terminal."""
    lines = [f"  {'documents':>12} {'scenarios':>12} {'/s per core':>12} {'MB/s per core':>14} {'CPU seconds':>12}"]
    lines += [
        f"  {'all' if one.size is None else f'{one.size:,} B':>12} {one.scenarios:>12,} {one.rate:>12,.0f}"
        f" {one.throughput:>14.2f} {one.seconds:>12.1f}"
        for one in found
    ]
    if memory is not None:
        lines.append(f"  peak memory: {memory_words(memory)}")
    return lines


def memory_words(memory: Memory) -> str:
    """The measured memory, in MB (10^6)."""
    parts = [f"driver {memory.driver / 1e6:,.0f} MB"]
    if memory.jvm:
        parts.append(f"JVM {memory.jvm / 1e6:,.0f} MB")
    if memory.worker:
        parts.append(f"largest worker {memory.worker / 1e6:,.0f} MB, workers {memory.workers / 1e6:,.0f} MB")
        parts.append(f"all together {memory.together / 1e6:,.0f} MB")
    return ", ".join(parts)


def as_data(found: Sequence[Cost], memory: Memory | None) -> dict[str, Any]:
    """The costs for ``results.json``."""
    return {
        "by_size": [
            {
                "size": one.size,
                "scenarios": one.scenarios,
                "documents": one.documents,
                "cpu_seconds": round(one.seconds, 3),
                "scenarios_per_second_per_core": round(one.rate, 1),
                "mb_per_second_per_core": round(one.throughput, 3),
            }
            for one in found
        ],
        "peak_memory": None
        if memory is None
        else {name: getattr(memory, name) for name in Memory.__dataclass_fields__},
    }


def from_data(data: Mapping[str, Any]) -> tuple[list[Cost], Memory | None]:
    """The costs from ``results.json``."""
    found = [Cost(each["size"], each["scenarios"], each["documents"], each["cpu_seconds"]) for each in data["by_size"]]
    memory = data["peak_memory"]
    return found, None if memory is None else Memory(**memory)
