"""A peer that raises on a sound log: its defect is known by the exception's type and place, never by its text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fuzz.violation import PeerDefect

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def reading(package: str) -> Iterator[None]:
    """Turn what the package raises into a violation. An error in which it has no part passes: it is one of ours."""
    try:
        yield
    except Exception as error:
        place = place_in(error, package)
        if place is None:
            raise
        rule = f"{type(error).__name__} in {place}"
        raise PeerDefect(rule, repr(error)[:200]) from error


def place_in(error: BaseException, *packages: str) -> str | None:
    """Module and function of the innermost frame in some packages; ``None`` without one."""
    place, step = None, error.__traceback__
    while step is not None:
        module = str(step.tb_frame.f_globals.get("__name__", ""))
        if any(module == package or module.startswith(f"{package}.") for package in packages):
            place = f"{module}:{step.tb_frame.f_code.co_qualname}"
        step = step.tb_next
    return place
