"""JSON functions on plain values, which they may change (partial-update 2, partial-update 2.5, RFC 7396)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fuzz.naive import paths
from fuzz.naive.applier import existing
from fuzz.naive.pieces import Refused
from fuzz.naive.terms import NULL, NoOpinion, Term, document

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.jsonb.values import JsonValue
    from fuzz.naive.paths import Leg

    Change = Callable[[list[Any], list[Leg], JsonValue], None]


def _path(term: Term) -> list[Leg]:
    if term.kind != "text":
        raise NoOpinion
    legs = paths.read(str(term.value).encode())
    if any(kind == "several" for kind, _ in legs):
        raise Refused("no single place")
    return legs


def _changing(change: Change) -> Callable[[list[Term]], Term]:
    """A function of a document and pairs of path and value, each applied to what the one before made."""

    def function(given: list[Term]) -> Term:
        if len(given) < 3 or not len(given) % 2:
            raise NoOpinion
        start = document(given[0])
        if start.kind == "null":
            return NULL
        box: list[Any] = [start.value]  # the root is the element of an array
        for path, value in zip(given[1::2], given[2::2], strict=True):
            if path.kind == "null":
                return NULL
            change(box, _path(path), value.value)  # NULL is JSON null, text a string
        return Term("json", box[0])

    return function


def _stripped(box: list[Any], legs: list[Leg]) -> list[Leg]:
    """The way from the box, without cells that mean the value itself as it is no array."""
    kept: list[Leg] = [("cell", 0)]
    for leg in legs:
        if leg in (("cell", 0), ("last", 0)) and not isinstance(_found(box, kept), list | _Nothing):
            continue
        kept.append(leg)
    return kept


class _Nothing:
    """There is no value."""


def _found(node: Any, legs: list[Leg]) -> Any:
    try:
        for leg in legs:
            node = node[existing(node, leg)]
    except Refused:
        return _Nothing()
    return node


def _assign(box: list[Any], way: list[Leg], value: Any) -> None:
    parent = _found(box, way[:-1])
    parent[existing(parent, way[-1])] = value


def _setting(*, replaces: bool, inserts: bool) -> Change:
    """JSON_SET, JSON_REPLACE, JSON_INSERT (partial-update 2.1)."""

    def change(box: list[Any], legs: list[Leg], value: JsonValue) -> None:
        way = _stripped(box, legs)
        if not isinstance(_found(box, way), _Nothing):
            if replaces:
                _assign(box, way, value)
            return
        parent, (kind, place) = _found(box, way[:-1]), way[-1]
        if not inserts or isinstance(parent, _Nothing):
            return
        if kind == "member":
            if isinstance(parent, dict):
                parent[str(place)] = value
        elif isinstance(parent, list):
            parent.insert(0 if kind == "last" else len(parent), value)
        else:  # a value that is no array becomes one of two
            _assign(box, way[:-1], [value, parent] if kind == "last" else [parent, value])

    return change


def _append(box: list[Any], legs: list[Leg], value: JsonValue) -> None:
    """JSON_ARRAY_APPEND: what is no array becomes the first element of one."""
    way = _stripped(box, legs)
    node = _found(box, way)
    if not isinstance(node, _Nothing):
        _assign(box, way, [*(node if isinstance(node, list) else [node]), value])


def _array_insert(box: list[Any], legs: list[Leg], value: JsonValue) -> None:
    """JSON_ARRAY_INSERT: in front of the cell, which is no other value's."""
    if not legs or legs[-1][0] == "member":
        raise Refused("the path ends in no cell")
    array = _found(box, [("cell", 0), *legs[:-1]])
    if isinstance(array, list):
        kind, place = legs[-1]
        array.insert(int(place) if kind == "cell" else max(len(array) - 1 - int(place), 0), value)


def _remove(given: list[Term]) -> Term:
    """JSON_REMOVE (partial-update 2.2)."""
    if len(given) < 2:
        raise NoOpinion
    start = document(given[0])
    if start.kind == "null" or NULL in given[1:]:
        for path in given[1:]:
            if path.kind != "null":
                _path(path)
        return NULL
    box: list[Any] = [start.value]
    ways = [_path(path) for path in given[1:]]
    if [] in ways:
        raise Refused("the root stays")
    for legs in ways:
        way = _stripped(box, legs)
        if len(way) > 1 and not isinstance(_found(box, way), _Nothing):
            parent = _found(box, way[:-1])
            del parent[existing(parent, way[-1])]
    return Term("json", box[0])


def _patch(target: JsonValue, patch: JsonValue) -> JsonValue:
    """RFC 7396: null removes a member, and is no value anywhere in a patch."""
    if not isinstance(patch, dict):
        return patch
    kept = target if isinstance(target, dict) else {}
    changed = {name: _patch(kept.get(name), value) for name, value in patch.items() if value is not None}
    return {**{name: value for name, value in kept.items() if name not in patch}, **changed}


def _merge_patch(given: list[Term]) -> Term:
    """JSON_MERGE_PATCH: after a NULL only what is no object is a result again (partial-update 2.4)."""
    result, *others = _several(given)
    for other in others:
        if other.kind == "null" or not isinstance(other.value, dict):
            result = other
        elif result.kind != "null":
            result = Term("json", _patch(result.value, other.value))
    return result


def _merge_preserve(given: list[Term]) -> Term:
    """JSON_MERGE_PRESERVE: all that stands at one place becomes one array, objects one object."""
    documents = _several(given)
    if NULL in documents:
        return NULL
    result = documents[0].value
    for other in documents[1:]:
        result = _both(result, other.value)
    return Term("json", result)


def _both(one: JsonValue, other: JsonValue) -> JsonValue:
    if isinstance(one, dict) and isinstance(other, dict):
        names = {**one, **other}
        return {
            name: _both(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name))
            for name in names
        }
    arrays: list[list[Any]] = [value if isinstance(value, list) else [value] for value in (one, other)]
    return [*arrays[0], *arrays[1]]


def _several(given: list[Term]) -> list[Term]:
    if len(given) < 2:
        raise NoOpinion
    return list(map(document, given))


FUNCTIONS: Final[dict[str, Callable[[list[Term]], Term]]] = {
    "JSON_SET": _changing(_setting(replaces=True, inserts=True)),
    "JSON_REPLACE": _changing(_setting(replaces=True, inserts=False)),
    "JSON_INSERT": _changing(_setting(replaces=False, inserts=True)),
    "JSON_ARRAY_APPEND": _changing(_append),
    "JSON_ARRAY_INSERT": _changing(_array_insert),
    "JSON_REMOVE": _remove,
    "JSON_MERGE_PATCH": _merge_patch,
    "JSON_MERGE_PRESERVE": _merge_preserve,
}
