"""The file, the buffer pool and the redo log: mini-transactions, flush, and a crash that only flushed pages survive.

A page is written whole, and not before the log that covers it. A mini-transaction (mtr) is atomic in memory and in the
log, but not in the file: its pages are written one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.pages import HeaderPage, Page, Record, SdiKey

Watch: TypeAlias = Callable[[str], None]
FIRST_FREE: Final = 3  # behind pages 0, 1 and 2


class Undo(NamedTuple):
    """The record that a change replaced; ``old`` is ``None`` for an insert. ``deletes``: the change only marked."""

    space_id: int
    copy_num: int
    key: SdiKey
    old: Record | None
    deletes: bool


class LogEntry(NamedTuple):
    """One entry of the redo log. ``what``: empty, ``undo``, ``undone``, ``commit`` or ``end`` of a transaction."""

    lsn: int
    space_id: int
    pages: dict[int, Page]
    trx_id: int
    what: str
    undo: Undo | None


class Image(NamedTuple):
    """A page in the file. ``sound``: its checksum is right."""

    page: Page
    lsn: int = 0
    sound: bool = True


class Dirty(NamedTuple):
    """A page in the buffer pool that the file does not have yet, by the LSN of its first and of its last change."""

    page: Page
    first: int
    last: int


@dataclass(slots=True)
class Tablespace:
    """One tablespace: its file (``disk``), and what the buffer pool has of it (``dirty``)."""

    space_id: int
    name: str
    temporary: bool = False
    disk: dict[int, Image] = field(default_factory=lambda: {number: Image(HeaderPage(number)) for number in range(3)})
    dirty: dict[int, Dirty] = field(default_factory=dict)
    free: list[int] = field(default_factory=list)
    size: int = FIRST_FREE
    writes: int = 0

    def page(self, number: int) -> Page:
        """A page as the server sees it."""
        return self.dirty[number].page if number in self.dirty else self.page_on_disk(number)

    def page_on_disk(self, number: int) -> Page:
        """A page as the file has it."""
        image = self.disk.get(number)
        if image is None or not image.sound:
            raise DecodeError(
                "sdi-page", f"page {number} was never written" if image is None else f"page {number} is damaged"
            )
        return image.page

    def damage(self, number: int) -> None:
        """Break the checksum of a page; the buffer pool forgets it."""
        self.dirty.pop(number, None)
        self.disk[number] = Image(HeaderPage(number), self.disk[number].lsn if number in self.disk else 0, sound=False)
        self.writes += 1

    def new(self) -> int:
        """A page that nothing uses: the one that was freed last, else one behind the end."""
        if self.free:
            return self.free.pop()
        self.size += 1
        return self.size - 1

    def in_file(self, numbers: Iterable[int]) -> dict[int, Image]:
        """The file as it is if these dirty pages are written before a crash."""
        return {**self.disk, **{number: Image(self.dirty[number].page, self.dirty[number].last) for number in numbers}}


class Storage:
    """All tablespaces, and one redo log. ``durable``: the LSN up to which the log survives a crash.

    ``watch`` is called after everything that changes what a crash would leave.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.tablespaces: dict[int, Tablespace] = {}
        self.log: list[LogEntry] = []
        self.lsn = 0
        self.durable = 0
        self.watch: Watch = watch or (lambda _: None)

    def append(self, what: str, trx_id: int, undo: Undo | None = None) -> None:
        """Log something about a transaction that changes no page of SDI."""
        self.lsn += 1
        self.log.append(LogEntry(self.lsn, 0, {}, trx_id, what, undo))

    def make_log_durable(self) -> None:
        """Write the log to its end."""
        self.durable = self.lsn

    # --- flush -------------------------------------------------------------------------------------------------------

    def pages_to_flush(self, space: Tablespace) -> list[int]:
        """Leaves, node pointers and BLOBs alike, the oldest change first (innodb-sdi A.5)."""
        return sorted(space.dirty, key=lambda number: (space.dirty[number].first, number))

    def flush(self, space: Tablespace) -> None:
        """Write every dirty page of a tablespace."""
        for number in self.pages_to_flush(space):
            if number in space.dirty:  # else whoever watches wrote it
                self.write_page(space, number)
                self.watch(f"page {number} written")

    def write_page(self, space: Tablespace, number: int) -> None:
        """Write one page, behind the log that covers it."""
        dirty = space.dirty.pop(number)
        self.durable = max(self.durable, dirty.last)
        space.disk[number] = Image(dirty.page, dirty.last)
        space.writes += 1

    # --- crash -------------------------------------------------------------------------------------------------------

    def crash(self, written: dict[int, Iterable[int]], log_written: int = 0) -> None:
        """Stop, and lose what is not written.

        The dirty pages in ``written`` (by tablespace) reach the file. Of the log, at least the part that covers them
        survives, and at least the part up to the LSN ``log_written``.
        """
        for space_id, numbers in written.items():
            for number in list(numbers):
                self.write_page(self.tablespaces[space_id], number)
        self.durable = max(self.durable, min(log_written, self.lsn))
        self.log = [entry for entry in self.log if entry.lsn <= self.durable]
        self.lsn = self.durable
        for space in self.tablespaces.values():
            space.dirty.clear()
            space.free.clear()

    def redo(self) -> None:
        """Apply the log to the pages that the file has in an older version."""
        for entry in self.log:
            for number, page in entry.pages.items():
                space = self.tablespaces[entry.space_id]
                image = space.disk.get(number)
                if image is None or image.lsn < entry.lsn:
                    _change(space, number, page, entry.lsn)
                space.size = max(space.size, number + 1)

    def checkpoint(self) -> None:
        """Forget the log once no transaction is open and every page is written."""
        if not any(space.dirty for space in self.tablespaces.values()):
            self.make_log_durable()
            self.log.clear()


def _change(space: Tablespace, number: int, page: Page, lsn: int) -> None:
    known = space.dirty.get(number)
    space.dirty[number] = Dirty(page, known.first if known else lsn, lsn)


class MiniTransaction:
    """Changes of some pages of a tablespace, which reach the buffer pool and the log together."""

    def __init__(self, storage: Storage, space: Tablespace) -> None:
        self.storage = storage
        self.space = space
        self._pages: dict[int, Page] = {}
        self._freed: list[int] = []

    def page(self, number: int) -> Page:
        """A page with the changes so far."""
        return self._pages[number] if number in self._pages else self.space.page(number)

    def write(self, page: Page) -> None:
        """Change a page."""
        self._pages[page.number] = page

    def free(self, number: int) -> None:
        """Give a page back; its content stays where it is."""
        self._pages.pop(number, None)
        self._freed.append(number)

    def commit(self, what: str = "", trx_id: int = 0) -> None:
        """Log the changes and put them into the buffer pool. ``what``: an entry about a transaction that goes along."""
        storage, space = self.storage, self.space
        storage.lsn += 1
        storage.log.append(LogEntry(storage.lsn, space.space_id, dict(self._pages), trx_id, what, None))
        for number in self._freed:
            space.dirty.pop(number, None)
        space.free += self._freed
        for number, page in self._pages.items():
            _change(space, number, page, storage.lsn)
