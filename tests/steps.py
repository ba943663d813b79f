"""The work of a call, in steps that do not depend on the machine.

A step is a line of Python that runs in the code under ``package``. The work of one line inside the interpreter (a
slice, a search, a regular expression) counts as one step. A bound on steps bounds everything except that work; the
tests bound the time of such lines by doubling their input.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


class TooManySteps(Exception):
    """The call reached the limit and did not end."""


def count_steps(
    function: Callable[..., object], *arguments: Any, package: str = "conformance", limit: int = 10_000_000
) -> int:
    """Count the lines that ``function(*arguments)`` runs; its result is ignored and its exceptions pass through.

    Raises :class:`TooManySteps` after ``limit`` lines, so that the count ends for every input.
    """
    steps = 0
    ours: dict[str, bool] = {}

    def line(_: FrameType, event: str, __: object) -> Callable[..., Any] | None:
        nonlocal steps
        if event == "line":
            steps += 1
            if steps > limit:
                raise TooManySteps(limit)
        return line

    def call(frame: FrameType, _: str, __: object) -> Callable[..., Any] | None:
        path = frame.f_code.co_filename
        counts = ours.get(path)
        if counts is None:
            counts = ours[path] = f"/{package}/" in path.replace("\\", "/")
        return line if counts else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return steps
