"""Words for causes: the title of a defect, its requirement, the reason, and what it does to a copy of the data."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.causes.features import DAMAGE, PAYLOAD
from conformance.checks.decoders.causes.sightings import LOST, STOPS, SWAPPED, TYPE, Effect, Level
from conformance.judge.decoding.exact_json import parse
from conformance.judge.decoding.fitting import requirements_of_values
from conformance.reference.event_types import EventType, event_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.checks.decoders.causes.rules import Rule
    from conformance.checks.decoders.causes.sightings import Sighting

_CODES: Final = {event_name(code): int(code) for code in EventType}
_PARTIAL: Final = event_name(EventType.PARTIAL_UPDATE_ROWS)
_AN: Final = frozenset("AEIOU")
_ORDINALS: Final = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")

_PHRASES: Final = {
    DAMAGE: "damage in the log",
    PAYLOAD: "in a compressed transaction",
    "json-null": "the JSON literal null",
    "unchanged": "a document that did not change",
    "document": "a whole document",
    "diffs": "diffs of a document",
    "several-diffs": "several diffs of one column",
    "later-diff": "a diff behind the first of its column",
    "quoted-path": "a path with a quoted name",
    "long": "more than 255 characters",
    "many-digits": "a DECIMAL of more than 15 digits",
    "negative-integer": "a negative integer",
    "upper-half": "an UNSIGNED integer whose highest bit is set",
    "negative-time": "a negative TIME",
    "wide-integer": "an integer beyond 2^53",
    "zero-date": "a zero date",
    "fraction": "a fraction of a second",
    "text": "a text column",
    "not-ascii": "characters beyond ASCII",
    "unsigned": "an UNSIGNED column",
    "no-members": "a member whose name the log lacks",
    "named-member": "a member whose name the log has",
    "no-names": "a table without column names in the log",
    "no-checksum": "events without checksums",
    "partial-image": "an image that lacks columns",
    "later-row": "a row behind the first of its event",
    "no-map-in-front": "a rows event without a TABLE_MAP of its own",
    "before": "the image before the change",
    "after": "the image after the change",
    "NULL": "SQL NULL",
}
_SUBJECTS: Final = {  # of titles: more than one thing, or (False) one
    "json-null": ("The JSON literal null", False),
    "unchanged": ("Documents that did not change", True),
    "long": ("Text of more than 255 characters", False),
    "many-digits": ("DECIMAL values", True),
    "negative-integer": ("Negative integers", True),
    "upper-half": ("Large UNSIGNED integers", True),
    "negative-time": ("Negative TIME values", True),
    "wide-integer": ("Integers beyond 2^53", True),
    "zero-date": ("Zero dates", True),
    "later-diff": ("Diffs behind the first of their column", True),
    "text": ("Text", False),
    "document": ("Documents", True),
    "diffs": ("Diffs", True),
    "no-members": ("Members whose name the log lacks", True),
}
_VERBS: Final = {  # of the causes of altered values: for several things, for one
    "cut": ("are cut", "is cut"),
    "cut filling": ("lose their filling", "loses its filling"),
    "signedness": ("arrive with the other signedness", "arrives with the other signedness"),
    "sign": ("lose their sign", "loses its sign"),
    "rounded to a double": ("are rounded to doubles", "is rounded to a double"),
    "rounded to a float": ("are rounded to floats", "is rounded to a float"),
    "fraction": ("arrive with another fraction", "arrives with another fraction"),
    "character set": ("are read in the wrong character set", "is read in the wrong character set"),
    "replaced characters": ("arrive with replaced characters", "arrives with replaced characters"),
    "empty": ("arrive empty", "arrives empty"),
    "as a number": ("arrive as numbers, without their names", "arrives as a number, without its name"),
    "": ("arrive altered", "arrives altered"),
}
_OF_OPERATION: Final = {
    "insert": "New rows never reach the copy.",
    "update": "Rows keep their old values in the copy.",
    "delete": "Rows that were deleted stay in the copy.",
}
_REQUIREMENTS: Final = {
    DAMAGE: "DEC22", PAYLOAD: "DEC16", f"event:{_PARTIAL}": "DEC1", "behind:GTID_TAGGED_LOG_EVENT": "DEC17",
    "behind:GTID_LOG_EVENT": "DEC17", "behind:XA_PREPARE_LOG_EVENT": "DEC18", "no-checksum": "DEC19",
    "partial-image": "DEC14", "columns>64": "DEC14", "columns>250": "DEC14", "no-names": "DEC15",
    "no-map-in-front": "DEC21", "later-row": "DEC21",
}  # fmt: skip
_OF_STARTS: Final = {"operation:": "DEC24", "behind:": "DEC20", "statement:": "DEC20", "columns>": "DEC14"}
_OF_EFFECTS: Final = {"swapped": "DEC14", "diff-lost": "DEC2", "diff-moved": "DEC2", "diff-invented": "DEC2"}
_JSON_NULL: Final = "SQL NULL for JSON null"
_FOR_NULL: Final = " for SQL NULL"


def phrase(feature: str) -> str:
    """Return a feature as words for what has it."""
    if feature in _PHRASES:
        return _PHRASES[feature]
    start, _, name = feature.partition(":")
    match start:
        case "operation":
            return _with_article(name.upper())
        case "event":
            return f"{name} ({_CODES[name]})" if name in _CODES else name
        case "behind":
            return f"behind a {name}" + (f" ({_CODES[name]})" if name in _CODES else "")
        case "statement":
            return f"behind a statement {name}"
        case "type":
            return f"{_with_article(name)} column"
        case "leaf":
            return f"a JSON value of type {name}"
        case "charset":
            return f"text in {name}"
        case "diff":
            return f"the diff operation {name}"
    return feature.replace(">", " above ").replace("-", " ")


def because(rule: Rule | None, sightings: Sequence[Sighting]) -> str:
    """Return what failing things share and others lack; nothing where no feature separates them."""
    if rule is not None:
        return ", ".join(map(phrase, rule.features))
    places = sorted({one.place for one in sightings if one.place is not None})
    if sightings[0].effect.kind == SWAPPED.kind and places:
        named = [_ORDINALS[place] if place < len(_ORDINALS) else f"{place}th" for place in places[:4]]
        return f"the {', '.join(named[:-1])}{' or ' if named[1:] else ''}{named[-1]} column"
    return ""


def requirement(effect: Effect, rule: Rule | None, sightings: Sequence[Sighting]) -> str:
    """Return the requirement of what separates; else the one that the judge names most often."""
    named = Counter(one.judged.judgement.requirement for one in sightings if one.judged.judgement is not None)
    usual = named.most_common(1)[0][0]
    if not usual.startswith("DEC"):
        return usual
    if effect.kind in _OF_EFFECTS:
        return _OF_EFFECTS[effect.kind]
    if effect.cause == _JSON_NULL:
        return "DEC5"
    if effect.level is Level.CHANGE and rule is not None and effect.kind in (LOST.kind, STOPS.kind):
        for feature in rule.features:
            own = _REQUIREMENTS.get(feature) or next(
                (one for start, one in _OF_STARTS.items() if feature.startswith(start)), ""
            )
            if own:
                return own
    if effect.kind in ("altered", TYPE):
        what = Counter(one.difference.what for one in sightings if one.difference is not None).most_common(1)[0][0]
        found = requirements_of_values(what)
        if effect.kind == "altered" and found:
            return usual if usual in found else found[0]
    return usual


def title(effect: Effect, rule: Rule | None, sightings: Sequence[Sighting]) -> str:
    """Return the loss in the words of those who run the decoder; empty where no feature says it."""
    if effect.kind == SWAPPED.kind:
        return "Columns arrive with each other's values"
    if effect.cause == _JSON_NULL:
        return "The JSON literal null arrives as SQL NULL"
    if effect.cause.endswith(_FOR_NULL):
        return f"SQL NULL arrives as {effect.cause.removesuffix(_FOR_NULL)}"
    if rule is None:
        return ""
    if effect.kind == LOST.kind:
        return _lost(rule)
    if effect.level is Level.CHANGE:
        where = _at(rule)
        verbs = {"stops": "It stops", "dies": "It dies", "hangs": "It hangs", "garbled": "It gives no answer"}
        return f"{verbs[effect.kind]} {where}" if effect.kind in verbs else ""
    subject, several = _subject(rule, sightings)
    if effect.kind == "diff-lost":
        return f"{subject} are lost"
    verb = _verb(effect, rule, sightings)
    return f"{subject} {verb[0] if several else verb[1]}" if verb else ""


def consequence(effect: Effect, rule: Rule | None) -> str:
    """Return what the defect does to a copy of the data."""
    first = rule.features[0] if rule is not None else ""
    kind = effect.kind
    if kind == LOST.kind and first.startswith("operation:"):
        return _OF_OPERATION[first.partition(":")[2]]
    if kind == LOST.kind and first == DAMAGE:
        return "A cut or damaged log looks complete: what stands behind the damage is missing from the copy."
    if kind in (LOST.kind, "column-lost", "diff-lost", "image-lost"):
        return "The copy lacks what the source has."
    if kind in (STOPS.kind, "dies", "hangs", "garbled"):
        return "Nothing behind this place arrives, until the decoder reads it or the source writes it no more."
    if kind == TYPE:
        return "Nothing is lost, but readers must know more than the log says."
    return "The copy holds something else than the source."


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in _AN else 'a'} {name}"


def _at(rule: Rule) -> str:
    first = phrase(rule.features[0])
    where = first if first.startswith(("behind", "in ")) else f"at {first}"
    return " with ".join([where, *map(phrase, rule.features[1:])])


def _lost(rule: Rule) -> str:
    first = rule.features[0]
    if first == DAMAGE:
        return "Damage ends the log in silence"
    more = "".join(f" with {phrase(name)}" for name in rule.features[1:])
    every = "Every" if not rule.spared else "Not every"
    verb = "is lost" if not rule.spared else "arrives"
    if first.startswith("operation:"):
        return f"{every} {first.partition(':')[2].upper()}{more} {verb}"
    if first == f"event:{_PARTIAL}":
        return f"{every} update in a {phrase(first)}{more} {verb}"
    words = phrase(first)
    joint = "" if words.startswith(("behind", "in ")) else "of a " if first.startswith("event:") else "with "
    return f"{every} row change {joint}{words}{more} {verb}"


def _subject(rule: Rule, sightings: Sequence[Sighting]) -> tuple[str, bool]:
    """Return the subject of a title, and whether that is several things."""
    for feature in rule.features:
        if feature in _SUBJECTS:
            return _SUBJECTS[feature]
        start, _, name = feature.partition(":")
        if start == "type":
            return f"{name} values", True
        if start == "leaf":
            return f"JSON values of type {name}", True
        if start == "charset":
            return f"Text in {name}", False
        if start == "diff":
            return f"Diffs with {name}", True
    kinds = {one.difference.what for one in sightings if one.difference is not None}
    what = f"{kinds.pop().removesuffix(' column')} values" if len(kinds) == 1 else "Values"
    return f"{what} with {', '.join(map(phrase, rule.features))}", True


def _verb(effect: Effect, rule: Rule, sightings: Sequence[Sighting]) -> tuple[str, str] | None:
    if effect.kind == "column-lost":
        return "do not arrive", "does not arrive"
    if effect.kind == "null":
        got = effect.cause.partition(" for ")[0].removeprefix("a ")
        return f"arrive as {got}", f"arrives as {got}"
    if effect.kind not in ("altered", TYPE):
        return None
    if effect.cause == "signedness" and "negative-integer" in rule.features:
        return "arrive as unsigned ones", "arrives as an unsigned one"
    if effect.cause == "signedness" and "upper-half" in rule.features:
        return "arrive as negative ones", "arrives as a negative one"
    if not effect.cause and (shift := _shift(sightings)):
        return f"are shifted by {shift}", f"is shifted by {shift}"
    known = _VERBS.get(effect.cause)
    if known is not None:
        return known
    how = effect.cause if effect.cause.startswith("as ") else f"as {effect.cause}"
    if effect.cause.startswith("no "):
        how = f"as what is {effect.cause}"
    more = ", without their type" if effect.kind == TYPE else ""
    return f"arrive {how}{more}", f"arrives {how}{more}"


def _shift(sightings: Iterable[Sighting]) -> str:
    """The time between what is expected and what arrives, if it is always the same."""
    found: set[timedelta] = set()
    for one in sightings:
        if one.difference is None:
            return ""
        try:
            left, right = (
                datetime.fromisoformat(parse(text)) for text in (one.difference.expected, one.difference.got)
            )
        except (TypeError, ValueError):
            return ""
        found.add(right - left)
    if len(found) != 1:
        return ""
    hours = found.pop() / timedelta(hours=1)
    amount = f"{abs(hours):g}"
    return f"{amount} hour{'' if amount == '1' else 's'}{' backwards' if hours < 0 else ''}"
