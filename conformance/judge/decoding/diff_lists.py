"""Lists of diffs: each once, in the order of the log, with operation, path and value.

The judge forgives the letter case of the operation, and a path that is quoted where it need not be. It also forgives a
``null`` as the value of REMOVE, and the forms of documents.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.decoder_case import Equality
from conformance.judge.decoding.alignment import GAP, align, leftovers
from conformance.judge.decoding.difference import DifferenceKind, Found
from conformance.judge.decoding.documents import differences_of_documents, document_in

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEG: Final = re.compile(r'\.(?:("(?:[^"\\]|\\.)*")|([^.\["\s]+))|\[([0-9]+)\]', re.DOTALL)
_ABSENT: Final = object()
_OTHER_DIFF: Final = 2.1 * GAP
_ONE_PART: Final = 0.8 * GAP  # of operation, path and value


def differences_of_diffs(
    expected: Sequence[dict[str, Any]], got: Sequence[Any], place: str, *, tagged: bool = False
) -> list[Found]:
    """The differences of two lists of diffs."""
    known: dict[tuple[int, int], list[Found]] = {}

    def found(one: int, other: int) -> list[Found]:
        if (one, other) not in known:
            known[one, other] = _of_diff(expected[one], got[other], f"{place}.diffs[{one}]", tagged=tagged)
        return known[one, other]

    def cost(one: int, other: int) -> float:
        differing = [item for item in found(one, other) if item.level is not Equality.TYPE]
        parts = {item.cause if item.kind is DifferenceKind.DIFF else item.kind for item in differing}
        return _OTHER_DIFF if len(parts) > 1 else len(parts) * _ONE_PART

    pairs = align(len(expected), len(got), cost)
    moved, repeated, further, missing = leftovers(pairs, cost, len(expected))
    out: list[Found] = []
    for one, other in pairs:
        if one is not None and other is not None:
            out += found(one, other)
        elif one in missing:
            cause = (
                "only the first arrived"
                if len(got) == 1 < len(expected) and missing >= {*range(1, len(expected))}
                else ""
            )
            out.append(_diff(DifferenceKind.MISSING_DIFF, f"{place}.diffs[{one}]", expected[one], None, cause))
        elif other in moved:
            number = moved[other]
            out.append(_diff(DifferenceKind.MOVED_DIFF, f"{place}.diffs[{number}]", expected[number], got[other]))
        elif other in repeated or other in further:
            cause = "repeated" if other in repeated else ""
            out.append(_diff(DifferenceKind.EXTRA_DIFF, f"{place}.diffs", None, got[other], cause))
    return out


def _diff(kind: DifferenceKind, place: str, expected: Any, got: Any, cause: str = "") -> Found:
    return Found(kind, place, expected, got, Equality.STRUCTURE, "diffs", cause)


def _of_diff(expected: dict[str, Any], got: Any, place: str, *, tagged: bool) -> list[Found]:
    if not isinstance(got, dict):
        return [_diff(DifferenceKind.FORM, place, expected, got, "no diff")]
    out: list[Found] = []
    operation = got.get("operation")
    if not isinstance(operation, str) or operation.upper() != expected["operation"]:
        out.append(_diff(DifferenceKind.DIFF, f"{place}.operation", expected["operation"], operation, "operation"))
    path = got.get("path")
    if isinstance(path, bytes):
        path = path.decode("utf-8", "surrogateescape")
    if path != expected["path"] and (not isinstance(path, str) or _legs(path) != _legs(expected["path"])):
        out.append(_diff(DifferenceKind.DIFF, f"{place}.path", expected["path"], path, "path"))
    value = got.get("value", _ABSENT)
    if "value" not in expected:
        if value is not _ABSENT and value is not None:
            out.append(_diff(DifferenceKind.DIFF, f"{place}.value", None, value, "a value of REMOVE"))
    elif value is _ABSENT:
        out.append(_diff(DifferenceKind.DIFF, f"{place}.value", expected["value"], None, "no value"))
    else:
        out += differences_of_documents(
            expected["value"], _document(expected["value"], value), f"{place}.value", tagged=tagged
        )
    return out


def _document(expected: Any, value: Any) -> Any:
    """The value, also of the form ``{"json_text": ...}`` where no such object is expected."""
    if isinstance(value, dict) and len(value) == 1 and "json_text" in value:
        document, wrong = document_in(value)
        if not wrong and not (isinstance(expected, dict) and "json_text" in expected):
            return document
    return value


@lru_cache(maxsize=4096)
def _legs(path: str) -> tuple[str | int, ...] | str:
    """The legs of a path: member names and array positions. A text that is no path stands for itself."""
    if not path.startswith("$"):
        return path
    legs: list[str | int] = []
    place = 1
    while place < len(path):
        leg = _LEG.match(path, place)
        if leg is None:
            return path
        quoted, plain, number = leg.groups()
        if number is not None:
            legs.append(int(number))
        elif plain is not None:
            legs.append(plain)
        else:
            try:
                legs.append(json.loads(quoted, strict=False))
            except ValueError:
                return path
        place = leg.end()
    return tuple(legs)
