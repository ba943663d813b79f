"""JSON documents and diffs, byte by byte (jsonb sheet, sections 1 to 5; partial-update sheet, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.diffs import Operation
from conformance.reference.errors import CodecError, DecodeError, too_deep
from conformance.reference.explain.trace import as_text, short
from conformance.reference.jsonb.decode import decode_scalar, read_varlen
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import LARGE_ARRAY, MAX_DEPTH, OPAQUE, STRING
from conformance.reference.jsonb.view import View, open_document

if TYPE_CHECKING:
    from conformance.reference.explain.trace import Trace

_TYPES: Final = {
    0: "small object", 1: "large object", 2: "small array", 3: "large array", 4: "literal", 5: "int16", 6: "uint16",
    7: "int32", 8: "uint32", 9: "int64", 10: "uint64", 11: "double", 12: "string", 15: "opaque value",
}  # fmt: skip


def kind_name(kind: int) -> str:
    return _TYPES.get(kind, f"no type ({kind:#04x})")


def explain_diffs(trace: Trace, end: int) -> None:
    """All diffs of a column value that ends at ``end``."""
    number = 0
    while trace.cursor.pos < end:
        with trace.inside(f"diffs[{number}]"):
            code = trace.number(1, "operation", _operation)
            if code > Operation.REMOVE:
                raise DecodeError("bad-operation", "unknown operation", offset=trace.cursor.pos - 1, got=code)
            trace.raw(trace.packed("path_length"), "path")
            if code != Operation.REMOVE:
                length = trace.packed("data_length")
                explain_document(trace, length, "data")
        number += 1


def _operation(code: int) -> str:
    return Operation(code).name if code <= Operation.REMOVE else f"unknown ({code})"


def explain_document(trace: Trace, length: int, field: str) -> None:
    """A document that is the next ``length`` bytes. What is damaged in it is shown as bytes."""
    start = trace.cursor.skip(length, field)
    if not length:
        return
    data = trace.cursor.data[start : start + length]
    places: list[tuple[int, int, str, str]] = [(0, 1, "type", kind_name(data[0]))]
    try:
        # A writer spends at least three bytes on an element, and all bytes of a string: what is more is shared.
        _value(open_document(data), "", places, 0, [length // 3 + 1, length])
    except CodecError as error:  # MysqlError too: a DECIMAL that is none, too many levels
        places.append((length, length, "damage", str(error)))
        trace.damage.append(error.at(field, start))
    with trace.inside(field):
        covered = 0
        for begin, end, name, meaning in sorted(places, key=lambda place: place[:2]):
            if begin > covered:
                trace.note(start + covered, start + begin, "hole", "bytes that nothing points to")
                covered = begin
            if begin < covered or (begin == end and name != "damage"):
                continue  # bytes that two entries share are shown once
            trace.note(start + begin, start + end, name, meaning)
            covered = end
        if covered < length:
            trace.note(start + covered, start + length, "hole", "bytes that nothing points to")


def _value(view: View, name: str, places: list[tuple[int, int, str, str]], level: int, budget: list[int]) -> None:
    if view.kind > LARGE_ARRAY:
        _scalar(view, name, places, budget)
        return
    if level > 2 * MAX_DEPTH:
        raise too_deep()
    _spend(budget, view.count, 0, view.start)
    width = 4 if view.is_large else 2
    start = view.start
    prefix = f"{name}." if name else ""
    places.append((start, start + width, f"{prefix}count", f"{view.count} elements"))
    places.append((start + width, start + 2 * width, f"{prefix}size", f"{view.end - start} bytes"))
    keys: list[str] = []
    for index in range(view.count):
        if view.is_object:
            position, length = view.key_place(index)
            _spend(budget, 0, length, position)
            text = as_text(view.key(index))
            entry = view.keys + index * (width + 2)
            keys.append(text)
            words = f"{text}, at {position - start}, {length} bytes"
            places.append((entry, entry + width + 2, f"{prefix}key_entry[{index}]", words))
            places.append((position, position + length, f"{prefix}key[{index}]", text))
        else:
            keys.append("")
    for index in range(view.count):
        position, kind, field = view.entry(index)
        child = view.element(index)
        place = f"{prefix}value[{index}]"
        inlined = view.place(index) is None
        words = kind_name(kind)
        if inlined:
            words += f" {short(format_text(child.value()))}, inlined"
        else:
            words += f" at {field}"
        if keys[index]:
            words += f" (of {keys[index]})"
        places.append((position, position + 1 + width, f"{prefix}value_entry[{index}]", words))
        if not inlined:
            _value(child, place, places, level + 1, budget)


def _spend(budget: list[int], elements: int, size: int, offset: int) -> None:
    budget[0] -= elements
    budget[1] -= size
    if min(budget) < 0:
        raise DecodeError(
            "shared-children", "JSON values share elements or bytes beyond the size of the input", offset=offset
        )


def _scalar(view: View, name: str, places: list[tuple[int, int, str, str]], budget: list[int]) -> None:
    value, end = decode_scalar(view.data, view.kind, view.start, view.end)
    _spend(budget, 0, end - view.start, view.start)
    text = short(format_text(value))
    field = name or "value"
    if view.kind == STRING:
        length, begin = read_varlen(view.data, view.start, view.end)
        places.append((view.start, begin, f"{field}.length", f"{length} bytes"))
        places.append((begin, end, field, text))
    elif view.kind == OPAQUE:
        length, begin = read_varlen(view.data, view.start + 1, view.end)
        places.append((view.start, view.start + 1, f"{field}.field_type", str(view.data[view.start])))
        places.append((view.start + 1, begin, f"{field}.length", f"{length} bytes"))
        places.append((begin, end, field, text))
    else:
        places.append((view.start, end, field, text))
