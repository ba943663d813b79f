"""The pages of a tablespace with two copies of the SDI, and the offline reader of a copy.

Rules: innodb-sdi A.1, innodb-sdi A.8. The reader has the file alone: neither redo nor undo log.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from conformance.reference.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COPIES: Final = 2
SDI_FLAG: Final = 1 << 14  # in the flags of page 0
PAGE_BYTES: Final = 160  # entries of an index page
INLINE_BYTES: Final = 40  # longer data stands in BLOB pages
BLOB_BYTES: Final = 60  # data of a BLOB page
_RECORD_BYTES, _REFERENCE_BYTES, _POINTER_BYTES = 25, 20, 16
_INDEX_ID_RANGE: Final = 1 << 64


class SdiKey(NamedTuple):
    """The key of an object; keys sort by type, then id."""

    type: int
    id: int


LOWEST: Final = SdiKey(0, 0)


class BlobReference(NamedTuple):
    """Where off-page data begin, and how long they are."""

    page: int
    length: int


class Record(NamedTuple):
    """A row of a copy, with the transaction that changed it last. ``deleted``: marked for purge."""

    key: SdiKey
    trx_id: int
    deleted: bool
    data: bytes | BlobReference

    @property
    def size(self) -> int:
        return _RECORD_BYTES + (_REFERENCE_BYTES if isinstance(self.data, BlobReference) else len(self.data))


class Pointer(NamedTuple):
    """An entry of a page above the leaves: the lowest key of the child, which is the bound of what it may hold."""

    key: SdiKey
    child: int

    @property
    def size(self) -> int:
        return _POINTER_BYTES


class HeaderPage(NamedTuple):
    """Page 0 with the flags, or page 1 or 2, whose flush LSN holds the roots of both copies."""

    number: int
    flags: int = 0
    flush_lsn: int = 0


class IndexPage(NamedTuple):
    """A page of the B-tree of a copy; level 0 has records."""

    number: int
    index_id: int
    level: int = 0
    prev: int | None = None
    next: int | None = None
    records: tuple[Record, ...] = ()
    pointers: tuple[Pointer, ...] = ()

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    @property
    def entries(self) -> Sequence[Record | Pointer]:
        return self.pointers if self.level else self.records


class BlobPage(NamedTuple):
    """A page of off-page data."""

    number: int
    part: bytes
    next: int | None


Page: TypeAlias = HeaderPage | IndexPage | BlobPage


def index_id(copy_num: int) -> int:
    """-1 for copy 0, -2 for copy 1 (innodb-sdi A.1)."""
    return -1 - copy_num & (_INDEX_ID_RANGE - 1)


def both_roots(first: int, second: int) -> int:
    """The 8 bytes of the flush LSN; copy 0 has the high half, by a choice of the kit (innodb-sdi A.8)."""
    return first << 32 | second


def read_roots(page: Callable[[int], Page], size: int) -> tuple[int, int]:
    """The roots of both copies, from page 1, else from page 2 (innodb-sdi A.8)."""
    for number in (1, 2):
        try:
            found = page(number)
        except DecodeError:
            continue
        if isinstance(found, HeaderPage):
            roots = found.flush_lsn >> 32, found.flush_lsn & 0xFFFFFFFF
            if 0 < roots[0] < size and 0 < roots[1] < size and roots[0] != roots[1]:
                return roots
    raise DecodeError("sdi-roots", "neither page 1 nor page 2 names the roots of two copies")


def has_sdi(page: Callable[[int], Page]) -> bool:
    """Whether the flags of page 0 say that there is SDI."""
    first = page(0)
    return isinstance(first, HeaderPage) and bool(first.flags & SDI_FLAG)


class Reading(NamedTuple):
    """The contents of a copy as read: the records, marked ones included, and the pages that the reader needed."""

    records: dict[SdiKey, Record]
    data: dict[SdiKey, bytes]
    pages: frozenset[int]


def read_copy(page: Callable[[int], Page], size: int, copy_num: int) -> Reading:
    """Read a copy as an offline tool does. Raises :class:`DecodeError` where the pages do not fit together."""
    if not has_sdi(page):
        raise DecodeError("sdi-missing", "the tablespace has no SDI")
    return _Reader(page, index_id(copy_num)).read(read_roots(page, size)[copy_num])


def read_blob(page: Callable[[int], Page], reference: BlobReference) -> tuple[bytes, list[int]]:
    """Off-page data, and the pages of their chain."""
    parts: list[bytes] = []
    pages: list[int] = []
    number: int | None = reference.page
    while number is not None:
        found = page(number)
        if not isinstance(found, BlobPage) or number in pages:
            raise DecodeError("sdi-blob", f"page {number} is not the next BLOB page")
        pages.append(number)
        parts.append(found.part)
        number = found.next
    data = b"".join(parts)
    if len(data) != reference.length:
        raise DecodeError("sdi-blob", "off-page data have another length", expected=reference.length, got=len(data))
    return data, pages


class _Reader:
    """One walk: each page at most once, keys ascending and inside the bounds of their page."""

    def __init__(self, page: Callable[[int], Page], index: int) -> None:
        self._page = page
        self._index = index
        self._pages: set[int] = set()
        self._leaves: list[IndexPage] = []

    def read(self, root: int) -> Reading:
        self._walk(root, None, LOWEST, None)
        numbers = [leaf.number for leaf in self._leaves]
        if [leaf.next for leaf in self._leaves] != [*numbers[1:], None]:
            raise DecodeError("sdi-chain", "the chain of leaves and the node pointers name different pages")
        records = {record.key: record for leaf in self._leaves for record in leaf.records}
        data = {}
        for key, record in records.items():
            if isinstance(record.data, BlobReference):
                data[key], used = read_blob(self._page, record.data)
                self._pages.update(used)
            else:
                data[key] = record.data
        live = {key: value for key, value in data.items() if not records[key].deleted}
        return Reading(records, live, frozenset(self._pages | {0, 1, 2}))

    def _walk(self, number: int, level: int | None, low: SdiKey, high: SdiKey | None) -> None:
        found = self._page(number)
        if not isinstance(found, IndexPage) or found.index_id != self._index or number in self._pages:
            raise DecodeError("sdi-page", f"page {number} is not a page of this copy")
        if level is not None and found.level != level:
            raise DecodeError("sdi-level", f"page {number} is on another level", expected=level, got=found.level)
        self._pages.add(number)
        keys = [entry.key for entry in found.entries]
        inside = all(low <= key and (high is None or key < high) for key in keys)
        if not inside or any(one >= other for one, other in pairwise(keys)):
            raise DecodeError("sdi-keys", f"page {number} has keys that do not ascend inside its bounds")
        if not found.level:
            self._leaves.append(found)
            return
        for pointer, above in zip(found.pointers, [*keys[1:], high], strict=True):
            self._walk(pointer.child, found.level - 1, pointer.key, above)
