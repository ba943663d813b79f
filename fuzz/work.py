"""The work of a call, in steps that do not depend on the machine.

A step is a line of Python that runs in chosen packages. The work of one line inside the interpreter (a slice, a search,
a regular expression) counts as one step. A bound on steps bounds everything except that work.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType

LIMIT = 10_000_000


class TooManySteps(Exception):
    """The call reached the limit and did not end."""


def count_steps(
    function: Callable[..., object], *arguments: Any, package: str = "conformance", limit: int = LIMIT
) -> int:
    """Count the lines that ``function(*arguments)`` runs; its result is ignored and its exceptions pass through.

    Raises :class:`TooManySteps` after ``limit`` lines, so that the count ends for every input.
    """
    return sum(steps_by_function(function, *arguments, packages=(package,), limit=limit).values())


def steps_by_function(
    function: Callable[..., object], *arguments: Any, packages: Sequence[str], limit: int = LIMIT
) -> Counter[CodeType]:
    """As :func:`count_steps`, for each function of some packages."""
    steps: Counter[CodeType] = Counter()
    left = limit
    ours: dict[str, bool] = {}

    def line(frame: FrameType, event: str, __: object) -> Callable[..., Any] | None:
        nonlocal left
        if event == "line":
            steps[frame.f_code] += 1
            left -= 1
            if left < 0:
                raise TooManySteps(limit)
        return line

    def call(frame: FrameType, _: str, __: object) -> Callable[..., Any] | None:
        path = frame.f_code.co_filename
        counts = ours.get(path)
        if counts is None:
            counts = ours[path] = any(_is_in(path.replace("\\", "/"), package) for package in packages)
        return line if counts else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return steps


def _is_in(path: str, package: str) -> bool:
    return f"/{package}/" in path or path.endswith(f"/{package}.py")
