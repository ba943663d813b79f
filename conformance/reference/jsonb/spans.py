"""The meaning of the bytes of a stored document (jsonb 1 to 5), damaged and in-place updated documents included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from conformance.reference.errors import CodecError, DecodeError, too_deep
from conformance.reference.jsonb.decode import read_varlen
from conformance.reference.jsonb.text import format_text
from conformance.reference.jsonb.values import LARGE_ARRAY, MAX_DEPTH, OPAQUE, STRING
from conformance.reference.jsonb.view import View, open_document
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_TYPES: Final = {
    0: "small object", 1: "large object", 2: "small array", 3: "large array", 4: "literal", 5: "int16", 6: "uint16",
    7: "int32", 8: "uint32", 9: "int64", 10: "uint64", 11: "double", 12: "string", 15: "opaque value",
}  # fmt: skip
_LEVELS: Final = 2 * MAX_DEPTH  # in place 9.7.4 nests deeper than 100
_HOLE: Final = ("hole", "bytes that nothing points to")


class DocumentSpan(NamedTuple):
    """``document[start:end]``: the field, and its meaning for people. Only damage may have no bytes."""

    start: int
    end: int
    field: str
    meaning: str


class Sorter(Protocol):
    """Spans in the order of their traversal in, and in the order of their bytes out; equal ones stay in order.

    A document has far more spans than it has bytes to hold them. So whoever reads large ones gives a sorter that keeps
    them elsewhere.
    """

    def add(self, span: DocumentSpan, /) -> None: ...

    def take(self) -> Iterable[tuple[int, int, str, str]]: ...


class MemorySorter:
    """A sorter in memory."""

    def __init__(self) -> None:
        self._found: list[DocumentSpan] = []

    def add(self, span: DocumentSpan) -> None:
        self._found.append(span)

    def take(self) -> Iterator[DocumentSpan]:
        found = sorted(self._found, key=bounds_of)
        found.reverse()
        self._found.clear()
        while found:  # each is gone when it is taken: their names are long
            yield found.pop()


def bounds_of(span: Sequence[Any]) -> Any:
    """Return the bounds of a span, by which spans are sorted: start and end."""
    return span[:2]


def write_document_spans(
    data: bytes, short: Callable[[str], str], write: Callable[[DocumentSpan], None], sorter: Sorter
) -> CodecError | None:
    """Write the spans of a document, in order and without gaps; returns the damage, of which the last span tells.

    ``short`` cuts a text for one line.
    """
    if not data:
        return None
    reading = _Reading(len(data), short, sorter)
    reading.add(0, 1, "type", _TYPES.get(data[0], f"no type ({data[0]:#04x})"))
    damage = None
    try:
        reading.value(open_document(data), "", 0)
    except CodecError as error:  # MysqlError too: a DECIMAL that is none, too many levels
        reading.add(len(data), len(data), "damage", str(error))
        damage = error
    _without_gaps(sorter.take(), len(data), write)
    return damage


def _without_gaps(
    found: Iterable[tuple[int, int, str, str]], length: int, write: Callable[[DocumentSpan], None]
) -> None:
    """Write the spans with the holes between them; bytes that two entries share are shown once."""
    covered = 0
    for start, end, field, meaning in found:
        if start > covered:
            write(DocumentSpan(covered, start, *_HOLE))
            covered = start
        if start == covered and (end > covered or field == "damage"):
            write(DocumentSpan(start, end, field, meaning))
            covered = end
    if covered < length:
        write(DocumentSpan(covered, length, *_HOLE))


def _unpacked(number: int) -> tuple[int, int, int]:
    return number >> 40, number >> 8 & 0xFFFFFFFF, number & 0xFF


class _Reading:
    """The traversal of one document that fills the sorter.

    It enters containers that several entries share only once, and counts them and all their content each time.
    """

    __slots__ = ("bytes", "elements", "known", "short", "sorter")

    def __init__(self, length: int, short: Callable[[str], str], sorter: Sorter) -> None:
        self.short = short
        self.sorter = sorter
        # A writer spends at least three bytes on an element, and all bytes of a string: what is more is shared.
        self.elements = length // 3 + 1
        self.bytes = length
        # Elements, bytes and levels in a container, by its start and kind. Each is one number: there may be many.
        self.known: dict[int, int] = {}

    def add(self, start: int, end: int, field: str, meaning: str) -> None:
        self.sorter.add(DocumentSpan(start, end, field, meaning))

    def value(self, view: View, name: str, level: int) -> int:
        """Read a value; returns the levels of containers in it."""
        if view.kind > LARGE_ARRAY:
            self._scalar(view, name or "value")
            return 0
        key = view.start << 2 | view.kind
        if key in self.known:
            elements, size, levels = _unpacked(self.known[key])
            if level + levels - 1 > _LEVELS:  # the root is on level 0
                raise too_deep()
            self._spend(elements, size, view.start)
            return levels
        elements, size = self.elements, self.bytes
        levels = self._container(view, f"{name}." if name else "", level)
        self.known[key] = ((elements - self.elements) << 32 | size - self.bytes) << 8 | levels
        return levels

    def _container(self, view: View, prefix: str, level: int) -> int:
        if level > _LEVELS:
            raise too_deep()
        self._spend(view.count, 0, view.start)
        start, middle = view.start, (view.start + view.keys) // 2
        self.add(start, middle, f"{prefix}count", f"{view.count} elements")
        self.add(middle, view.keys, f"{prefix}size", f"{view.end - start} bytes")
        for index in range(view.count if view.is_object else 0):
            self._key(view, index, prefix)
        levels = 0
        for index in range(view.count):
            position, kind, field = view.entry(index)
            child = view.element(index)
            inlined = view.place(index) is None
            words = _TYPES.get(kind, f"no type ({kind:#04x})")
            words += f" {self.short(format_text(child.value()))}, inlined" if inlined else f" at {field}"
            if view.is_object:
                words += f" (of {self._key_text(view, index)})"
            self.add(position, view.entry_end(position), f"{prefix}value_entry[{index}]", words)
            if not inlined:
                levels = max(levels, self.value(child, f"{prefix}value[{index}]", level + 1))
        return 1 + levels

    def _key_text(self, view: View, index: int) -> str:
        return self.short(shown(view.key(index).decode("utf-8", "backslashreplace")))

    def _key(self, view: View, index: int, prefix: str) -> None:
        position, length = view.key_place(index)
        self._spend(0, length, position)
        text = self._key_text(view, index)
        words = f"{text}, at {position - view.start}, {length} bytes"
        self.add(*view.key_entry(index), f"{prefix}key_entry[{index}]", words)
        self.add(position, position + length, f"{prefix}key[{index}]", text)

    def _scalar(self, view: View, name: str) -> None:
        value, end = view.scalar()
        begin = view.start
        self._spend(0, end - begin, begin)
        if view.kind == OPAQUE:
            self.add(begin, begin + 1, f"{name}.field_type", str(view.data[begin]))
            begin += 1
        if view.kind in (STRING, OPAQUE):
            start = begin
            length, begin = read_varlen(view.data, start, view.end)
            self.add(start, begin, f"{name}.length", f"{length} bytes")
        self.add(begin, end, name, self.short(format_text(value)))

    def _spend(self, elements: int, size: int, offset: int) -> None:
        self.elements -= elements
        self.bytes -= size
        if self.elements < 0 or self.bytes < 0:
            raise DecodeError(
                "shared-children", "JSON values share elements or bytes beyond the size of the input", offset=offset
            )
