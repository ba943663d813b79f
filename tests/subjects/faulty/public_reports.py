"""Decoders with one fault each that people met in released readers: the reference, and one public bug.

They were chosen, and written down here, before the Cases that they need: six that judged "pass" in everything, and
twelve from reports about MySQL readers. :data:`REPORTS` says which report each one is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog.control_events import XaPrepare
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.header import HEADER_SIZE
from conformance.reference.binlog.payload import UNCOMPRESSED, TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.reading import rules_of
from tests.subjects.faulty.reading import Reader, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.binlog.event import Event
    from conformance.reference.tables.metadata import ColumnInfo
    from tests.subjects.faulty.reading import Change

_KNOWN: Final = frozenset(map(int, EventType))


class Cannot(Exception):
    """The decoder stops with an error."""


class Watching(Reader):
    """A reader that looks at each event first. ``event`` returns the event to read, or raises :class:`Cannot`."""

    table: TableMap | None = None

    def decode(self, path: str) -> Iterator[Change]:
        """The changes, with the table of each at hand."""
        writer = RowChanges(tagged=True)
        with Path(path).open("rb") as file:
            for event in read_events(file, reader=FileReader(expand=True, rules_for=rules_of)):
                seen = self.event(event)
                self.table = seen.body.map() if isinstance(seen.body, LazyRows) else None
                yield from self.given(seen, (self.change(parse(line)) for line in writer.event(seen)))

    def event(self, event: Event) -> Event:
        """The event as the decoder sees it."""
        return event

    def given(self, event: Event, changes: Iterator[Change]) -> Iterator[Change]:
        """The changes that are given out after this event."""
        del event
        yield from changes


class Columns(Watching):
    """A reader that alters values by their columns."""

    def change(self, change: Change) -> Change:
        """The change, its values altered."""
        assert self.table is not None
        named = dict(zip(self.table.column_names, self.table.described, strict=True))
        for image in ("before", "after"):
            if change[image] is not None:
                change[image] = {name: self.column(named[name], value) for name, value in change[image].items()}
        return change

    def column(self, info: ColumnInfo, value: Any) -> Any:
        """The value that the decoder gives."""
        del info
        return value


class WaitsForTheCommit(Watching):
    """A sound reader that gives committed changes only, in the order of the log."""

    capabilities = ("file", "types", "committed")

    def decode(self, path: str) -> Iterator[Change]:
        """The changes whose transaction ends well, also where the log is damaged behind them."""
        self.open: list[int] = []
        self.prepared: dict[bytes, list[int]] = {}
        self.committed: set[int] = set()
        changes: list[Change] = []
        damage: Exception | None = None
        self.count = 0
        try:
            for change in super().decode(path):
                changes.append(change)  # noqa: PERF402 - those before an error stay
        except Exception as error:  # noqa: BLE001 - told behind the changes
            damage = error
        yield from (change for number, change in enumerate(changes) if number in self.committed)
        if damage is not None:
            raise damage

    def given(self, event: Event, changes: Iterator[Change]) -> Iterator[Change]:
        """The changes, and the fate of their transaction noted."""
        for change in changes:
            self.open.append(self.count)
            self.count += 1
            yield change
        body = event.body
        if event.header.type == EventType.XID or (isinstance(body, XaPrepare) and body.one_phase):
            self.committed.update(self.ended())
        elif isinstance(body, XaPrepare):
            self.prepared[_xid(body)] = self.ended()
        elif isinstance(body, Query):
            self.committed.update(self.statement(body.text))

    def statement(self, text: bytes) -> list[int]:
        """The changes that a statement commits."""
        if text == b"COMMIT":
            return self.ended()
        if text == b"ROLLBACK":
            self.ended()
        for words in (b"XA COMMIT ", b"XA ROLLBACK "):
            if text.startswith(words):
                found = self.prepared.pop(text.removeprefix(words), [])
                return found if words == b"XA COMMIT " else []
        return []

    def ended(self) -> list[int]:
        """The changes of the transaction that is open, once."""
        found, self.open = self.open, []
        return found


def _xid(body: XaPrepare) -> bytes:
    return b"X'%s',X'%s',%d" % (body.gtrid.hex().encode(), body.bqual.hex().encode(), body.format_id)


# --- six that judged "pass" in everything ----------------------------------------------------------------------------


class FailsAbove250Columns(Watching):
    def event(self, event: Event) -> Event:
        if isinstance(event.body, TableMap) and len(event.body.columns) > 250:
            raise Cannot("column count")
        return event


class GivesRowsAtXidOnly(WaitsForTheCommit):
    def statement(self, text: bytes) -> list[int]:
        return [] if text == b"COMMIT" else super().statement(text)


class MetadataShiftedInMinimalImages(Watching):
    """Counts the columns' metadata over those of the image: behind an absent column each has another's.

    A document has four bytes of length whatever the metadata say.
    """

    def event(self, event: Event) -> Event:
        body = event.body
        if not isinstance(body, LazyRows) or body.table is None:
            return event
        present = body.after_columns if body.after_columns is not None else body.before_columns
        assert present is not None
        columns = body.table.columns
        shifted = list(columns)
        for number, place in enumerate(at for at in range(len(columns)) if present >> at & 1):
            if columns[place].metadata_size and columns[place].type != types.JSON:
                shifted[place] = ColumnType(columns[place].type, columns[number].metadata)
        return event._replace(body=replace(body, table=replace(body.table, columns=tuple(shifted))))


class StopsAtStatementsThatAreNotUtf8(Watching):
    def event(self, event: Event) -> Event:
        if isinstance(event.body, Query):
            event.body.text.decode("utf-8")
        return event


class RefusesEventsOf19Bytes(Watching):
    def event(self, event: Event) -> Event:
        if event.header.length <= HEADER_SIZE:
            raise Cannot("empty event")
        return event


class KnowsNoOldColumnTypes(Watching):
    """Type 252 is that of every BLOB and TEXT: no reader lacks it."""

    def event(self, event: Event) -> Event:
        if isinstance(event.body, TableMap):
            for column in event.body.columns:
                if column.type in (0, 7, 11, 12, 14, 20, 249, 250, 251, 253):
                    raise Cannot(f"column type {column.type}")
        return event


# --- twelve more -----------------------------------------------------------------------------------------------------


class LargeSetsHighByteFirst(Columns):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        size = info.type.metadata >> 8 & 0xFF
        if value is None or info.type.real_type != types.SET or size < 2:
            return value
        if info.members is None:
            return {"index": _reversed(value["index"], size)}
        names = [member.decode("utf-8", "replace") for member in info.members]
        bits = _reversed(sum(1 << names.index(name) for name in value.split(",") if name in names), size)
        return ",".join(name for place, name in enumerate(names) if bits >> place & 1)


def _reversed(number: int, size: int) -> int:
    return int.from_bytes(number.to_bytes(size, "little"), "big")


class Enum0AsTheLastMember(Columns):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        if info.type.real_type != types.ENUM or value not in ("", {"index": 0}):
            return value
        return info.members[-1].decode("utf-8", "replace") if info.members else {"index": -1}


class NegativeTimeBorrowsFromNoFraction(Columns):
    """-838:59:59 in TIME(6) is -838:59:58.104857."""

    def column(self, info: ColumnInfo, value: Any) -> Any:
        digits = info.type.metadata
        if info.type.type != types.TIME2 or not digits or value is None or not value.startswith("-"):
            return value
        clock, _, fraction = value.partition(".")
        if int(fraction) or clock.endswith("00"):
            return value
        return f"{clock[:-2]}{int(clock[-2:]) - 1:02}.{'104857'[:digits]}"


class RollbackStatementsUnread(WaitsForTheCommit):
    """Waits for the commit, knows XA ROLLBACK, and takes ROLLBACK for any other end."""

    def statement(self, text: bytes) -> list[int]:
        return self.ended() if text == b"ROLLBACK" else super().statement(text)


class StopsAtSavepoints(Watching):
    def event(self, event: Event) -> Event:
        if isinstance(event.body, Query) and event.body.text.upper().startswith(b"SAVEPOINT"):
            raise Cannot("unknown statement SAVEPOINT")
        return event


class KeepsTheFirstTableOfAnId(Watching):
    def decode(self, path: str) -> Iterator[Change]:
        self.first: dict[int, TableMap] = {}
        yield from super().decode(path)

    def event(self, event: Event) -> Event:
        body = event.body
        if isinstance(body, TableMap):
            self.first.setdefault(body.table_id, body)
        if not isinstance(body, LazyRows) or body.table is None or body.table_id not in self.first:
            return event
        return event._replace(body=replace(body, table=self.first[body.table_id]))


class BinaryWithoutItsZeros(Columns):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        if info.type.real_type != types.STRING or info.collation != BINARY or value is None:
            return value
        return {"hex": bytes.fromhex(value["hex"]).rstrip(b"\0").hex()}


class FailsAtZeroDatesWithFraction(Columns):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        if info.type.type == types.DATETIME2 and info.type.metadata and value and value.startswith("0000-00-00"):
            raise Cannot("the next column begins in the fraction")
        return value


class KnowsNoPlainPayload(Watching):
    def decode(self, path: str) -> Iterator[Change]:
        self.plain: set[int | None] = set()
        with Path(path).open("rb") as file:
            reader = FileReader(rules_for=rules_of)
            try:
                for event in read_events(file, reader=reader):
                    if isinstance(event.body, TransactionPayload) and event.body.compression == UNCOMPRESSED:
                        self.plain.add(event.position)
            except Exception:  # noqa: BLE001 - the second reading says what is wrong
                pass
        yield from super().decode(path)

    def event(self, event: Event) -> Event:
        if event.inner is not None and event.position in self.plain:
            raise Cannot("compression type 255")
        return event


class StopsAtUnknownEventsToBeIgnored(Watching):
    def event(self, event: Event) -> Event:
        if event.header.type not in _KNOWN:
            raise Cannot(f"unknown event type {event.header.type}")
        return event


class KnowsNoGroupReplication(Watching):
    def event(self, event: Event) -> Event:
        if event.header.type in (EventType.TRANSACTION_CONTEXT, EventType.VIEW_CHANGE):
            raise Cannot(f"unknown event type {event.header.type}")
        return event


class StopsAtTextThatIsNone(Columns):
    def column(self, info: ColumnInfo, value: Any) -> Any:
        text = info.type.is_character and info.collation not in (None, BINARY)
        if text and isinstance(value, dict) and "hex" in value:
            bytes.fromhex(value["hex"]).decode("utf-8")
        return value


REPORTS: Final[dict[Callable[[], Reader], str]] = {
    FailsAbove250Columns: "a count of columns in one byte",
    GivesRowsAtXidOnly: "rows of MyISAM tables never come",
    MetadataShiftedInMinimalImages: "metadata counted over the columns of the image",
    StopsAtStatementsThatAreNotUtf8: "julien-duponchelle/python-mysql-replication#132",
    RefusesEventsOf19Bytes: "an event without a body",
    KnowsNoOldColumnTypes: "alibaba/canal#4866, go-mysql-org/go-mysql#398",
    LargeSetsHighByteFirst: "go-mysql-org/go-mysql#319",
    Enum0AsTheLastMember: "krowinski/php-mysql-replication#5, debezium/debezium#201",
    NegativeTimeBorrowsFromNoFraction: "shyiko/mysql-binlog-connector-java#361",
    RollbackStatementsUnread: "shyiko/mysql-binlog-connector-java#223, alibaba/canal#379",
    StopsAtSavepoints: "zendesk/maxwell#45, estuary/connectors#787",
    KeepsTheFirstTableOfAnId: "EasyPost/rust-mysql-binlog#18, mardambey/mypipe#14",
    BinaryWithoutItsZeros: "julien-duponchelle/python-mysql-replication#400, vitessio/vitess#3984",
    FailsAtZeroDatesWithFraction: "apache/shardingsphere#35531",
    KnowsNoPlainPayload: "osheroff/mysql-binlog-connector-java#177",
    StopsAtUnknownEventsToBeIgnored: "shyiko/mysql-binlog-connector-java#330",
    KnowsNoGroupReplication: "shyiko/mysql-binlog-connector-java#167",
    StopsAtTextThatIsNone: "julien-duponchelle/python-mysql-replication#334",
}
