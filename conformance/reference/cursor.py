"""One bounded reader for event bodies.

Each event has one cursor. It cuts out nested values (rows, images, JSON entries, diffs) with one length check each;
precompiled structs read them. Every short read raises a :class:`DecodeError` with the offset and the name of the field.
The cursor compares each length with the bytes left before it allocates memory.

A :class:`Recorder` is a cursor that also records every field it reads: annotated hex comes from the decoders
themselves.
"""

from __future__ import annotations

from contextlib import contextmanager
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

from conformance.reference.errors import CodecError, DecodeError, EncodeError
from conformance.reference.integers import number_at, u4_at, u8_at
from conformance.reference.portable import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_T = TypeVar("_T")

_U2 = Struct("<H").unpack_from


def bitmap_size(count: int) -> int:
    """Bytes of a bitmap of ``count`` bits."""
    return (count + 7) // 8


def bits_of(number: int, count: int) -> str:
    """The lowest ``count`` bits of ``number`` as 0 and 1, the lowest first, in linear time.

    Shifting a long number once for each bit would take the square of its length.
    """
    return f"{number & (1 << count) - 1:0{count}b}"[::-1] if count else ""


def included(bitmap: int, count: int) -> tuple[int, ...]:
    """Positions of the bits that are 1 among the lowest ``count``: the columns of an image."""
    return tuple([index for index, bit in enumerate(bits_of(bitmap, count)) if bit == "1"])


class Layout:
    """Consecutive fields of fixed sizes: their names, and their :mod:`struct` formats.

    Numbers are little-endian. Readers, writers and recorders share the same layout object.
    """

    __slots__ = ("forms", "size", "struct", "unpack_from")

    def __init__(self, **forms: str) -> None:
        self.forms = forms
        self.struct = Struct("<" + "".join(forms.values()))
        self.size = self.struct.size
        self.unpack_from = self.struct.unpack_from

    def offset(self, name: str) -> int:
        """Where a field begins."""
        names = list(self.forms)
        return Struct("<" + "".join(self.forms[before] for before in names[: names.index(name)])).size

    def pack(self, *values: Any) -> bytes:
        """The bytes of the fields. Raises :class:`EncodeError` for a value that does not fit its field."""
        try:
            return self.struct.pack(*values)
        except struct_error:
            raise EncodeError("out-of-range", "a field does not fit", got=shown(values)[:80]) from None


