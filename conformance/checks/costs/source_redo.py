"""Redo that a source writes for partial updates of a large document, and for whole ones (the LOB article)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.costs import redo
from conformance.judge.problem import Problem
from conformance.judge.replica_binlog import SHARE, judge_redo
from conformance.servers import clock
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

UPDATES: Final = 10  # of one measurement
_SMALLEST, _SPREAD = 200_000, 250_000  # bytes of a document
_WORD: Final = 12
_PAUSE: Final = 0.1
_LETTERS: Final = "abcdefghij"


class Grown(NamedTuple):
    """Growth of the redo log: over the partial updates, over a pause before them, and over one whole update."""

    size: int
    partial: int
    idle: int
    whole: int


def size_of(draw: Draw) -> int:
    """The length of a document's bulk."""
    return _SMALLEST + draw.below(_SPREAD)


def document(draw: Draw, size: int) -> str:
    """The expression of a document whose small values stand before its bulk and behind it."""
    first, last, bulk = draw.letters(_WORD, _LETTERS), draw.letters(_WORD, _LETTERS), draw.letters(1, _LETTERS)
    return f"JSON_OBJECT('a', '{first}', 'bulk', REPEAT('{bulk}', {size}), 'last', '{last}')"


def partial(draw: Draw, number: int) -> str:
    """An update that changes one small value in its place; by its number it differs from the one before."""
    name = "last" if draw.below(2) else "a"
    return f"UPDATE sources SET j = JSON_SET(j, '$.{name}', '{draw.letters(_WORD - 1, _LETTERS)}{number}')"


def measure(connection: Connection, draw: Draw, size: int) -> Grown:
    """Make a document of this length, and update it."""
    option = "'PARTIAL_JSON'" if draw.below(2) else "''"
    connection.execute_many(
        [
            f"SET SESSION binlog_row_value_options = {option}, SESSION binlog_row_image = MINIMAL",
            "DROP TABLE IF EXISTS sources",
            f"CREATE TABLE sources SELECT 1 AS id, {document(draw, size)} AS j",
        ]
    ).check()
    first = redo.settled(connection)
    clock.sleep(_PAUSE)
    before = redo.settled(connection)
    connection.execute_many([partial(draw, number) for number in range(UPDATES)]).check()
    between = redo.settled(connection)
    connection.execute(f"UPDATE sources SET j = {document(draw, size)}")
    return Grown(size, between - before, before - first, redo.settled(connection) - between)


def judge(grown: Grown) -> tuple[Verdict, list[Problem]]:
    """LOB32: each partial update writes less than a small share of the document, which a whole one writes in full."""
    if grown.whole < grown.size:
        return Verdict.INCONCLUSIVE, []
    verdict = judge_redo(grown.partial, grown.idle, UPDATES, grown.size)
    if verdict is not Verdict.FAIL:
        return verdict, []
    expected = f"less than {SHARE:.0%} of {grown.size} bytes for each of {UPDATES} updates"
    got = f"{grown.partial} bytes; {grown.idle} before them; a whole update {grown.whole}"
    return verdict, [Problem("growth of the redo log", expected, got, "partial updates write whole documents to redo")]
