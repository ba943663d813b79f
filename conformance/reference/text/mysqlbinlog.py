"""Binary logs as text: the output of ``mysqlbinlog`` (mysqlbinlog-output 1 to 3), with BINLOG statements, pseudo-SQL,
or both.

All lines but a few comments equal those of mysqlbinlog (compared for the whole corpus). These differences are intended:

* rows of a statement whose end is missing are printed as pseudo-SQL, where the client drops them;
* LOAD DATA keeps its own file name: no file is written, so none can be named;
* pseudo-SQL differs as :mod:`.pseudo_values` says;
* the boundary marker of an event, where it has one, is a comment of its own (WL#4162, F2).
"""

from __future__ import annotations

from time import gmtime
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog import control_events, group_replication, load, statement_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid_set import PreviousGtids
from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.payload import ZSTD, TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import STMT_END, LazyRows, RowsBody
from conformance.reference.dialect import MYSQL
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.added_lines import AddedLines
from conformance.reference.text.binlog_statements import MemorySpool, WaitingStatement, format_statement
from conformance.reference.text.event_lines import EventLines, Payload
from conformance.reference.text.pseudo_sql import row_lines
from conformance.reference.text.session import DELIMITER
from conformance.reference.text.small_events import small_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from time import struct_time

    from conformance.reference.binlog.event import Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.dialect import ServerFacts
    from conformance.reference.text.binlog_statements import Spool

_IN_STATEMENTS: Final = frozenset((TableMap, LazyRows, RowsBody, FormatDescription, statement_events.RowsQuery))
_DEFERRED: Final = (statement_events.Intvar, statement_events.Rand, statement_events.UserVar)


_IGNORED: Final = b"\tIgnorable\n# Unrecognized ignorable event\n"


