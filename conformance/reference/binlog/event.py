"""One event: header, typed body, checksum; the table from type codes to bodies; and what becomes of other types.

The last is one rule for all who read a log. An event whose flags say that it may be ignored is passed over, and
counted: later versions mark what older readers need not know (binlog-events 2). Any other one may change rows: whoever
has met it has not read the log.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from conformance.reference.binlog import control_events, group_replication, load, statement_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, read_gtid
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import (
    FOOTER_SIZE,
    HEADER_SIZE,
    Checksum,
    Flag,
    Header,
    checksum_of,
    decode_header,
    encode_header,
    footer_size,
)
from conformance.reference.binlog.mariadb import events as mariadb
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows, RowsBody, read_rows_event
from conformance.reference.cursor import Cursor
from conformance.reference.errors import CodecError, DecodeError, EncodeError, Unsupported
from conformance.reference.event_types import EventType, MariadbEventType, event_name, event_words
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Body: TypeAlias = (
    "FormatDescription | Gtid | GtidTagged | PreviousGtids | Query | TableMap | LazyRows | RowsBody"
    " | TransactionPayload | control_events.Stop | control_events.Rotate"
    " | control_events.Incident | control_events.Ignorable | control_events.Xid | control_events.XaPrepare"
    " | control_events.Heartbeat | control_events.HeartbeatV2 | control_events.Opaque"
    " | statement_events.Intvar | statement_events.Rand | statement_events.UserVar"
    " | statement_events.RowsQuery | load.LoadBlock | load.DeleteFile | load.ExecuteLoadQuery"
    " | group_replication.TransactionContext | group_replication.ViewChange"
    " | mariadb.MariadbGtid | mariadb.GtidList | mariadb.AnnotateRows | mariadb.BinlogCheckpoint"
    " | mariadb.StartEncryption"
)


class Event(NamedTuple):
    """One event: header, typed body and checksum.

    ``position``: the event's start in its file; for an event inside a payload, the start of the payload. ``inner``: the
    event's number inside a TRANSACTION_PAYLOAD. ``checksum`` is ``None`` where the event has none.
    """

    header: Header
    body: Body
    checksum: int | None = None
    position: int | None = None
    inner: int | None = None

    @property
    def name(self) -> str:
        return event_name(self.header.type)

    def typed(self) -> Event:
        """The event with lazily read rows decoded, so that it can be encoded."""
        if not isinstance(self.body, LazyRows):
            return self
        try:
            return self._replace(body=self.body.typed())
        except CodecError as error:
            if self.inner is not None:
                error.at(f"inner[{self.inner}]").offset = 0  # offsets in decompressed bytes mean nothing in the file
            if self.position is not None:
                error.at(f"event@{self.position}", self.position)
            raise

    def located(self, error: CodecError) -> CodecError:
        """An error met while the event's rows were read, with the event's position in the file."""
        position = self.position or 0
        if self.inner is not None:
            error.at(f"inner[{self.inner}]").offset = position  # offsets in decompressed bytes mean nothing in the file
            return error.at(f"event@{position}")
        if error.path[:1] == (self.name,):
            return error.at(f"event@{position}", position)
        # An error inside one value: only the value knows the place.
        error.at(self.name).offset = position + HEADER_SIZE
        return error.at(f"event@{position}")

    def encode(self) -> bytes:
        """Encode the event from its typed values; its length and checksum are computed."""
        header = self.header
        return encode_event(
            self.body,
            timestamp=header.timestamp,
            server_id=header.server_id,
            log_pos=header.log_pos,
            flags=header.flags,
            algorithm=Checksum.NONE if self.checksum is None else Checksum.CRC32,
        )


_READERS: Final[dict[int, Callable[[Cursor], Body]]] = {
    EventType.QUERY: Query.read,
    EventType.STOP: control_events.Stop.read,
    EventType.ROTATE: control_events.Rotate.read,
    EventType.INTVAR: statement_events.Intvar.read,
    EventType.APPEND_BLOCK: load.LoadBlock.read,
    EventType.DELETE_FILE: load.DeleteFile.read,
    EventType.RAND: statement_events.Rand.read,
    EventType.USER_VAR: statement_events.UserVar.read,
    EventType.FORMAT_DESCRIPTION: FormatDescription.read,
    EventType.XID: control_events.Xid.read,
    EventType.BEGIN_LOAD_QUERY: partial(load.LoadBlock.read, code=EventType.BEGIN_LOAD_QUERY),
    EventType.EXECUTE_LOAD_QUERY: load.ExecuteLoadQuery.read,
    EventType.TABLE_MAP: TableMap.read,
    EventType.INCIDENT: control_events.Incident.read,
    EventType.HEARTBEAT: control_events.Heartbeat.read,
    EventType.IGNORABLE: control_events.Ignorable.read,
    EventType.ROWS_QUERY: statement_events.RowsQuery.read,
    EventType.GTID: partial(read_gtid, EventType.GTID),
    EventType.ANONYMOUS_GTID: partial(read_gtid, EventType.ANONYMOUS_GTID),
    EventType.PREVIOUS_GTIDS: PreviousGtids.read,
    EventType.TRANSACTION_CONTEXT: group_replication.TransactionContext.read,
    EventType.VIEW_CHANGE: group_replication.ViewChange.read,
    EventType.XA_PREPARE: control_events.XaPrepare.read,
    EventType.TRANSACTION_PAYLOAD: TransactionPayload.read,
    EventType.HEARTBEAT_V2: control_events.HeartbeatV2.read,
    EventType.GTID_TAGGED: GtidTagged.read,
    MariadbEventType.ANNOTATE_ROWS: mariadb.AnnotateRows.read,
    MariadbEventType.BINLOG_CHECKPOINT: mariadb.BinlogCheckpoint.read,
    MariadbEventType.GTID: mariadb.MariadbGtid.read,
    MariadbEventType.GTID_LIST: mariadb.GtidList.read,
    MariadbEventType.START_ENCRYPTION: mariadb.StartEncryption.read,
    MariadbEventType.QUERY_COMPRESSED: partial(Query.read, code=MariadbEventType.QUERY_COMPRESSED),
}


def decode_body(code: int, data: bytes | memoryview, tables: Mapping[int, TableMap]) -> Body:
    """Decode the body of an event of type ``code``, without checksum (FORMAT_DESCRIPTION: with checksum).

    ``tables`` is only read. For rows and compressed transactions, ``data`` may be a view of a large event.
    """
    try:
        return read_body(code, Cursor(data), tables)
    except CodecError as error:
        raise error.at(event_name(code), HEADER_SIZE) from None


def read_body(code: int, cursor: Cursor, tables: Mapping[int, TableMap]) -> Body:
    """As :func:`decode_body`, from a cursor: offsets count from the start of its data."""
    if code in ROWS_TYPES:
        return read_rows_event(code, cursor, tables)
    read = _READERS.get(code)
    return control_events.Opaque(type=code, data=cursor.rest("data")) if read is None else read(cursor)


def is_known(code: int) -> bool:
    """Whether an event of type ``code`` has fields, and is not read as bytes."""
    return code in ROWS_TYPES or code in _READERS


def decode_event(
    data: bytes,
    *,
    algorithm: int = Checksum.CRC32,
    tables: dict[int, TableMap] | None = None,
    verify: bool = True,
    position: int | None = None,
) -> Event:
    """One event that is exactly ``data``."""
    header = decode_header(data)
    if header.length != len(data):
        raise DecodeError("bad-length", "the event has another length", offset=9, expected=header.length, got=len(data))
    footer = footer_size(algorithm)
    end = len(data) - footer
    if header.type == EventType.FORMAT_DESCRIPTION:
        # FORMAT_DESCRIPTION itself says whether it has a checksum, so its body is read first.
        body = decode_body(header.type, data[HEADER_SIZE:], tables or {})
        footer = FOOTER_SIZE if isinstance(body, FormatDescription) and body.has_footer else 0
        return Event(header, body, _checksum(data, footer, verify), position)
    if end < HEADER_SIZE:
        raise DecodeError("truncated", "no room for the checksum", offset=HEADER_SIZE, expected=footer)
    checksum = _checksum(data, footer, verify)
    return Event(header, decode_body(header.type, data[HEADER_SIZE:end], tables or {}), checksum, position)


def _checksum(data: bytes, footer: int, verify: bool) -> int | None:
    if not footer:
        return None
    checksum = int.from_bytes(data[-footer:], "little")
    if verify:
        check_sum(data[:-footer], checksum)
    return checksum


def check_sum(event: bytes | memoryview, stored: int) -> None:
    """Compute the checksum of ``event``, given without its footer."""
    computed = checksum_of(event)
    if computed != stored:
        raise DecodeError(
            "checksum", "the checksum is wrong", offset=len(event), expected=f"{computed:#010x}", got=f"{stored:#010x}"
        )


def encode_event(
    body: Body,
    *,
    timestamp: int = 0,
    server_id: int = 1,
    log_pos: int | None = 0,
    start: int = 0,
    flags: int | None = None,
    algorithm: int = Checksum.CRC32,
) -> bytes:
    """The bytes of an event: length and checksum are computed.

    ``log_pos=None``: the position after the event if it is written at ``start``. ``flags=None``: the flags that this
    type always has.
    """
    if isinstance(body, LazyRows):
        raise EncodeError("not-typed", "rows that were not decoded cannot be encoded: use typed()")
    data: bytes = body.encode()
    footer = (FOOTER_SIZE if body.has_footer else 0) if isinstance(body, FormatDescription) else footer_size(algorithm)
    length = HEADER_SIZE + len(data) + footer
    header = Header(
        timestamp,
        body.type,
        server_id,
        length,
        (start + length) & 0xFFFFFFFF if log_pos is None else log_pos,
        body.default_flags if flags is None else flags,
    )
    event = encode_header(header) + data
    return event + checksum_of(event).to_bytes(FOOTER_SIZE, "little") if footer else event


# --- events of types without a reader ---------------------------------------------------------------------------------


class UnreadKind(NamedTuple):
    """Events of one type. ``source`` and ``position``: where the first of them is."""

    code: int
    ignorable: bool
    events: int
    source: str
    position: int

    @property
    def words(self) -> str:
        """Type, number and place: ``UNKNOWN_EVENT(121), 2 times, first at binlog.000001:1146``."""
        place = f"{self.source}:{self.position}" if self.source else str(self.position)
        times = "once, at" if self.events == 1 else f"{self.events} times, first at"
        return f"{event_words(self.code)}, {times} {place}"


def refusal(code: int, flags: int) -> Unsupported | None:
    """The error for an event of a type without a reader; ``None`` for one that may be passed over."""
    if flags & Flag.IGNORABLE:
        return None
    return Unsupported("unknown-event", f"{event_words(code)} is not known here, and not marked to be ignored")


class UnreadEvents:
    """A record of the events that a reader does not know. ``stops``: the first that it may not pass over is an error.

    ``source``: the file that the next ones are from, as messages name it; empty where there is only one.
    """

    def __init__(self, *, stops: bool = False) -> None:
        self.stops = stops
        self.source = ""
        self._kinds: dict[tuple[int, bool], UnreadKind] = {}

    def add(self, code: int, flags: int, position: int | None) -> None:
        """One more event. Raises :class:`Unsupported` where the reader ends."""
        problem = refusal(code, flags)
        if problem is not None and self.stops:
            raise problem
        self._add(UnreadKind(code, problem is None, 1, self.source, position or 0))

    def _add(self, more: UnreadKind) -> None:
        key = more.code, more.ignorable
        first = self._kinds.get(key)
        self._kinds[key] = more if first is None else first._replace(events=first.events + more.events)

    def update(self, later: UnreadEvents) -> None:
        """Add what was met behind the events of this record."""
        for kind in later.kinds():
            self._add(kind)

    def take(self) -> UnreadEvents:
        """Return a record of all events since the last time, and begin anew."""
        taken = UnreadEvents()
        taken._kinds, self._kinds = self._kinds, {}
        return taken

    def kinds(self, *, ignorable: bool | None = None) -> list[UnreadKind]:
        """The events by type: all, those that may be passed over, or the others."""
        return [kind for kind in self._kinds.values() if ignorable in (None, kind.ignorable)]


def listed_unread(kinds: Sequence[UnreadKind], what: str) -> str:
    """All kinds in one line behind ``what``; a file that all of them are in is named once."""
    sources = {kind.source for kind in kinds}
    if len(sources) > 1:
        return f"{what}: {'; '.join(kind.words for kind in kinds)}"
    words = "; ".join(kind._replace(source="").words for kind in kinds)
    return f"{sources.pop() or 'the log'}: {what}: {words}"