class Cursor:
    """Reads ``data[pos:end]``; offsets in errors count from the start of ``data``.

    ``data`` may be a view of a large event, to avoid a copy; the pieces taken from it are views too.
    """

    __slots__ = ("data", "end", "pos")

    records: ClassVar[bool] = (
        False  # whether this cursor records fields: readers then take the slower path, field by field
    )

    def __init__(self, data: bytes | memoryview, pos: int = 0, end: int | None = None) -> None:
        self.data: bytes = data  # type: ignore[assignment]
        self.pos = pos
        self.end = len(data) if end is None else end

    def __len__(self) -> int:
        """The number of bytes left."""
        return self.end - self.pos

    def _short(self, count: int, field: str) -> DecodeError:
        return DecodeError(
            "truncated",
            f"{field} needs {count} bytes",
            offset=self.pos,
            expected=count,
            got=self.end - self.pos,
            path=(field,),
        )

    def take(self, count: int, field: str) -> bytes:
        """Return the next ``count`` bytes, and move behind them."""
        pos = self.pos
        if count < 0 or count > self.end - pos:
            raise self._short(count, field)
        self.pos = pos + count
        return self.data[pos : pos + count]

    def skip(self, count: int, field: str) -> int:
        """Pass over ``count`` bytes; returns their start."""
        pos = self.pos
        if count < 0 or count > self.end - pos:
            raise self._short(count, field)
        self.pos = pos + count
        return pos

    def rest(self, field: str) -> bytes:  # noqa: ARG002 - a recorder wants it
        """All bytes left."""
        pos, self.pos = self.pos, self.end
        return self.data[pos : self.end]

    def fields(self, layout: Layout, what: str) -> tuple[Any, ...]:
        """The values of the fields of a layout."""
        pos = self.pos
        if layout.size > self.end - pos:
            raise self._short(layout.size, what)
        self.pos = pos + layout.size
        return layout.unpack_from(self.data, pos)

    def u1(self, field: str) -> int:
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        self.pos = pos + 1
        return self.data[pos]

    def u2(self, field: str) -> int:
        pos = self.skip(2, field)
        value: int = _U2(self.data, pos)[0]
        return value

    def u4(self, field: str) -> int:
        return u4_at(self.data, self.skip(4, field))

    def u8(self, field: str) -> int:
        return u8_at(self.data, self.skip(8, field))

    def number(self, size: int, field: str) -> int:
        """A little-endian unsigned number of ``size`` bytes."""
        return number_at(self.data, self.skip(size, field), size)

    def octets(self, count: int, field: str, first: int = 0) -> bytes:  # noqa: ARG002 - a recorder wants it
        """``count`` numbers of one byte each; ``first`` is the index of the first number in recorded field names."""
        pos = self.skip(count, field)
        return self.data[pos : self.pos]

    def bitmap(self, count: int, field: str, items: Sequence[int] | None = None) -> bytes:  # noqa: ARG002
        """A bitmap of ``count`` bits, the lowest first. Bit i stands for ``items[i]``, or for the number i."""
        pos = self.skip(bitmap_size(count), field)
        return self.data[pos : self.pos]

    def sized(self, size: int, field: str) -> bytes:
        """A length of ``size`` bytes, then that many bytes."""
        return self.take(self.number(size, field), field)

    def packed(self, field: str) -> int:
        """A packed integer (net_field_length): 1, 3, 4 or 9 bytes; longer forms than needed are accepted
        (binlog-events 1.1)."""
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        first = self.data[pos]
        if first < 251:
            self.pos = pos + 1
            return first
        if first == 252:
            size = 2
        elif first == 253:
            size = 3
        elif first == 254:
            size = 8
        else:
            raise DecodeError(
                "bad-packed-integer",
                f"{field} starts with {first:#04x}, which is not a length",
                offset=pos,
                expected="0x00..0xfa, 0xfc, 0xfd or 0xfe",
                got=f"{first:#04x}",
                path=(field,),
            )
        if size + 1 > self.end - pos:
            raise self._short(size + 1, field)
        self.pos = pos + 1 + size
        return number_at(self.data, pos + 1, size)

    def packed_bytes(self, field: str) -> bytes:
        """A packed integer as length, then that many bytes."""
        return self.take(self.packed(field), field)

    def packed_pairs(self, first: str, second: str) -> tuple[tuple[int, int], ...]:
        """Pairs of packed integers up to the end of the cursor."""
        numbers = self.packed_list(first)
        if len(numbers) % 2:
            raise DecodeError("truncated", f"a {first} without its {second}", offset=self.pos, path=(second,))
        both = iter(numbers)
        return tuple(zip(both, both, strict=True))

    def packed_list(self, field: str) -> Sequence[int]:
        """Packed integers up to the end of the cursor."""
        rest = self.data[self.pos : self.end]
        if not rest or max(rest) < 251:  # every packed integer takes one byte
            self.pos = self.end
            return rest
        found = []
        while self.pos < self.end:
            found.append(self.packed(field))
        return found

    def packed_strings(self, field: str, count: int = -1) -> list[bytes]:
        """Strings with packed lengths: ``count`` of them, or all strings up to the end of the cursor."""
        data, pos, end = self.data, self.pos, self.end
        found = []
        while pos < end and count:
            size = data[pos]
            stop = pos + 1 + size
            if size > 250 or stop > end:  # a length of more than one byte, or too few bytes
                self.pos = pos
                found.append(self.packed_bytes(field))
                stop = self.pos
            else:
                found.append(data[pos + 1 : stop])
            pos = stop
            count -= 1
        self.pos = pos
        if count > 0:
            raise self._short(count, field)
        return found

    def varint(self, field: str) -> int:
        """An unsigned integer of the serialization library: trailing one bits of the first byte count extra bytes
        (binlog-events 1.2)."""
        pos = self.pos
        if pos >= self.end:
            raise self._short(1, field)
        first = self.data[pos]
        size = ((first + 1) & ~first).bit_length()  # 1 + trailing ones; 9 for 0xff
        raw = Cursor.take(self, size, field)
        if size == 9:
            return int.from_bytes(raw[1:], "little")
        return int.from_bytes(raw, "little") >> size

    def signed_varint(self, field: str) -> int:
        """Zigzag over :meth:`varint`."""
        value = self.varint(field)
        return (value >> 1) ^ -(value & 1)

    def varint_bytes(self, field: str) -> bytes:
        """A length as :meth:`varint`, then that many bytes."""
        return self.take(self.varint(field), field)

    def part(self, count: int, field: str) -> Self:
        """A new cursor over the next ``count`` bytes; this cursor moves behind them."""
        pos = self.skip(count, field)
        return type(self)(self.data, pos, self.pos)

    def items(self, name: str, count: int = -1) -> Iterable[int]:  # noqa: ARG002 - a recorder wants it
        """Numbers of the items that the caller's loop reads: 0 to ``count - 1``, or on to the end of the cursor."""
        return range(count) if count >= 0 else self._until_the_end()

    def numbered(self, count: int = -1) -> Iterable[int]:
        """As :meth:`items`, for fields: the number stands behind the field's own name."""
        return range(count) if count >= 0 else self._until_the_end()

    def _until_the_end(self) -> Iterator[int]:
        number = 0
        while self.pos < self.end:
            yield number
            number += 1

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """In this context, recorded fields are parts of ``name``."""
        try:
            yield
        except CodecError as error:
            raise error.at(name) from None

    def refuse(self, error: DecodeError) -> None:
        """Raise an error about a value that does not stop the reading of later bytes. A recorder goes on."""
        raise error

    def note(self, start: int, field: str, value: object) -> None:
        """Tell a recorder the meaning of the bytes from ``start`` on, which the decoder read without the cursor."""

    def expect_end(self, what: str) -> None:
        """Raise unless all bytes were read."""
        if self.pos != self.end:
            raise DecodeError(
                "trailing-bytes",
                f"{what} has bytes after its last field",
                offset=self.pos,
                expected=0,
                got=self.end - self.pos,
            )


