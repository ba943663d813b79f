"""Planted faults of WL#7053's model: functions of it that break one promise of the worklog each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.sdi_design import calls, pages, transactions, usage
from conformance.reference.innodb.sdi_design.calls import Session
from conformance.reference.innodb.sdi_design.pages import BlobPage, IndexPage
from conformance.reference.innodb.sdi_design.storage import Storage
from conformance.reference.innodb.sdi_design.transactions import Engine
from conformance.reference.innodb.sdi_design.tree import Tree
from tests.faults.fault import Fault, Plant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pytest

    from conformance.reference.innodb.sdi_design.usage import Change


def instead(owner: Any, name: str, function: Callable[..., Any]) -> Plant:
    """Another function in its place; it gets the real one first."""
    real = getattr(owner, name)

    def plant(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(owner, name, lambda *arguments, **named: function(real, *arguments, **named))

    return plant


def _change(run: Callable[[Session, int, Sequence[Change]], bool]) -> Plant:
    """Another order of the calls of a change; a failure is rolled back as in the worklog's example."""

    def function(_: object, session: Session, tablespace: int, changes: Sequence[Change]) -> bool:
        if run(session, tablespace, changes):
            return False
        session.ha_rollback_trans()
        session.sdi_flush(tablespace)
        return True

    return instead(usage, "change_both_copies", function)


def _one_flush(session: Session, tablespace: int, changes: Sequence[Change]) -> bool:
    if not all(usage.change_copy(session, tablespace, changes, copy_num) for copy_num in (0, 1)):
        return False
    session.ha_commit_trans()
    session.sdi_flush(tablespace)
    return True


def _in_turns(session: Session, tablespace: int, changes: Sequence[Change]) -> bool:
    for change in changes:
        if not all(usage.change_copy(session, tablespace, [change], copy_num) for copy_num in (0, 1)):
            return False
        session.sdi_flush(tablespace)
    session.ha_commit_trans()
    return True


def _no_second_flush(session: Session, tablespace: int, changes: Sequence[Change]) -> bool:
    if not usage.change_copy(session, tablespace, changes, 0) or session.sdi_flush(tablespace):
        return False
    if not usage.change_copy(session, tablespace, changes, 1):
        return False
    session.ha_commit_trans()
    return True


def committed_although_it_failed(
    real: Callable[..., bool], session: Session, tablespace: int, changes: Sequence[Change]
) -> bool:
    """A failure is committed."""
    session.ha_rollback_trans = session.ha_commit_trans  # type: ignore[method-assign]
    try:
        return real(session, tablespace, changes)
    finally:
        del session.ha_rollback_trans


def _flush_without(unwritten: Callable[[Any], bool]) -> Plant:
    return instead(
        Storage,
        "pages_to_flush",
        lambda real, self, space: [number for number in real(self, space) if not unwritten(space.page(number))],
    )


NO_FLUSH_IN_ROLLBACK: Final = instead(Engine, "after_operation", lambda *_: None)
NO_FLUSH_IN_PURGE: Final = instead(Engine, "after_purge", lambda *_: None)
ONE_FLUSH: Final = _change(_one_flush)

GUARANTEE_FAULTS: Final = [
    Fault(name, "SDI34", sentence, plant)
    for name, sentence, plant in (
        ("one-flush", "Copy 0 is flushed before the commit.", ONE_FLUSH),
        ("copies-in-turns", "Copy 1 is changed after copy 0 was flushed.", _change(_in_turns)),
        ("no-second-flush", "Copy 1 is flushed after the commit.", _change(_no_second_flush)),
        (
            "node-pointers-not-flushed",
            "Node pointer pages are flushed.",
            _flush_without(lambda page: isinstance(page, IndexPage) and page.level > 0),
        ),
        ("blobs-not-flushed", "BLOB pages are flushed.", _flush_without(lambda page: isinstance(page, BlobPage))),
        ("rollback-flushes-late", "A rollback flushes after each operation.", NO_FLUSH_IN_ROLLBACK),
        (
            "rollback-forwards",
            "A rollback takes the last change back first.",
            instead(Engine, "undo_order", lambda _, self, changes: list(changes)),
        ),
        ("purge-does-not-flush", "A purge flushes after each operation.", NO_FLUSH_IN_PURGE),
    )
]


def _visible_uncommitted(
    _: object, self: Engine, trx: object, space: object, copy_num: int, record: pages.Record
) -> pages.Record | None:
    return None if record.deleted else record


