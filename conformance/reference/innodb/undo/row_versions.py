"""Every older version of a row, from its clustered record and the undo log (innodb-undo 7).

A version is the one after it with the old values of one undo record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.large_values import rows
from conformance.reference.innodb.records import DELETED, OffPage, Value
from conformance.reference.innodb.undo.log import PURGED, RollPointer
from conformance.reference.innodb.undo.past_values import Inheritance, Life, PastValues
from conformance.reference.innodb.undo.record import UndoRecord, UndoType, read_undo_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.innodb.large_values import Row, StoredRow
    from conformance.reference.innodb.pages import Page, Tablespace
    from conformance.reference.innodb.undo.log import Log, UndoTablespaces


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
    _past: PastValues = field(repr=False, compare=False)
    _life: Life = field(repr=False, compare=False)
    _place: tuple[int, int] = field(repr=False, compare=False)

    def read(self, position: int) -> bytes | None:
        """The bytes of a field; those of an off-page value come from the data file.

        Raises if they are damaged, or no longer there because purge was faster.
        """
        value = self.values[position]
        if not isinstance(value, OffPage):
            return value
        try:
            return self._past.read(value, self._life, *self._place)
        except CodecError as error:
            raise error.at(f"transaction[{self.transaction}]") from None


def row_versions(
    space: Tablespace, tables: Iterable[dict[str, Any]], undo: UndoTablespaces, *, deleted: bool = True
) -> Iterator[RowHistory]:
    """The history of each row, in the order of the keys. ``deleted``: also of rows that are deleted now.

    A row that was purged has no history: nothing leads to its undo records.
    """
    found = Histories(space, tables, undo)
    for stored in rows(space, found.tables, deleted=deleted):
        yield found.of(stored)


class Histories:
    """The histories of the rows in one data file. ``tables`` are the entries of the dictionary."""

    def __init__(self, space: Tablespace, tables: Iterable[dict[str, Any]], undo: UndoTablespaces) -> None:
        self.tables = list(tables)
        self._space, self._undo = space, undo
        self._past = PastValues(space, self._inherited)

    def of(self, stored: StoredRow) -> RowHistory:
        """All versions of one row. An error in the undo log ends the history; the versions found before it stay."""
        walk = _Walk(stored, self._undo, self._past)
        end = walk.run()
        return RowHistory(stored.row, tuple(walk.versions), end)

    def _inherited(self) -> Inheritance:
        found: Inheritance = {}
        for stored in rows(self._space, self.tables, deleted=True):
            walk = _Walk(stored, self._undo, self._past)
            walk.run()
            for place, lives in walk.inherited.items():
                found.setdefault(place, []).extend(lives)
        return found


class _Walk:
    """The way back from a clustered record. The attributes are those of the version that it has come to."""

    def __init__(self, stored: StoredRow, undo: UndoTablespaces, past: PastValues) -> None:
        self._stored, self._undo, self._past = stored, undo, past
        names = [item.name for item in stored.tree.format.fields]
        self._system = names.index("DB_TRX_ID"), names.index("DB_ROLL_PTR")
        self._values = list(stored.record.values)
        self._info = stored.record.info
        self._transaction, pointer = (_number(self._values[at]) for at in self._system)
        self._pointer = RollPointer.of(pointer)
        self._life = Life()
        self._transactions: list[int] = []
        self.versions: list[RowVersion] = []
        self.inherited: Inheritance = {}

    def run(self) -> CodecError | None:
        """Collect all versions down to the insert. An error is the reason why the undo log cannot be followed."""
        seen = set[RollPointer]()
        while not self._pointer.insert:
            try:
                if self._pointer in seen:
                    raise DecodeError("undo-circle", "the undo records of the row lead to each other",
                                      offset=self._pointer.offset, path=(f"page[{self._pointer.page}]",
                                      "roll_pointer"))  # fmt: skip
                log, record = self._read()
            except CodecError as error:
                self._add(None)
                return error.at(f"undo[{self._pointer.space}]")
            seen.add(self._pointer)
            self._add(record, is_open=log.open)
            self._step(record)
        self._add(UndoRecord(UndoType.INSERT, 0, 0, ()), is_open=self._insert_is_open())
        return None

    def _add(self, record: UndoRecord | None, *, is_open: bool | None = None) -> None:
        """Add the version that the walk has come to; ``record`` undoes it."""
        kind = None if record is None else record.type
        if not self.versions or self.versions[-1].change is UndoType.INSERT_OVER_DELETED:
            given = any(isinstance(value, OffPage) and not value.reference.owned for value in self._values)
            self._life = Life(transactions=self._transactions)
            if given and record is not None:
                self._life.heir, self._life.order = self._transaction, record.number
        self._transactions.append(self._transaction)
        changed = None
        if record is not None and kind is not UndoType.INSERT:
            changed = frozenset(item.position for item in record.fields)
        place = len(self._life.changes), len(self.versions)
        self.versions.append(RowVersion(self._transaction, self._pointer, kind, bool(self._info & DELETED), is_open,
                                        changed, tuple(self._values), self._past, self._life, place))  # fmt: skip
        if kind in {UndoType.INSERT, UndoType.INSERT_OVER_DELETED}:
            for value in self._values:
                if isinstance(value, OffPage) and value.reference.inherited:
                    self.inherited.setdefault((value.reference.page, self._transaction), []).append(self._life)

    def _read(self) -> tuple[Log, UndoRecord]:
        """The undo record of this version, if its place still has it."""
        at = self._pointer
        page, log = self._log()
        keys = self._stored.tree.format.keys
        record = read_undo_record(page, at.offset, keys)
        table = self._stored.tree.table_id
        if record.table_id < table:
            raise page.error(REBUILT, "the table was rebuilt: what is older belongs to another table id", at.offset,
                             "table_id", table, record.table_id)  # fmt: skip
        for item in record.fields:
            if item.position >= len(self._values) or item.position in self._system:
                raise page.error("wrong-undo-record", "no update changes this field", at.offset, "position",
                                 f"< {len(self._values)}", item.position)  # fmt: skip
        key = {**dict(enumerate(self._values[:keys])), **{item.position: item.value for item in record.fields}}
        for name, expected, got in (
            ("table_id", table, record.table_id),
            ("key", [key[number] for number in range(keys)], list(record.key)),
            ("insert", False, record.type is UndoType.INSERT),
        ):
            if got != expected:
                raise page.error("wrong-undo-record", "the record is of another row", at.offset, name, expected, got)
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
            self._life.changes += item.changes
        self._info, self._transaction, self._pointer = record.info, record.transaction, record.roll_pointer
        for at, size, value in zip(self._system, (6, 7), (record.transaction, record.roll_pointer.raw), strict=True):
            self._values[at] = value.to_bytes(size, "big")


def _number(value: Value) -> int:
    return int.from_bytes(value, "big") if isinstance(value, bytes) else 0
