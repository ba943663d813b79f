"""JSON documents and diffs, byte by byte (jsonb 1 to 5; partial-update 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError, DecodeError, too_deep
from conformance.reference.explain.trace import as_text, short
from conformance.reference.jsonb.decode import decode_scalar, read_varlen
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import LARGE_ARRAY, MAX_DEPTH, OPAQUE, STRING
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.partial.diffs import Operation

if TYPE_CHECKING:
    from conformance.reference.explain.trace import Trace

_TYPES: Final = {
    0: "small object", 1: "large object", 2: "small array", 3: "large array", 4: "literal", 5: "int16", 6: "uint16",
    7: "int32", 8: "uint32", 9: "int64", 10: "uint64", 11: "double", 12: "string", 15: "opaque value",
}  # fmt: skip

_LEVELS: Final = 2 * MAX_DEPTH  # in place 9.7.4 nests deeper than 100


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
    reading = _Reading(length)
    places = reading.places
    places.append((0, 1, "type", kind_name(data[0])))
    try:
        reading.value(open_document(data), "", 0)
    except CodecError as error:  # MysqlError too: a DECIMAL that is none, too many levels
        places.append((length, length, "damage", str(error)))
        trace.damage.append(error.at(field, start))
    with trace.inside(field):
        covered = 0
        places.sort(key=lambda place: place[:2])
        places.reverse()
        while places:  # each is gone when it is noted: their names are long
            begin, end, name, meaning = places.pop()
            if begin > covered:
                trace.note(start + covered, start + begin, "hole", "bytes that nothing points to")
                covered = begin
            if begin < covered or (begin == end and name != "damage"):
                continue  # bytes that two entries share are shown once
            trace.note(start + begin, start + end, name, meaning)
            covered = end
        if covered < length:
            trace.note(start + covered, start + length, "hole", "bytes that nothing points to")


class _Reading:
    """One document on its way to ``places``: (start, end, name, meaning) of everything in it.

    Containers that several entries share are gone into once, and count every time, with all that is in them.
    """

    __slots__ = ("bytes", "elements", "places", "seen")

    def __init__(self, length: int) -> None:
        self.places: list[tuple[int, int, str, str]] = []
        # A writer spends at least three bytes on an element, and all bytes of a string: what is more is shared.
        self.elements = length // 3 + 1
        self.bytes = length
        self.seen: dict[tuple[int, int], tuple[int, int, int]] = {}  # (elements, bytes, levels) in a container

    def value(self, view: View, name: str, level: int) -> int:
        """How many levels of containers it is."""
        if view.kind > LARGE_ARRAY:
            self._scalar(view, name)
            return 0
        key = (view.start, view.kind)
        if key in self.seen:
            elements, size, levels = self.seen[key]
            if level + levels - 1 > _LEVELS:  # the root is on level 0
                raise too_deep()
            self._spend(elements, size, view.start)
            return levels
        elements, size = self.elements, self.bytes
        levels = self._container(view, name, level)
        self.seen[key] = elements - self.elements, size - self.bytes, levels
        return levels

    def _container(self, view: View, name: str, level: int) -> int:
        if level > _LEVELS:
            raise too_deep()
        self._spend(view.count, 0, view.start)
        width = 4 if view.is_large else 2
        start = view.start
        places = self.places
        prefix = f"{name}." if name else ""
        places.append((start, start + width, f"{prefix}count", f"{view.count} elements"))
        places.append((start + width, start + 2 * width, f"{prefix}size", f"{view.end - start} bytes"))
        keys: list[str] = []
        for index in range(view.count):
            if view.is_object:
                position, length = view.key_place(index)
                self._spend(0, length, position)
                text = as_text(view.key(index))
                entry = view.keys + index * (width + 2)
                keys.append(text)
                words = f"{text}, at {position - start}, {length} bytes"
                places.append((entry, entry + width + 2, f"{prefix}key_entry[{index}]", words))
                places.append((position, position + length, f"{prefix}key[{index}]", text))
            else:
                keys.append("")
        levels = 0
        for index in range(view.count):
            position, kind, field = view.entry(index)
            child = view.element(index)
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
                levels = max(levels, self.value(child, f"{prefix}value[{index}]", level + 1))
        return 1 + levels

    def _scalar(self, view: View, name: str) -> None:
        places = self.places
        value, end = decode_scalar(view.data, view.kind, view.start, view.end)
        self._spend(0, end - view.start, view.start)
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

    def _spend(self, elements: int, size: int, offset: int) -> None:
        self.elements -= elements
        self.bytes -= size
        if self.elements < 0 or self.bytes < 0:
            raise DecodeError(
                "shared-children", "JSON values share elements or bytes beyond the size of the input", offset=offset
            )