def _own_changes_unseen(real: Callable[..., Any], self: Engine, trx: object, *place: Any) -> Any:
    return real(self, None, *place)


def short_set(
    real: Callable[..., bool], self: Session, tablespace: int, key: object, sdi: bytes, sdi_len: int, copy_num: int
) -> bool:
    """One byte too few is kept of off-page data."""
    return real(self, tablespace, key, sdi, sdi_len - (40 < sdi_len <= len(sdi)), copy_num)


def _get_of_another_copy(real: Callable[..., bool], self: Session, tablespace: int, key: object, *rest: Any) -> bool:
    *buffer, copy_num = rest
    return real(self, tablespace, key, *buffer, 0 if copy_num == 1 else copy_num)


def _flush_inside(real: Callable[..., Any], self: Engine, number: int = 0) -> Any:
    space = real(self, number)
    self.flush(space)
    return space


CALL_FAULTS: Final = [
    Fault("read-uncommitted", "SDI24", "A reader sees what was committed.",
          instead(Engine, "visible", _visible_uncommitted)),
    Fault("own-changes-unseen", "SDI24", "A transaction sees its own changes.",
          instead(Engine, "visible", _own_changes_unseen)),
    Fault("short-set", "SDI42", "What was set is got.", instead(Session, "sdi_set", short_set)),
    Fault("other-copy", "SDI42", "The data are those of the copy that was asked for.",
          instead(Session, "sdi_get_by_id", _get_of_another_copy)),
]  # fmt: skip
PURGE_FAULTS: Final = [
    Fault("flushed-inside", "SDI62", "A thread can flush after another one has changed the other copy.",
          instead(Engine, "purge_operation", _flush_inside)),
    Fault("no-merges", "SDI62", "A purge merges pages.",
          instead(Tree, "_merge", lambda *_: (_ for _ in ()).throw(DecodeError("sdi-page", "no merge")))),
]  # fmt: skip


# --- the calls: one for each part of SDI42 and of SDI24 --------------------------------------------------------------


def _text_alone(real: Callable[..., None], self: Engine, *place: Any) -> None:
    real(self, *place[:-1], bytes(byte & 127 for byte in place[-1]))


def _roots_of_page_1(_: object, page: Callable[[int], Any], size: int) -> tuple[int, int]:
    lsn = page(1).flush_lsn
    return lsn >> 32, lsn & 0xFFFFFFFF


def _any_copy(real: Callable[..., bool], self: Session, tablespace: int, vector: object, copy_num: int) -> bool:
    return real(self, tablespace, vector, copy_num % 2)


def _whole_id(real: Callable[..., Any], self: Session, tablespace: int) -> Any:
    return real(self, tablespace) if tablespace < 1 << 32 else None


def _reversed_keys(real: Callable[..., bool], self: Session, tablespace: int, vector: list[Any], copy_num: int) -> bool:
    failed = real(self, tablespace, vector, copy_num)
    vector.reverse()
    return failed


def _length_kept(real: Callable[..., bool], read: object, sdi: object, sdi_len: Any) -> bool:
    given = sdi_len.value
    failed = real(read, sdi, sdi_len)
    if failed and sdi_len.value != calls.UINT64_MAX:
        sdi_len.value = given
    return failed


def _error_is_length_0(real: Callable[..., bool], read: object, sdi: object, sdi_len: Any) -> bool:
    failed = real(read, sdi, sdi_len)
    if sdi_len.value == calls.UINT64_MAX:
        sdi_len.value = 0
    return failed


def _is_there(session: Session, tablespace: int, key: object, copy_num: int) -> bool:
    keys: list[Any] = []
    return not session.sdi_get_keys_by_id(tablespace, keys, copy_num) and key in keys


def _set_only(there: bool) -> Callable[..., bool]:
    """Set does nothing for keys that are there, or for those that are not."""

    def function(
        real: Callable[..., bool], self: Session, tablespace: int, key: Any, sdi: bytes, sdi_len: int, copy_num: int
    ) -> bool:
        if _is_there(self, tablespace, key, copy_num) == there and 0 <= sdi_len <= len(sdi):
            space = self._to_change(tablespace, key, copy_num)
            return space is None
        return real(self, tablespace, key, sdi, sdi_len, copy_num)

    return function


def _flag_alone(_: object, self: Session, tablespace: int) -> int:
    space = self._tablespace(tablespace)
    return 0 if space is None or self._flag_is_off(space) else 2


def _temporary_as_others(real: Callable[..., bool], self: Session, tablespace: int, num_of_copies: int) -> bool:
    space = self._tablespace(tablespace)
    if space is not None:
        space.temporary = False
    return real(self, tablespace, num_of_copies)


