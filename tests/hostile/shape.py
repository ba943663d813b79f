"""Inputs made to hurt a reader: lengths and counts that lie, deep nesting, shared children, bombs.

A :class:`Shape` makes an input of about so many bytes and says how it is read. Three rules hold for all of them
(fuzzing 3). The reader ends with a value or a declared error. Its work grows no faster than the input. Its memory stays
below ``times`` the input's size. :mod:`tests.reference.test_hostile_inputs` counts steps and allocations,
``python tests/benchmarks/bench_hostile.py`` prints time and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable

HUGE: Final = b"\xfe" + b"\xff" * 8  # a packed length of 2^64-1
LIMIT: Final = 1 << 16  # of the compressed transactions here
TIMES: Final = 40  # memory for each byte of input, where values are made
LAZY_TIMES: Final = 3  # where nothing is kept: a large event, its body, its rows, for a moment


class Shape(NamedTuple):
    """``times``: the memory that is granted for each byte of input; ``why``, where it is not :data:`TIMES`."""

    family: str
    name: str
    make: Callable[[int], bytes]
    read: Callable[[bytes], object]
    times: int = TIMES
    why: str = ""

    @property
    def id(self) -> str:
        return f"{self.family}: {self.name}"


def outcome(shape: Shape, data: bytes) -> str:
    """``read``, or the code of the declared error. Any other error goes through."""
    try:
        shape.read(data)
    except CodecError as error:
        return error.code
    return "read"
