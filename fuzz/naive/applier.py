"""Diffs applied to plain values (partial-update 6.2)."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from fuzz.naive.diffs import INSERT, REMOVE
from fuzz.naive.documents import identical
from fuzz.naive.pieces import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.jsonb.values import JsonValue
    from fuzz.naive.diffs import Diff
    from fuzz.naive.paths import Leg


def apply(document: JsonValue, diffs: Sequence[Diff]) -> tuple[JsonValue, bool]:
    """The document after all diffs, and whether a REPLACE put a value where the same value was: a server that works in
    place may refuse that. Raises :class:`Refused`.
    """
    root: Any = [deepcopy(document)]
    unchanging = False
    for diff in diffs:
        if not diff.legs or any(kind == "several" for kind, _ in diff.legs):
            raise Refused("no place")
        parent: Any = root[0]
        for leg in diff.legs[:-1]:
            parent = parent[existing(parent, leg)]
        unchanging |= _change(parent, diff)
    result: JsonValue = root[0]
    return result, unchanging


def existing(parent: Any, leg: Leg) -> Any:
    """The key or index of an element that is there."""
    kind, value = leg
    if kind == "member" and isinstance(parent, dict) and value in parent:
        return value
    if kind != "member" and isinstance(parent, list) and int(value) < len(parent):
        return int(value) if kind == "cell" else len(parent) - 1 - int(value)
    raise Refused("no such element")


def _change(parent: Any, diff: Diff) -> bool:
    kind, value = leg = diff.legs[-1]
    if diff.operation == INSERT:
        if kind == "member":
            if not isinstance(parent, dict) or value in parent:
                raise Refused("no room for a member")
            parent[value] = deepcopy(diff.value)
        else:
            if not isinstance(parent, list):
                raise Refused("no array")
            place = int(value) if kind == "cell" else max(len(parent) - 1 - int(value), 0)
            parent.insert(place, deepcopy(diff.value))
        return False
    key = existing(parent, leg)
    if diff.operation == REMOVE:
        del parent[key]
        return False
    same = identical(parent[key], diff.value)
    parent[key] = deepcopy(diff.value)
    return same
