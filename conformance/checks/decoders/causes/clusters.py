"""Clusters: the failing Cases of a subject by their cause, each Case counted once."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.causes import words
from conformance.checks.decoders.causes.features import PAYLOAD, features_of
from conformance.checks.decoders.causes.rules import Rule, rules_for
from conformance.checks.decoders.causes.sightings import (
    SWAPPED,
    Arrived,
    Effect,
    Sighting,
    look,
    values_only,
)
from conformance.messages import counted
from conformance.verdict import SEVERITY, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.harness.decoders import JudgedCase

_SUPPORT: Final = 2  # Cases, or things of one Case, that a feature must explain before it gives a defect its name
_CALM: Final = (Verdict.PASS, Verdict.NOT_APPLICABLE)


@dataclass(slots=True)
class Cluster:
    """The Cases with one cause. ``cases``: those that count here; ``behind``: those that show it
    behind another defect. ``because``: what they share and passing ones lack, empty where nothing separates them.

    ``reason``: that in one sentence with its numbers. ``why``: what the defect does to a copy of the data. ``name``:
    the title, or the signature of the smallest Case, so that no two are alike.
    """

    effect: Effect
    rule: Rule | None
    sightings: list[Sighting]
    requirement: str
    title: str = ""
    because: str = ""
    reason: str = ""
    why: str = ""
    name: str = ""
    cases: list[Sighting] = field(default_factory=list)
    behind: int = 0

    @property
    def witness(self) -> Sighting:
        """The smallest Case of the worst verdict; one in a compressed transaction only where that is the cause."""
        return min(self.cases or self.sightings, key=lambda one: _rank(one, self.rule))

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of its Cases."""
        return min((one.judged.verdict for one in self.cases or self.sightings), key=SEVERITY.index)

    def shows(self, case: DecoderCase, judged: JudgedCase) -> bool:
        """Whether the answer to another Case has the same cause."""
        if self.rule is None:
            return True
        found = look(case, judged, features_of(case), Arrived())
        return any(one.effect.kind == self.effect.kind and self.rule.holds(one.bag) for one in found)


def clusters_of(judged: Iterable[tuple[DecoderCase, JudgedCase]]) -> list[Cluster]:
    """Group the failing Cases among these by their cause, worst first. The others say what causes nothing."""
    arrived = Arrived()
    by_effect: defaultdict[Effect, list[Sighting]] = defaultdict(list)
    failing: list[tuple[DecoderCase, JudgedCase]] = []
    for case, one in judged:
        for sighting in look(case, one, features_of(case), arrived):
            by_effect[sighting.effect].append(sighting)
        if one.judgement is not None and one.verdict not in _CALM:
            failing.append((case, one))
    clusters: list[Cluster] = []
    for effect, sightings in by_effect.items():
        clusters += _of_effect(effect, sightings, arrived)
    clusters = _merged(clusters)
    _count_once(clusters, failing)
    for cluster in clusters:
        _say(cluster, arrived)
    clusters.sort(key=lambda one: (SEVERITY.index(one.verdict), -len(one.cases), one.title, one.because))
    _name(clusters)
    return clusters


def _name(clusters: Sequence[Cluster]) -> None:
    taken: set[str] = set()
    for cluster in clusters:
        plain = cluster.title or cluster.witness.signature
        more = [
            plain,
            f"{plain}: {cluster.because}",
            *(f"{plain} ({number})" for number in range(2, len(clusters) + 2)),
        ]
        cluster.name = next(name for name in more if name not in taken and not name.endswith(": "))
        taken.add(cluster.name)


def _of_effect(effect: Effect, sightings: list[Sighting], arrived: Arrived) -> list[Cluster]:
    """The clusters of one effect: by rules, and by signature where no rule separates."""
    rules = []
    if effect.kind != SWAPPED.kind:
        rules = rules_for([one.bag for one in sightings], values_only(effect, arrived.of(effect)))
    out: list[Cluster] = []
    left = dict(enumerate(sightings))
    for rule in rules:
        own = [sightings[number] for number in rule.found]
        whole = not rule.spared and len(own) == len(sightings) >= _SUPPORT
        if whole or len({one.case.id for one in own}) >= _SUPPORT:
            out.append(_cluster(effect, rule, own))
            left = {number: one for number, one in left.items() if number not in rule.found}
    by_signature: defaultdict[str, list[Sighting]] = defaultdict(list)
    for one in left.values():
        by_signature["" if effect.kind == SWAPPED.kind else one.signature].append(one)
    return out + [_cluster(effect, None, own) for own in by_signature.values()]


def _cluster(effect: Effect, rule: Rule | None, sightings: list[Sighting]) -> Cluster:
    return Cluster(effect, rule, sightings, words.requirement(effect, rule, sightings))


def _merged(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Join clusters whose rule is the same, of effects that differ in their class alone."""
    out: dict[object, Cluster] = {}
    for one in sorted(clusters, key=lambda cluster: -len(cluster.sightings)):
        key = (one.effect.kind, one.rule.features) if one.rule is not None else (one.effect, one.sightings[0].signature)
        known = out.get(key)
        if known is None:
            out[key] = one
        else:
            known.sightings += one.sightings
    return list(out.values())


def _count_once(clusters: list[Cluster], failing: Sequence[tuple[DecoderCase, JudgedCase]]) -> None:
    """Give each failing Case to the largest cluster that its verdict is about."""
    sizes = [len({one.case.id for one in cluster.sightings}) for cluster in clusters]
    found: defaultdict[str, list[tuple[tuple[bool, int, int], Sighting]]] = defaultdict(list)
    for number, cluster in enumerate(clusters):
        for one in cluster.sightings:
            found[one.case.id].append(((not one.first, -sizes[number], number), one))
    for case, judged in failing:
        if not found[case.id]:
            assert judged.judgement is not None
            effect = Effect(str(judged.verdict), SWAPPED.level)
            one = Sighting(effect, (frozenset(),), case, judged, judged.judgement.signature)
            clusters.append(_cluster(effect, None, [one]))
            found[case.id].append(((False, 0, len(clusters) - 1), one))
        key, first = min(found[case.id], key=lambda item: item[0])
        clusters[key[2]].cases.append(first)
        for number in {item[0][2] for item in found[case.id]} - {key[2]}:
            clusters[number].behind += 1


def _rank(one: Sighting, rule: Rule | None) -> tuple[object, ...]:
    hidden = any(PAYLOAD in thing for thing in one.bag) and (rule is None or PAYLOAD not in rule.features)
    verdict = SEVERITY.index(one.judged.verdict)
    return not one.first, verdict, hidden, one.case.sparse, len(one.case.log), one.case.id


def _say(cluster: Cluster, arrived: Arrived) -> None:
    cluster.title = words.title(cluster.effect, cluster.rule, cluster.sightings)
    cluster.because = words.because(cluster.rule, cluster.sightings)
    cluster.why = words.consequence(cluster.effect, cluster.rule)
    if cluster.because and cluster.rule is None:
        cluster.reason = f"What goes wrong is in {cluster.because}."
    if cluster.rule is None:
        return
    wanted = set(cluster.rule.features)
    escaped: Counter[frozenset[str]] = values_only(cluster.effect, arrived.of(cluster.effect))
    spared = sum(count for features, count in escaped.items() if wanted <= features)
    others = sum(escaped.values()) - spared
    hit = len(cluster.sightings)
    thing = cluster.effect.level
    cluster.reason = (
        f"What goes wrong has in common, and what arrives has not: {cluster.because}. "
        f"That goes wrong {hit:,} of {counted(hit + spared, 'time')}; {counted(others, thing)} without it arrived."
    )
