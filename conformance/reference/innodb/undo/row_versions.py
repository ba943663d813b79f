"""Every older version of a row, from its clustered record and the undo log (innodb-undo 7).

A version is the one after it with the old values of one undo record. The LOB of an off-page value is in the data file:
at the version that the old reference names, with the small changes of all newer versions taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.large_values import rows
from conformance.reference.innodb.lob import IndexedLob, open_lob
from conformance.reference.innodb.records import DELETED, OffPage, Value
from conformance.reference.innodb.undo.log import PURGED, RollPointer
from conformance.reference.innodb.undo.record import UndoRecord, UndoType, read_undo_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.large_values import Row, StoredRow
    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.records import Reference
    from conformance.reference.innodb.undo.log import Log, UndoTablespaces
    from conformance.reference.innodb.undo.record import SmallChange


REBUILT: Final = "undo-before-rebuild"
EXPECTED_ENDS: Final = frozenset((PURGED, REBUILT))
"""Codes of the errors that end a history without damage."""


class RowHistory(NamedTuple):
    """A row and its versions, the newest first. ``end``: why there are none before; None if the last is the insert."""

    row: Row
    versions: tuple[RowVersion, ...]
    end: CodecError | None


@dataclass(frozen=True, slots=True)
class RowVersion:
    """One version of a row: ``transaction`` made it by ``change``, and ``roll_pointer`` leads to what undoes that.

    ``changed``: positions of the fields that have another value in the version before; None if there is none.
    ``open``: the transaction had not ended; None if that is not known. ``values`` follow the fields of the record.
    """

    transaction: int
    roll_pointer: RollPointer
    change: UndoType | None
    deleted: bool
    open: bool | None
    changed: frozenset[int] | None
    values: tuple[Value, ...]
    _past: _Past = field(repr=False, compare=False)
    _newer: int = field(repr=False, compare=False)

    def read(self, position: int) -> bytes | None:
        """The bytes of a field; those of an off-page value come from the data file.

        Raises if they are damaged, or no longer there because purge was faster.
        """
        value = self.values[position]
        if not isinstance(value, OffPage):
            return value
        return self._past.document(value, self.transaction, self._newer)


class _Past:
    """What the versions of one row share: the data file, and the small changes, those of the newest version first."""

    def __init__(self, space: Tablespace) -> None:
        self._space = space
        self._lobs: dict[Reference, Lob] = {}
        self.changes: list[SmallChange] = []

    def document(self, value: OffPage, transaction: int, newer: int) -> bytes:
        """An off-page value as a transaction left it. ``newer``: so many small changes were made later."""
        reference = value.reference
        lob = self._lobs.get(reference)
        if lob is None:
            lob = self._lobs[reference] = open_lob(self._space, reference)
        if isinstance(lob, IndexedLob):
            _check_pieces(lob, transaction)
        data = bytearray(value.prefix + lob.read())
        for change in self.changes[:newer]:
            if change.page != reference.page:
                continue
            end = change.offset + len(change.old)
            if end > len(data):
                raise DecodeError("bad-small-change", "the undo log has bytes behind the end of the value",
                                  offset=change.offset, expected=f"<= {len(data)}", got=end,
                                  path=(f"page[{change.page}]", "small_change"))  # fmt: skip
            data[change.offset : end] = change.old
        return bytes(data)


def _check_pieces(lob: IndexedLob, transaction: int) -> None:
    """Raise unless each piece is as old as the version that is read. Purge frees pages, which get other data."""
    for piece in lob.pieces():
        if piece.version > lob.current or piece.creator > transaction:
            raise DecodeError("lob-purged", "the piece of this version was purged", offset=piece.at.offset,
                              expected=f"version <= {lob.current}, transaction <= {transaction}",
                              got=f"version {piece.version}, transaction {piece.creator}",
                              path=(f"page[{piece.at.page}]", "entry"))  # fmt: skip


def row_versions(
    space: Tablespace, tables: Iterable[dict[str, Any]], undo: UndoTablespaces, *, deleted: bool = True
) -> Iterator[RowHistory]:
    """The history of each row, in the order of the keys. ``deleted``: also of rows that are deleted now.

    A row that was purged has no history: nothing leads to its undo records.
    """
    for stored in rows(space, tables, deleted=deleted):
        yield history(space, stored, undo)


def history(space: Tablespace, stored: StoredRow, undo: UndoTablespaces) -> RowHistory:
    """All versions of one row. An error in the undo log ends the history; the versions found before it stay."""
    walk = _Walk(space, stored, undo)
    try:
        walk.run()
    except CodecError as error:
        walk.add(None)
        return RowHistory(stored.row, tuple(walk.versions), error)
    return RowHistory(stored.row, tuple(walk.versions), None)


class _Walk:
    """The way back from a clustered record. The attributes are those of the version that it has come to."""

    def __init__(self, space: Tablespace, stored: StoredRow, undo: UndoTablespaces) -> None:
        self._stored, self._undo, self._past = stored, undo, _Past(space)
        names = [item.name for item in stored.tree.format.fields]
        self._system = names.index("DB_TRX_ID"), names.index("DB_ROLL_PTR")
        self._key = stored.record.values[: stored.tree.format.keys]
        self._values = list(stored.record.values)
        self._info = stored.record.info
        self._transaction, pointer = (_number(self._values[at]) for at in self._system)
        self._pointer = RollPointer.of(pointer)
        self.versions: list[RowVersion] = []

    def run(self) -> None:
        """Collect all versions down to the insert. Raises where the undo log cannot be followed."""
        seen = set[RollPointer]()
        while not self._pointer.insert:
            if self._pointer in seen:
                raise DecodeError("undo-circle", "the undo records of the row lead to each other",
                                  offset=self._pointer.offset, path=(f"undo[{self._pointer.space}]",
                                  f"page[{self._pointer.page}]", "roll_pointer"))  # fmt: skip
            seen.add(self._pointer)
            try:
                log, record = self._read()
            except CodecError as error:
                raise error.at(f"undo[{self._pointer.space}]") from None
            self.add(record, is_open=log.open)
            self._step(record)
        self.add(UndoRecord(UndoType.INSERT, 0, 0, ()), is_open=self._insert_is_open())

    def add(self, record: UndoRecord | None, *, is_open: bool | None = None) -> None:
        """Add the version that the walk has come to; ``record`` undoes it."""
        older = record is not None and record.type is not UndoType.INSERT
        self.versions.append(RowVersion(
            self._transaction, self._pointer, None if record is None else record.type, bool(self._info & DELETED),
            is_open, frozenset(item.position for item in record.fields) if record is not None and older else None,
            tuple(self._values), self._past, len(self._past.changes),
        ))  # fmt: skip

    def _read(self) -> tuple[Log, UndoRecord]:
        """The undo record of this version, if its place still has it."""
        at = self._pointer
        page, log = self._log()
        record = read_undo_record(page, at.offset, len(self._key))
        table = self._stored.tree.table_id
        if record.table_id < table:
            raise page.error(REBUILT, "the table was rebuilt: what is older belongs to another table id", at.offset,
                             "table_id", table, record.table_id)  # fmt: skip
        for name, expected, got in (
            ("table_id", table, record.table_id),
            ("key", self._key, record.key),
            ("insert", False, record.type is UndoType.INSERT),
        ):
            if got != expected:
                raise page.error("wrong-undo-record", "the record is of another row", at.offset, name, expected, got)
        for item in record.fields:
            if not len(self._key) <= item.position < len(self._values) or item.position in self._system:
                raise page.error("wrong-undo-record", "no update changes this field", at.offset, "position",
                                 f"< {len(self._values)}", item.position)  # fmt: skip
        return log, record

    def _log(self) -> tuple[Page, Log]:
        """The page of the undo record, and the log it is in, which must be of this version's transaction."""
        at = self._pointer
        page = self._undo.page(at.space, at.page)
        log = self._undo.log_of(at.space, page, at.offset)
        if log.transaction != self._transaction:
            raise page.error(PURGED, "the undo record was purged, and its place is used again", log.offset,
                             "transaction", self._transaction, log.transaction)  # fmt: skip
        return page, log

    def _insert_is_open(self) -> bool | None:
        """Whether the inserting transaction is still running. The log of an insert is gone as soon as it is not."""
        try:
            return self._log()[1].open
        except CodecError as error:
            return False if error.code == PURGED else None

    def _step(self, record: UndoRecord) -> None:
        """Go to the version before."""
        for item in record.fields:
            self._values[item.position] = item.value
            self._past.changes += item.changes
        self._info, self._transaction, self._pointer = record.info, record.transaction, record.roll_pointer
        for at, size, value in zip(self._system, (6, 7), (record.transaction, record.roll_pointer.raw), strict=True):
            self._values[at] = value.to_bytes(size, "big")


def _number(value: Value) -> int:
    return int.from_bytes(value, "big") if isinstance(value, bytes) else 0
