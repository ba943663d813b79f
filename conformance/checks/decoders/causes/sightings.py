"""Sightings: what a subject's answer to a Case did to its changes, values and diffs, and which of them arrived."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.cases.decoder_case import Equality
from conformance.checks.decoders.causes.features import IMAGES, NULL, Features
from conformance.judge.decoding.difference import Difference, DifferenceKind
from conformance.judge.decoding.numbers import number_in, number_of
from conformance.judge.decoding.signatures import signature_of
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.cases.decoder_case import DecoderCase
    from conformance.checks.decoders.causes.features import CaseFeatures
    from conformance.harness.decoders import JudgedCase
    from conformance.judge.decoding.judge import Judgement

_DIFF: Final = re.compile(r"\.diffs\[(\d+)\]")
_NONE: Final[Features] = frozenset()
_FAILURES: Final = {Verdict.CRASH: "dies", Verdict.TIMEOUT: "hangs"}
_INVENTED: Final = (DifferenceKind.EXTRA_CHANGE, DifferenceKind.REPEATED_CHANGE)


class Level(StrEnum):
    """The things that an effect happens to."""

    CHANGE = "row change"
    VALUE = "value"
    DIFF = "diff"


class Effect(NamedTuple):
    """A kind of failure, and what it happens to. ``cause``: the class of the difference, such as ``sign``."""

    kind: str
    level: Level
    cause: str = ""


LOST: Final = Effect("lost", Level.CHANGE)
STOPS: Final = Effect("stops", Level.CHANGE)
SWAPPED: Final = Effect("swapped", Level.VALUE)
TYPE: Final = "type"
_OF_CHANGE: Final = {
    DifferenceKind.EXTRA_CHANGE: "invented", DifferenceKind.REPEATED_CHANGE: "repeated",
    DifferenceKind.MOVED_CHANGE: "moved", DifferenceKind.MALFORMED: "malformed", DifferenceKind.TABLE: "table",
    DifferenceKind.OPERATION: "operation", DifferenceKind.HEADER: "header", DifferenceKind.MISSING_IMAGE: "image-lost",
    DifferenceKind.EXTRA_IMAGE: "image-invented", DifferenceKind.EXTRA_COLUMN: "column-invented",
    DifferenceKind.ABSENT_AS_NULL: "absent-as-null",
}  # fmt: skip
_OF_VALUE: Final = {
    DifferenceKind.ALTERED: "altered", DifferenceKind.NULL: "null", DifferenceKind.FORM: "form",
    DifferenceKind.MISSING_COLUMN: "column-lost", DifferenceKind.TYPE: TYPE,
}  # fmt: skip
_OF_DIFF: Final = {
    DifferenceKind.MISSING_DIFF: "diff-lost", DifferenceKind.EXTRA_DIFF: "diff-invented",
    DifferenceKind.MOVED_DIFF: "diff-moved", DifferenceKind.DIFF: "diff-wrong",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sighting:
    """One effect in one Case. ``bag``: the things of which one at least caused it, the likeliest first.

    ``place``: the number of the column in its table, where the effect is about values of others.
    """

    effect: Effect
    bag: tuple[Features, ...]
    case: DecoderCase
    judged: JudgedCase
    signature: str
    difference: Difference | None = None
    place: int | None = None

    @property
    def first(self) -> bool:
        """Whether the Case's verdict is about this."""
        return self.judged.judgement is not None and self.judged.judgement.signature == self.signature


@dataclass(slots=True)
class Arrived:
    """Things that arrived as they should, counted by their features. ``typed``: values that also kept their type."""

    changes: Counter[Features] = field(default_factory=Counter)
    values: Counter[Features] = field(default_factory=Counter)
    typed: Counter[Features] = field(default_factory=Counter)
    diffs: Counter[Features] = field(default_factory=Counter)

    def of(self, effect: Effect) -> Counter[Features]:
        """Return the things of the same level that escaped an effect."""
        if effect.level is Level.VALUE:
            return self.typed if effect.kind == TYPE else self.values
        return self.diffs if effect.level is Level.DIFF else self.changes


