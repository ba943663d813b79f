"""JSON_MERGE_PATCH and JSON_MERGE_PRESERVE on values; ``None`` stands for SQL NULL in :func:`merge` only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.members import stored_order
from conformance.reference.partial.document import copy
from conformance.reference.partial.expression import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.jsonb.values import JsonValue


def merge_patch(target: JsonValue, patch: JsonValue) -> JsonValue:
    """RFC 7396: members of ``patch`` replace, null removes, and what is no object replaces the whole."""
    if not isinstance(patch, dict):
        return copy(patch)
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return stored_order(merged)


def merge_preserve(one: JsonValue, other: JsonValue) -> JsonValue:
    """Objects are merged member by member; everything else becomes one array."""
    if isinstance(one, dict) and isinstance(other, dict):
        merged = {name: copy(value) for name, value in one.items()}
        for name, value in other.items():
            merged[name] = merge_preserve(merged[name], value) if name in merged else copy(value)
        return stored_order(merged)
    items = [*(one if isinstance(one, list) else [one]), *(other if isinstance(other, list) else [other])]
    return [copy(item) for item in items]


def patched(arguments: Sequence[Known | None]) -> Known | None:
    """JSON_MERGE_PATCH: a later argument that is no object makes those before it irrelevant, NULL or not."""
    result = arguments[0]
    for argument in arguments[1:]:
        if argument is None:
            result = None
        elif not isinstance(argument.value, dict):
            result = argument
        elif result is not None:
            result = Known(merge_patch(result.value, argument.value))
    return result


def preserved(arguments: Sequence[Known | None]) -> Known | None:
    """JSON_MERGE_PRESERVE: NULL if an argument is NULL."""
    if None in arguments:
        return None
    first, *others = [argument for argument in arguments if argument is not None]
    value = first.value
    for other in others:
        value = merge_preserve(value, other.value)
    return Known(value)


MERGES: Final[dict[str, Callable[[Sequence[Known | None]], Known | None]]] = {
    "JSON_MERGE_PATCH": patched,
    "JSON_MERGE_PRESERVE": preserved,
    "JSON_MERGE": preserved,
}
