"""Changes of SDI in transactions: undo, savepoints, rollback, READ COMMITTED, purge, recovery.

Rules: innodb-sdi A.4, innodb-sdi A.5. A rollback and a purge flush after each of their operations. Two purge threads
can still have a change of both copies unwritten at one moment (innodb-sdi A.10). Hence :meth:`Engine.purge_operation`
and the flush behind it are two calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.pages import (
    COPIES,
    BlobReference,
    Record,
    SdiKey,
    has_sdi,
    read_blob,
    read_roots,
)
from conformance.reference.innodb.sdi_design.storage import (
    FIRST_FREE,
    MiniTransaction,
    Storage,
    Tablespace,
    Undo,
)
from conformance.reference.innodb.sdi_design.tree import Tree, write_blob

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACE_ID_MASK = 0xFFFFFFFF
_FIRST_TABLE_ID = 10  # below it are the tables of the dictionary itself


def sdi_table_id(space_id: int, copy_num: int) -> int:
    """The id of the table of a copy, as undo records have it (innodb-sdi A.1)."""
    return (~copy_num & 0xFFFFFFFF) << 32 | space_id & _SPACE_ID_MASK


def next_table_id(last: int) -> int:
    """The worklog's ``dict_hdr_get_new_id``: ids of ordinary tables wrap before the lowest of an SDI table."""
    return _FIRST_TABLE_ID if last + 1 >= sdi_table_id(0, COPIES - 1) else last + 1


@dataclass(slots=True)
class Transaction:
    """A user transaction. ``savepoints``: how many changes there were at each."""

    id: int
    undo: list[Undo] = field(default_factory=list)
    savepoints: dict[str, int] = field(default_factory=dict)

    def changes(self, space_id: int) -> bool:
        """Whether it changed SDI of a tablespace."""
        return any(undo.space_id == space_id for undo in self.undo)


class PurgeTask(NamedTuple):
    """The remains of a committed change: a marked record, or off-page data that nothing refers to."""

    trx_id: int
    undo: Undo


