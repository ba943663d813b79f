"""Requirement → kind of failure → Case: the one model behind the counts of every report.

All reports take their figures from :class:`Figures` and their failures from ``Summary.kinds``. So no two of them count
or order in their own way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.verdict import SEVERITY, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from conformance.stream import CaseVerdict, Finding

    Key = tuple[str, str | None]  # signature, and the decoder if there is one

SHORT: Final = 100  # characters of a side that fits into a line
DECODER: Final = "a decoder"
ENDED: Final = "a program"  # where a record does not say which one died


@dataclass(frozen=True, slots=True)
class FailureKind:
    """Failures of one signature; those of a ``decoder`` are apart from those of another one.

    ``verdicts``: the records of its Cases, worst first. Of a frequent kind, a run records the first ones of each block.
    """

    verdicts: tuple[CaseVerdict, ...]
    finding: Finding | None
    decoder: str | None = None

    @property
    def first(self) -> CaseVerdict:
        """The record that stands for the kind."""
        return self.verdicts[0]

    @property
    def defect(self) -> Finding | None:
        """The finding of a decoder's defect, which has its Cases, its title and its requirement."""
        return self.finding if self.finding is not None and self.finding.cases else None

    @property
    def requirement(self) -> str:
        """The requirement that the kind is filed under."""
        return self.requirements[0]

    @property
    def requirements(self) -> tuple[str, ...]:
        """All requirements that its Cases break; of a decoder's defect, the one of its cause."""
        if self.defect is not None and self.defect.requirement:
            return (self.defect.requirement,)
        return tuple(dict.fromkeys(name for verdict in self.verdicts for name in verdict.requirements))

    @property
    def cause(self) -> str:
        """A line about its first Case: the message, then both sides where they are short; of a defect, its title."""
        first = self.first
        if self.defect is not None:
            return self.defect.message.rstrip(".")
        sides = [" ".join((side or "nothing").split()).rstrip(".") for side in (first.expected, first.got)]
        told = first.verdict is Verdict.CRASH or first.expected == first.got or max(map(len, sides)) > SHORT
        both = "" if told else f"expected {sides[0]}, got {sides[1]}"
        return ": ".join(filter(None, (first.message.rstrip("."), both)))


def kinds_of(
    failures: Iterable[CaseVerdict],
    key: Callable[[CaseVerdict], Key],
    findings: Mapping[Key, Finding],
    catalogue: Sequence[str],
) -> list[FailureKind]:
    """The kinds of these failures: worst first, in the order of the catalogue, then what was shrunk."""
    grouped: defaultdict[Key, list[CaseVerdict]] = defaultdict(list)
    for failure in failures:
        grouped[key(failure)].append(failure)
    out = [
        FailureKind(tuple(sorted(members, key=_severity)), findings.get(of), of[1]) for of, members in grouped.items()
    ]
    order = {name: place for place, name in enumerate(catalogue)}
    last = len(order)  # of a requirement that the catalogue of an older run does not have
    return sorted(
        out, key=lambda kind: (_severity(kind.first), order.get(kind.requirement, last), kind.finding is None)
    )


def worst(kinds: Sequence[FailureKind], most: int) -> list[FailureKind]:
    """The first kinds of different requirements; then, where there is room, the next ones."""
    seen: set[str] = set()
    first: list[FailureKind] = []
    rest: list[FailureKind] = []
    for kind in kinds:
        (rest if kind.requirement in seen else first).append(kind)
        seen.add(kind.requirement)
    return [*first, *rest][:most]


def ended(kinds: Sequence[FailureKind]) -> dict[str, int]:
    """The programs that died, each with the kinds of failure that end it; the most frequent first."""
    crashes = (kind for kind in kinds if kind.first.verdict is Verdict.CRASH)
    return dict(Counter(kind.first.ends or (DECODER if kind.decoder else ENDED) for kind in crashes).most_common())


def _severity(verdict: CaseVerdict) -> int:
    return SEVERITY.index(verdict.verdict)


@dataclass(frozen=True, slots=True)
class Figures:
    """The counts of a run that every report shows (``Summary.figures``).

    ``ended`` as :func:`ended` gives it. ``updates_differing``: updates whose bytes of the log
    are not as predicted, those that a listed deviation explains left out.
    """

    requirements_judged: int
    requirements_passed: int
    requirements_failed: int
    kinds_failed: int
    cases_failed: int
    updates_compared: int
    updates_differing: int
    ended: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The ``figures`` of ``results.json``."""
        return asdict(self)
