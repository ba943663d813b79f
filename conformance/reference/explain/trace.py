"""A reader that writes down what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.cursor import Cursor

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.errors import CodecError

_SHOWN = 60


class Span(NamedTuple):
    """Some bytes and their meaning. ``offset`` counts from the start of the event; ``data`` are the bytes."""

    offset: int
    data: bytes
    field: str
    meaning: str


def short(text: str) -> str:
    """A text for one line."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def as_text(data: bytes) -> str:
    """Bytes that should be text, in quotes."""
    return short(repr(data.decode("utf-8", "backslashreplace")))


class Trace:
    """A cursor over an event. ``field`` is the path of what is being read; see :meth:`inside`."""

    __slots__ = ("_names", "cursor", "damage", "spans")

    def __init__(self, data: bytes, pos: int = 0, end: int | None = None) -> None:
        self.cursor = Cursor(data, pos, end)
        self.spans: list[Span] = []
        self.damage: list[CodecError] = []  # inside values: what is around them can still be read
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self.cursor)

    def inside(self, name: str) -> _Inside:
        """``with trace.inside("rows[0]")``: fields read there are part of it."""
        return _Inside(self, name)

    def enter(self, name: str) -> None:
        self._names.append(name)

    def leave(self) -> None:
        self._names.pop()

    def note(self, start: int, end: int, field: str, meaning: str) -> None:
        """Write down bytes that were read in another way."""
        self.spans.append(Span(start, bytes(self.cursor.data[start:end]), ".".join([*self._names, field]), meaning))

    def number(self, size: int, field: str, show: Callable[[int], str] = str) -> int:
        """A little-endian number."""
        start = self.cursor.pos
        value = int.from_bytes(self.cursor.take(size, field), "little")
        self.note(start, start + size, field, show(value))
        return value

    def packed(self, field: str, show: Callable[[int], str] = str) -> int:
        """A packed integer."""
        start = self.cursor.pos
        value = self.cursor.packed(field)
        self.note(start, self.cursor.pos, field, show(value))
        return value

    def varint(self, field: str, *, signed: bool = False, show: Callable[[int], str] = str) -> int:
        """A number of the serialization library."""
        start = self.cursor.pos
        value = self.cursor.signed_varint(field) if signed else self.cursor.varint(field)
        self.note(start, self.cursor.pos, field, show(value))
        return value

    def raw(self, size: int, field: str, show: Callable[[bytes], str] = as_text) -> bytes:
        """Bytes."""
        start = self.cursor.pos
        data = self.cursor.take(size, field)
        if size:
            self.note(start, start + size, field, show(data))
        return data

    def rest(self, field: str, show: Callable[[bytes], str] = as_text) -> bytes:
        """All bytes that are left."""
        return self.raw(len(self.cursor), field, show)


class _Inside:
    __slots__ = ("_name", "_trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self._trace, self._name = trace, name

    def __enter__(self) -> None:
        self._trace.enter(self._name)

    def __exit__(self, *_: object) -> None:
        self._trace.leave()
