"""Off-page values as an older version of a row had them: LOB pages, and the small changes to take back (innodb-undo 7).

A change of the key deletes the row and inserts it under another key. The new row inherits the LOB, page by page. So the
small changes of both lives of the row belong to one LOB.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from conformance.reference.errors import DecodeError
from conformance.reference.innodb.lob import IndexedLob, open_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.reference.innodb.lob import Lob
    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import OffPage, Reference
    from conformance.reference.innodb.undo.record import SmallChange


@dataclass
class Life:
    """A row from its insert to its delete. ``changes``: its small changes, the newest first.

    ``transactions``: ids for its versions, the newest first, and for the lives before. ``heir``: the transaction that
    deleted the row and gave its LOBs to a row with another key; None if none did. ``order``: the undo number of that.
    """

    heir: int | None = None
    order: int = 0
    changes: list[SmallChange] = field(default_factory=list)
    transactions: list[int] = field(default_factory=list)

    def end_in(self, transaction: int) -> float:
        """When the life ended, in the order of a transaction's undo numbers."""
        return self.order if self.heir == transaction else inf


Inheritance = dict[tuple[int, int], list[Life]]
"""Lives that began with the LOB of another row: by first page, and the transaction that changed the key."""


class PastValues:
    """Reads off-page values of all older versions in a data file. ``inherited`` is called once, if it is needed."""

    def __init__(self, space: Tablespace, inherited: Callable[[], Inheritance]) -> None:
        self._space, self._collect = space, inherited
        self._inherited: Inheritance | None = None
        self._lob: tuple[Reference, Lob] | None = None  # versions of a row often have the same one

    def read(self, value: OffPage, life: Life, changes: int, version: int) -> bytes:
        """The bytes of a value in the ``version``-th version of a life.

        ``changes``: so many small changes of the life were made later.
        """
        reference = value.reference
        if self._lob is None or self._lob[0] != reference:
            self._lob = reference, open_value(self._space, value)
        lob = self._lob[1]
        if isinstance(lob, IndexedLob) and not reference.inherited:
            _check_pieces(lob, max(life.transactions[version:]))
        data = bytearray(value.prefix + lob.read())
        for change in (*self._after(life, reference.page), *life.changes[:changes]):
            if change.page == reference.page:
                _take_back(data, change)
        return bytes(data)

    def _after(self, life: Life, page: int) -> list[SmallChange]:
        """The small changes that later owners of a LOB made, the newest first."""
        found: list[SmallChange] = []
        seen = set[int]()
        while life.heir is not None and id(life) not in seen:
            seen.add(id(life))
            if self._inherited is None:
                self._inherited = self._collect()
            giver, order = life.heir, life.order
            heirs = [heir for heir in self._inherited.get((page, giver), ()) if heir.end_in(giver) > order]
            if not heirs:
                break
            life = min(heirs, key=lambda heir: heir.end_in(giver))  # a transaction may change the key several times
            found[:0] = life.changes
        return found


def _take_back(data: bytearray, change: SmallChange) -> None:
    end = change.offset + len(change.old)
    if end > len(data):
        raise DecodeError("bad-small-change", "the undo log has bytes behind the end of the value",
                          offset=change.offset, expected=f"<= {len(data)}", got=end,
                          path=(f"page[{change.page}]", "small_change"))  # fmt: skip
    data[change.offset : end] = change.old


def _check_pieces(lob: IndexedLob, newest: int) -> None:
    """Raise unless each piece is as old as the version that is read. Purge frees pages, which get other data.

    ``newest``: the highest transaction id of this version and those before.
    """
    for piece in lob.pieces():
        if piece.version > lob.current or piece.creator > newest:
            raise DecodeError("lob-purged", "the piece of this version was purged", offset=piece.at.offset,
                              expected=f"version <= {lob.current}, transaction <= {newest}",
                              got=f"version {piece.version}, transaction {piece.creator}",
                              path=(f"page[{piece.at.page}]", "entry"))  # fmt: skip
