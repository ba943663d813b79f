"""One planted fault, wherever it is planted: directly at a judge, in a function, or through a server and its report.

Faults are written down from docs/spec before the checks that must catch them. A clause is planted at the lowest height
that shows it, and once through the report.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

Plant: TypeAlias = "Callable[[pytest.MonkeyPatch], None]"
"""Alters functions of this process."""


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """A promise, and the change that breaks it.

    ``breaks``: the requirements that no longer hold, in words; it must be caught under the first one. None: it breaks
    no requirement of a worklog. ``sentence``: the clause in our words, or what a faulty server does. ``change``: an
    altered observation or input, or what alters it and gives ``None`` where the fault does not show; a :data:`Plant`
    alters functions. ``verdict``: what it must be called.

    ``at``: where it is planted, in the terms of its bench: the checks, a step, a matrix, a module. ``also``: further
    requirements that cannot hold then; in a report exactly these rows are red. ``says``: what the failure must say,
    which somebody needs to mend what is wrong. ``run``: options of its bench.
    """

    id: str
    breaks: str
    sentence: str
    change: Any
    verdict: str = "fail"
    _: KW_ONLY
    at: Any = ""
    also: str = ""
    says: str = ""
    run: dict[str, Any] = field(default_factory=dict)

    @property
    def requirements(self) -> tuple[str, ...]:
        """All that the fault breaks."""
        return tuple(self.breaks.split())

    @property
    def requirement(self) -> str:
        """The one under which it must be caught."""
        return self.requirements[0]

    @property
    def due(self) -> frozenset[str]:
        """The rows of a report that have to be red, and no other."""
        return frozenset((*self.requirements, *self.also.split()))


def swap(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replace the first occurrence."""

    def change(text: bytes) -> bytes:
        assert old in text, old
        return text.replace(old, new, 1)

    return change