class Reading(NamedTuple):
    """A recorded field: ``data[start:end]``. ``field`` is its path, ``value`` the decoder's value."""

    start: int
    end: int
    field: str
    value: Any


class Readings(Protocol):
    """Takes readings one by one."""

    def append(self, reading: Reading, /) -> None: ...


class Recorder(Cursor):
    """A cursor that records every field it reads, in order; ``readings`` is shared with its parts.

    ``readings`` is a list, or takes each reading at once: an event has far more fields than it has bytes to hold them.
    A recorder goes on behind refused values, because their bytes still have a meaning.
    """

    __slots__ = ("_number", "_path", "readings")

    records = True

    def __init__(
        self, data: bytes | memoryview, pos: int = 0, end: int | None = None, readings: Readings | None = None
    ) -> None:
        super().__init__(data, pos, end)
        self.readings: Any = [] if readings is None else readings
        self._path = self._number = ""

    def note(self, start: int, field: str, value: object) -> None:
        if start < self.pos:
            self.readings.append(Reading(start, self.pos, f"{self._path}{field}{self._number}", value))

    def _noted(self, start: int, field: str, value: _T) -> _T:
        self.note(start, field, value)
        return value

    def take(self, count: int, field: str) -> bytes:
        return self._noted(self.pos, field, super().take(count, field))

    def rest(self, field: str) -> bytes:
        return self._noted(self.pos, field, super().rest(field))

    def fields(self, layout: Layout, what: str) -> tuple[Any, ...]:  # noqa: ARG002 - each field has its own name
        found: list[Any] = []
        for field, form in layout.forms.items():
            start = self.pos
            found += super().fields(Layout(**{field: form}), field)
            self.note(start, field, found[-1])
        return tuple(found)

    def u1(self, field: str) -> int:
        return self._noted(self.pos, field, super().u1(field))

    def u2(self, field: str) -> int:
        return self._noted(self.pos, field, super().u2(field))

    def u4(self, field: str) -> int:
        return self._noted(self.pos, field, super().u4(field))

    def u8(self, field: str) -> int:
        return self._noted(self.pos, field, super().u8(field))

    def number(self, size: int, field: str) -> int:
        return self._noted(self.pos, field, super().number(size, field))

    def octets(self, count: int, field: str, first: int = 0) -> bytes:
        start = self.pos
        for number in range(count):
            self._number = f"[{first + number}]"
            self.u1(field)
        self._number = ""
        return self.data[start : self.pos]

    def bitmap(self, count: int, field: str, items: Sequence[int] | None = None) -> bytes:
        start, raw = self.pos, super().bitmap(count, field)
        bits = included(int.from_bytes(raw, "little"), count)
        self.note(start, field, list(bits if items is None else map(items.__getitem__, bits)))
        return raw

    def sized(self, size: int, field: str) -> bytes:
        return self.take(self.number(size, self._length(field)), field)

    def packed(self, field: str) -> int:
        return self._noted(self.pos, field, super().packed(field))

    def packed_bytes(self, field: str) -> bytes:
        return self.take(self.packed(self._length(field)), field)

    def packed_list(self, field: str) -> Sequence[int]:
        return [self.packed(field) for _ in self.numbered()]

    def packed_pairs(self, first: str, second: str) -> tuple[tuple[int, int], ...]:
        return tuple([(self.packed(first), self.packed(second)) for _ in self.numbered()])

    def packed_strings(self, field: str, count: int = -1) -> list[bytes]:
        return [self.packed_bytes(field) for _ in self.numbered(count)]

    def varint(self, field: str) -> int:
        return self._noted(self.pos, field, super().varint(field))

    def signed_varint(self, field: str) -> int:
        start = self.pos
        value = super().varint(field)
        return self._noted(start, field, (value >> 1) ^ -(value & 1))

    def varint_bytes(self, field: str) -> bytes:
        return self.take(self.varint(self._length(field)), field)

    def part(self, count: int, field: str) -> Self:
        part = super().part(min(count, len(self)), field)  # the read itself reports the missing bytes
        part.readings, part._path, part._number = self.readings, self._path, self._number  # noqa: SLF001 - its own kind
        return part

    def items(self, name: str, count: int = -1) -> Iterable[int]:
        outer = self._path
        for number in super().items(name, count):
            self._path = f"{outer}{name}[{number}]."
            yield number
        self._path = outer

    def numbered(self, count: int = -1) -> Iterable[int]:
        outer = self._number
        for number in super().numbered(count):
            self._number = f"{outer}[{number}]"
            yield number
        self._number = outer

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        outer = self._path
        self._path = f"{outer}{name}."
        yield
        self._path = outer

    def refuse(self, error: DecodeError) -> None:
        """Keep the error; a reader without a recorder raises it."""

    @staticmethod
    def _length(field: str) -> str:
        return f"{field}_length"


