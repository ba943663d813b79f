"""Cuts the work of a run into groups of cells (the unit of a resume) and tasks of blocks (the unit that Spark spreads).

The plan never changes a result. A task takes seconds, because each task costs about 60 ms and a file of rows, whatever
it does. A group is small, so that a broken-off run loses little. The bounds of groups depend on the scenarios alone, so
that a resumed run has the same groups, on whatever machine.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from scenarios.matrix import Matrix

TASK_SECONDS: Final = 8.0
GROUP_SECONDS: Final = 180.0  # seconds of one core, all tasks of a group together
MOST_GROUPS: Final = 32  # each group is a job and a directory
TASKS_PER_CORE: Final = 4


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
    return [_group(matrix, counts, cells, cores) for cells in found if not all(cell in done for cell in cells)]


def _group(matrix: Matrix, counts: Sequence[int], cells: list[int], cores: int) -> Group:
    blocks: list[tuple[float, Block]] = []
    for cell in cells:
        each = seconds_of(matrix, cell)
        pieces = ceil(counts[cell] * each / TASK_SECONDS)
        for piece in range(pieces):
            first, end = (counts[cell] * part // pieces for part in (piece, piece + 1))
            if end > first:
                blocks.append(((end - first) * each, Block(cell, first, end - first)))
    total = sum(cost for cost, _ in blocks)
    wanted = max(TASKS_PER_CORE * cores, int(total / TASK_SECONDS) + 1)
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
