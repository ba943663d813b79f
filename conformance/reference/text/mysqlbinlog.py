"""Binary logs as text: the output of ``mysqlbinlog -v --base64-output=decode-rows`` (mysqlbinlog-output 1 to 3).

All lines but a few comments equal those of mysqlbinlog (compared for the whole corpus). These differences are intended:

* rows of a statement whose end is missing are printed, where the client drops them;
* LOAD DATA keeps its own file name: no file is written, so none can be named;
* pseudo-SQL differs as :mod:`.pseudo_values` says;
* the boundary marker of an event, where it has one, is a comment of its own (WL#4162, F2).
"""

from __future__ import annotations

from time import gmtime
from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from zlib import crc32

from conformance.reference.binlog import control_events, group_replication, load, statement_events
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import MAY_HAVE_SBR, Gtid, GtidTagged, gtid_text
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, Checksum, Flag, encode_header
from conformance.reference.binlog.payload import ZSTD, TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import (
    COMPLETE_ROWS,
    NO_FOREIGN_KEY_CHECKS,
    NO_UNIQUE_CHECKS,
    STMT_END,
    USE_SQL_FOREIGN_KEY,
    LazyRows,
    RowsBody,
    encode_head,
)
from conformance.reference.boundaries.markers import marker_of, marker_title
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from conformance.reference.text.added_lines import AddedLines
from conformance.reference.text.hexdump import hexdump, rewritten
from conformance.reference.text.pseudo_sql import row_lines
from conformance.reference.text.session import DELIMITER, Session, ddl_xid
from conformance.reference.text.table_metadata import metadata_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from time import struct_time

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.dialect import ServerFacts

_ROWS_NAMES: Final = {
    EventType.WRITE_ROWS: b"Write_rows",
    EventType.UPDATE_ROWS: b"Update_rows",
    EventType.DELETE_ROWS: b"Delete_rows",
    EventType.PARTIAL_UPDATE_ROWS: b"Update_rows_partial",
    EventType.WRITE_ROWS_V1: b"Write_rows_v1",
    EventType.UPDATE_ROWS_V1: b"Update_rows_v1",
    EventType.DELETE_ROWS_V1: b"Delete_rows_v1",
}
_FLAGS: Final = (
    (STMT_END, b"STMT_END_F"),
    (NO_FOREIGN_KEY_CHECKS, b"NO_FOREIGN_KEY_CHECKS_F"),
    (NO_UNIQUE_CHECKS, b"RELAXED_UNIQUE_CHECKS_F"),
    (USE_SQL_FOREIGN_KEY, b"USE_SQL_FOREIGN_KEY_F"),
    (COMPLETE_ROWS, b"COMPLETE_ROWS_F"),
)
_KNOWN_FLAGS: Final = sum(bit for bit, _ in _FLAGS)
_UNKNOWN_VERSION: Final = 999999
_TELLS_ROW_ID: Final = 80030  # the first server whose TABLE_MAP says whether there is a generated primary key
_READ_COMMITTED: Final = b"/*!50718 SET TRANSACTION ISOLATION LEVEL READ COMMITTED*/" + DELIMITER
_GTID_TEXT: Final = (
    b"\t%b\tlast_committed=%d\tsequence_number=%d\trbr_only=%b\toriginal_committed_timestamp=%d"
    b"\timmediate_commit_timestamp=%d\ttransaction_length=%d\n%b"
    b"# original_commit_timestamp=%d (%b)\n"
    b"# immediate_commit_timestamp=%d (%b)\n"
    b"/*!80001 SET @@session.original_commit_timestamp=%d*/" + DELIMITER +
    b"/*!80014 SET @@session.original_server_version=%d*/" + DELIMITER +
    b"/*!80014 SET @@session.immediate_server_version=%d*/" + DELIMITER +
    b"SET @@SESSION.GTID_NEXT= '%b'" + DELIMITER
)  # fmt: skip
_MAX_TITLES: Final = 256
_DEFERRED: Final = (statement_events.Intvar, statement_events.Rand, statement_events.UserVar)


class Spool(Protocol):
    """The rows of a statement that wait for its last event; they may be many."""

    def add(self, text: bytes) -> None: ...

    def take(self) -> Iterable[bytes]:
        """Return all pieces, and drop them."""
        ...


