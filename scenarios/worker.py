"""The worker: scenarios of one cell, as rows of integers. Pure: the same wherever, whenever and in whatever order.

Spark calls only ``run_block``. A failing scenario becomes a row with its verdict, even if the lab itself fails; only an
error that stops the interpreter stops a block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.errors import MysqlError
from generators.draw import Stream
from scenarios.codes import Code, Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.matrix import Matrix, Setting

Row = tuple[int, ...]


def settings_of(matrix: Matrix, cell: int, index: int) -> tuple[dict[str, Setting], Stream]:
    """The settings of a scenario with its ranges drawn, and the stream that continues from there."""
    draw = Stream(matrix.digest, cell, index)
    return _drawn(draw, matrix, matrix.cell(cell)), draw


def _drawn(draw: Stream, matrix: Matrix, fixed: dict[str, Setting]) -> dict[str, Setting]:
    settings = dict(fixed)
    for name, values in matrix.ranges.items():
        settings[name] = draw.choice(values)
    return settings


def run_block(matrix: Matrix, cell: int, first: int, count: int) -> Iterator[Row]:
    """The rows of scenarios ``first`` to ``first + count - 1`` of a cell, in the columns of ``matrix.columns``."""
    measure = matrix.module.measure
    missing = len(matrix.module.MEASURES) - 2
    names = [*matrix.axes, *matrix.ranges]
    codes: list[tuple[str, dict[Setting, int] | None]] = [
        (name, {word: code for code, word in enumerate(words)} if (words := matrix.words(name)) else None)
        for name in names
    ]
    fixed, digest = matrix.cell(cell), matrix.digest
    for index in range(first, first + count):
        draw = Stream(digest, cell, index)
        settings = _drawn(draw, matrix, fixed)
        settled = [settings[name] if code is None else code[settings[name]] for name, code in codes]
        try:
            measured = measure(draw, settings)
        except Wrong as wrong:
            measured = (int(wrong.code), wrong.number, *(0,) * missing)
        except Exception as error:  # noqa: BLE001 - a fault of the lab is a row too, or it would cost a whole run
            number = error.number if isinstance(error, MysqlError) else 0
            measured = (int(Code.BROKEN), number, *(0,) * missing)
        yield (cell, index, *settled, *measured)  # type: ignore[arg-type]
