"""Each field of the pages of one large object, against what is known of its row from elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.lob_pages import tables
from conformance.checks.lob_pages.tables import address, number, raw
from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

JUDGED: Final = ("LOB12", "LOB14", "LOB15", "LOB16", "LOB17", "LOB18", "LOB19", "LOB21")
LENGTH_DEVIATION: Final = "lob-entry-length"
_INDEX: Final = "INDEX"  # the server's name of a page with records
_ROLL_POINTER: Final = 7
_LENGTH_AT: Final = 16  # in the reference
_BASE: Final = 4  # bytes of a list's length, in front of its first and last entry
_INDEX_BODY: Final = 39  # of an index page, where its entries begin

Address = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """A statement's change: its transaction, its number among those of the transaction, and the document it stored."""

    transaction: int
    undo: int
    document: bytes


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A row as INFORMATION_SCHEMA and the binary log know it. ``changes``: the INSERT, and each partial update."""

    id: int
    size: int  # JSON_STORAGE_SIZE
    changes: tuple[Change, ...]
    offsets: tuple[int, ...]  # of the document, to be looked up through the index

    @property
    def last(self) -> Change:
        return self.changes[-1]

    def change(self, entry: bytes) -> Change | None:
        """The change that made an index entry, by its version."""
        version = number(entry, "entry", "version")
        return self.changes[version - 1] if 1 <= version <= len(self.changes) else None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A copy of a table's file; its space, and each page's type in the server's words, from INFORMATION_SCHEMA."""

    data: bytes
    page_size: int
    space: int
    names: Mapping[int, str]

    def page(self, at: int) -> bytes:
        """The bytes of a page; none where the file has no such page."""
        return self.data[at * self.page_size : (at + 1) * self.page_size]

    def type(self, at: int) -> int:
        """The number in a page's header."""
        return int.from_bytes(self.page(at)[24:26], "big")

    def entry(self, at: Address) -> bytes:
        """The bytes of an index entry."""
        return self.page(at[0])[at[1] : at[1] + tables.ENTRY_SIZE]

    def listed(self, base: bytes) -> list[Address]:
        """The entries of a list, as many as it says that it has, each once."""
        found: dict[Address, None] = {}
        here = address(base[_BASE:])
        while here is not None and here not in found and len(found) < int.from_bytes(base[:_BASE], "big"):
            found[here] = None
            here = address(raw(self.entry(here), "entry", "next"))
        return list(found)

    def length(self, entry: bytes) -> int:
        """The length that an entry says: of four bytes, or of the first two of them."""
        said = number(entry, "entry", "data length")
        return said if said < self.page_size else said >> 16

    def content(self, entry: bytes) -> bytes:
        """The data in the page that an entry points to, as long as that page says."""
        page = self.page(number(entry, "entry", "page"))
        first = int.from_bytes(page[24:26], "big") == tables.TYPES["LOB_FIRST"]
        start = tables.FIRST_DATA if first else tables.DATA
        return page[start : start + number(page, "first page" if first else "data page", "data length")]


