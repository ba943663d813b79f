"""One undo record: what a statement did to a clustered record, and the bytes that it replaced (innodb-undo 4 to 6).

A record that undoes an update has the old values of the fields that changed. An off-page value is there as its
reference. If the statement changed at most 100 bytes of it in place, the old bytes follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.innodb.records import REFERENCE_SIZE, OffPage, Reference, Value
from conformance.reference.innodb.undo.log import NOWHERE, RollPointer, free_end

if TYPE_CHECKING:
    from conformance.reference.errors import DecodeError
    from conformance.reference.innodb.pages import Page

_ORDER_KEPT: Final = 0x10  # no field of any index has changed
_FLAGS_FOLLOW: Final = 0x40
_OFF_PAGE: Final = 0x80  # an old value is off-page
_NULL: Final = 0xFFFFFFFF
_EXTERNAL: Final = 0xFFFFFFFF - 16384  # added to the length of what the record has of an off-page value
_VIRTUAL: Final = 1023  # added to the position of a virtual column
_VIRTUAL_FORMAT: Final = 0xF1
_MANY: Final = 0xFF  # in place of a length: the values of a multi-valued index
_INFO_BITS: Final = 0xF0


class UndoType(IntEnum):
    """The action of the statement that the record undoes."""

    INSERT = 11
    UPDATE = 12
    INSERT_OVER_DELETED = 13  # the clustered record was there, marked as deleted
    DELETE = 14


class SmallChange(NamedTuple):
    """Bytes that a statement overwrote in the pages of a LOB.

    ``page``: the first page of the LOB. ``version``: the highest that it had. ``offset`` counts in the whole value.
    """

    page: int
    version: int
    offset: int
    old: bytes


class OldField(NamedTuple):
    """A field that the statement changed: its place among the fields of the record, and the value before."""

    position: int
    value: Value
    changes: tuple[SmallChange, ...]


@dataclass(frozen=True, slots=True)
class UndoRecord:
    """An undo record. ``info``, ``transaction``, ``roll_pointer`` and ``fields`` are those of the older version.

    They are those of no version, and empty, if the record undoes an insert.
    """

    type: UndoType
    number: int
    table_id: int
    key: tuple[bytes | None, ...]
    info: int = 0
    transaction: int = 0
    roll_pointer: RollPointer = NOWHERE
    fields: tuple[OldField, ...] = ()


def read_undo_record(page: Page, offset: int, keys: int) -> UndoRecord:
    """The undo record at an offset of its page. ``keys``: how many fields the key of the table has."""
    reader = _Reader(page, offset)
    kind = reader.u1("type")
    code = kind & 0xF
    if code not in UndoType.__members__.values():
        raise page.error("bad-undo-type", "no record of the undo log has this type", offset + 2, "type", got=code)
    if kind & _FLAGS_FOLLOW and reader.u1("flags"):
        raise reader.error("unknown-undo-flags", "the flags of the record are not known", "flags", 0)
    number, table_id = reader.sparse("undo_number"), reader.sparse("table_id")
    if code == UndoType.INSERT:
        key = tuple([reader.plain("key") for _ in range(keys)])
        return UndoRecord(UndoType.INSERT, number, table_id, key)
    info = reader.u1("info_bits") & _INFO_BITS
    transaction = reader.u8("transaction", 6)
    pointer = RollPointer.of(reader.u8("roll_pointer", 7))
    key = tuple([reader.plain("key") for _ in range(keys)])
    fields = () if code == UndoType.DELETE else tuple(reader.fields(lobs=bool(kind & _OFF_PAGE)))
    reader.finish(ordering=code == UndoType.DELETE or not kind & _ORDER_KEPT)
    return UndoRecord(UndoType(code), number, table_id, key, info, transaction, pointer, fields)


class _Reader:
    """Reads a record from its third byte to its last two; a count is checked by what it counts."""

    def __init__(self, page: Page, offset: int) -> None:
        behind = free_end(page)
        self._page, self.at = page, offset + 2
        next_record = page.u2(offset, "next_record")
        self._end = next_record - 2
        if not offset + 4 < next_record <= behind:
            raise page.error("bad-undo-record", "the record ends outside the records of its page", offset,
                             "next_record", f"{offset + 5}..{behind}", next_record)  # fmt: skip
        if page.u2(self._end, "start") != offset:
            raise page.error("bad-undo-record", "the record's end leads to another start", self._end, "start", offset,
                             page.u2(self._end, "start"))  # fmt: skip

    def error(self, code: str, message: str, field: str, expected: object = None, got: object = None) -> DecodeError:
        """An error about what was just read, or is about to be."""
        return self._page.error(code, message, self.at, field, expected, got)

    def take(self, count: int, field: str) -> bytes:
        if count > self._end - self.at:
            raise self.error("bad-undo-record", "the field is longer than the record", field,
                             f"<= {self._end - self.at}", count)  # fmt: skip
        self.at += count
        return self._page.data[self.at - count : self.at]

    def u1(self, field: str) -> int:
        return self.take(1, field)[0]

    def u4(self, field: str) -> int:
        """A number of one to five bytes (innodb-undo 4)."""
        first = self.u1(field)
        for bits, more, high in _FORMS:
            if first < bits:
                return (first & more) << 8 * high | int.from_bytes(self.take(high, field), "big")
        if first == 0xF0:
            return int.from_bytes(self.take(4, field), "big")
        for bits, more, high in _NEGATIVE_FORMS:
            if 0xF8 <= first < bits:
                low = (first & more) << 8 * high | int.from_bytes(self.take(high, field), "big")
                return 0x100000000 - ((more + 1) << 8 * high) + low
        self.at -= 1
        raise self.error("bad-undo-number", "no number begins so", field, "<= 0xfe", f"{first:#x}")

    def u8(self, field: str, size: int) -> int:
        """The high half as :meth:`u4`, then the low half as four bytes. ``size``: the bytes that a row has for it."""
        value = self.u4(field) << 32 | int.from_bytes(self.take(4, field), "big")
        if value >> 8 * size:
            raise self.error("bad-undo-number", "the number is too large", field, f"{size} bytes", f"{value:#x}")
        return value

    def sparse(self, field: str) -> int:
        """A number of 64 bits, of which most are below 2^32."""
        if self._page.u1(self.at, field) != 0xFF:
            return self.u4(field)
        self.at += 1
        return self.u4(field) << 32 | self.u4(field)

    def plain(self, field: str) -> bytes | None:
        """A value that cannot be off-page."""
        length = self.u4(field)
        return None if length == _NULL else self.take(length, field)

    def value(self, field: str) -> Value:
        """A value. Of an off-page one it may have more than the record had, for the indexes on its prefix."""
        length = self.u4(field)
        if length == _NULL:
            return None
        if length < _EXTERNAL:
            return self.take(length, field)
        local = length - _EXTERNAL
        if length == _EXTERNAL:
            local, length = self.u4(field), self.u4(field)
        else:
            length = local
        raw, at = self.take(length, field), self.at
        if not REFERENCE_SIZE <= local <= length:
            raise self.error("bad-undo-record", "an off-page value without its reference", field,
                             f"{REFERENCE_SIZE}..{length}", local)  # fmt: skip
        reference = Reference.of(raw[-REFERENCE_SIZE:])
        return OffPage(raw[: local - REFERENCE_SIZE], reference, self._page.number, at - REFERENCE_SIZE)

    def fields(self, *, lobs: bool) -> list[OldField]:
        """The update vector. Values of virtual columns are passed over: the record does not store them."""
        found, first = list[OldField](), True
        for number in range(self.u4("field_count")):
            name = f"field[{number}]"
            position = self.u4(f"{name}.position")
            if position >= _VIRTUAL:
                self._skip_virtual(name, first=first)
                first = False
                continue
            value = self.value(name)
            changes = tuple(self._small_changes(name)) if lobs and isinstance(value, OffPage) else ()
            found.append(OldField(position, value, changes))
        return found

    def _skip_virtual(self, name: str, *, first: bool) -> None:
        if first and self.u1(name) != _VIRTUAL_FORMAT:
            self.at -= 1
            raise self.error("unknown-undo-format", "virtual columns are in an unknown format", name,
                             f"{_VIRTUAL_FORMAT:#x}", f"{self._page.u1(self.at, name):#x}")  # fmt: skip
        self._skip_sized(name)
        for _ in range(2):  # the value before, and the one after
            if self._page.u1(self.at, name) == _MANY:
                self.at += 1
                self._skip_sized(name)
            else:
                self.value(name)

    def _skip_sized(self, name: str) -> None:
        """Pass over what begins with its length in two bytes, which count too; 0 and 1 stand for nothing."""
        self.take(max(int.from_bytes(self.take(2, name), "big") - 2, 0), name)

    def _small_changes(self, name: str) -> list[SmallChange]:
        if self.u1(f"{name}.flags"):
            raise self.error("unknown-undo-flags", "the flags of the changed value are not known", f"{name}.flags", 0)
        count = self.u4(f"{name}.changes")
        if not count:
            return []
        page, version = self.u4(f"{name}.first_page"), self.u4(f"{name}.version")
        self.sparse(f"{name}.transaction")
        self.sparse(f"{name}.undo_number")
        found = []
        for _ in range(count):
            offset = self.u4(f"{name}.offset")
            found.append(SmallChange(page, version, offset, self.take(self.u4(f"{name}.length"), name)))
            entries = self.u4(f"{name}.entries")
            if entries > 2:
                raise self.error("bad-undo-record", "a small change touches two pages at most", f"{name}.entries",
                                 "<= 2", entries)  # fmt: skip
            for _ in range(entries):
                self.sparse(f"{name}.modifier")
                self.sparse(f"{name}.modifier_undo")
        return found

    def finish(self, *, ordering: bool) -> None:
        """Pass over the fields of all indexes, for purge, and check that the record ends there."""
        if ordering:
            self._skip_sized("index_fields")
        if self.at != self._end:
            raise self.error("bad-undo-record", "the record does not end behind its fields", "end", self._end, self.at)


_FORMS: Final = ((0x80, 0x7F, 0), (0xC0, 0x3F, 1), (0xE0, 0x1F, 2), (0xF0, 0x0F, 3))
"""First bytes below this, their bits of the number, further bytes."""
_NEGATIVE_FORMS: Final = ((0xFC, 0x03, 1), (0xFE, 0x01, 2), (0xFF, 0x00, 3))
"""The same for numbers just below 2^32."""