class LogText:
    """The text of one or more files, event by event. Give the events of payloads too (``expand``).

    ``rows``: with pseudo-SQL. ``statements``: what takes the BINLOG statements until they are whole; without it there
    are none. ``types``: as ``-vv``. ``dumps``: the bytes of events are dumped in hex. ``clock``: seconds to civil time
    for the comment lines; the client takes the local one. ``server``: the version whose mysqlbinlog gives the form of
    rows; comments and statements around them are those of the newest. ``complete``: false where the text begins inside
    a log, so that TABLE_MAPs and blocks may be missing.
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
        rows: bool = True,
        statements: Spool | None = None,
        dumps: bool = True,
    ) -> None:
        self._complete = complete
        self._prints_rows = rows
        self._dumps = dumps
        self._statement = None if statements is None else WaitingStatement(statements)
        self._loaded: set[int] = set()  # the files that a LOAD DATA may name: begun, and not loaded yet
        self._server = server or MYSQL.server
        self.types = types
        self._spool: Spool = spool or MemorySpool()
        self._lines = EventLines(clock, self._server, metadata=metadata)
        self._deferred: list[tuple[Event, bytes | None]] = []
        self._added = AddedLines()
        self._rows_wait = False

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
        return self._rows_wait or bool(self._deferred) or (self._statement is not None and self._statement.waits)

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that the text of later events depends on; ``None`` inside a statement, whose rows wait."""
        if self.inside_statement:
            return None
        lines = self._lines
        return (
            frozenset(self._loaded), lines.session.state, self._added.state, lines.payload, lines.tells_row_id,
        )  # fmt: skip

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        lines = self._lines
        loaded, lines.session.state, self._added.state, lines.payload, lines.tells_row_id = state
        self._loaded = set(loaded)

    def end(self, *, stopped: bool = False) -> Iterator[bytes]:
        """The lines after the last event, and the rows that wait for an end of their statement.

        ``stopped``: a filter ended the output; the client leaves out what the end is missing of, and so does this.
        """
        yield from self._end_payload()
        self._drop_statement()
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

    def event(self, event: Event, data: bytes | None = None) -> Iterable[bytes]:
        """The text of one event; rows wait for the end of their statement. Take it before the next event.

        ``data``: the bytes of the event, for BINLOG statements and dumps.
        """
        body = event.body
        if self._statement is not None and type(body) in _IN_STATEMENTS:
            assert data is not None, "BINLOG statements need the bytes of the event"
            return self._in_base64(event, data, self._statement)
        if not self._dumps:
            data = None
        if self._deferred or self._added.waits or self._lines.payload is not None:
            return self._event(event, data)
        if type(body) is LazyRows:
            return self._rows(event, body, data)
        text = self._lines.whole(event, data)
        if text is None:
            return self._event(event, data)
        if type(body) is not TableMap:
            self._added.follow(body)
        return (text,)

    def _in_base64(self, event: Event, data: bytes, statement: WaitingStatement) -> Iterator[bytes]:
        """The text of an event that belongs into a BINLOG statement; the text of its statement does so with ``-vv``."""
        body = event.body
        if isinstance(body, (LazyRows, RowsBody)):
            _walk(body, complete=self._complete)
        if not isinstance(body, FormatDescription) and (self.types or not isinstance(body, statement_events.RowsQuery)):
            statement.add(self._lines.as_printed(data))
        yield from self._event(event, data if self._dumps else None)
        if isinstance(body, FormatDescription) and not event.header.flags & Flag.RELAY_LOG:  # the replica's own
            yield format_statement(data)

    def _event(self, event: Event, data: bytes | None) -> Iterator[bytes]:
        if event.inner is None:
            yield from self._end_payload()
        body = event.body
        yield from self._added.before(event)
        if isinstance(body, (LazyRows, RowsBody)):
            yield from self._rows(event, body, data)
            return
        yield self._lines.place(event)
        if isinstance(body, _DEFERRED):
            self._deferred.append((event, data))
            return
        if isinstance(body, Query):
            yield from self._take_deferred()
        if isinstance(body, statement_events.RowsQuery) and not self.types:
            return
        if isinstance(body, load.LoadBlock) and body.type == EventType.BEGIN_LOAD_QUERY:
            self._loaded.add(body.file_id)
        if isinstance(body, load.ExecuteLoadQuery):
            if not self._complete and body.file_id not in self._loaded:
                return
            self._loaded.discard(body.file_id)
        yield self._lines.head(event, data) + b"".join(self._body(event))
        self._added.follow(body)

    def _rows(self, event: Event, body: LazyRows | RowsBody, data: bytes | None) -> Iterator[bytes]:
        lines = self._lines
        yield lines.place(event) + lines.head(event, data) + lines.rows_title(body)
        if body.flags & STMT_END and self._statement is not None:
            yield from self._statement.take()
        if not self._prints_rows:
            return
        if self._server.mysqlbinlog_json != "text" and body.table is not None and body.table.json_columns:
            raise Unsupported("json-as-bytes", "the mysqlbinlog of this version prints JSON as its bytes")
        rows = row_lines(body, types=self.types, complete=self._complete)
        if body.flags & STMT_END:  # the end of the statement: these rows need not wait
            if self._rows_wait:
                yield from self._spool.take()
                self._rows_wait = False
            yield from rows
            return
        self._rows_wait = True
        for piece in rows:
            self._spool.add(piece)

    def left_out(self, event: Event, *, partial: bool) -> Iterator[bytes]:
        """An event that a filter leaves out. ``partial``: other events of its transaction are printed."""
        if event.inner is None:
            yield from self._end_payload()
        body = event.body
        if partial and isinstance(body, Query):
            self._deferred.clear()
        ends = isinstance(body, (LazyRows, RowsBody)) and body.flags & STMT_END
        flush = partial and (ends or isinstance(body, load.ExecuteLoadQuery))
        place = b"# at %d\n" % self._lines.position(event)
        yield from self._added.left_out(body, place, partial=partial, flush=bool(flush))
        if partial and ends:
            if self._statement is not None:
                yield from self._statement.take()
            yield from self._spool.take()

    def failed(self) -> Iterator[bytes]:
        """The text of the rows before an error; a BINLOG statement without its end would be none."""
        self._drop_statement()
        yield from self._spool.take()

    def _drop_statement(self) -> None:
        if self._statement is not None:
            self._statement.drop()

    def _take_deferred(self) -> Iterator[bytes]:
        for event, data in self._deferred:
            yield self._lines.head(event, data) + self._small(event)
        self._deferred.clear()

    def _end_payload(self) -> Iterator[bytes]:
        if self._lines.payload is not None:
            self._lines.payload = None
            yield b"# End of compressed events.\n"

    def _body(self, event: Event) -> Iterator[bytes]:
        """The text behind the header, newline included."""
        header, body = event.header, event.body
        if (words := self._lines.words(event)) is not None:
            yield words
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
                self._lines.payload = Payload(header.log_pos, event.checksum is not None)
            case _:
                yield self._small(event)

    def _small(self, event: Event) -> bytes:
        """The text of events of a line or two that change no state here."""
        text = small_text(event, self._lines.session, signed=True, charset=self._server.mysqlbinlog_variable_charset)
        if text is not None:
            return text
        match event.body:
            case control_events.Incident():
                return b"\n# Incident: LOST_EVENTS\nRELOAD DATABASE; # Shall generate syntax error\n"
            case group_replication.ViewChange(view_id=view_id):
                return b"View_change_log_event: view_id=%b\n" % view_id
            case group_replication.TransactionContext() as body:
                return b"Transaction_context: server_uuid=%b\tthread_id=%d\n" % (body.server_uuid, body.thread_id)
            case control_events.Ignorable():
                return _IGNORED
            case _ if event.header.flags & Flag.IGNORABLE:  # of a type that the client does not print otherwise
                return _IGNORED
            case _:
                return b"\t%b\n# not shown\n" % event.name.encode()

    def _format(self, header: Header, body: FormatDescription) -> Iterator[bytes]:
        version = body.server_version.encode("utf-8", "surrogateescape")
        yield b"\tStart: binlog v %d, server v %b created %b" % (
            body.binlog_version, version, self._lines.time(header.timestamp).encode(),
        )  # fmt: skip
        yield b" at startup\n" if body.created else b"\n"
        if header.flags & Flag.IN_USE:
            yield b"# Not closed: the server was writing it, or ended without closing it.\n"
        if header.flags & Flag.RELAY_LOG:
            yield b"# A relay log, begun by the replica itself.\n"
        if body.created and not header.flags & (Flag.ARTIFICIAL | Flag.RELAY_LOG):
            yield b"ROLLBACK" + DELIMITER

    def _payload_words(self, body: TransactionPayload) -> bytes:
        words = b"\tTransaction_Payload\t\tpayload_size=%d\tcompression_type=" % len(body.payload)
        if body.compression != ZSTD:
            return words + b"NONE\n"
        return words + b"ZSTD\tuncompressed_size=%d\n" % (body.uncompressed_size or 0)


def _walk(body: LazyRows | RowsBody, *, complete: bool) -> None:
    """Read all rows: base64 would pass damage on."""
    if isinstance(body, LazyRows) and body.table is not None:
        for _ in body.rows():
            pass
    elif complete:
        body.map()


def _escaped(text: bytes) -> bytes:
    for plain, shown in ((b"\\", b"\\\\"), (b"\0", b"\\0"), (b"\b", b"\\b"), (b"\t", b"\\t"), (b"\r", b"\\r")):
        text = text.replace(plain, shown)
    return text.replace(b"\n", b"\n# ")
