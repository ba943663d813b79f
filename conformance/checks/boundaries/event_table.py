"""The worklog's table of event types, and its cells for single events (WL#4162, low-level design).

The table is written down here from the worklog's text, with numbers for types and values. So it shares nothing with the
tables by which the kit marks and guesses. Each cell belongs to one sentence. Events that the worklog predates have no
cell, and neither have statements of XA.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.problem import Problem
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

_IGNORE, _SELF, _START, _INSIDE, _END = 1, 2, 3, 4, 5
_TITLES: Final = {
    0: "Not Defined", _IGNORE: "Ignore", _SELF: "Self Contained", _START: "Start", _INSIDE: "Inside", _END: "End",
}  # fmt: skip
# Type code -> name in the table, marker, and the sentence about this marker.
_PLAIN: Final = {
    1: ("Start_log_event_v3", _SELF, "TD2"),
    3: ("Stop_log_event", _SELF, "TD2"),
    6: ("Load_log_event", _SELF, "TD2"),
    8: ("Create_file_log_event", _SELF, "TD2"),
    9: ("Append_block_log_event", _INSIDE, "TD4"),
    10: ("Execute_load_log_event", _SELF, "TD2"),
    11: ("Delete_file_log_event", _SELF, "TD2"),
    15: ("Format_description_log_event", _IGNORE, "TD1"),
    16: ("Xid_log_event", _END, "TD5"),
    17: ("Begin_load_query_log_event", _INSIDE, "TD4"),
    19: ("Table_map_log_event", _INSIDE, "TD4"),
    23: ("Write_rows_log_event", _INSIDE, "TD4"),
    24: ("Update_rows_log_event", _INSIDE, "TD4"),
    25: ("Delete_rows_log_event", _INSIDE, "TD4"),
    27: ("Heartbeat_log_event", _SELF, "TD2"),
    28: ("Ignorable_log_event", _IGNORE, "TD1"),
    29: ("Rows_query_log_event", _INSIDE, "TD4"),
    30: ("Write_rows_log_event", _INSIDE, "TD4"),
    31: ("Update_rows_log_event", _INSIDE, "TD4"),
    32: ("Delete_rows_log_event", _INSIDE, "TD4"),
    33: ("Gtid_log_event", _START, "TD3"),
    34: ("Gtid_log_event", _START, "TD3"),  # the same class, for transactions without a GTID
    35: ("Previous_gtid_log_event", _SELF, "TD2"),
}
_QUERY, _ROTATE, _LOAD_QUERY, _XA_PREPARE, _PAYLOAD = 2, 4, 18, 38, 40
_VARIABLES: Final = {5: "Intvar_log_event", 13: "Rand_log_event", 14: "User_var_log_event"}
_GTIDS: Final = (33, 34, 42)
_FRAME: Final = (_ROTATE, 3, 15, 27, 28, 35)  # stands between transactions, or aside
_ARTIFICIAL: Final = 0x20
SENTENCES: Final = ("TD1", "TD2", "TD3", "TD4", "TD5", "TS1", "TS2")


class Cell(NamedTuple):
    """The table's cell for one event: the event's name, its marker, and the sentence about this marker."""

    name: str
    marker: int
    sentence: str


def cells_of(events: Sequence[bytes]) -> list[Cell | None]:
    """The cell of each event of a stream of whole transactions; ``None`` for what the worklog has no words for."""
    reader = _Reader()
    return [reader.cell(event) for event in events]


class _Reader:
    """Where in a transaction the next event stands, as far as the table asks for it."""

    def __init__(self) -> None:
        self.gtid = False  # a GTID event began this transaction, and its first event is still to come
        self.begun = False  # behind BEGIN
        self.variables = 0  # INTVAR, RAND and USER_VAR in front of the statement

    def cell(self, event: bytes) -> Cell | None:
        """The cell of the next event."""
        kind = event[4]
        if kind == _ROTATE:
            flags, log_pos = int.from_bytes(event[17:19], "little"), int.from_bytes(event[13:17], "little")
            made = bool(flags & _ARTIFICIAL) or not log_pos
            return Cell("Rotate_log_event", _IGNORE, "TD1") if made else Cell("Rotate_log_event", _SELF, "TD2")
        if kind in _VARIABLES:
            return self._variable(_VARIABLES[kind])
        if kind in (_QUERY, _LOAD_QUERY):
            return self._statement(_text(event) if kind == _QUERY else b"LOAD DATA")
        found = _PLAIN.get(kind)
        if kind not in _FRAME:
            self._passed(kind)
        return None if found is None else Cell(*found)

    def _passed(self, kind: int) -> None:
        """An event that is no statement moves on: a GTID begins a transaction, and these ends end one."""
        if kind in _GTIDS:
            self.gtid, self.begun, self.variables = True, False, 0
        else:
            self.gtid = False
            self.begun = self.begun and kind not in (16, _XA_PREPARE, _PAYLOAD)

    def _variable(self, name: str) -> Cell:
        """The constructor says Inside; the first one of a statement alone is its start (M2), which a GTID takes over
        (M1a)."""
        first, alone = not self.variables, not self.begun
        self.variables += 1
        if not alone:
            return Cell(name, _INSIDE, "TD4")
        if not first:
            return Cell(name, _INSIDE, "TS2")
        return Cell(name, _INSIDE, "TS1") if self.gtid else Cell(name, _START, "TS2")

    def _statement(self, text: bytes) -> Cell | None:
        gtid, variables, begun = self.gtid, self.variables, self.begun
        self.gtid, self.variables = False, 0
        if text.upper().startswith(b"XA "):
            self.begun = text.upper().startswith((b"XA START", b"XA BEGIN"))
            return None
        if text == b"BEGIN":
            self.begun = True
            return Cell("BEGIN", _INSIDE, "TS1") if gtid else Cell("BEGIN", _START, "TD3")
        if text in (b"COMMIT", b"ROLLBACK"):
            self.begun = False
            return Cell(text.decode(), _END, "TD5")
        if begun:
            return Cell("a statement inside", _INSIDE, "TD4")
        if variables:
            return Cell("a statement behind variables", _END, "TS2")
        return Cell("a statement alone", _END, "TS1") if gtid else Cell("a statement alone", _SELF, "TD2")


def _text(event: bytes) -> bytes:
    """The statement of a QUERY event: behind thread id, time, lengths, error, status variables and schema."""
    at = HEADER_SIZE
    schema, status = event[at + 8], int.from_bytes(event[at + 11 : at + 13], "little")
    return event[at + 13 + status + schema + 1 : -FOOTER_SIZE]


class Held:
    """Streams held against the table. ``cells``: how many events each sentence speaks of; ``problems``, by it."""

    def __init__(self) -> None:
        self.cells: Counter[str] = Counter()
        self.problems: dict[str, list[Problem]] = {name: [] for name in SENTENCES}

    def add(self, where: str, events: Sequence[bytes], markers: Sequence[int]) -> None:
        """Compare the markers of a stream of whole transactions, whose events have checksums, with the table's."""
        for number, (cell, marker) in enumerate(zip(cells_of(events), markers, strict=True)):
            if cell is None:
                continue
            self.cells[cell.sentence] += 1
            if marker != cell.marker:
                got = _TITLES.get(marker, str(marker))
                field = f"{where}, event {number} {cell.name}"
                self.problems[cell.sentence].append(
                    Problem(field, _TITLES[cell.marker], got, "a marker is not that of the worklog's table")
                )
