"""Cuts the work of a run into tasks of blocks (the unit that Spark spreads, and of a resume) and groups of cells.

The plan never changes a result. A task takes seconds, because each task costs about 60 ms and a file of rows, whatever
it does; a file is there or not, so a broken-off run loses the tasks that were running. A group is a job, so there are
few. The bounds of groups depend on the scenarios alone; those of tasks also on the cores of the run's first session.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from scenarios.matrix import Matrix

TASK_SECONDS: Final = 16.0
MOST_TASKS: Final = 4096  # of the same length in a whole run: each is a file
GROUP_SECONDS: Final = 1800.0  # seconds of one core, all tasks of a group together
MOST_GROUPS: Final = 8  # each group is a job and a directory
TASKS_PER_CORE: Final = 8  # of a group: the steps of progress, and what one core can lose


class Block(NamedTuple):
    """Scenarios ``first`` to ``first + length - 1`` of a cell."""

    cell: int
    first: int
    length: int


Task = tuple[Block, ...]


class Group(NamedTuple):
    """Cells that are run, checked and noted together; ``scenarios`` in all."""

    cells: tuple[int, ...]
    tasks: tuple[Task, ...]
    scenarios: int


def seconds_of(matrix: Matrix, cell: int) -> float:
    """The approximate seconds of one scenario of a cell."""
    settings = matrix.cell(cell)
    for name, values in matrix.ranges.items():
        settings[name] = max(values) if isinstance(values[0], int) else values[0]
    return float(matrix.module.cost(settings)) / 1e6


def groups(matrix: Matrix, counts: Sequence[int], cores: int, done: Container[int] = ()) -> list[Group]:
    """The work of all cells in their order, without groups whose cells are all ``done``."""
    costs = {cell: count * seconds_of(matrix, cell) for cell, count in enumerate(counts) if count}
    enough = max(GROUP_SECONDS, sum(costs.values()) / MOST_GROUPS)
    found: list[list[int]] = [[]]
    spent = 0.0
    for cell, cost in costs.items():
        if spent >= enough:
            found.append([])
            spent = 0.0
        found[-1].append(cell)
        spent += cost
    long = max(TASK_SECONDS, sum(costs.values()) / MOST_TASKS)
    return [_group(matrix, counts, cells, cores, long) for cells in found if not all(cell in done for cell in cells)]


def _group(matrix: Matrix, counts: Sequence[int], cells: list[int], cores: int, long: float) -> Group:
    blocks: list[tuple[float, Block]] = []
    for cell in cells:
        each = seconds_of(matrix, cell)
        pieces = ceil(counts[cell] * each / long)
        for piece in range(pieces):
            first, end = (counts[cell] * part // pieces for part in (piece, piece + 1))
            if end > first:
                blocks.append(((end - first) * each, Block(cell, first, end - first)))
    total = sum(cost for cost, _ in blocks)
    wanted = max(TASKS_PER_CORE * cores, int(total / long) + 1)
    return Group(tuple(cells), spread(blocks, min(wanted, len(blocks))), sum(counts[cell] for cell in cells))


def spread(blocks: list[tuple[float, Block]], tasks: int) -> tuple[Task, ...]:
    """Spread blocks over tasks, the costliest first, each to the task with the least load; the longest tasks come
    first.
    """
    loads: list[tuple[float, int]] = [(0.0, number) for number in range(tasks)]
    heapify(loads)
    members: list[list[Block]] = [[] for _ in range(tasks)]
    for cost, block in sorted(blocks, key=lambda item: (-item[0], item[1])):
        load, number = loads[0]
        members[number].append(block)
        heapreplace(loads, (load + cost, number))
    order = [number for _, number in sorted(loads, key=lambda item: (-item[0], item[1]))]
    # A task goes through its cells in order: so do the rows of its file, and a reader finds a cell in few places.
    return tuple(tuple(sorted(members[number])) for number in order)
