"""The items that pytest collects from a room, each with the facts that the manifest says of its check.

A check function carries the name of its check: ``@pytest.mark.check("name")``. A function with parameters has several
items, and each may judge a part of the requirements: ``pytest.param(…, marks=pytest.mark.judges("FR2"))``. A function
that the manifest does not list, and a listed check without a function, are errors of the collection.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.harness.experiments.manifests import MANIFEST, ManifestError, experiments, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.harness.experiments.manifests import CheckFacts, Experiment

FACTS: Final[pytest.StashKey[CheckFacts]] = pytest.StashKey()
"""Where an item has the facts of its check."""


def each_requirement(check: str) -> list[Any]:
    """The parameters of a check with one item for each of its requirements."""
    facts = facts_of(check)
    assert facts is not None, f"no manifest lists {check}"
    return [pytest.param(name, marks=pytest.mark.judges(name)) for name in facts.requirements]


def judged_by(item: pytest.Item) -> tuple[str, ...]:
    """The requirements that an item judges: those it is marked with, else all of its check."""
    marked = [str(name) for mark in item.iter_markers("judges") for name in mark.args]
    return tuple(dict.fromkeys(marked)) or item.stash[FACTS].requirements


class CheckModule(pytest.Module):
    """A file of checks. Its items get their facts; where they and the manifest differ, nothing is collected."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The items of the file. Raises ``CollectError`` with a sentence for each difference."""
        try:
            experiment = experiments().get(self.path.parent.name)
        except ManifestError as error:
            raise self.CollectError(str(error)) from None
        where = f"{self.path.parent.name}/{self.path.name}"
        if experiment is None:
            raise self.CollectError(f"{where}: its folder has no {MANIFEST}")
        items = list(super().collect())
        if problems := list(_differences(where, experiment, self.path.name, items)):
            raise self.CollectError("; ".join(problems))
        return items


def _differences(
    where: str, experiment: Experiment, file: str, items: Iterable[pytest.Item | pytest.Collector]
) -> Iterator[str]:
    """Give each item its facts, and yield what the manifest and the file say differently."""
    functions: dict[str, set[str]] = defaultdict(set)
    judged: dict[str, set[str]] = defaultdict(set)
    for item in items:
        name = next((str(mark.args[0]) for mark in item.iter_markers("check") if mark.args), "")
        facts = experiment.checks.get(name)
        if not name or not isinstance(item, pytest.Function):
            yield f"{where}: {item.name} is not marked with the name of its check"
        elif facts is None:
            yield f"{where}: {item.name} is the check {name!r}, which {MANIFEST} does not list"
        elif facts.file != file:
            yield f"{where}: {item.name} is the check {name!r}, which {MANIFEST} has in {facts.file}"
        else:
            item.stash[FACTS] = facts
            functions[name].add(item.originalname)
            judged[name] |= set(judged_by(item))
    for facts in experiment.of_file(file):
        found = functions[facts.name]
        if not found:
            yield f"{where}: no function is marked as the check {facts.name!r}, which {MANIFEST} lists"
        elif len(found) > 1:
            yield f"{where}: {' and '.join(sorted(found))} are all marked as the check {facts.name!r}"
        elif facts.requirements and judged[facts.name] != set(facts.requirements):
            differing = sorted(judged[facts.name] ^ set(facts.requirements))
            yield f"{where}: the items of {facts.name!r} and {MANIFEST} differ about {', '.join(differing)}"