class MemorySpool:
    """A spool in memory."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def add(self, text: bytes) -> None:
        self._parts.append(text)

    def take(self) -> Iterable[bytes]:
        parts, self._parts = self._parts, []
        return parts


class LogText:
    """The text of one or more files, event by event. Give the events of payloads too (``expand``).

    ``types``: as ``-vv``. ``clock``: seconds to civil time for the comment lines; the client takes the local one.
    ``server``: the version whose mysqlbinlog gives the form of rows; comments and statements around them are those of
    the newest. ``complete``: false where the text begins inside a log, so that TABLE_MAPs and blocks may be missing.
    """

    def __init__(
        self,
        *,
        types: bool = False,
        metadata: bool = False,
        clock: Callable[[float], struct_time] = gmtime,
        spool: Spool | None = None,
        server: ServerFacts | None = None,
        complete: bool = True,
    ) -> None:
        self._complete = complete
        self._loaded: set[int] = set()  # the files of LOAD DATA whose blocks were seen
        self._server = server or MYSQL.server
        self.types = types
        self.metadata = metadata
        self._clock = clock
        self._spool: Spool = spool or MemorySpool()
        self._session = Session()
        self._deferred: list[tuple[Event, bytes | None]] = []
        self._added = AddedLines()
        self._rows_wait = False
        self._payload: Header | None = None
        self._tells_row_id = False
        self._last_time: tuple[int, bytes] | None = None
        self._last_second: tuple[int, bytes, bytes] | None = None
        self._titles: dict[tuple[int, int], tuple[bytes, bytes]] = {}
        # One event of each kind stands in most transactions: these texts are made without generators.
        self._often: dict[type, Callable[[Event], bytes]] = {
            Gtid: self._gtid,
            GtidTagged: self._gtid,
            Query: self._query,
            TableMap: self._table_map,
            control_events.Xid: self._xid,
        }

    def begin(self) -> bytes:
        """The lines before the first event."""
        return (
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
            b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
            b"DELIMITER /*!*/;\n"
        )

    @property
    def inside_statement(self) -> bool:
        """Whether rows or settings wait for the end of their statement."""
        return self._rows_wait or bool(self._deferred)

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that the text of later events depends on; ``None`` inside a statement, whose rows wait."""
        if self.inside_statement:
            return None
        return (
            frozenset(self._loaded), self._session.state, self._added.state, self._payload, self._tells_row_id,
        )  # fmt: skip

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        loaded, self._session.state, self._added.state, self._payload, self._tells_row_id = state
        self._loaded = set(loaded)

    def end(self, *, stopped: bool = False) -> Iterator[bytes]:
        """The lines after the last event, and the rows that wait for an end of their statement.

        ``stopped``: a filter ended the output; the client leaves out what the end is missing of, and so does this.
        """
        yield from self._end_payload()
        if stopped:
            self._deferred.clear()
            for _ in self._spool.take():
                pass
        yield from self._spool.take()
        yield from self._take_deferred()
        yield from self._added.end()
        yield (
            b"DELIMITER ;\n"
            b"# End of log file\n"
            b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        )

    def event(self, event: Event, data: bytes | None = None) -> Iterator[bytes]:
        """The text of one event; rows wait for the end of their statement. Take it before the next event.

        ``data``: the bytes of the event, which are then dumped in hex.
        """
        body = event.body
        kind = type(body)
        body_text = self._often.get(kind)
        if body_text is None or self._payload is not None or self._deferred or self._added.waits:
            return self._event(event, data)
        text = self._place(event) + self._head(event, data) + body_text(event)
        if kind is not TableMap:
            self._added.follow(body)
        return iter((text,))

    def _event(self, event: Event, data: bytes | None) -> Iterator[bytes]:
        if event.inner is None:
            yield from self._end_payload()
        body = event.body
        yield from self._added.before(event)
        place = self._place(event)
        if not isinstance(body, (LazyRows, RowsBody)):
            yield place
        if isinstance(body, _DEFERRED):
            self._deferred.append((event, data))
            return
        if isinstance(body, Query):
            yield from self._take_deferred()
        if isinstance(body, statement_events.RowsQuery) and not self.types:
            return
        if isinstance(body, load.LoadBlock):
            self._loaded.add(body.file_id)
        if isinstance(body, load.ExecuteLoadQuery) and not self._complete and body.file_id not in self._loaded:
            return
        if isinstance(body, (LazyRows, RowsBody)):
            yield place + self._head(event, data) + self._rows_words(body)
            if self._server.mysqlbinlog_json != "text" and body.table is not None and body.table.json_columns:
                raise Unsupported("json-as-bytes", "the mysqlbinlog of this version prints JSON as its bytes")
            lines = row_lines(body, types=self.types, complete=self._complete)
            if body.flags & STMT_END:  # the end of the statement: these rows need not wait
                if self._rows_wait:
                    yield from self._spool.take()
                    self._rows_wait = False
                yield from lines
                return
            self._rows_wait = True
            for piece in lines:
                self._spool.add(piece)
            return
        yield self._head(event, data) + b"".join(self._body(event))
        self._added.follow(body)

    def left_out(self, event: Event, *, partial: bool) -> Iterator[bytes]:
        """An event that a filter leaves out. ``partial``: other events of its transaction are printed."""
        if event.inner is None:
            yield from self._end_payload()
        body = event.body
        if partial and isinstance(body, Query):
            self._deferred.clear()
        ends = isinstance(body, (LazyRows, RowsBody)) and body.flags & STMT_END
        flush = partial and (ends or isinstance(body, load.ExecuteLoadQuery))
        place = b"# at %d\n" % self._position(event)
        yield from self._added.left_out(body, place, partial=partial, flush=bool(flush))
        if partial and ends:
            yield from self._spool.take()

    def failed(self) -> Iterator[bytes]:
        """The text of the rows before an error."""
        yield from self._spool.take()

    def _take_deferred(self) -> Iterator[bytes]:
        for event, data in self._deferred:
            yield self._head(event, data) + self._small(event)
        self._deferred.clear()

    def _end_payload(self) -> Iterator[bytes]:
        if self._payload is not None:
            self._payload = None
            yield b"# End of compressed events.\n"

    # --- one event ---------------------------------------------------------------------------------------------------

    def _time(self, seconds: int) -> bytes:
        last = self._last_time
        if last is not None and last[0] == seconds:
            return last[1]
        when = self._clock(seconds)
        text = b"%02d%02d%02d %2d:%02d:%02d" % (
            when.tm_year % 100, when.tm_mon, when.tm_mday, when.tm_hour, when.tm_min, when.tm_sec,
        )  # fmt: skip
        self._last_time = seconds, text
        return text

    def _place(self, event: Event) -> bytes:
        place = b"# at %d\n" % self._position(event)
        marker = marker_of(event.header.flags)
        return place + b"# boundary: %b\n" % marker_title(marker).encode() if marker else place

    def _position(self, event: Event) -> int:
        """The position that the client prints: of events inside a payload, its end."""
        return (event.position if self._payload is None else self._payload.log_pos) or 0

    def _head(self, event: Event, data: bytes | None) -> bytes:
        header = event.header
        end, checksum = header.log_pos, event.checksum
        if self._payload is not None:
            # mysqlbinlog shows the position of these events after rewriting: with a checksum, at the payload's end.
            end, checksum = self._payload.log_pos, _inner_checksum(event)
        elif isinstance(event.body, FormatDescription) and event.body.algorithm != Checksum.CRC32:
            checksum = None  # it has one all the same
        when = self._time(header.timestamp)
        if checksum is None:
            words = b"#%b server id %d  end_log_pos %d " % (when, header.server_id, end)
        else:
            words = b"#%b server id %d  end_log_pos %d CRC32 0x%08x " % (when, header.server_id, end, checksum)
        if data is None:
            return words
        return words + hexdump(data if event.inner is None else rewritten(data), self._position(event))

    def _body(self, event: Event) -> Iterator[bytes]:
        """The text behind the header, newline included."""
        header, body = event.header, event.body
        if (body_text := self._often.get(type(body))) is not None:
            yield body_text(event)
            return
        match body:
            case FormatDescription():
                yield from self._format(header, body)
            case PreviousGtids():
                text = str(body) or "[empty]"
                yield b"\tPrevious-GTIDs\n# " + text.replace(",", ",\n# ").encode() + b"\n"
            case control_events.XaPrepare():  # the client takes XA START for a BEGIN, and this for no end of it (9.7.4)
                name = b"X'%b',X'%b',%d" % (
                    body.gtrid.hex().encode(), body.bqual.hex().encode(), body.format_id,
                )  # fmt: skip
                what = b"XA COMMIT %b ONE PHASE" if body.one_phase else b"XA PREPARE %b"
                yield b"\tXA PREPARE " + name + b"\n" + what % name + b"\n" + DELIMITER
            case statement_events.RowsQuery(text=text):
                yield b"\tRows_query\n# " + _escaped(text) + b"\n"
            case TransactionPayload():
                yield self._payload_words(body)
                yield b"# Start of compressed events.\n"
                self._payload = header
            case load.ExecuteLoadQuery():
                yield b"\tExecute_load_query\tthread_id=%d\texec_time=%d\terror_code=%d\n" % (
                    body.thread_id, body.execution_time, body.error_code,
                )  # fmt: skip
                yield self._session.statement(header, body) + body.text + b"\n" + DELIMITER
                yield b"# file_id: %d \n" % body.file_id
            case _:
                yield self._small(event)

    def _small(self, event: Event) -> bytes:
        """The text of events of a line or two that change no state here."""
        match event.body:
            case control_events.Rotate(name=name, position=position):
                return b"\tRotate to %b  pos: %d\n" % (name, position)
            case control_events.Stop():
                return b"\tStop\n"
            case statement_events.Intvar(kind=kind, value=value):
                name = b"LAST_INSERT_ID" if kind == statement_events.IntvarKind.LAST_INSERT_ID else b"INSERT_ID"
                return b"\tIntvar\nSET %b=%d" % (name, value) + DELIMITER
            case statement_events.Rand() as body:
                return b"\tRand\nSET @@RAND_SEED1=%d, @@RAND_SEED2=%d" % (body.seed1, body.seed2) + DELIMITER
            case statement_events.UserVar() as body:
                return b"\tUser_var\n" + self._session.user_variable(body)
            case load.LoadBlock() as body:
                name = b"Begin_load_query" if body.type == EventType.BEGIN_LOAD_QUERY else b"Append_block"
                return b"\n#%b: file_id: %d  block_len: %d\n" % (name, body.file_id, len(body.data))
            case load.DeleteFile(file_id=file_id):
                return b"\n#Delete_file: file_id=%d\n" % file_id
            case control_events.Incident(number=number, message=message):
                words = b"LOST_EVENTS" if number == 1 else b"%d" % number
                return b"\n# Incident: " + words + (b" (" + _escaped(message) + b")" if message else b"") + b"\n"
            case group_replication.ViewChange(view_id=view_id):
                return b"View_change_log_event: view_id=%b\n" % view_id
            case group_replication.TransactionContext() as body:
                return b"Transaction_context: server_uuid=%b\tthread_id=%d\n" % (body.server_uuid, body.thread_id)
            case control_events.Ignorable() as body:
                return b"\tIgnorable\n# %d bytes, skipped as the event asks\n" % len(body.data)
            case _:
                return b"\t%b\n# not shown\n" % event.name.encode()

    def _format(self, header: Header, body: FormatDescription) -> Iterator[bytes]:
        version = body.server_version.encode("utf-8", "surrogateescape")
        yield b"\tStart: binlog v %d, server v %b created %b" % (
            body.binlog_version, version, self._time(header.timestamp),
        )  # fmt: skip
        yield b" at startup\n" if body.created else b"\n"
        if header.flags & Flag.IN_USE:
            yield b"# Not closed: the server was writing it, or ended without closing it.\n"
        if header.flags & Flag.RELAY_LOG:
            yield b"# A relay log, begun by the replica itself.\n"
        if body.created:
            yield b"ROLLBACK" + DELIMITER

    def _xid(self, event: Event) -> bytes:
        return b"\tXid = %d\nCOMMIT%b" % (cast("control_events.Xid", event.body).xid, DELIMITER)

    def _query(self, event: Event) -> bytes:
        body = cast("Query", event.body)
        xid = ddl_xid(body)
        return b"\tQuery\tthread_id=%d\texec_time=%d\terror_code=%d%b%b%b\n%b" % (
            body.thread_id,
            body.execution_time,
            body.error_code,
            b"\n" if xid is None else b"\tXid = %d\n" % xid,
            self._session.statement(event.header, body),
            body.text,
            DELIMITER,
        )

    def _gtid(self, event: Event) -> bytes:
        body = cast("Gtid | GtidTagged", event.body)
        immediate = body.immediate_commit_timestamp or 0
        original = immediate if body.original_commit_timestamp is None else body.original_commit_timestamp
        rows_only = not (body.gtid_flags or 0) & MAY_HAVE_SBR
        server = body.immediate_server_version
        if server is None:  # a server before 8.0.14; before 5.7.5 or so, without any timestamp
            server = 0 if body.immediate_commit_timestamp is None else _UNKNOWN_VERSION
        self._tells_row_id = _TELLS_ROW_ID <= server < _UNKNOWN_VERSION
        return _GTID_TEXT % (
            b"Anonymous_GTID" if event.header.type == EventType.ANONYMOUS_GTID else b"GTID",
            body.last_committed or 0,
            body.sequence_number or 0,
            b"yes" if rows_only else b"no",
            original,
            immediate,
            body.transaction_length or 0,
            _READ_COMMITTED if rows_only else b"",
            original,
            self._precise(original),
            immediate,
            self._precise(immediate),
            original,
            server if body.original_server_version is None else body.original_server_version,
            server,
            (gtid_text(body) or "ANONYMOUS").encode(),
        )

    def _precise(self, microseconds: int) -> bytes:
        seconds, micro = divmod(microseconds, 1_000_000)
        last = self._last_second
        if last is None or last[0] != seconds:
            when = self._clock(seconds)
            zone = "UTC" if when.tm_zone == "GMT" else when.tm_zone
            text = (
                f"{when.tm_year:04}-{when.tm_mon:02}-{when.tm_mday:02} "
                f"{when.tm_hour:02}:{when.tm_min:02}:{when.tm_sec:02}."
            )
            self._last_second = last = seconds, text.encode(), f" {zone}".encode()
        return b"%b%06d%b" % (last[1], micro, last[2])

    def _table_map(self, event: Event) -> bytes:
        body = cast("TableMap", event.body)
        schema, table = (name.encode("utf-8", "surrogateescape") for name in (body.schema, body.table))
        # Names are not escaped here, other than in the lines of the rows.
        text = b"\tTable_map: `%b`.`%b` mapped to number %d\n" % (schema, table, body.table_id)
        if self._tells_row_id:
            text += b"# has_generated_invisible_primary_key=%d\n" % bool(body.flags & GENERATED_INVISIBLE_PK)
        return text + metadata_text(body) if self.metadata else text

    def _rows_words(self, body: LazyRows | RowsBody) -> bytes:
        key = body.type, body.flags
        known = self._titles.get(key)
        if known is None:
            if len(self._titles) >= _MAX_TITLES:
                self._titles.clear()
            known = self._titles[key] = self._title(body)
        return b"%b%d%b" % (known[0], body.table_id, known[1])

    def _title(self, body: LazyRows | RowsBody) -> tuple[bytes, bytes]:
        """What stands before and behind the table id; there are as many as kinds of events and flags."""
        words = [name for bit, name in _FLAGS if body.flags & bit]
        if self._server.mysqlbinlog_flags == "STMT_END_F":
            words = [name for name in words if name == b"STMT_END_F"]
        elif body.flags & ~_KNOWN_FLAGS:
            words.append(b"UNKNOWN_FLAG(0x%x)" % (body.flags & ~_KNOWN_FLAGS))
        flags = b" flags: " + b" ".join(words) if words else b""
        return b"\t%b: table id " % _ROWS_NAMES[EventType(body.type)], flags + b"\n"

    def _payload_words(self, body: TransactionPayload) -> bytes:
        kind = b"ZSTD" if body.compression == ZSTD else b"NONE"
        size = body.uncompressed_size
        if size is None:
            size = len(body.payload)
        return b"\tTransaction_Payload\t\tpayload_size=%d\tcompression_type=%b\tuncompressed_size=%d\n" % (
            len(body.payload), kind, size,
        )  # fmt: skip


def _escaped(text: bytes) -> bytes:
    for plain, shown in ((b"\\", b"\\\\"), (b"\0", b"\\0"), (b"\b", b"\\b"), (b"\t", b"\\t"), (b"\r", b"\\r")):
        text = text.replace(plain, shown)
    return text.replace(b"\n", b"\n# ")


def _inner_checksum(event: Event) -> int:
    """The checksum that the event would have: its position is 0, as is that of every event in a payload."""
    header, body = event.header, event.body
    if isinstance(body, LazyRows):
        head = encode_head(body)  # the rows are not copied: there may be many
        length = HEADER_SIZE + len(head) + len(body.data) + FOOTER_SIZE
        return crc32(body.data, crc32(encode_header(header._replace(length=length, log_pos=0)) + head))
    data = encode_event(body, timestamp=header.timestamp, server_id=header.server_id, flags=header.flags)
    return int.from_bytes(data[-4:], "little")
