"""A faulty double: one that plays its version wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypedDict

from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from conformance.reference.dialect import Dialect
    from tests.doubles.lacking import Lacking
    from tests.faults.servers.fault import Altered


class Played(TypedDict, total=False):
    """Parts of a version that a double plays wrongly: ``lacks`` and ``dialect`` change what is played, ``passing`` what
    passes the relay of the server under test."""

    lacks: Callable[[Lacking], Lacking]
    dialect: Callable[[Dialect], Dialect]
    passing: Altered


def double(
    name: str,
    does: str,
    *,
    breaks: str = "",
    says: str = "",
    asks: str = "",
    contradicts: str = "",
    version: str = "8.0.45",
    checks: str = "",
    updates: int = 100,
    seed: str = "1",
    **played: Unpack[Played],
) -> Fault:
    """One faulty double.

    ``breaks``: the rows of the catalogue that must be red, and no other of those that the run is about; ``asks``:
    further rows that the run is about. ``contradicts``: the rows of the table of versions that the server contradicts.
    ``does``: what it does, in one sentence. ``says``: what the words of a failure match. ``updates``, ``seed``:
    number and seed of the generated updates that meet the fault.
    """
    run = {"asks": asks.split(), "contradicts": contradicts.split(), "version": version, "seed": seed}
    return Fault(name, breaks, does, played, at=checks, says=says, run={**run, "updates": updates})


NONE: Final = double("none", "It plays its version.")


def written_with(**forms: object) -> Callable[[Dialect], Dialect]:
    """The double writes a log of another form."""
    return lambda dialect: replace(dialect, log=replace(dialect.log, **forms))  # type: ignore[arg-type]


def knowing(*words: str) -> Callable[[Lacking], Lacking]:
    """The double knows variables, or forms of statement, that its version does not."""

    def known(lacks: Lacking) -> Lacking:
        refusals = tuple(item for item in lacks.refusals if not any(word in item.pattern.pattern for word in words))
        return replace(lacks, refusals=refusals, variables=lacks.variables - set(words))

    return known