def compressed_types(file: KnownFile) -> tuple[int, list[Problem]]:
    """How many pages of a compressed large object the file has, and what is wrong with their types (LOB13).

    Each number means the type that the server's own table of pages names, and every type is there.
    """
    wanted = {number: name for name, number in tables.TYPES.items() if name.startswith("ZLOB")}
    missing = dict(wanted)
    pages, found = 0, list[Problem]()
    for at in range(len(file.data) // file.page_size):
        number, name = file.type(at), file.names.get(at)
        if number not in wanted and name not in wanted.values():
            continue
        pages += 1
        missing.pop(number, None)
        if wanted.get(number) != name:
            message = "a page has another type than the server's table of pages says"
            found.append(Problem(f"page {at}", str(tables.TYPES.get(str(name), name)), str(number), message))
    found += [Problem("types in the file", name, "none", "a type of page does not occur") for name in missing.values()]
    return pages, found


class Judge:
    """The problems of one file, by requirement. ``short_lengths``: whether :data:`LENGTH_DEVIATION` is listed."""

    def __init__(self, file: KnownFile, *, short_lengths: bool) -> None:
        self.file = file
        self._short_lengths = short_lengths
        self._deviating: set[int] = set()
        self.problems: dict[str, list[Problem]] = defaultdict(list)
        self._reached: Counter[int] = Counter()

    def _hold(self, requirement: str, field: str, expected: object, got: object, deviation: str | None = None) -> None:
        if expected != got:
            message = "a field is not what the server itself says elsewhere"
            shown = [value.hex() if isinstance(value, bytes) else str(value) for value in (expected, got)]
            self.problems[requirement].append(Problem(field, shown[0][:80], shown[1][:80], message,
                                                      deviation=deviation))  # fmt: skip

    # --- from the row to its pages ---------------------------------------------------------------------------------

    def row(self, row: KnownRow) -> None:
        """Follow the reference of a row to all of its pages."""
        reference = self._reference(row)
        if reference is None:  # nothing else of the row can be judged
            for requirement in JUDGED:
                self._hold(requirement, f"row {row.id}: reference", "found", "not found")
            return
        name = f"row {row.id}: reference"
        version = len(row.changes)
        self._hold("LOB15", f"{name}, version", version, number(reference, "reference", "version"))
        self._hold("LOB15", f"{name}, length", row.size, int.from_bytes(reference[_LENGTH_AT:], "big"))
        first = number(reference, "reference", "page")
        self._hold("LOB15", f"{name}, page", "LOB_FIRST", self.file.names.get(first))
        self._first_page(row, first)
        page = self.file.page(first)
        entries = self.file.listed(raw(page, "first page", "index list"))
        older = {at: self.file.listed(raw(self.file.entry(at), "entry", "older versions")) for at in entries}
        self._slots(row, first, [*entries, *(at for listed in older.values() for at in listed)])
        self._types(row, first, [*entries, *(at for listed in older.values() for at in listed)])
        self._entries(row, entries, older)
        self._offsets(row, entries)

    def _reference(self, row: KnownRow) -> bytes | None:
        """The 20 bytes behind key, DB_TRX_ID and DB_ROLL_PTR."""
        key = (0x80000000 | row.id).to_bytes(4, "big") + row.last.transaction.to_bytes(6, "big")
        pattern = re.escape(key) + b".{%d}" % _ROLL_POINTER + b"(" + re.escape(self.file.space.to_bytes(4, "big"))
        found = re.compile(pattern + b".{16})", re.DOTALL)
        for at, name in self.file.names.items():
            match = found.search(self.file.page(at)) if name == _INDEX else None
            if match is not None:
                return match[1]
        return None

    def _first_page(self, row: KnownRow, first: int) -> None:
        page = self.file.page(first)
        listed = len(self.file.listed(raw(page, "first page", "index list")))
        inserted = row.changes[0]
        undo = 0 if row.last is inserted else row.last.undo  # only an update writes it (innodb-lob 3)
        capacity = self.file.page_size - tables.FIRST_DATA - 8
        length = min(row.size, capacity)
        for field, expected in (
            ("format", 0), ("flags", 0), ("version", len(row.changes)), ("last transaction", row.last.transaction),
            ("last undo number", undo), ("data length", length), ("transaction", inserted.transaction),
        ):  # fmt: skip
            self._hold("LOB16", f"row {row.id}: first page, {field}", expected, number(page, "first page", field))
        rest = max(0, row.size - capacity)
        pieces = 1 + -(-rest // (self.file.page_size - tables.DATA - 8))
        self._hold("LOB16", f"row {row.id}: first page, index list", pieces, listed)
        data = page[tables.FIRST_DATA : tables.FIRST_DATA + length]
        self._hold("LOB17", f"row {row.id}: data behind ten entries", True, data == inserted.document[:length])

    def _slots(self, row: KnownRow, first: int, used: Iterable[Address]) -> None:
        """Ten entries of 60 bytes: each is in the index, in a list of older versions, or free."""
        free = self.file.listed(raw(self.file.page(first), "first page", "free list"))
        got = sorted(at for page, at in (*used, *free) if page == first)
        slots = [tables.FIRST_ENTRY + slot * tables.ENTRY_SIZE for slot in range(tables.ENTRIES)]
        self._hold("LOB17", f"row {row.id}: entries of the first page", slots, got)

    # --- page types, entries, offsets -------------------------------------------------------------------------------

    def _types(self, row: KnownRow, first: int, entries: Iterable[Address]) -> None:
        """The type of each page of the object, and its name in the server's own table of pages."""
        wanted = {first: "LOB_FIRST"}
        for at in entries:
            wanted.setdefault(at[0], "LOB_INDEX")
            wanted.setdefault(number(self.file.entry(at), "entry", "page"), "LOB_DATA")
        for page, name in wanted.items():
            self._hold("LOB12", f"row {row.id}: page {page}", (name, tables.TYPES[name]),
                       (self.file.names.get(page), self.file.type(page)))  # fmt: skip

    def _entries(self, row: KnownRow, entries: list[Address], older: dict[Address, list[Address]]) -> None:
        before: Address | None = None
        documents = [b"" for _ in row.changes]
        for place, at in enumerate(entries):
            name = f"row {row.id}: entry {place}"
            following = entries[place + 1] if place + 1 < len(entries) else None
            self._neighbours(name, self.file.entry(at), before, following)
            before = at
            chain = [at, *older[at]]
            for newer, entry_at in zip((None, *chain), chain, strict=False):
                entry = self.file.entry(entry_at)
                self._entry(row, name, entry, None if newer is None else self.file.entry(newer))
                page = number(entry, "entry", "page")
                self._reached[page] += 1
                self._data_page(row, entry, page)
            for version in range(1, len(row.changes) + 1):
                seen = next((e for e in map(self.file.entry, chain) if number(e, "entry", "version") <= version), b"")
                documents[version - 1] += self.file.content(seen)
        for version, change in enumerate(row.changes, start=1):
            self._hold("LOB14", f"row {row.id}: pieces of version {version} as in the binary log", True,
                       documents[version - 1] == change.document)  # fmt: skip

    def _neighbours(self, name: str, entry: bytes, before: Address | None, following: Address | None) -> None:
        self._hold("LOB19", f"{name}, previous", before, address(raw(entry, "entry", "previous")))
        self._hold("LOB19", f"{name}, next", following, address(raw(entry, "entry", "next")))

    def _entry(self, row: KnownRow, name: str, entry: bytes, newer: bytes | None) -> None:
        """The fields of an entry; ``newer``: the one that took its place."""
        made = row.change(entry)
        replaced = made if newer is None else row.change(newer)
        if made is None or replaced is None:
            self._hold("LOB19", f"{name}, version", f"1 to {len(row.changes)}", number(entry, "entry", "version"))
            return
        for field, expected in (
            ("transaction", made.transaction), ("undo number", made.undo), ("modifier", replaced.transaction),
            ("modifier's undo number", replaced.undo),
        ):  # fmt: skip
            self._hold("LOB19", f"{name}, {field}", expected, number(entry, "entry", field))
        length, said = len(self.file.content(entry)), number(entry, "entry", "data length")
        if self._short_lengths and said == length << 16:
            self._hold_deviation(row, f"{name}, data length", length, said)
        else:
            self._hold("LOB19", f"{name}, data length", length, said)

    def _hold_deviation(self, row: KnownRow, field: str, expected: int, got: int) -> None:
        """The length in the first two of the four bytes is a listed deviation: one problem for each row."""
        if row.id not in self._deviating:
            self._deviating.add(row.id)
            self._hold("LOB19", field, expected, got, LENGTH_DEVIATION)

    def _data_page(self, row: KnownRow, entry: bytes, at: int) -> None:
        page = self.file.page(at)
        if self.file.names.get(at) != "LOB_DATA":
            return
        made = row.change(entry)
        self._hold("LOB18", f"row {row.id}: page {at}, format", 0, number(page, "data page", "format"))
        self._hold("LOB18", f"row {row.id}: page {at}, data length", self.file.length(entry),
                   number(page, "data page", "data length"))  # fmt: skip
        if made is not None:
            self._hold("LOB18", f"row {row.id}: page {at}, transaction", made.transaction,
                       number(page, "data page", "transaction"))  # fmt: skip

    def _offsets(self, row: KnownRow, entries: list[Address]) -> None:
        """Find the page of an offset by the lengths in the index alone, and read the byte there."""
        for offset in row.offsets:
            left, got = offset, b""
            for entry in map(self.file.entry, entries):
                if left < self.file.length(entry):
                    got = self.file.content(entry)[left : left + 1]
                    break
                left -= self.file.length(entry)
            self._hold("LOB21", f"row {row.id}: byte {offset}", row.last.document[offset : offset + 1], got)

    # --- the file as a whole ---------------------------------------------------------------------------------------

    def every_page_reached(self) -> None:
        """An entry points to each page of data, and no two point to the same."""
        pages = {at for at, name in self.file.names.items() if name in ("LOB_FIRST", "LOB_DATA")}
        wanted = dict.fromkeys(pages, 1)
        for at in sorted({*pages, *self._reached}):
            self._hold("LOB14", f"entries that point to page {at}", wanted.get(at, 0), self._reached[at])
