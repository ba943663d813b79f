"""Means to plant a fault: at a judge, in the answers of a subject, in the results of a function.

:class:`tests.recorded.Recorded` asks a check what it says of the fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.faults.fault import Fault


def each(faults: Iterable[Fault]) -> pytest.MarkDecorator:
    """Plant each of these in a test of its own."""
    return pytest.mark.parametrize("fault", list(faults), ids=lambda fault: fault.id)


@dataclass(slots=True)
class Faulty:
    """Answers as ``sound`` does, but for a fault. ``shown``: how often it showed."""

    fault: Fault
    sound: Callable[..., Any]
    shown: int = 0

    def __call__(self, *case: Any) -> Any:
        answer = self.sound(*case)
        changed = self.fault.change(*case, answer)
        if changed is None or changed == answer:
            return answer
        self.shown += 1
        return changed


def assert_caught_wherever_it_shows(
    fault: Fault, cases: Iterable[Any], sound: Callable[[Any], Any], judge: Callable[[Any, Any], Any]
) -> None:
    """The judge gives the fault's verdict on each case in which it shows, by a rule, and explains none."""
    faulty = Faulty(fault, sound)
    for case in cases:
        before = faulty.shown
        answer = faulty(case)
        if faulty.shown > before:
            judged = judge(case, answer)
            assert judged.verdict.value == fault.verdict, (case.name, judged)
            assert judged.deviation is None, case.name
            assert judged.rule, case.name
    assert faulty.shown


def plant_in_outcomes(patch: pytest.MonkeyPatch, owner: Any, name: str, fault: Fault) -> None:
    """Put the fault into the outcomes that ``owner.name`` gives for some cases."""
    sound = getattr(owner, name)

    def faulty(subject: Any, cases: Sequence[Any]) -> list[Any]:
        outcomes = zip(cases, sound(subject, cases), strict=True)
        return [fault.change(case, outcome) or outcome for case, outcome in outcomes]

    patch.setattr(owner, name, faulty)


def plant_in(patch: pytest.MonkeyPatch, owner: Any, name: str, change: Callable[[Any], Any], *, call: int = 0) -> None:
    """Change the results of ``owner.name``. ``call``: the number of the only one that is changed."""
    sound = getattr(owner, name)
    calls = count(1)

    def faulty(*given: Any, **options: Any) -> Any:
        result = sound(*given, **options)
        return change(result) if not call or next(calls) == call else result

    patch.setattr(owner, name, faulty)