def _no_rollback_to_savepoint(_: object, self: Session, name: str) -> bool:
    return self.trx is None or name not in self.trx.savepoints


def _inserts_seen(
    real: Callable[..., Any], self: Engine, trx: Any, space: Any, copy_num: int, record: pages.Record
) -> Any:
    before = self._version_before(trx, space, copy_num, record.key)
    return record if before is not None and before.old is None else real(self, trx, space, copy_num, record)


# Row, name, sentence, and how to plant it.
CALL_PARTS: Final[tuple[tuple[str, str, str, Plant], ...]] = (
    (
        "SDI5",
        "text-alone",
        "Data are bytes.",
        instead(Engine, "write", _text_alone),
    ),
    (
        "SDI9",
        "colliding-table-id",
        "Each copy has its own table id.",
        instead(transactions, "sdi_table_id", lambda _, space, copy: (-copy & 0xFFFFFFFF) << 32 | space),
    ),
    ("SDI12", "no-wrap", "Table ids wrap.", instead(transactions, "next_table_id", lambda _, last: last + 1)),
    ("SDI26", "ignored", "A savepoint counts.", instead(Session, "rollback_to_savepoint", _no_rollback_to_savepoint)),
    ("SDI32", "page-1-alone", "Page 2 has the roots as well.", instead(calls, "read_roots", _roots_of_page_1)),
    ("SDI35", "inserts-seen", "Reads are READ COMMITTED.", instead(Engine, "visible", _inserts_seen)),
    ("SDI36", "any-copy", "A number out of bounds is an error.", instead(Session, "sdi_get_keys_by_id", _any_copy)),
    ("SDI37", "whole-id", "The lowest 32 bits count.", instead(Session, "_tablespace", _whole_id)),
    (
        "SDI38",
        "unknown-is-flushed",
        "An unknown tablespace is an error.",
        instead(Session, "sdi_flush", lambda real, self, space: real(self, space) and False),
    ),
    ("SDI39", "no-flag", "Copies come with the flag.", lambda patch: patch.setattr(calls, "SDI_FLAG", 0)),
    (
        "SDI40",
        "drop-does-nothing",
        "No SDI after a drop.",
        instead(Session, "sdi_drop", lambda _, self, space: self.sdi_get_num_copies(space) == 0),
    ),
    ("SDI41", "keys-backwards", "Keys come in their order.", instead(Session, "sdi_get_keys_by_id", _reversed_keys)),
    ("SDI43", "length-not-told", "The needed length is told.", instead(calls, "_into_buffer", _length_kept)),
    ("SDI44", "error-is-0", "Genuine errors give UINT64_MAX.", instead(calls, "_into_buffer", _error_is_length_0)),
    ("SDI45", "no-insert", "A new key is inserted.", instead(Session, "sdi_set", _set_only(there=False))),
    ("SDI46", "no-update", "A known key is updated.", instead(Session, "sdi_set", _set_only(there=True))),
    ("SDI47", "no-delete", "A deleted key is gone.", instead(Engine, "mark_deleted", lambda *_: None)),
    (
        "SDI49",
        "one-copy",
        "There are two copies.",
        instead(Session, "sdi_get_num_copies", lambda real, self, space: min(real(self, space), 1)),
    ),
    ("SDI52", "no-call-by-name", "A file is read by its name.", instead(Session, "_data_in_file", lambda *_: None)),
    ("SDI57", "temporary", "No SDI in temporary tablespaces.", instead(Session, "sdi_create", _temporary_as_others)),
    ("SDI58", "flag-alone", "The roots are looked at.", instead(Session, "sdi_get_num_copies", _flag_alone)),
)  # fmt: skip
# Parts of SDI34.
LIFE_PARTS: Final[tuple[tuple[str, str, str, Plant], ...]] = (
    ("SDI48", "no-flush", "A flush writes the pages.", instead(Session, "sdi_flush", lambda *_: False)),
    ("SDI50", "one-flush", "Flush, set, commit, flush.", ONE_FLUSH),
    (
        "SDI51",
        "failure-committed",
        "A failure is rolled back.",
        instead(usage, "change_both_copies", committed_although_it_failed),
    ),
    ("SDI60", "purge-does-not-flush", "A purge flushes after each operation.", NO_FLUSH_IN_PURGE),
    ("SDI61", "rollback-flushes-late", "A rollback flushes after each operation.", NO_FLUSH_IN_ROLLBACK),
)
