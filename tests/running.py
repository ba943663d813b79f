"""A check of the kit run as pytest would run it, with a session of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.harness.check import Check, concluding
from conformance.harness.experiments.manifests import experiments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.harness.session import Lab


def run(function: Callable[..., None], lab: Lab, **arguments: Any) -> Check:
    """Call a check function; it ends as its item would: with a failure, a skip, or nothing."""
    (name,) = (mark.args[0] for mark in _marks(function, arguments) if mark.name == "check")
    facts = experiments()[function.__module__.split(".")[-2]].checks[name]
    judged = [name for mark in _marks(function, arguments) if mark.name == "judges" for name in mark.args]
    check = Check(lab, facts.id, judged or facts.requirements)
    with concluding(check):
        function(check=check, **arguments)
    return check


def _marks(function: Any, arguments: dict[str, Any]) -> Iterator[Any]:
    """The markers of a function for these arguments."""
    marks = function.pytestmark
    for mark in marks:
        if mark.name == "parametrize":
            for parameter in mark.args[1]:
                if getattr(parameter, "values", ())[:1] == (arguments[mark.args[0]],):
                    yield from parameter.marks
    yield from marks