def look(case: DecoderCase, judged: JudgedCase, features: CaseFeatures, arrived: Arrived) -> list[Sighting]:
    """The sightings of one judged Case; what arrived is counted in ``arrived``."""
    judgement = judged.judgement
    if judgement is None or judgement.verdict is Verdict.NOT_APPLICABLE:
        return []
    if judgement.verdict in _FAILURES or (judgement.verdict is Verdict.FAIL and not judgement.differences):
        got = min(len(judged.answer.changes), len(features.changes))
        effect = Effect(_FAILURES.get(judgement.verdict, "garbled"), Level.CHANGE)
        return [Sighting(effect, features.units[got:], case, judged, judgement.signature)]
    return _Look(case, judged, judgement, features, arrived).all()


class _Look:
    def __init__(
        self, case: DecoderCase, judged: JudgedCase, judgement: Judgement, features: CaseFeatures, arrived: Arrived
    ) -> None:
        self.case = case
        self.judged = judged
        self.judgement = judgement
        self.features = features
        self.missing = sorted(
            item.change
            for item in judgement.differences
            if item.kind is DifferenceKind.MISSING_CHANGE and item.change is not None
        )
        self.last = max(set(range(len(features.changes))) - set(self.missing), default=-1)
        self._count(arrived)

    def _count(self, arrived: Arrived) -> None:
        gone = set(self.missing)
        hurt: set[tuple[int, str, str]] = set()
        without_type: set[tuple[int, str, str]] = set()
        diffs: set[tuple[int, str, str, int]] = set()
        for item in self.judgement.differences:
            key = self._column(item)
            if key is None:
                continue
            (without_type if item.level is Equality.TYPE else hurt).add(key)
            if found := _DIFF.search(item.place):
                diffs.add((*key, int(found[1])))
        arrived.changes.update(one for number, one in enumerate(self.features.changes) if number not in gone)
        if not self.missing and self.judgement.verdict is Verdict.PASS:
            arrived.changes[self.features.end] += 1
        for key, features in self.features.values.items():
            if key[0] not in gone and key not in hurt:
                arrived.values[features] += 1
                if key not in without_type:
                    arrived.typed[features] += 1
        for place, features in self.features.diffs.items():
            if place[0] not in gone and place not in diffs:
                arrived.diffs[features] += 1

    def all(self) -> list[Sighting]:
        """The sightings of the verdict, none for a pass."""
        match self.judgement.verdict:
            case Verdict.REFUSED:
                return list(self._stops())
            case Verdict.LENIENT:
                return list(self._lenient())
            case Verdict.SILENT_LOSS | Verdict.FAIL:
                return [*self._lost(), *self._differences()]
        return []

    def _sighting(self, effect: Effect, bag: Sequence[Features], item: Difference | None = None) -> Sighting:
        signature = self.judgement.signature if item is None else signature_of(item)
        return Sighting(effect, tuple(bag), self.case, self.judged, signature, item)

    def _stops(self) -> Iterator[Sighting]:
        tail = [number for number in self.missing if number > self.last]
        if self.judged.answer.error:
            yield self._sighting(STOPS, self.features.units[tail[0] if tail else -1 :])
            return
        for number in self.missing or [item.change for item in self.judgement.differences if item.change is not None]:
            yield self._sighting(STOPS, [self.features.changes[number]])

    def _lenient(self) -> Iterator[Sighting]:
        soft = [item for item in self.judgement.differences if item.level is Equality.TYPE]
        if not any(signature_of(item) == self.judgement.signature for item in soft):
            yield self._sighting(LOST, [self.features.end])  # damage, and no word about it
        yield from filter(None, (self._of_difference(item, TYPE) for item in soft))

    def _lost(self) -> Iterator[Sighting]:
        lost = {item.change: item for item in self.judgement.differences if item.kind is DifferenceKind.MISSING_CHANGE}
        tail = [number for number in self.missing if number > self.last]
        for number in self.missing:
            if number not in tail:
                yield self._sighting(LOST, [self.features.changes[number]], lost[number])
        if tail and not self.judged.answer.error:
            yield self._sighting(LOST, self.features.changes[tail[0] :], lost[tail[0]])

    def _differences(self) -> Iterator[Sighting]:
        swapped = self._swapped()
        for item in self.judgement.differences:
            if item.level is Equality.TYPE or item.kind is DifferenceKind.MISSING_CHANGE:
                continue
            key = self._column(item)
            if key is not None and key in swapped:
                yield Sighting(
                    SWAPPED, (self.features.values[key],), self.case, self.judged, signature_of(item), item,
                    self.features.places.get(key),
                )  # fmt: skip
                continue
            found = self._of_difference(item)
            if found is not None:
                yield found

    def _of_difference(self, item: Difference, kind: str = "") -> Sighting | None:
        number = item.change if item.change is not None and item.change < len(self.features.changes) else None
        if name := _OF_CHANGE.get(item.kind):
            field_ = item.place.rpartition(".")[2] if item.kind is DifferenceKind.HEADER else item.cause
            known = number is not None and item.kind not in _INVENTED
            bag = self.features.changes[number] if known and number is not None else _NONE
            return self._sighting(Effect(name, Level.CHANGE, field_), [bag], item)
        key = self._column(item)
        if key is None:
            return None
        found = _DIFF.search(item.place)
        if name := _OF_DIFF.get(item.kind):
            features = self.features.diffs.get((*key, int(found[1]))) if found else self.features.values[key]
            cause = item.cause if item.kind is DifferenceKind.DIFF else ""
            return self._sighting(Effect(name, Level.DIFF, cause), [features or _NONE], item)
        return self._sighting(
            Effect(kind or _OF_VALUE[item.kind], Level.VALUE, item.cause), [self._about(item, key)], item
        )

    def _about(self, item: Difference, key: tuple[int, str, str]) -> Features:
        """The features of a value; of a document's parts, only those that differ."""
        features = self.features.values[key]
        if not item.what.startswith("JSON ") or item.what == "JSON column":
            return features
        kept = f"leaf:{item.what.removeprefix('JSON ')}"
        return frozenset(one for one in features if not one.startswith("leaf:") or one == kept) | {kept}

    def _column(self, item: Difference) -> tuple[int, str, str] | None:
        """The change, the image and the column that a difference is about."""
        if item.change is None or item.change >= len(self.case.expected):
            return None
        image, _, rest = item.place.partition(".")[2].partition(".")
        if image not in IMAGES:
            return None
        columns = self.case.expected[item.change].get(image) or ()
        fitting = [name for name in columns if rest == name or rest.startswith((f"{name}.", f"{name}["))]
        return (item.change, image, max(fitting, key=len)) if fitting else None

    def _swapped(self) -> set[tuple[int, str, str]]:
        """The values that arrived in the place of each other."""
        found: set[tuple[int, str, str]] = set()
        for number, got in self._partners():
            expected = self.case.expected[number]
            for image in IMAGES:
                left, right = (_plain(side.get(image)) if isinstance(side, dict) else None for side in (expected, got))
                if not isinstance(left, dict) or not isinstance(right, dict):
                    continue
                wrong = [name for name in left if name in right and left[name] != right[name]]
                for one in wrong:
                    if any(right[one] == left[other] and right[other] == left[one] for other in wrong if other != one):
                        found.add((number, image, one))
        return found

    def _partners(self) -> Iterator[tuple[int, Any]]:
        """The expected changes that arrived, each with the subject's; none where their order is another."""
        kinds = {item.kind for item in self.judgement.differences}
        if DifferenceKind.MOVED_CHANGE in kinds:
            return
        extra = {item.change for item in self.judgement.differences if item.kind in _INVENTED}
        wanted = [number for number in range(len(self.features.changes)) if number not in self.missing]
        given = [change for number, change in enumerate(self.judged.answer.changes) if number not in extra]
        if len(wanted) == len(given):
            yield from zip(wanted, given, strict=True)


def _plain(value: Any) -> Any:
    """A value whose numbers are equal if they are, whatever Python's type is."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    number = number_in(value) if isinstance(value, str) else number_of(value)
    return value if number is None else number


def values_only(effect: Effect, arrived: Counter[Features]) -> Counter[Features]:
    """Return the things that escaped an effect, without NULLs where these cannot have it."""
    if effect.level is not Level.VALUE or effect.kind in ("null", "column-lost", "swapped"):
        return arrived
    return Counter({features: count for features, count in arrived.items() if NULL not in features})
