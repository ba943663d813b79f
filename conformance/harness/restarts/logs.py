"""Logs for restarts: small transactions of every common form, in which no row change occurs twice.

A table of two columns is enough: what a client loses or repeats depends on where events begin and end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from conformance.cases.decoder_case import DecoderCase
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.gtid import Gtid
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import MAGIC
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import LazyRows, Row, one_statement, rows_body
from conformance.reference.binlog.writer import FileWriter, begin
from conformance.reference.event_types import EventType
from conformance.reference.tables.definitions import Column, Table, table_map
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.reference.binlog.event import Body
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.tables.table_map import TableMap
    from generators.draw import Draw

SCHEMA: Final = "lab"
PREPARE: Final = (
    "CREATE SCHEMA lab",
    "USE lab",
    "CREATE TABLE a (id INT NOT NULL PRIMARY KEY, v INT NOT NULL)",
    "CREATE TABLE b (id INT NOT NULL PRIMARY KEY, v INT NOT NULL)",
)
_COLUMNS: Final = (Column(name="id", type="INT", nullable=False), Column(name="v", type="INT", nullable=False))
_MAPS: Final = tuple(
    table_map(Table(schema=SCHEMA, name=name, columns=_COLUMNS, primary_key=((0, 0),)), "FULL", table_id=90 + number)
    for number, name in enumerate("ab")
)
_CODES: Final = (EventType.WRITE_ROWS, EventType.UPDATE_ROWS, EventType.DELETE_ROWS)
_GROUPS: Final = 8
_TIME: Final = 1_700_000_000


class Places(NamedTuple):
    """Where a client may be cut off: in front of each event behind the first, and in the middle of each. ``rows``: how
    many rows are read behind each event with rows but the last, in payloads too."""

    between: tuple[int, ...]
    inside: tuple[int, ...]
    rows: tuple[int, ...]


def restart_case(seed: str, number: int, *, compressed: bool) -> DecoderCase:
    """Log ``number`` of a seed."""
    return DecoderCase(
        id=f"restarts/{seed}-{number}{'-compressed' if compressed else ''}",
        title="Transactions for restarts",
        why="Clients lose their connection, and must not lose rows with it.",
        requirements=("DEC1",),
        log=_Writer(Stream("restarts", seed, number), number, compressed=compressed).log(),
        prepare=PREPARE,
    )


def places(log: bytes) -> Places:
    """The places of a log."""
    reader = FileReader(expand=True)
    reader.feed(log)
    between, inside, rows = [], [], [0]
    for event in reader.events():
        start = event.position or 0
        if event.inner is None and start > len(MAGIC):
            between.append(start)
            inside.append(start + event.header.length // 2)
        if isinstance(event.body, LazyRows):
            rows.append(rows[-1] + sum(1 for _ in event.body.rows()))
    return Places(tuple(between), tuple(inside), tuple(rows[1:-1]))


class _Writer:
    """Writes one log; every number in a row occurs once."""

    def __init__(self, draw: Draw, number: int, *, compressed: bool) -> None:
        self._draw = draw
        self._compressed = compressed
        self._uuid = UUID(int=0x0B1A5000_0000_4000_8000_000100000000 + number * 2 + compressed)
        self._file = FileWriter(timestamp=_TIME, server_id=71)
        self._value = number * 1_000_000
        self._gno = 0

    def log(self) -> bytes:
        """The file."""
        start = self._file.start(PreviousGtids())
        return start + b"".join(self._group(self._draw.fork("group", number)) for number in range(_GROUPS))

    def _group(self, draw: Draw) -> bytes:
        self._gno += 1
        gtid = Gtid(
            uuid=self._uuid, gno=self._gno, last_committed=self._gno - 1, sequence_number=self._gno,
            immediate_commit_timestamp=_TIME * 10**6, immediate_server_version=90704,
        )  # fmt: skip
        if draw.below(8) == 7:
            return self._file.group(gtid, [Query(text=b"FLUSH TABLES", schema=SCHEMA.encode())])
        bodies: list[Body] = [begin(SCHEMA, update=True)]
        for _ in range(draw.choice((1, 1, 2, 3))):
            bodies += self._statement(draw)
        bodies.append(Xid(xid=self._gno))
        return self._file.group(gtid, [self._file.compressed(bodies)] if self._compressed else bodies)

    def _statement(self, draw: Draw) -> list[Body]:
        """One table, or both with their maps in front, as a multi-table statement writes them."""
        maps = _MAPS if draw.below(4) == 3 else (draw.choice(_MAPS),)
        rows = [self._rows(draw, shape) for shape in maps for _ in range(draw.choice((1, 1, 2)))]
        return [*maps, *one_statement(rows)]

    def _rows(self, draw: Draw, shape: TableMap) -> RowsBody:
        code = draw.choice(_CODES)
        rows = []
        for _ in range(draw.choice((1, 2, 3))):
            old, new = self._image(), self._image()
            rows.append(
                Row(None if code == EventType.WRITE_ROWS else old, None if code == EventType.DELETE_ROWS else new)
            )
        return rows_body(shape, code, rows)

    def _image(self) -> tuple[int, int]:
        self._value += 1
        return self._value, self._value
