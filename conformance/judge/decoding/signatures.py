"""Signatures: the class of a defect without its values, so that distinct defects can be counted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from conformance.judge.decoding.difference import DifferenceKind

if TYPE_CHECKING:
    from conformance.judge.decoding.difference import Difference

NUMBERS: Final = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")
QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|/\S+")
_LONGEST: Final = 100
_PARTIAL: Final = "PARTIAL_UPDATE_ROWS_EVENT"
_BY_EVENT: Final = frozenset(
    (
        DifferenceKind.MISSING_CHANGE,
        DifferenceKind.EXTRA_CHANGE,
        DifferenceKind.REPEATED_CHANGE,
        DifferenceKind.MOVED_CHANGE,
    )
)


def signature_of(difference: Difference) -> str:
    """Kind of the difference, kind of the place, and cause."""
    if difference.kind in _BY_EVENT:
        # What a compressed transaction holds is lost for one reason, unless its events are lost elsewhere too.
        payload = difference.inner and difference.event != _PARTIAL
        place = "TRANSACTION_PAYLOAD_EVENT" if payload else difference.event or difference.what
    elif difference.kind is DifferenceKind.HEADER:
        place = difference.place.rpartition(".")[2]
    else:
        place = difference.what
    return ": ".join(filter(None, (difference.kind.value, place, difference.cause)))


def signature_of_text(kind: str, text: str) -> str:
    """The signature of a refusal or a failure: its text without numbers, names and paths."""
    words = NUMBERS.sub("N", QUOTED.sub("X", text))
    return f"{kind}: {' '.join(words.split())[:_LONGEST]}".removesuffix(": ")
