"""Partners of two lists: one element that is missing does not make all later ones different."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cost = Callable[[int, int], float]

Pair: TypeAlias = tuple[int | None, int | None]

GAP: Final = 1.0  # of an element without a partner; partners that cost as much as two gaps are none
_TABLE: Final = 22500  # cells of a complete comparison
_AHEAD: Final = 16  # elements to look ahead in longer lists
_SEARCHED: Final = 20_000  # comparisons in the search for moved elements


def align(first: int, second: int, cost: Cost) -> list[Pair]:
    """Pairs of positions in two lists of these lengths, in order; ``None`` beside an element without a partner.

    ``cost`` is 0 for equal elements, and grows with their difference.
    """
    start = 0
    while start < min(first, second) and not cost(start, start):
        start += 1
    end = 0
    while end < min(first, second) - start and not cost(first - 1 - end, second - 1 - end):
        end += 1
    pairs: list[Pair] = [(place, place) for place in range(start)]
    rows, columns = first - start - end, second - start - end
    inner = _complete if rows * columns <= _TABLE else _greedy
    for one, other in inner(rows, columns, lambda one, other: cost(start + one, start + other)):
        pairs.append((None if one is None else start + one, None if other is None else start + other))
    pairs.extend((first - place, second - place) for place in range(end, 0, -1))
    return pairs


def _complete(rows: int, columns: int, cost: Cost) -> Iterator[Pair]:
    """The cheapest pairs. The best way from each place to the end is known before the way is walked."""
    best = [[GAP * (columns - place) for place in range(columns + 1)]]
    costs = [[cost(row, column) for column in range(columns)] for row in range(rows)]
    for row in range(rows - 1, -1, -1):
        below, line = best[-1], [GAP * (rows - row)]
        for column in range(columns - 1, -1, -1):
            line.append(min(costs[row][column] + below[column + 1], GAP + below[column], GAP + line[-1]))
        best.append(line[::-1])
    best.reverse()
    row = column = 0
    while row < rows and column < columns:
        if best[row][column] == costs[row][column] + best[row + 1][column + 1]:
            yield row, column
            row, column = row + 1, column + 1
        elif best[row][column] == GAP + best[row + 1][column]:
            yield row, None
            row += 1
        else:
            yield None, column
            column += 1
    yield from _rest(row, rows, column, columns)


def _greedy(rows: int, columns: int, cost: Cost) -> Iterator[Pair]:
    """Pairs by looking ahead for the next equal element, for lists that are long."""
    row = column = 0
    while row < rows and column < columns:
        here = cost(row, column)
        if here:
            for skipped in range(1, _AHEAD):
                if row + skipped < rows and not cost(row + skipped, column):
                    yield from ((row + place, None) for place in range(skipped))
                    row += skipped
                    break
                if column + skipped < columns and not cost(row, column + skipped):
                    yield from ((None, column + place) for place in range(skipped))
                    column += skipped
                    break
            else:
                if here >= 2 * GAP:
                    yield from ((row, None), (None, column))
                else:
                    yield row, column
                row, column = row + 1, column + 1
            continue
        yield row, column
        row, column = row + 1, column + 1
    yield from _rest(row, rows, column, columns)


def _rest(row: int, rows: int, column: int, columns: int) -> Iterator[Pair]:
    yield from ((place, None) for place in range(row, rows))
    yield from ((None, place) for place in range(column, columns))


def leftovers(pairs: list[Pair], cost: Cost, first: int) -> tuple[dict[int, int], set[int], set[int], set[int]]:
    """Return the elements without a partner: moved, repeated, further and missing ones.

    Moved, repeated and further elements are those of the second list; moved ones come with their places in the first.
    Missing elements are those of the first list. After a number of comparisons, all others of the second list count as
    further ones.
    """
    missing = {one for one, other in pairs if one is not None and other is None}
    budget = _SEARCHED
    moved: dict[int, int] = {}
    repeated: set[int] = set()
    further: set[int] = set()
    for one, other in pairs:
        if one is not None or other is None:
            continue
        budget -= first
        places = [place for place in range(first) if not cost(place, other)] if budget >= 0 else []
        place = next((place for place in places if place in missing), None)
        if place is not None:
            moved[other] = place
            missing.remove(place)
        elif places:
            repeated.add(other)
        else:
            further.add(other)
    return moved, repeated, further, missing
