"""The pseudo-SQL of ``mysqlbinlog -v``: what the client printed against the reference's text.

The printer of the reference says which bytes the client must print. A second, independent judge (``completeness``)
reads the text back by its grammar and says whether it holds everything of the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.problem import Problem
from conformance.reference.text.pseudo_sql import row_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.rows import RowsBody

VERBOSE: Final = {"-v": False, "-vv": True}  # option of the client -> whether types are printed
_CONTEXT: Final = 3  # lines in front of a difference


def reference_text(bodies: Iterable[RowsBody], *, types: bool) -> bytes:
    """The ``###`` lines as the reference prints them."""
    return b"".join(part for body in bodies for part in row_lines(body, types=types))


def compare_lines(expected: bytes, got: bytes, option: str) -> list[Problem]:
    """The first line that differs, with the lines in front of it; nothing when the texts are equal."""
    if expected == got:
        return []
    wanted, shown = expected.split(b"\n"), got.split(b"\n")
    place = next(
        (number for number, pair in enumerate(zip(wanted, shown, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(shown)),
    )
    begin = max(0, place - _CONTEXT)
    return [
        Problem(
            field=f"line {place + 1} of {option}",
            expected=b"\n".join(wanted[begin : place + 1]).decode("utf-8", "backslashreplace"),
            got=b"\n".join(shown[begin : place + 1]).decode("utf-8", "backslashreplace"),
            message="mysqlbinlog prints another text",
        )
    ]