class Engine(Storage):
    """Storage with transactions. ``history``: what purge still has to do, in the order of the commits."""

    _last_trx = 0

    def __init__(self) -> None:
        super().__init__()
        self.active: dict[int, Transaction] = {}
        self.history: list[PurgeTask] = []

    def begin(self) -> Transaction:
        """Start a transaction."""
        self._last_trx += 1
        trx = self.active[self._last_trx] = Transaction(self._last_trx)
        return trx

    # --- one change --------------------------------------------------------------------------------------------------

    def tree(self, space: Tablespace, copy_num: int) -> Tree:
        """A copy as the server sees it, for reading."""
        return Tree(MiniTransaction(self, space), copy_num)

    def write(self, trx: Transaction, space: Tablespace, copy_num: int, key: SdiKey, data: bytes) -> None:
        """Insert a record or update it; undo is logged before a page changes."""
        old = self.tree(space, copy_num).find(key)
        self._log_undo(trx, Undo(space.space_id, copy_num, key, old, deletes=False))
        mtr = MiniTransaction(self, space)
        stored = write_blob(mtr, data)
        if isinstance(stored, BlobReference):
            self._commit(mtr)
            mtr = MiniTransaction(self, space)
        Tree(mtr, copy_num).put(Record(key, trx.id, False, stored))
        self._commit(mtr)

    def mark_deleted(self, trx: Transaction, space: Tablespace, copy_num: int, old: Record) -> None:
        """Delete a record: it stays until purge."""
        self._log_undo(trx, Undo(space.space_id, copy_num, old.key, old, deletes=True))
        mtr = MiniTransaction(self, space)
        Tree(mtr, copy_num).put(old._replace(trx_id=trx.id, deleted=True))
        self._commit(mtr)

    def _log_undo(self, trx: Transaction, undo: Undo) -> None:
        self.append("undo", trx.id, undo)
        trx.undo.append(undo)
        self.watch("undo logged")

    def _commit(self, mtr: MiniTransaction) -> None:
        mtr.commit()
        self.watch("mtr committed")

    # --- versions ----------------------------------------------------------------------------------------------------

    def locked(self, trx: Transaction | None, space: Tablespace, copy_num: int, key: SdiKey) -> bool:
        """Whether another transaction has changed the record and is not done."""
        return self._version_before(trx, space, copy_num, key) is not None

    def visible(self, trx: Transaction | None, space: Tablespace, copy_num: int, record: Record) -> Record | None:
        """The committed version of a record, or the transaction's own; ``None`` where there is none."""
        before = self._version_before(trx, space, copy_num, record.key)
        version = record if before is None else before.old
        return None if version is None or version.deleted else version

    def _version_before(self, trx: Transaction | None, space: Tablespace, copy_num: int, key: SdiKey) -> Undo | None:
        """The first change of the record by another transaction that is not done."""
        for other in self.active.values():
            for undo in other.undo if other is not trx else ():
                if (undo.space_id, undo.copy_num, undo.key) == (space.space_id, copy_num, key):
                    return undo
        return None

    # --- the end of a transaction ------------------------------------------------------------------------------------

    def commit(self, trx: Transaction) -> None:
        """Commit: the log is durable. Pages are flushed by the caller."""
        self.append("commit", trx.id)
        self.make_log_durable()
        del self.active[trx.id]
        self.history += [PurgeTask(trx.id, undo) for undo in trx.undo if undo.old is not None]
        self.watch("committed")

    def rollback(self, trx: Transaction) -> None:
        """Take all changes back, and end the transaction."""
        self.rollback_to(trx, 0)
        self.append("end", trx.id)
        del self.active[trx.id]
        self.watch("rolled back")

    def rollback_to(self, trx: Transaction, count: int) -> None:
        """Take back all changes behind the first ``count``."""
        for undo in self.undo_order(trx.undo[count:]):
            self._undo(trx, undo)
            self.after_operation(self.tablespaces[undo.space_id])

    def undo_order(self, changes: Sequence[Undo]) -> list[Undo]:
        """The last change is taken back first."""
        return list(reversed(changes))

    def after_operation(self, space: Tablespace) -> None:
        """Flush after each operation of a rollback (innodb-sdi A.5)."""
        self.flush(space)

    def _undo(self, trx: Transaction, undo: Undo) -> None:
        mtr = MiniTransaction(self, self.tablespaces[undo.space_id])
        try:
            tree = Tree(mtr, undo.copy_num)
            current = tree.find(undo.key)
            if current is not None and (undo.old is None or current.data != undo.old.data):
                tree.free_blob(current.data)
            if undo.old is not None:
                tree.put(undo.old)
            elif current is not None:
                tree.remove(undo.key)
        except DecodeError:  # a damaged copy is left alone
            mtr = MiniTransaction(self, mtr.space)
        mtr.commit("undone", trx.id)
        if undo.old is not None and undo.old.deleted and undo.old.trx_id not in self.active:
            # Purge may have met the record while it was not marked.
            self.history.append(PurgeTask(undo.old.trx_id, undo._replace(deletes=True)))
        trx.undo.remove(undo)
        self.watch("mtr of a rollback committed")

    # --- purge -------------------------------------------------------------------------------------------------------

    def purge_operation(self, number: int = 0) -> Tablespace:
        """Do one thing of the history, without the flush behind it; returns the tablespace to flush."""
        task = self.history.pop(number)
        space = self.tablespaces[task.undo.space_id]
        mtr = MiniTransaction(self, space)
        try:
            tree = Tree(mtr, task.undo.copy_num)
            current = tree.find(task.undo.key)
            if not task.undo.deletes:
                assert task.undo.old is not None, "an insert leaves nothing to purge"
                tree.free_blob(task.undo.old.data)
            elif current is not None and current.deleted and current.trx_id == task.trx_id:
                tree.free_blob(current.data)
                tree.remove(task.undo.key)
        except DecodeError:  # a damaged copy is left alone
            mtr = MiniTransaction(self, space)
        mtr.commit()
        self.watch("mtr of a purge committed")
        return space

    def purge(self) -> None:
        """Purge with one thread: a flush behind each operation."""
        while self.history:
            self.after_purge(self.purge_operation())
        if not self.active:
            self.checkpoint()

    def after_purge(self, space: Tablespace) -> None:
        """Flush after each operation of a purge (innodb-sdi A.5)."""
        self.flush(space)

    # --- recovery ----------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Start after a crash: redo, then roll back what was not committed."""
        self.active.clear()
        self.history.clear()
        for entry in self.log:
            self._recover_transaction(entry.trx_id, entry.what, entry.undo)
        self.redo()
        for space in self.tablespaces.values():
            self._find_free_pages(space)
            self.flush(space)
        for trx in reversed(list(self.active.values())):
            self.rollback(trx)
        for space in self.tablespaces.values():
            self.flush(space)
            self._find_marked_records(space)
        self.checkpoint()

    def _recover_transaction(self, trx_id: int, what: str, undo: Undo | None) -> None:
        trx = self.active.get(trx_id)
        if undo is not None:
            trx = trx or self.active.setdefault(trx_id, Transaction(trx_id))
            trx.undo.append(undo)
        elif trx is not None and what == "undone":
            trx.undo.pop()
        elif trx is not None and what in ("commit", "end"):
            del self.active[trx_id]

    def _find_free_pages(self, space: Tablespace) -> None:
        """Free the pages that neither a copy nor undo refers to; pages that lead to nothing readable free nothing."""
        used = set(range(FIRST_FREE))
        try:
            for root in read_roots(space.page, space.size) if has_sdi(space.page) else ():
                self._add_pages(space, root, used)
            for trx in self.active.values():
                for undo in trx.undo:
                    if undo.space_id == space.space_id and undo.old and isinstance(undo.old.data, BlobReference):
                        used.update(read_blob(space.page, undo.old.data)[1])
        except DecodeError:
            return
        space.free = [number for number in range(space.size) if number not in used]

    def _add_pages(self, space: Tablespace, number: int, used: set[int]) -> None:
        used.add(number)
        page = space.page(number)
        for pointer in getattr(page, "pointers", ()):
            self._add_pages(space, pointer.child, used)
        for record in getattr(page, "records", ()):
            if isinstance(record.data, BlobReference):
                used.update(read_blob(space.page, record.data)[1])

    def _find_marked_records(self, space: Tablespace) -> None:
        for copy_num in range(COPIES):
            try:
                marked = [record for record in self.tree(space, copy_num).records() if record.deleted]
            except DecodeError:
                continue
            self.history += [
                PurgeTask(record.trx_id, Undo(space.space_id, copy_num, record.key, record, deletes=True))
                for record in marked
            ]