class Decoded:
    """A value that is decoded from bytes: ``read`` takes its fields from a cursor."""

    __slots__ = ()

    @classmethod
    def read(cls, cursor: Cursor) -> Self:
        """Read the next value; ``read`` decides whether bytes behind it are refused or are part of the value."""
        raise NotImplementedError

    @classmethod
    def decode(cls, data: bytes | memoryview) -> Self:
        """Decode the value that is exactly ``data``."""
        return cls.read(Cursor(data))


def encode_packed(value: int) -> bytes:
    """The shortest packed integer: 0..250 in 1 byte, then 3, 4 or 9 bytes (binlog-events 1.1)."""
    if 0 <= value < 251:
        return bytes((value,))
    if value < 0:
        raise ValueError(f"a packed integer cannot be negative: {value}")
    if value < 1 << 16:
        return b"\xfc" + value.to_bytes(2, "little")
    if value < 1 << 24:
        return b"\xfd" + value.to_bytes(3, "little")
    return b"\xfe" + value.to_bytes(8, "little")


def packed_size(value: int) -> int:
    """Length in bytes of :func:`encode_packed`."""
    return 1 if value < 251 else 3 if value < 1 << 16 else 4 if value < 1 << 24 else 9


def encode_varint(value: int) -> bytes:
    """An unsigned integer in the serialization library's form, 1 to 9 bytes (binlog-events 1.2)."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"outside 0..2^64-1: {value}")
    size = max(1, (value.bit_length() + 6) // 7)
    if size > 8:
        return b"\xff" + value.to_bytes(8, "little")
    return (value << size | (1 << (size - 1)) - 1).to_bytes(size, "little")


def encode_signed_varint(value: int) -> bytes:
    """A signed integer: zigzag, then :func:`encode_varint` (binlog-events 1.2)."""
    return encode_varint((value << 1) ^ (value >> 63))
