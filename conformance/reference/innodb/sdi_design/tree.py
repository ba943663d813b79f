"""The B-tree of a copy: search, insert and update with page splits, removal with page merges, chains of BLOB pages."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.pages import (
    BLOB_BYTES,
    INLINE_BYTES,
    LOWEST,
    PAGE_BYTES,
    BlobPage,
    BlobReference,
    IndexPage,
    Pointer,
    Record,
    SdiKey,
    index_id,
    read_blob,
    read_roots,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.sdi_design.storage import MiniTransaction

E = TypeVar("E", Record, Pointer)


class Tree:
    """One copy in one mini-transaction. Raises :class:`DecodeError` for a page that is damaged."""

    def __init__(self, mtr: MiniTransaction, copy_num: int) -> None:
        self._mtr = mtr
        self._index = index_id(copy_num)
        self._root = read_roots(mtr.page, mtr.space.size)[copy_num]

    # --- search ------------------------------------------------------------------------------------------------------

    def find(self, key: SdiKey) -> Record | None:
        """The record of a key, also a marked one."""
        return next((record for record in self._page(self._path(key)[-1]).records if record.key == key), None)

    def records(self) -> Iterator[Record]:
        """All records in their order, marked ones included."""
        number: int | None = self._path(LOWEST)[-1]
        while number is not None:
            leaf = self._page(number)
            yield from leaf.records
            number = leaf.next

    def data(self, record: Record) -> bytes:
        """The data of a record, from wherever they stand."""
        return record.data if isinstance(record.data, bytes) else read_blob(self._mtr.page, record.data)[0]

    def _page(self, number: int) -> IndexPage:
        page = self._mtr.page(number)
        if not isinstance(page, IndexPage) or page.index_id != self._index:
            raise DecodeError("sdi-page", f"page {number} is not a page of this copy")
        return page

    def _path(self, key: SdiKey) -> list[int]:
        """The pages from the root to the leaf of a key."""
        path = [self._root]
        while (page := self._page(path[-1])).level:
            at = bisect_right(page.pointers, key, key=lambda pointer: pointer.key)
            path.append(page.pointers[max(at - 1, 0)].child)
        return path

    # --- insert and update -------------------------------------------------------------------------------------------

    def put(self, record: Record) -> None:
        """Insert a record, or put it in the place of the one with its key."""
        path = self._path(record.key)
        leaf = self._page(path[-1])
        others = [other for other in leaf.records if other.key != record.key]
        self._store(path, leaf._replace(records=tuple(sorted([*others, record], key=lambda item: item.key))))

    def _store(self, path: list[int], page: IndexPage) -> None:
        """Write a page; one that is too full is split, and its parent gets another pointer."""
        if page.size <= PAGE_BYTES:
            self._mtr.write(page)
            return
        left, right = _halves(page)
        new = self._mtr.space.new()
        if len(path) == 1:
            first = self._mtr.space.new()
            self._mtr.write(left._replace(number=first, next=new))
            self._mtr.write(right._replace(number=new, prev=first))
            both = Pointer(LOWEST, first), Pointer(right.entries[0].key, new)
            self._mtr.write(IndexPage(page.number, self._index, page.level + 1, pointers=both))
            return
        self._mtr.write(left._replace(next=new))
        self._mtr.write(right._replace(number=new, prev=page.number))
        if page.next is not None:
            self._mtr.write(self._page(page.next)._replace(prev=new))
        parent = self._page(path[-2])
        pointers = sorted((*parent.pointers, Pointer(right.entries[0].key, new)))
        self._store(path[:-1], parent._replace(pointers=tuple(pointers)))

    # --- removal -----------------------------------------------------------------------------------------------------

    def remove(self, key: SdiKey) -> None:
        """Remove a record; nearly empty pages are merged with a neighbour."""
        path = self._path(key)
        leaf = self._page(path[-1])
        self._shrink(path, leaf._replace(records=tuple(record for record in leaf.records if record.key != key)))

    def _shrink(self, path: list[int], page: IndexPage) -> None:
        self._mtr.write(page)
        if len(path) == 1:
            while page.level and len(page.pointers) == 1:  # the root takes its only child in
                child = self._page(page.pointers[0].child)
                page = child._replace(number=self._root)
                self._mtr.write(page)
                self._mtr.free(child.number)
            return
        if page.size > PAGE_BYTES // 3:
            return
        parent = self._page(path[-2])
        place = [pointer.child for pointer in parent.pointers].index(page.number)
        for at in (place - 1, place):
            if 0 <= at < len(parent.pointers) - 1:
                left, right = (self._page(pointer.child) for pointer in parent.pointers[at : at + 2])
                if left.size + right.size <= PAGE_BYTES:
                    self._merge(left, right)
                    pointers = (*parent.pointers[: at + 1], *parent.pointers[at + 2 :])
                    self._shrink(path[:-1], parent._replace(pointers=pointers))
                    return

    def _merge(self, left: IndexPage, right: IndexPage) -> None:
        records, pointers = left.records + right.records, left.pointers + right.pointers
        self._mtr.write(left._replace(next=right.next, records=records, pointers=pointers))
        if right.next is not None:
            self._mtr.write(self._page(right.next)._replace(prev=left.number))
        self._mtr.free(right.number)

    # --- off-page data -----------------------------------------------------------------------------------------------

    def free_blob(self, data: bytes | BlobReference) -> None:
        """Give the pages of off-page data back."""
        if isinstance(data, BlobReference):
            for number in read_blob(self._mtr.page, data)[1]:
                self._mtr.free(number)


def write_blob(mtr: MiniTransaction, data: bytes) -> bytes | BlobReference:
    """The data as a record holds them: short ones inline, others behind a reference to BLOB pages."""
    if len(data) <= INLINE_BYTES:
        return data
    parts = [data[start : start + BLOB_BYTES] for start in range(0, len(data), BLOB_BYTES)]
    numbers = [mtr.space.new() for _ in parts]
    for number, part, following in zip(numbers, parts, [*numbers[1:], None], strict=True):
        mtr.write(BlobPage(number, part, following))
    return BlobReference(numbers[0], len(data))


def _halves(page: IndexPage) -> tuple[IndexPage, IndexPage]:
    """Two pages of about the same size."""
    if page.level:
        left, right = _halved(page.pointers)
        return page._replace(pointers=left, next=None), page._replace(pointers=right)
    first, second = _halved(page.records)
    return page._replace(records=first, next=None), page._replace(records=second)


def _halved(entries: tuple[E, ...]) -> tuple[tuple[E, ...], tuple[E, ...]]:
    sizes = list(accumulate(entry.size for entry in entries))
    at = min(range(1, len(entries)), key=lambda count: abs(2 * sizes[count - 1] - sizes[-1]))
    return entries[:at], entries[at:]
