"""The names and marks of the kit's checks that pytest collected. pytest loads this module in every project."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pytest

CHECKS: Final = Path(__file__).parent.parent / "checks"
DECODERS: Final = "decoders"  # the room of checks whose items are about subjects; all others are about servers


def check_name(item: pytest.Item) -> str:
    """The name of a check: its room and its function."""
    return f"{item.path.parent.name}/{item.name}"


def is_check(node: pytest.Item | pytest.Collector) -> bool:
    """Whether pytest collected this from the kit's checks, and not from somebody else's tests."""
    return _in_checks(node.path)


@lru_cache  # asked of each of somebody's thousands of tests, and several times
def _in_checks(path: Path) -> bool:
    return path.is_relative_to(CHECKS)


def is_about_subjects(check: pytest.Item) -> bool:
    """Whether a check is about a subject, and not about a server."""
    return check.path.parent.name == DECODERS


def profiles_of(item: pytest.Item) -> set[str]:
    """The profiles that a check is marked with. An empty set: the check runs in all profiles."""
    return {str(name) for mark in item.iter_markers("profile") for name in mark.args}


def requirements_of(item: pytest.Item) -> set[str]:
    """The requirements that a check is marked with."""
    return {str(name) for mark in item.iter_markers("check") for name in mark.args[1:]}
