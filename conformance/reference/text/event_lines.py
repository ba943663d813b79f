"""The line in front of every event, and the text of the events that nearly every transaction has.

They are written in one piece, and parts that stay the same from event to event are kept: the time in words, what
stands around a statement, the line of a TABLE_MAP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import MAY_HAVE_SBR, Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum, encode_header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import (
    COMPLETE_ROWS,
    NO_FOREIGN_KEY_CHECKS,
    NO_UNIQUE_CHECKS,
    STMT_END,
    USE_SQL_FOREIGN_KEY,
    LazyRows,
    encode_head,
)
from conformance.reference.boundaries.markers import marker_of, marker_title, mask
from conformance.reference.event_types import EventType, event_name
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from conformance.reference.text.hexdump import hexdump, rewritten
from conformance.reference.text.session import DELIMITER, Session, ddl_xid
from conformance.reference.text.table_metadata import metadata_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from time import struct_time

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.binlog.rows import RowsBody
    from conformance.reference.dialect import ServerFacts

_ROWS_NAMES: Final[dict[int, str]] = {
    EventType.WRITE_ROWS: "Write_rows",
    EventType.UPDATE_ROWS: "Update_rows",
    EventType.DELETE_ROWS: "Delete_rows",
    EventType.PARTIAL_UPDATE_ROWS: "Update_rows_partial",
    EventType.WRITE_ROWS_V1: "Write_rows_v1",
    EventType.UPDATE_ROWS_V1: "Update_rows_v1",
    EventType.DELETE_ROWS_V1: "Delete_rows_v1",
}
_FLAGS: Final = (
    (STMT_END, "STMT_END_F"),
    (NO_FOREIGN_KEY_CHECKS, "NO_FOREIGN_KEY_CHECKS_F"),
    (NO_UNIQUE_CHECKS, "RELAXED_UNIQUE_CHECKS_F"),
    (USE_SQL_FOREIGN_KEY, "USE_SQL_FOREIGN_KEY_F"),
    (COMPLETE_ROWS, "COMPLETE_ROWS_F"),
)
_KNOWN_FLAGS: Final = sum(bit for bit, _ in _FLAGS)
_UNKNOWN_VERSION: Final = 999999
_TELLS_ROW_ID: Final = 80030  # the first server whose TABLE_MAP says whether there is a generated primary key
_END: Final = DELIMITER.decode()
_READ_COMMITTED: Final = "/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/" + _END
_ANONYMOUS: Final = int(EventType.ANONYMOUS_GTID)
_MARKER: Final = mask()
_MAX_TITLES: Final = 256


class Payload(NamedTuple):
    """The frame of the compressed transaction whose events are printed."""

    end: int
    has_checksum: bool


class EventLines:
    """The lines of one or more files. ``clock``: seconds to civil time. ``metadata``: TABLE_MAPs with their columns.

    ``payload``: the compressed transaction whose events are printed. ``tells_row_id``: TABLE_MAPs of
    this transaction say whether the primary key was generated.
    """

    def __init__(self, clock: Callable[[float], struct_time], server: ServerFacts, *, metadata: bool) -> None:
        self.session = Session()
        self.payload: Payload | None = None
        self.tells_row_id = False
        self._clock = clock
        self._all_flags = server.mysqlbinlog_flags != "STMT_END_F"
        self._metadata = metadata
        self._fronts: tuple[int, int, str] | None = None
        self._second: tuple[int, str, str] | None = None
        self._titles: dict[tuple[int, int], tuple[str, str]] = {}
        self._settings: tuple[bytes, bytes] | None = None
        self._statement = b"", b""
        self._table: tuple[TableMap, bool, bytes] | None = None

    def whole(self, event: Event, data: bytes | None) -> bytes | None:
        """The whole text of a GTID, QUERY, TABLE_MAP or XID; ``None`` for other events."""
        text = self.words(event)
        if text is None:
            return None
        head = self._head(event, self._place(event)).encode()
        return head + text if data is None else head + self._dump(event, data) + text

    def words(self, event: Event) -> bytes | None:
        """Return the words behind the head of a GTID, QUERY, TABLE_MAP or XID; ``None`` for other events."""
        body = event.body
        if type(body) is TableMap:
            return self._table_map(body)
        if type(body) is Query:
            return self._query(event.header, body)
        if type(body) is Xid:
            return f"\tXid = {body.xid}\nCOMMIT{_END}".encode()
        if type(body) is Gtid or type(body) is GtidTagged:
            return self._gtid(event.header, body)
        return None

    def place(self, event: Event) -> bytes:
        """The line with the position, and the one with the marker."""
        return self._place(event).encode()

    def _place(self, event: Event) -> str:
        position = self.position(event)
        place = f"# at {position}\n"
        flags = event.header.flags
        return f"{place}# boundary: {marker_title(marker_of(flags))}\n" if flags & _MARKER else place

    def position(self, event: Event) -> int:
        """The position that the client prints: of events inside a payload, its end."""
        return (event.position if self.payload is None else self.payload.end) or 0

    def head(self, event: Event, data: bytes | None) -> bytes:
        """Return the text in front of the event's own words. ``data``: the event's bytes, to be dumped in hex."""
        words = self._head(event, "").encode()
        return words if data is None else words + self._dump(event, data)

    def _dump(self, event: Event, data: bytes) -> bytes:
        return hexdump(self.as_printed(data), self.position(event))

    def as_printed(self, data: bytes) -> bytes:
        """The bytes of an event as the client prints them: inside a payload, with a checksum if the log has them."""
        return rewritten(data) if self.payload is not None and self.payload.has_checksum else data

    def _head(self, event: Event, place: str) -> str:
        timestamp, _, server, _, end, _ = event.header
        checksum = event.checksum
        if self.payload is not None:
            # mysqlbinlog shows these events after rewriting: at the payload's end, with a checksum if the log has them.
            end, checksum = self.payload.end, _inner_checksum(event) if self.payload.has_checksum else None
        elif type(event.body) is FormatDescription and event.body.algorithm != Checksum.CRC32:
            checksum = None  # it has one all the same
        words = f"{place}{self._front(timestamp, server)}{end} "
        if checksum is None:
            return words
        crc = checksum
        return f"{words}CRC32 0x{crc:08x} "

    def _front(self, timestamp: int, server: int) -> str:
        """Return the beginning of the lines of all events with this second and server."""
        last = self._fronts
        if last is not None and last[0] == timestamp and last[1] == server:
            return last[2]
        text = f"#{self.time(timestamp)} server id {server}  end_log_pos "
        self._fronts = timestamp, server, text
        return text

    def time(self, seconds: int) -> str:
        """The civil time as comments have it."""
        when = self._clock(seconds)
        return (
            f"{when.tm_year % 100:02}{when.tm_mon:02}{when.tm_mday:02} "
            f"{when.tm_hour:2}:{when.tm_min:02}:{when.tm_sec:02}"
        )

    def rows_title(self, body: LazyRows | RowsBody) -> bytes:
        """The words of a rows event: its kind, table and flags."""
        key = body.type, body.flags
        known = self._titles.get(key)
        if known is None:
            if len(self._titles) >= _MAX_TITLES:
                self._titles.clear()
            known = self._titles[key] = self._title(body)
        return f"{known[0]}{body.table_id}{known[1]}".encode()

    def _title(self, body: LazyRows | RowsBody) -> tuple[str, str]:
        """Return the words before and behind the table id; there are as many pairs as kinds of events and flags."""
        words = [name for bit, name in _FLAGS if body.flags & bit]
        if not self._all_flags:
            words = [name for name in words if name == "STMT_END_F"]
        elif body.flags & ~_KNOWN_FLAGS:
            words.append(f"UNKNOWN_FLAG(0x{body.flags & ~_KNOWN_FLAGS:x})")
        flags = " flags: " + " ".join(words) if words else ""
        return f"\t{_ROWS_NAMES.get(body.type) or event_name(body.type)}: table id ", flags + "\n"

    def _query(self, header: Header, body: Query) -> bytes:
        settings = self.session.settings(header, body)
        if settings is not self._settings:  # else this is the same statement again, and nothing has changed
            xid = ddl_xid(body)
            words = (
                f"\tQuery\tthread_id={body.thread_id}\texec_time={body.execution_time}\terror_code={body.error_code}"
            )
            if xid is not None:
                words += f"\tXid = {xid}"
            self._settings = settings
            self._statement = f"{words}\n".encode() + settings[0], settings[1] + body.text + b"\n" + DELIMITER
        before, behind = self._statement
        return before + f"{header.timestamp}".encode() + behind

    def _gtid(self, header: Header, body: Gtid | GtidTagged) -> bytes:
        immediate = body.immediate_commit_timestamp or 0
        original = immediate if body.original_commit_timestamp is None else body.original_commit_timestamp
        flags, server = body.gtid_flags, body.immediate_server_version
        rows_only = flags is not None and not flags & MAY_HAVE_SBR  # flags that a message lacks are set
        if server is None:  # a server before 8.0.14; before 5.7.5 or so, without any timestamp; a message without it
            dated = isinstance(body, Gtid) and body.immediate_commit_timestamp is not None
            server = _UNKNOWN_VERSION if dated else 0
        self.tells_row_id = _TELLS_ROW_ID <= server < _UNKNOWN_VERSION
        then = self._precise(immediate)
        before = then if original == immediate else self._precise(original)
        committed, first, writer = f"{immediate}", f"{original}", f"{server}"  # each stands there more than once
        return (
            f"\t{'Anonymous_GTID' if header.type == _ANONYMOUS else 'GTID'}"
            f"\tlast_committed={body.last_committed or 0}\tsequence_number={body.sequence_number or 0}"
            f"\trbr_only={'yes' if rows_only else 'no'}\toriginal_committed_timestamp={first}"
            f"\timmediate_commit_timestamp={committed}\ttransaction_length={body.transaction_length or 0}\n"
            f"{_READ_COMMITTED if rows_only else ''}"
            f"# original_commit_timestamp={first} ({before})\n"
            f"# immediate_commit_timestamp={committed} ({then})\n"
            f"/*!80001 SET @@session.original_commit_timestamp={first}*/{_END}"
            "/*!80014 SET @@session.original_server_version="
            f"{writer if body.original_server_version is None else body.original_server_version}*/{_END}"
            f"/*!80014 SET @@session.immediate_server_version={writer}*/{_END}"
            f"SET @@SESSION.GTID_NEXT= '{gtid_text(body) or 'ANONYMOUS'}'{_END}"
        ).encode()

    def _precise(self, microseconds: int) -> str:
        seconds, micro = divmod(microseconds, 1_000_000)
        last = self._second
        if last is None or last[0] != seconds:
            when = self._clock(seconds)
            zone = "UTC" if when.tm_zone == "GMT" else when.tm_zone
            text = (
                f"{when.tm_year:04}-{when.tm_mon:02}-{when.tm_mday:02} "
                f"{when.tm_hour:02}:{when.tm_min:02}:{when.tm_sec:02}."
            )
            self._second = last = seconds, text, f" {zone}"
        return f"{last[1]}{micro:06}{last[2]}"

    def _table_map(self, body: TableMap) -> bytes:
        known = self._table
        if known is not None and known[0] is body and known[1] == self.tells_row_id:
            return known[2]
        # Names are not escaped here, other than in the lines of the rows.
        words = f"\tTable_map: `{body.schema}`.`{body.table}` mapped to number {body.table_id}\n"
        if self.tells_row_id:
            words += f"# has_generated_invisible_primary_key={bool(body.flags & GENERATED_INVISIBLE_PK):d}\n"
        text = words.encode("utf-8", "surrogateescape")
        if self._metadata:
            text += metadata_text(body)
        self._table = body, self.tells_row_id, text
        return text


def _inner_checksum(event: Event) -> int:
    """The checksum that the event would have with a footer, which the client adds (observed on 9.7.4)."""
    header, body = event.header, event.body
    if isinstance(body, LazyRows):
        head = encode_head(body)  # the rows are not copied: there may be many
        length = HEADER_SIZE + len(head) + len(body.data) + FOOTER_SIZE
        return crc32(body.data, crc32(encode_header(header._replace(length=length)) + head))
    data = encode_event(
        body, timestamp=header.timestamp, server_id=header.server_id, log_pos=header.log_pos, flags=header.flags
    )
    return int.from_bytes(data[-4:], "little")
