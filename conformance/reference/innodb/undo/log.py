"""Undo tablespaces: rollback segments, undo segments, the logs in them, and where a roll pointer leads
(innodb-undo 1 to 3).

An undo segment is a list of pages. Its first page holds the headers of its logs: one log for each transaction that used
the segment. Only the last log has further pages.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.pages import FIL_NULL, FIL_TRAILER, PageType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.pages import Page, Tablespace

PURGED: Final = "undo-purged"
"""The code of the error that says: purge removed the undo records. It is no damage."""

_FIRST_SPACE: Final = 0xFFFFFFEF  # the tablespace id of undo tablespace 1 before its first truncation
_NUMBERS: Final = 127  # undo tablespaces of a server; a truncation lowers the id by as many
_TRUNCATIONS: Final = 512_000  # ids that each undo tablespace has
_SPACE_SIZE: Final = 46
_ARRAY_PAGE: Final = 3
_ARRAY_VERSION: Final = 0x52534547 + 1  # "RSEG", and 1
_ARRAY_SLOTS: Final = 56
_SEGMENTS: Final = 128
_HISTORY: Final = 46
_SLOTS: Final = 72
_FREE: Final = 42
_NODE: Final = 44
_PAGE_END: Final = 56  # where the records of a page begin that is not the first of its segment
_STATE: Final = 56
_LAST_LOG: Final = 58
_SEGMENT_END: Final = 86  # the first log header
_PREVIOUS_LOG: Final = 32


class RollPointer(NamedTuple):
    """Where the undo record of a row version is. ``insert``: the version has no older one."""

    insert: bool
    space: int
    page: int
    offset: int

    @classmethod
    def of(cls, value: int) -> RollPointer:
        """Split the seven bytes of DB_ROLL_PTR."""
        return cls(bool(value >> 55 & 1), value >> 48 & 0x7F, value >> 16 & 0xFFFFFFFF, value & 0xFFFF)

    @property
    def raw(self) -> int:
        """The number of seven bytes."""
        return self.insert << 55 | self.space << 48 | self.page << 16 | self.offset

    def __str__(self) -> str:
        return f"undo tablespace {self.space}, page {self.page}, offset {self.offset}"


NOWHERE: Final = RollPointer(insert=True, space=0, page=0, offset=0)


class SegmentState(IntEnum):
    """The states of an undo segment."""

    ACTIVE = 1
    CACHED = 2
    TO_FREE = 3
    TO_PURGE = 4
    PREPARED_80028 = 5
    PREPARED = 6
    PREPARED_IN_COORDINATOR = 7


_OPEN: Final = frozenset((SegmentState.ACTIVE, *list(SegmentState)[4:]))


class Log(NamedTuple):
    """The header of one log: whose it is. ``number`` orders commits, and is 0 until then."""

    page: int
    offset: int
    transaction: int
    number: int
    state: SegmentState
    last: bool

    @property
    def open(self) -> bool:
        """Whether the transaction has neither committed nor been rolled back."""
        return self.last and self.state in _OPEN


class RollbackSegment(NamedTuple):
    """A rollback segment: the first pages of its undo segments, and how many logs wait for purge."""

    page: int
    history: int
    segments: tuple[int, ...]


def space_number(space_id: int) -> int | None:
    """Which undo tablespace has this tablespace id: 0 is the system tablespace, None if it is no undo tablespace."""
    if space_id == 0:
        return 0
    below = _FIRST_SPACE - space_id
    return below % _NUMBERS + 1 if 0 <= below < _NUMBERS * _TRUNCATIONS else None


class UndoTablespaces:
    """The undo tablespaces of a server, found by their numbers."""

    def __init__(self, spaces: Iterable[Tablespace]) -> None:
        self._spaces: dict[int, Tablespace] = {}
        self._first_pages: dict[tuple[int, int], int] = {}
        for space in spaces:
            number = space_number(space.space_id)
            if number is None:
                raise DecodeError("not-undo", "the file is no undo tablespace", offset=38, got=space.space_id,
                                  expected=f"<= {_FIRST_SPACE}", path=("page[0]", "space_id"))  # fmt: skip
            if number in self._spaces:
                raise DecodeError("undo-twice", "two files are the same undo tablespace", offset=38, got=number,
                                  path=("page[0]", "space_id"))  # fmt: skip
            self._spaces[number] = space

    def page(self, number: int, page: int) -> Page:
        """A page with undo records. Raises if its tablespace is not there."""
        space = self._spaces.get(number)
        if space is None:
            there = ", ".join(map(str, sorted(self._spaces))) or "none"
            raise DecodeError("no-undo-tablespace",
                              f"undo tablespace {number} is needed (as a rule its file is undo_{number:03})",
                              expected=number, got=there, path=("roll_pointer", "space"))  # fmt: skip
        size = space.first.u4(_SPACE_SIZE, "size")
        if page >= size:
            raise space.first.error(PURGED, "the undo tablespace was truncated", _SPACE_SIZE, "size", f"> {page}", size)
        found = space.page(page)
        if found.type != PageType.UNDO_LOG:
            raise found.error(PURGED, "the page has no undo records any more", 24, "type", PageType.UNDO_LOG.name,
                              found.type_name)  # fmt: skip
        return found

    def log_of(self, number: int, page: Page, offset: int) -> Log:
        """The log that a place in a page belongs to. Raises if the page has no log there."""
        first = self.page(number, self._first_page(number, page))
        for log in logs(first):
            if first.number != page.number or log.offset < offset:
                return log
        raise page.error("no-undo-log", "no log of the page begins before the record", offset, "log_header")

    def _first_page(self, number: int, page: Page) -> int:
        """The first page of a segment, by way of the pages before. What is found is kept for all of them."""
        way: dict[tuple[int, int], None] = {}
        while (number, page.number) not in self._first_pages:
            way[number, page.number] = None
            before = page.u4(_NODE, "previous_page")
            if before == FIL_NULL:
                self._first_pages[number, page.number] = page.number
                break
            if (number, before) in way:
                raise page.error("page-circle", "the pages of the segment come back", _NODE, "previous_page",
                                 got=before)  # fmt: skip
            page = self.page(number, before)
        first = self._first_pages[number, page.number]
        self._first_pages.update(dict.fromkeys(way, first))
        return first


def free_end(page: Page) -> int:
    """Where the records of an undo page end."""
    end = page.u2(_FREE, "free")
    if not _PAGE_END <= end <= len(page.data) - FIL_TRAILER:
        raise page.error("bad-undo-page", "the records end outside the page", _FREE, "free", got=end)
    return end


def logs(first: Page) -> Iterator[Log]:
    """The logs whose headers are in the first page of a segment, the last one first."""
    code = first.u2(_STATE, "state")
    if code not in SegmentState.__members__.values():
        raise first.error("bad-undo-state", "no segment has such a state", _STATE, "state", got=code)
    state, at, source, before = SegmentState(code), first.u2(_LAST_LOG, "last_log"), _LAST_LOG, len(first.data)
    last = True
    while at or last:
        if not _SEGMENT_END <= at < before:
            raise first.error("bad-undo-log", "a log does not lie before the one behind it", source, "log_header",
                              f"{_SEGMENT_END}..{before - 1}", at)  # fmt: skip
        transaction, number = first.u8(at, "transaction"), first.u8(at + 8, "transaction_number")
        yield Log(first.number, at, transaction, number, state, last)
        last, before, source = False, at, at + _PREVIOUS_LOG
        at = first.u2(source, "previous_log")


def rollback_segments(space: Tablespace) -> Iterator[RollbackSegment]:
    """The rollback segments of an undo tablespace, with their undo segments."""
    array = space.page(_ARRAY_PAGE)
    array.expect_type(PageType.RSEG_ARRAY)
    if array.u4(38, "version") != _ARRAY_VERSION:
        raise array.error("bad-undo-array", "the array has an unknown version", 38, "version",
                          f"{_ARRAY_VERSION:#x}", f"{array.u4(38, 'version'):#x}")  # fmt: skip
    for number in range(_SEGMENTS):
        at = array.u4(_ARRAY_SLOTS + 4 * number, f"slot[{number}]")
        if at == FIL_NULL:
            continue
        header = space.page(at)
        header.expect_type(PageType.SYS)
        slots = (header.u4(_SLOTS + 4 * slot, f"undo_slot[{slot}]") for slot in range(len(header.data) // 16))
        yield RollbackSegment(at, header.u4(_HISTORY, "history"), tuple(page for page in slots if page != FIL_NULL))
