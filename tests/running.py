"""A check of the kit run as pytest would run it, with a session of the test's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.harness.check import Check, concluding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.harness.session import Lab


def run(function: Callable[..., None], lab: Lab, **arguments: Any) -> Check:
    """Call a check function; it ends as its item would: with a failure, a skip, or nothing."""
    marks = list(_marks(function, arguments))
    assert marks, f"{function.__name__} has no marker 'check' for these arguments"
    check = Check(lab, marks[0].args[0], [name for mark in marks for name in mark.args[1:]])
    with concluding(check):
        function(check=check, **arguments)
    return check


def _marks(function: Any, arguments: dict[str, Any]) -> Iterator[Any]:
    """The markers ``check`` of a function, those of the parameters first."""
    marks = function.pytestmark
    for mark in marks:
        if mark.name == "parametrize":
            for parameter in mark.args[1]:
                if getattr(parameter, "values", ())[:1] == (arguments[mark.args[0]],):
                    yield from (item for item in parameter.marks if item.name == "check")
    yield from (mark for mark in marks if mark.name == "check")
