"""The kit's checks that pytest collected, and their facts. pytest loads this module in every project."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pytest

    from conformance.harness.experiments.manifests import CheckFacts

CHECKS: Final = Path(__file__).parents[2] / "checks"
DECODERS: Final = "decoders"  # the room of checks whose items are about subjects; all others are about servers


def check_name(item: pytest.Item) -> str:
    """The name of a check: its id, with the parameters of the item where it has several."""
    _, bracket, parameters = item.name.partition("[")
    return f"{_facts(item).id}{bracket}{parameters}"


def experiment_of(name: str) -> str:
    """The experiment of a check: its own, or the room's where one campaign serves all checks of it."""
    from conformance.requirements.volume import UPDATES

    return UPDATES if name.startswith(f"{UPDATES}/") else name


def former_name(item: pytest.Item) -> str:
    """The name of a check before it had an id of its own: its room and its function."""
    from conformance.harness.experiments.former_ids import former_room

    return f"{former_room(item.path.parent.name)}/{item.name}"


def is_check(node: pytest.Item | pytest.Collector) -> bool:
    """Whether pytest collected this from the kit's checks, and not from somebody else's tests."""
    return _in_checks(node.path)


@lru_cache  # asked of each of somebody's thousands of tests, and several times
def _in_checks(path: Path) -> bool:
    return path.is_relative_to(CHECKS)


def is_about_subjects(check: pytest.Item) -> bool:
    """Whether a check is about a subject, and not about a server."""
    return check.path.parent.name == DECODERS


def profiles_of(item: pytest.Item) -> tuple[str, ...]:
    """The profiles that a check runs in."""
    return _facts(item).profiles


def needs_of(item: pytest.Item) -> tuple[str, ...]:
    """The needs that a check has of the server under test."""
    return _facts(item).needs


def requirements_of(item: pytest.Item) -> set[str]:
    """The requirements that a check judges."""
    from conformance.harness.experiments.items import judged_by

    return set(judged_by(item))


def _facts(item: pytest.Item) -> CheckFacts:
    from conformance.harness.experiments.items import FACTS

    return item.stash[FACTS]
