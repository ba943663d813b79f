"""Row events with an object whose entries are damaged: no writer makes them, and a reader may fail at them.

An object is a header (count and size), a key entry (offset, length) and a value entry (type, offset) for each member.
Keys and values follow. The damage changes one of these numbers, or repeats the key entry of another member. The whole
object stands in a diff, or in an event that logs the document in full. A released server and its client end themselves
at some of these (requirements FR5, deviations 1, 2 and 4). So every Case here has the hazard may-crash and no file
stores it: a seed makes it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image
from conformance.cases.update_case import Hazard
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from generators import scalars
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

STORED: Final = encode({"n": 1, "pad": "p" * 40})
DIFF, FULL = "diff", "full"
# Requirements FR5 names key entries; the other numbers are their control: there an error is the observed result.
_KEYS: Final = mix(("key-beyond", 2), ("key-in-header", 2), ("key-length", 2))
_OTHERS: Final = ("value-beyond", "value-in-header", "count", "size", "cut")
_LETTERS: Final = "abcdefghijklmnop"


class Damaged(NamedTuple):
    """``what`` was changed, in a document of its own."""

    what: str
    document: bytes


def value(draw: Draw) -> JsonValue:
    """An object of one to five members, by itself or inside of another container."""
    members: dict[str, JsonValue] = {}
    for _ in range(draw.integer(1, 5)):
        members[draw.letters(draw.integer(1, 6), _LETTERS)] = scalars.scalar(draw)
    match draw.below(6):
        case 4:
            return {"o": members, "z": 1}
        case 5:
            return [True, members]
        case _:
            return members


def damage(draw: Draw, what: str) -> Damaged:
    """A drawn object with one wrong number. ``what`` is one of the names above."""
    document = bytearray(encode(value(draw)))
    objects = [view for view in containers(open_document(bytes(document))) if view.is_object and view.count]
    view = objects[draw.below(len(objects))]
    member = draw.below(view.count)
    wide = 4 if view.is_large else 2
    key = view.keys + (wide + 2) * member
    entry = view.values + (wide + 1) * member
    size, first = view.end - view.start, view.values_end - view.start
    beyond = size + draw.choice((0, 1, 2, 7, 100, 10_000))
    match what:
        case "key-beyond":
            place, width, number = key, wide, beyond + 1
        case "key-in-header":
            place, width, number = key, wide, draw.below(first)
        case "key-length":
            offset = int.from_bytes(document[key : key + wide], "little")
            place, width, number = key + wide, 2, size - offset + 1 + draw.choice((0, 1, 7, 1000))
        case "value-beyond" | "value-in-header":
            # A string, as an inlined value has no offset.
            document[entry] = 0x0C
            place, width = entry + 1, wide
            # Observed on 9.7.4: an offset into a later value entry is followed, one into its own or before it is not.
            number = beyond + 1 if what == "value-beyond" else draw.below(entry + 1 + wide - view.start)
        case "count":
            place, width, number = view.start, wide, view.count + 1 + draw.choice((0, 1, 100, 60_000 - view.count))
        case "size":
            place, width, number = view.start + wide, wide, size + 1 + draw.choice((0, 1, 100, 10_000))
        case _:
            return Damaged(what, bytes(document[: 1 + draw.below(len(document) - 1)]))
    document[place : place + width] = number.to_bytes(width, "little")
    return Damaged(what, bytes(document))


def containers(view: View) -> Iterator[View]:
    """A container and those inside it, outermost first; nothing of a scalar."""
    if not (view.is_object or view.is_array):
        return
    yield view
    for index in range(view.count):
        yield from containers(view.element(index))


def injection(draw: Draw, place: str, *, keys: bool) -> Injection:
    """An event with such an object in ``place``. ``keys``: the damage is in a key entry."""
    found = damage(draw, draw.choice(_KEYS if keys else _OTHERS))
    image = full_image(found.document) if place == FULL else _in_diff(draw, found.document)
    return Injection(
        name=f"{place}-{found.what}",
        stored=STORED,
        image=image,
        demand=Demand.ERROR,
        hazard=str(Hazard.MAY_CRASH),
    )


def twice(draw: Draw) -> Injection:
    """A diff with an object in which a key of an array comes again, for another value.

    Observed on 9.7.4: the server takes such an object, with the last value of the key (requirements FR5); or it ends
    itself, mostly where the array begins with a string.
    """
    first, second = sorted(_two_names(draw))
    array = [draw.letters(draw.integer(0, 20), _LETTERS), *(scalars.scalar(draw) for _ in range(draw.below(3)))]
    members: dict[str, JsonValue] = {first: array, second: scalars.scalar(draw)}
    document = bytearray(encode([members] if draw.below(3) == 2 else members))
    view = next(each for each in containers(open_document(bytes(document))) if each.is_object)
    width = 6 if view.is_large else 4
    entry = document[view.keys : view.keys + width]
    document[view.keys + width : view.keys + 2 * width] = entry
    return Injection(
        name=f"{DIFF}-key-twice",
        stored=STORED,
        image=_in_diff(draw, bytes(document)),
        hazard=str(Hazard.MAY_CRASH),
    )


def _two_names(draw: Draw) -> tuple[str, str]:
    length = draw.integer(1, 6)
    name = draw.letters(length, _LETTERS)
    while (other := draw.letters(length, _LETTERS)) == name:
        pass
    return name, other


def _in_diff(draw: Draw, document: bytes) -> bytes:
    """The image of a row with such a value in its last diff."""
    good = [_good(draw) for _ in range(draw.below(3))]
    operation, path = draw.choice(((Operation.INSERT, "$.new"), (Operation.REPLACE, "$.n")))
    return partial_image(b"".join(good) + encode_diff(operation, parse_path(path), document))


def _good(draw: Draw) -> bytes:
    path = parse_path("$." + draw.letters(3, _LETTERS))
    return encode_diff(Operation.INSERT, path, encode(scalars.scalar(draw)))
