"""Compares single events of sound logs with what python-mysql-replication gives and prints of them."""

from __future__ import annotations

import hashlib
from contextlib import redirect_stdout
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Checksum
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from fuzz.peers.comparison.mysql_replication_facts import compare, printed_fact
from fuzz.peers.comparison.refusals import reading
from fuzz.peers.comparison.vendor_lines import MYSQL_REPLICATION
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.events import event
from fuzz.sound.logs import TIME, changes
from fuzz.violation import PeerDefect

try:  # imported with this module, so that the peer's code is instrumented too
    from pymysqlreplication.json_binary import JsonDiff
    from pymysqlreplication.row_event import RowsEvent

    from conformance.subjects.adapters.mysql_replication_log import events_of
except ImportError:
    RowsEvent = None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body
    from conformance.reference.tables.table_map import TableMap
    from fuzz.peers.comparison.vendor_lines import Lines
    from generators.draw import Draw

PACKAGE: Final = "mysql-replication"
MODULE: Final = "pymysqlreplication"
INVARIANT: Final = "Each event that a server could have written arrives with its facts, and can be printed."
INSTRUMENT: Final[tuple[str, ...]] = (MODULE,)
MAX_LEN: Final = 256
DICTIONARY: Final[tuple[bytes, ...]] = ()


def read(log: bytes) -> list[Any]:
    """The peer's events of a log."""
    if RowsEvent is None:
        raise ModuleNotFoundError(f"pip install {PACKAGE}")
    with reading(MODULE):
        return list(events_of(BytesIO(log)))


class _Made(NamedTuple):
    """A log, and the event in it that is looked at: its place, and for row events their TABLE_MAP in front."""

    log: bytes
    body: Body
    place: int
    table: TableMap | None = None


def log_of(data: bytes) -> bytes:
    """The log that these decisions make."""
    return _made(ByteDraw(data)).log


def _made(draw: Draw) -> _Made:
    """One event alone in a file, or a row event behind its TABLE_MAP."""
    algorithm = Checksum.NONE if draw.below(8) == 7 else Checksum.CRC32
    writer = FileWriter(timestamp=TIME, format=FormatDescription(algorithm=algorithm))
    if draw.below(6) == 5:
        described, rows = changes(draw)
        return _Made(writer.start() + writer.add(described) + writer.add(rows), rows, 3, described)
    body = event(draw)
    if isinstance(body, FormatDescription):
        writer.format = body
        return _Made(writer.start(), body, 0)
    if isinstance(body, PreviousGtids):
        return _Made(writer.start(body), body, 1)
    return _Made(writer.start() + writer.add(body), body, 2)


def vendor_lines(log: bytes, file: str) -> Lines:
    """The lines with which the peer's vendor reads a log."""
    return MYSQL_REPLICATION.of(log, file)


def check(data: bytes) -> None:
    """Check the event that these decisions make."""
    made = _made(ByteDraw(data))
    if made.table is not None:
        _rows(made.log, made.table)
        return
    found = read(made.log)
    if len(found) <= made.place:
        raise PeerDefect(f"an event does not arrive: {EventType(made.body.type).name}", made.body)
    with reading(MODULE):
        compare(made.body, found[made.place])
    printed(found[made.place], printed_fact(made.body), EventType(made.body.type).name)


def printed(other: Any, text: str | None, name: str) -> None:
    """Let the peer print an event in each of its ways, and look for the text that must be there."""
    shown = StringIO()
    with reading(MODULE), redirect_stdout(shown):
        repr(other)
        other.to_json()
        other.dump()
    if text is not None and text not in shown.getvalue():
        raise PeerDefect(f"wrong text: {name}", text, shown.getvalue())


def _rows(log: bytes, table: TableMap) -> None:
    """A row event: its table's key, and its printed form. Whether its values can be read is the target of rows."""
    try:
        found = read(log)[2:]
        values = [value for row in found[1].rows for value in row.get("after_values", {}).values()]
    except Exception:  # noqa: BLE001 - a finding there
        return
    key = [column.name for column in table.described if column.key_position is not None]
    wanted = key[0] if key else ""  # tables of this generator have no keys of several columns
    if found[1].primary_key != wanted:
        raise PeerDefect("wrong fact: primary_key of a row event", wanted, found[1].primary_key)
    for other in found:
        printed(other, None, type(other).__name__)
    with reading(MODULE):
        for value in values:
            str(value) if isinstance(value, JsonDiff) else None


def seeds() -> Iterator[tuple[str, bytes]]:
    """Decisions at random: each kind of event several times."""
    yield "simplest", b""
    for number in range(200):
        yield f"random-{number}", hashlib.shake_128(b"event %d" % number).digest(24 + number % 5 * 40)
