"""Silence in a run: experiments that looked at less than they must, whatever the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.harness.experiments.manifests import all_facts
from conformance.report.wording import plural
from conformance.requirements.volume import UPDATES, shortfalls, unseen
from conformance.stream import MODEL

if TYPE_CHECKING:
    from conformance.harness.settings import Settings
    from conformance.report.results import Summary
    from conformance.requirements.volume import Shortfall

_TOLD: Final = 5  # shortfalls that are told


def silence(
    summary: Summary, settings: Settings, *, profile: str, requirements: frozenset[str], several: bool
) -> str | None:
    """Name the experiments that looked at too little; ``None`` if all looked enough. ``several``: the run has columns.

    ``requirements``: those that were asked for; none stands for all.
    """
    listed = {
        facts.id: facts.requirements
        for facts in all_facts()
        if facts.sizes and facts.room != UPDATES and profile in facts.profiles
    }
    short: list[tuple[str, Shortfall]] = []
    for name, subject in summary.subjects.items():
        if subject.role not in ("source", "decoder"):
            continue
        counted, excused = summary.looked_at_of(name), summary.excused[name] | summary.excused[MODEL]
        decoders = subject.role == "decoder"
        updates = None if not decoders and settings.server == "none" else settings.updates
        found = (
            *shortfalls(counted, excused, requirements=requirements, updates=updates, decoders=decoders),
            *unseen(counted, excused, listed, requirements=requirements, decoders=decoders),
        )
        short += [(name, shortfall) for shortfall in found]
    if not short:
        return None
    words = [f"{name}: {shortfall}" if several else str(shortfall) for name, shortfall in short]
    experiments = {(name, shortfall.experiment) for name, shortfall in short}
    more = f"; and {len(words) - _TOLD} more" if len(words) > _TOLD else ""
    return f"{plural(len(experiments), 'experiment')} looked at too little: {'; '.join(words[:_TOLD])}{more}"
