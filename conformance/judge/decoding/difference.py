"""Differences between what a Case expects and what a subject gave."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from conformance.cases.decoder_case import Equality
from conformance.reference.portable import shown

_SHOWN: Final = 400  # characters of a value in a report


class DifferenceKind(StrEnum):
    """The kinds of differences."""

    MISSING_CHANGE = "missing change"
    EXTRA_CHANGE = "invented change"
    REPEATED_CHANGE = "repeated change"
    MOVED_CHANGE = "moved change"
    MALFORMED = "malformed change"
    TABLE = "wrong table"
    OPERATION = "wrong operation"
    HEADER = "wrong fact of the event"
    MISSING_IMAGE = "missing image"
    EXTRA_IMAGE = "invented image"
    MISSING_COLUMN = "missing column"
    EXTRA_COLUMN = "invented column"
    ABSENT_AS_NULL = "absent column as NULL"
    NULL = "wrong kind of nothing"
    FORM = "wrong form of a document"
    MISSING_DIFF = "missing diff"
    EXTRA_DIFF = "invented diff"
    MOVED_DIFF = "moved diff"
    DIFF = "wrong diff"
    ALTERED = "altered value"
    TYPE = "lost type"


# What was in the log and did not arrive. Whoever says so has refused; whoever does not has lost it in silence.
MISSING: Final = frozenset(
    (
        DifferenceKind.MISSING_CHANGE,
        DifferenceKind.MISSING_IMAGE,
        DifferenceKind.MISSING_COLUMN,
        DifferenceKind.MISSING_DIFF,
    )
)
INVENTED: Final = frozenset(
    (
        DifferenceKind.EXTRA_CHANGE,
        DifferenceKind.REPEATED_CHANGE,
        DifferenceKind.EXTRA_IMAGE,
        DifferenceKind.EXTRA_COLUMN,
        DifferenceKind.ABSENT_AS_NULL,
        DifferenceKind.EXTRA_DIFF,
    )
)
# What fails although nothing is lost.
WRONG: Final = frozenset(
    (
        DifferenceKind.EXTRA_CHANGE, DifferenceKind.REPEATED_CHANGE, DifferenceKind.MOVED_CHANGE,
        DifferenceKind.MALFORMED, DifferenceKind.TABLE, DifferenceKind.OPERATION, DifferenceKind.HEADER,
        DifferenceKind.EXTRA_IMAGE, DifferenceKind.EXTRA_COLUMN, DifferenceKind.EXTRA_DIFF, DifferenceKind.MOVED_DIFF,
    )
)  # fmt: skip


class Found(NamedTuple):
    """One difference, with the two values as they are.

    ``place`` is inside the change (``after.j.$.a``). ``level``: the first level at which the two are not equal.
    ``what``: the class of the place, such as ``TIME column`` or ``JSON DECIMAL``. ``cause``: the class of the
    difference, such as ``sign``.
    """

    kind: DifferenceKind
    place: str
    expected: Any
    got: Any
    level: Equality = Equality.VALUE
    what: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference for reports: values as text. ``change``: number of the expected change, or of the subject's.
    ``inner``: the event is inside a payload."""

    kind: DifferenceKind
    place: str
    expected: str
    got: str
    position: int | None = None
    level: Equality = Equality.VALUE
    what: str = ""
    cause: str = ""
    event: str = ""
    change: int | None = None
    inner: bool = False


def show(value: Any) -> str:
    """A value as short text."""
    if isinstance(value, str) and value == "":
        return '""'
    try:
        text = json.dumps(value, ensure_ascii=False, default=_other)
    except (TypeError, ValueError, RecursionError):
        text = shown(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else str(value)
