"""How much each experiment looks at in a run: the data of ``volume.toml``, and what a run fell short of.

Silence is no pass. An experiment that is gone, returns at once or gets half of its list leaves no trace in verdicts;
here it leaves one. The numbers (``python -m tests.volume``) come from runs of the profile quick on sound servers of
several versions. They are seven tenths of the Cases of these runs, and 1 where the runs differ.

This list is apart from the manifests of the experiments on purpose: what is gone together with its manifest is missed.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_DATA: Final = "volume.toml"
UPDATES: Final = "updates"  # one campaign for all experiments of this room: whichever runs first writes its blocks
_DECODERS: Final = "decoders/"  # the room of the experiments about decoders


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An experiment that looked at too little. ``least``: Cases that it should have for the requirement."""

    experiment: str
    requirement: str
    cases: int
    least: int

    def __str__(self) -> str:
        return f"{self.experiment}: {self.cases:,} cases of {self.requirement}, expected {self.least:,} or more"


@cache
def least_cases() -> dict[str, dict[str, int]]:
    """Experiment -> requirement -> Cases of the profile quick, at least."""
    text = files("conformance.requirements").joinpath(_DATA).read_text(encoding="utf-8")
    data: dict[str, dict[str, int]] = tomllib.loads(text)
    return data


def shortfalls(
    counted: Mapping[tuple[str, str], int],
    excused: Collection[tuple[str, str]],
    *,
    requirements: Collection[str] = (),
    updates: int | None,
    decoders: bool = False,
) -> Iterator[Shortfall]:
    """Yield the shortfalls of one subject's run.

    ``counted``: Cases by experiment and requirement. ``excused``: pairs that are not applicable, or that are told as
    not run. ``requirements``: those that were asked for; none: all. ``updates``: how many were to be judged;
    ``None``: what was recorded, be it much or little. ``decoders``: whether the subject is a decoder.
    """
    silent = {experiment for experiment, _ in excused} - {experiment for experiment, _ in counted}
    for experiment, rows in least_cases().items():
        if experiment in silent or experiment.startswith(_DECODERS) is not decoders:
            continue
        for requirement, least in rows.items():
            if requirements and requirement not in requirements:
                continue
            due = 1 if updates is None else updates if experiment == UPDATES else least
            cases = counted.get((experiment, requirement), 0)
            if cases < due and (experiment, requirement) not in excused:
                yield Shortfall(experiment, requirement, cases, due)


def unseen(
    counted: Collection[tuple[str, str]],
    excused: Collection[tuple[str, str]],
    listed: Mapping[str, Collection[str]],
    *,
    requirements: Collection[str] = (),
    decoders: bool = False,
) -> Iterator[Shortfall]:
    """Yield the listed experiments that are too new for ``volume.toml``, where they looked at no Case of a requirement.

    ``listed``: experiment -> requirements, as the manifests have them.
    """
    known = {experiment.partition("[")[0] for experiment in least_cases()}
    told = {(experiment.partition("[")[0], requirement) for experiment, requirement in (*counted, *excused)}
    for experiment, rows in listed.items():
        if experiment in known or experiment.startswith(_DECODERS) is not decoders:
            continue
        for requirement in rows:
            if (not requirements or requirement in requirements) and (experiment, requirement) not in told:
                yield Shortfall(experiment, requirement, 0, 1)
