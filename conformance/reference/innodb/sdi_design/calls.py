"""The API of WL#7053 by its names; every call but one returns ``True`` for a failure (innodb-sdi A.2, innodb-sdi A.7).

A tablespace is given by its 64-bit id, of which the low 32 bits count. ``sdi_set`` and ``sdi_delete`` take the number
of a copy, which the worklog's signatures lack and its example passes (innodb-sdi A.6). What the worklog leaves open:
a call for a copy of a tablespace without SDI fails, as the number of the copy is out of bounds.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design.pages import (
    COPIES,
    SDI_FLAG,
    HeaderPage,
    IndexPage,
    SdiKey,
    both_roots,
    has_sdi,
    index_id,
    read_copy,
    read_roots,
)
from conformance.reference.innodb.sdi_design.storage import FIRST_FREE, MiniTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.reference.innodb.sdi_design.pages import Page
    from conformance.reference.innodb.sdi_design.storage import Tablespace
    from conformance.reference.innodb.sdi_design.transactions import Engine, Transaction

UINT64_MAX: Final = (1 << 64) - 1


@dataclass(slots=True)
class SdiLength:
    """The in-out parameter ``sdi_len``."""

    value: int


class Session:
    """A connection of the server core: one transaction at a time. ``interrupted_after``: how many more changes
    succeed before an interrupt."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.trx: Transaction | None = None
        self.interrupted_after: int | None = None

    # --- tablespaces -------------------------------------------------------------------------------------------------

    def sdi_create(self, tablespace: int, num_of_copies: int) -> bool:
        """Make empty copies; not in a temporary tablespace, and two of them or none."""
        space = self._tablespace(tablespace)
        if space is None or space.temporary or num_of_copies != COPIES or self.sdi_get_num_copies(tablespace):
            return True
        roots = [space.new() for _ in range(COPIES)]
        # The flag last: a reader that sees it finds the roots.
        for pages in (
            [IndexPage(root, index_id(number)) for number, root in enumerate(roots)],
            [HeaderPage(number, flush_lsn=both_roots(*roots)) for number in (1, 2)],
            [HeaderPage(0, flags=SDI_FLAG)],
        ):
            self._write_pages(space, pages)
        return False

    def sdi_drop(self, tablespace: int) -> bool:
        """Take the SDI out, also where it cannot be read."""
        space = self._tablespace(tablespace)
        if space is None or self._flag_is_off(space):
            return True
        if any(trx.changes(space.space_id) for trx in self.engine.active.values()):
            return True
        self._write_pages(space, [HeaderPage(0)])
        self._write_pages(space, [HeaderPage(1), HeaderPage(2)])
        self.engine.history = [task for task in self.engine.history if task.undo.space_id != space.space_id]
        space.free = list(range(FIRST_FREE, space.size))
        return False

    def sdi_get_num_copies(self, tablespace: int) -> int:
        """0 without the flag, or without two roots in page 1 or 2."""
        space = self._tablespace(tablespace)
        if space is None or self._flag_is_off(space):
            return 0
        try:
            return len(read_roots(space.page, space.size))
        except DecodeError:
            return 0

    def sdi_flush(self, tablespace: int) -> bool:
        """Write the pages of the SDI."""
        space = self._tablespace(tablespace)
        if space is None:
            return True
        self.engine.flush(space)
        return False

    # --- reading -----------------------------------------------------------------------------------------------------

    def sdi_get_keys_by_id(self, tablespace: int, vector: list[SdiKey], copy_num: int) -> bool:
        """Append the keys of a copy to ``vector``, in their order."""
        space = self._with_copy(tablespace, copy_num)
        if space is None:
            return True
        try:
            records = list(self.engine.tree(space, copy_num).records())
        except DecodeError:
            return True
        vector += [record.key for record in records if self.engine.visible(self.trx, space, copy_num, record)]
        return False

    def sdi_get_by_id(
        self, tablespace: int, sdi_key: SdiKey, sdi: bytearray, sdi_len: SdiLength, copy_num: int
    ) -> bool:
        """Copy the data of a key into a buffer (innodb-sdi A.3)."""
        space = self._with_copy(tablespace, copy_num)

        def data() -> bytes | None:
            if space is None:
                return None
            tree = self.engine.tree(space, copy_num)
            record = tree.find(sdi_key)
            version = record and self.engine.visible(self.trx, space, copy_num, record)
            return tree.data(version) if version else None

        return _into_buffer(data, sdi, sdi_len)

    def sdi_get_ids_by_name(self, name: str, vector: list[SdiKey], copy_num: int) -> bool:
        """The keys in a file, without a tablespace: what an IMPORT sees."""
        found = self._data_in_file(name, copy_num)
        vector += found or {}
        return found is None

    def sdi_get_by_name(self, name: str, sdi_key: SdiKey, sdi: bytearray, sdi_len: SdiLength, copy_num: int) -> bool:
        """The data of a key in a file, by the buffer protocol."""
        return _into_buffer(lambda: (self._data_in_file(name, copy_num) or {}).get(sdi_key), sdi, sdi_len)

    # --- changes -----------------------------------------------------------------------------------------------------

    def sdi_set(self, tablespace: int, sdi_key: SdiKey, sdi: bytes, sdi_len: int, copy_num: int) -> bool:
        """Insert the first ``sdi_len`` bytes under a key, or update it."""
        space = self._to_change(tablespace, sdi_key, copy_num)
        if space is None or not 0 <= sdi_len <= len(sdi):
            return True
        try:
            self.engine.write(self.transaction(), space, copy_num, sdi_key, bytes(sdi[:sdi_len]))
        except DecodeError:
            return True
        return False

    def sdi_delete(self, tablespace: int, sdi_key: SdiKey, copy_num: int) -> bool:
        """Delete a key; one that is not there is a failure."""
        space = self._to_change(tablespace, sdi_key, copy_num)
        if space is None:
            return True
        try:
            record = self.engine.tree(space, copy_num).find(sdi_key)
            if record is None or record.deleted:
                return True
            self.engine.mark_deleted(self.transaction(), space, copy_num, record)
        except DecodeError:
            return True
        return False

    # --- transactions ------------------------------------------------------------------------------------------------

    def transaction(self) -> Transaction:
        """The transaction of the session, begun at the first change."""
        if self.trx is None:
            self.trx = self.engine.begin()
        return self.trx

    def savepoint(self, name: str) -> None:
        """Set a savepoint."""
        trx = self.transaction()
        trx.savepoints[name] = len(trx.undo)

    def rollback_to_savepoint(self, name: str) -> bool:
        """Take back what came after a savepoint; fails without it."""
        trx = self.trx
        if trx is None or name not in trx.savepoints:
            return True
        count = trx.savepoints[name]
        self.engine.rollback_to(trx, count)
        trx.savepoints = {other: place for other, place in trx.savepoints.items() if place <= count}
        return False

    def ha_commit_trans(self) -> None:
        """Commit."""
        if self.trx is not None:
            self.engine.commit(self.trx)
        self.trx = None

    def ha_rollback_trans(self) -> None:
        """Roll back."""
        if self.trx is not None:
            self.engine.rollback(self.trx)
        self.trx = None

    # --- what the calls share ----------------------------------------------------------------------------------------

    def _tablespace(self, tablespace: int) -> Tablespace | None:
        return self.engine.tablespaces.get(tablespace & 0xFFFFFFFF)

    def _with_copy(self, tablespace: int, copy_num: int) -> Tablespace | None:
        return self._tablespace(tablespace) if 0 <= copy_num < self.sdi_get_num_copies(tablespace) else None

    def _to_change(self, tablespace: int, key: SdiKey, copy_num: int) -> Tablespace | None:
        """The tablespace of a change; ``None`` where it must fail: no such copy, an interrupt, a lock of another."""
        space = self._with_copy(tablespace, copy_num)
        if space is None:
            return None
        if self.interrupted_after is not None:
            self.interrupted_after -= 1
            if self.interrupted_after < 0:
                return None
        return None if self.engine.locked(self.trx, space, copy_num, key) else space

    def _data_in_file(self, name: str, copy_num: int) -> dict[SdiKey, bytes] | None:
        for space in self.engine.tablespaces.values():
            if space.name == name and 0 <= copy_num < COPIES:
                with suppress(DecodeError):
                    return read_copy(space.page_on_disk, space.size, copy_num).data
        return None

    @staticmethod
    def _flag_is_off(space: Tablespace) -> bool:
        try:
            return not has_sdi(space.page)
        except DecodeError:
            return True

    def _write_pages(self, space: Tablespace, pages: Sequence[Page]) -> None:
        """Change pages in one mini-transaction, and flush them."""
        mtr = MiniTransaction(self.engine, space)
        for page in pages:
            mtr.write(page)
        mtr.commit()
        self.engine.watch("mtr committed")
        self.engine.flush(space)


def _into_buffer(read: Callable[[], bytes | None], sdi: bytearray, sdi_len: SdiLength) -> bool:
    """The buffer protocol: as much as fits, the length that is needed, and UINT64_MAX for genuine errors."""
    try:
        data = read()
    except DecodeError:
        data = None
    if data is None:
        sdi_len.value = UINT64_MAX
        return True
    count = min(len(data), sdi_len.value)
    sdi[:count] = data[:count]
    fits = len(data) <= sdi_len.value
    sdi_len.value = len(data)
    return not fits
