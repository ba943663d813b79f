"""Row events with some changed bytes: damage that no list foresees.

The event fits its row before the damage: diffs with containers among their values, or a whole document. One to three
named edits hit the value, the list of diffs, or the row. Inside a frame the generator corrects the lengths around them:
otherwise hardly any would get past the first reader. Every Case has the hazard may-crash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Injection, full_image, partial_image
from conformance.cases.update_case import Hazard
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.view import open_document
from conformance.reference.partial.diffs import Operation
from generators import damaged_events, documents, path_targets
from generators.documents import Size
from generators.draw import mix
from generators.malformed import apply_edits, edits

if TYPE_CHECKING:
    from generators.draw import Draw

_SIZES: Final = mix((Size.SMALL, 8), (Size.TINY, 4), (Size.TUNED, 1))
# Places of edits: the value of a diff, a whole document, the list of diffs, a path, the row.
_PLACES: Final = mix(("value", 8), ("document", 5), ("diffs", 3), ("path", 1), ("row", 2))
ROW: Final = "mutated-row"
"""The name where all of the row was open to damage: what stands behind its new end is read as another row."""
_OPERATIONS: Final = (Operation.REPLACE, Operation.INSERT)


def injection(draw: Draw) -> Injection:
    """One event, and the row it is for."""
    stored = encode(documents.document(draw.fork("stored"), sizes=_SIZES))
    place = draw.choice(_PLACES)
    value = encode(documents.document(draw.fork("value"), sizes=_SIZES))
    hit = draw.fork("edits")
    image = full_image(_edited(hit, value)) if place == "document" else _with_diffs(draw, hit, place, stored, value)
    return Injection(
        name=ROW if place == "row" else f"mutated-{place}", stored=stored, image=image, hazard=str(Hazard.MAY_CRASH)
    )


def _with_diffs(draw: Draw, hit: Draw, place: str, stored: bytes, value: bytes) -> bytes:
    if place == "value":
        value = _edited(hit, value)
    path = _path(draw.fork("path"), stored)
    diffs = _sound(draw.fork("front"), stored) if draw.below(3) == 2 else b""
    if place == "path":
        path = _edited(hit, path)
    diffs += damaged_events.diff(draw.choice(_OPERATIONS), path, value)
    diffs += _sound(draw.fork("behind"), stored) if draw.below(4) == 3 else b""
    if place == "diffs":
        return partial_image(_edited(hit, diffs))
    image = partial_image(diffs)
    return _edited(hit, image) if place == "row" else image


def _path(draw: Draw, stored: bytes) -> bytes:
    document = open_document(stored)
    place = path_targets.missing(draw, document) if draw.below(4) == 3 else path_targets.aim(draw, document)
    return path_targets.spell(draw, place.legs).encode()


def _sound(draw: Draw, stored: bytes) -> bytes:
    value = encode(documents.value(draw))
    return damaged_events.diff(draw.choice(_OPERATIONS), _path(draw, stored), value)


def _edited(draw: Draw, data: bytes) -> bytes:
    return apply_edits(data, edits(draw, len(data)))
