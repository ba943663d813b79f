"""Logs of MariaDB as text: the output of ``mariadb-binlog`` with BINLOG statements, pseudo-SQL, or both (observed with
10.11.18).

An annotation stands in front of the first TABLE_MAP of its statement, but behind that one's position. The heads of a
statement's row events come together, then all its rows, then their number.
"""

from __future__ import annotations

from dataclasses import replace
from time import gmtime
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from conformance.reference.binlog import control_events, statement_events
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, MAGIC, Flag, encode_header
from conformance.reference.binlog.mariadb.events import (
    AnnotateRows,
    BinlogCheckpoint,
    GtidFlag,
    GtidList,
    MariadbGtid,
    StartEncryption,
)
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import (
    COMPRESSED_TYPES,
    DELETE_TYPES,
    STMT_END,
    WRITE_TYPES,
    LazyRows,
    RowsBody,
    encode_head,
)
from conformance.reference.dialect import MYSQL
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.binlog_statements import MemorySpool, WaitingStatement, format_statement
from conformance.reference.text.event_lines import EventLines
from conformance.reference.text.mariadb.session import DELIMITER, MariadbSession, xid_of
from conformance.reference.text.pseudo_sql import row_lines
from conformance.reference.text.small_events import small_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from time import struct_time

    from conformance.reference.binlog.event import Event
    from conformance.reference.text.binlog_statements import Spool

_SKIP_REPLICATION: Final = 0x8000  # a flag of the header
_HAS_TRIGGERS: Final = 0x4000  # a flag of a TABLE_MAP
_DEFERRED: Final = (statement_events.Intvar, statement_events.Rand, statement_events.UserVar)


class MariadbLogText:
    """The text of one or more files, event by event; used as :class:`.LogText`.

    ``types``: as ``-vv``. ``clock``: seconds to civil time for the comment lines; the client takes the local one.
    ``complete``: false where the text begins inside a log, so that TABLE_MAPs may be missing.
    """

    def __init__(
        self,
        *,
        types: bool = False,
        metadata: bool = False,
        clock: Callable[[float], struct_time] = gmtime,
        spool: Spool | None = None,
        complete: bool = True,
        rows: bool = True,
        statements: Spool | None = None,
        dumps: bool = True,
    ) -> None:
        self._prints_rows = rows
        self._dumps = dumps
        self._statement = None if statements is None else WaitingStatement(statements)
        self.types = types
        self._complete = complete
        self._spool: Spool = spool or MemorySpool()
        self._lines = EventLines(clock, MYSQL.server, metadata=metadata)
        self._session = MariadbSession()
        self._annotation: tuple[Event, bytes | None] | None = None
        self._heads: list[bytes] = []  # of row events whose statement goes on
        self._rows = 0
        self._printed: dict[str, int] = {}  # what was set for GTIDs
        self._files = 0

    def begin(self) -> bytes:
        """The lines before the first event."""
        return (
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n"
            b"/*!40019 SET @@session.max_delayed_threads=0*/;\n"
            b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n"
            b"DELIMITER /*!*/;\n"
        )

    @property
    def inside_statement(self) -> bool:
        """Whether rows or an annotation wait for the end of their statement."""
        waits = self._statement is not None and self._statement.waits
        return waits or bool(self._heads) or self._annotation is not None

    @property
    def state(self) -> tuple[Any, ...] | None:
        """All that the text of later events depends on; ``None`` inside a statement, whose rows wait."""
        return None if self.inside_statement else (self._session.state, dict(self._printed), self._files)

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._session.state, printed, self._files = state
        self._printed = dict(printed)

    def end(self, *, stopped: bool = False) -> Iterator[bytes]:
        """The lines after the last event, and the rows that wait for an end of their statement.

        ``stopped``: a filter ended the output; rows without the end of their statement are left out.
        """
        if stopped or self._statement is not None:
            self._drop()
        yield from self._taken()
        yield (
            b"DELIMITER ;\n"
            b"# End of log file\n"
            b"ROLLBACK /* added by mysqlbinlog */;\n"
            b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n"
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n"
        )

    def failed(self) -> Iterator[bytes]:
        """The text of the rows before an error; a BINLOG statement without its end would be none."""
        if self._statement is not None:
            self._statement.drop()
        yield from self._heads
        self._heads.clear()
        yield from self._spool.take()

    def left_out(self, event: Event, *, partial: bool) -> Iterator[bytes]:
        """An event that a filter leaves out. ``partial``: other events of its transaction are printed."""
        if partial and isinstance(event.body, (LazyRows, RowsBody)) and event.body.flags & STMT_END:
            yield from self._taken()

    def _drop(self) -> None:
        if self._statement is not None:
            self._statement.drop()
        self._heads.clear()
        self._annotation = None
        self._rows = 0
        for _ in self._spool.take():
            pass

    def _taken(self) -> Iterator[bytes]:
        """The heads, rows and their number, at the end of a statement."""
        if not self._heads:
            return
        yield from self._heads
        self._heads.clear()
        if self._statement is not None:
            yield from self._statement.take()
        yield from self._spool.take()
        yield b"# Number of rows: %d\n" % self._rows
        self._rows = 0

    def event(self, event: Event, data: bytes | None = None) -> Iterator[bytes]:
        """The text of one event; rows wait for the end of their statement. Take it before the next event.

        ``data``: the bytes of the event, for BINLOG statements and dumps.
        """
        body = event.body
        base64, statement = data, self._statement
        if not self._dumps:
            data = None
        if statement is not None and isinstance(body, (TableMap, LazyRows)):
            assert base64 is not None, "BINLOG statements need the bytes of the event"
            statement.add(_plain(event, body, base64) if isinstance(body, LazyRows) else base64)
        if isinstance(body, FormatDescription) and event.position == len(MAGIC):
            self._files += 1
            if self._files > 1:  # the client begins each file with nothing set
                self._session = MariadbSession()
                self._printed.clear()
                yield b"DELIMITER ;\nDELIMITER /*!*/;\n"
        yield b"# at %d\n" % self._lines.position(event) + self._skipped(event)
        if isinstance(body, AnnotateRows):
            self._annotation = event, data
        elif isinstance(body, (LazyRows, RowsBody)):
            yield from self._row_event(event, body, data)
        elif isinstance(body, StartEncryption):
            yield (
                b"# Encryption scheme: %d, key_version: %d, nonce: %b\n# The rest of the binlog is encrypted!\n"
                % (body.scheme, body.key_version, body.nonce.hex().encode())
            )
        else:
            yield from self._annotated(body)
            yield self._lines.head(event, data) + b"".join(self._words(event))
            if statement is not None and base64 is not None and isinstance(body, FormatDescription):
                yield format_statement(base64)

    def _skipped(self, event: Event) -> bytes:
        """The statement in front of events that replicas are told to skip, and behind the last of them."""
        flag = int(bool(event.header.flags & _SKIP_REPLICATION))
        if self._printed.get("skip_replication", 0) == flag:
            return b""
        self._printed["skip_replication"] = flag
        return b"/*!50521 SET skip_replication=%d*/" % flag + DELIMITER

    def _annotated(self, body: object) -> Iterator[bytes]:
        if self._annotation is None or not isinstance(body, TableMap):
            return
        (event, data), self._annotation = self._annotation, None
        assert isinstance(event.body, AnnotateRows)
        lines = event.body.text.split(b"\n")
        yield self._lines.head(event, data) + b"\tAnnotate_rows:\n" + b"".join(b"#Q> %b\n" % line for line in lines)

    def _row_event(self, event: Event, body: LazyRows | RowsBody, data: bytes | None) -> Iterator[bytes]:
        verb = "Write" if body.type in WRITE_TYPES else "Delete" if body.type in DELETE_TYPES else "Update"
        form = "_compressed" if body.type in COMPRESSED_TYPES else ""
        flags = " flags: STMT_END_F" if body.flags & STMT_END else ""
        title = f"\t{verb}{form}_rows: table id {body.table_id}{flags}\n".encode()
        self._heads.append(self._lines.head(event, data) + title)
        rows = row_lines(body, types=self.types, complete=self._complete)
        if not body.flags & STMT_END:
            for piece in rows:
                self._rows += 1
                if self._prints_rows:
                    self._spool.add(piece)
            return
        yield from self._heads
        self._heads.clear()
        if self._statement is not None:
            yield from self._statement.take()
        yield from self._spool.take()
        for piece in rows:
            self._rows += 1
            if self._prints_rows:
                yield piece
        yield b"# Number of rows: %d\n" % self._rows
        self._rows = 0

    def _words(self, event: Event) -> Iterator[bytes]:
        """The text behind the header, newline included."""
        header, body = event.header, event.body
        match body:
            case FormatDescription():
                yield from self._format(event, body)
            case TableMap():
                words = self._lines.words(event) or b""
                if body.flags & _HAS_TRIGGERS:
                    words = words.replace(b"\n", b" (has triggers)\n", 1)
                yield words
            case Query():
                name = b"Query" if body.compressed is None else b"Query_compressed"
                yield b"\t%b\tthread_id=%d\texec_time=%d\terror_code=%d\txid=%d\n" % (
                    name, body.thread_id, body.execution_time, body.error_code, xid_of(body),
                )  # fmt: skip
                yield self._session.statement(header, body) + body.text + b"\n" + DELIMITER
            case MariadbGtid():
                yield from self._gtid(header.server_id, body)
            case GtidList(entries=entries):
                listed = sorted(entries, key=lambda entry: entry.domain_id)
                yield b"\tGtid list [" + ",\n# ".join(map(str, listed)).encode() + b"]\n"
            case BinlogCheckpoint(name=name):
                yield b"\tBinlog checkpoint %b\n" % name
            case control_events.Xid(xid=xid):
                yield b"\tXid = %d\nCOMMIT" % xid + DELIMITER
            case control_events.XaPrepare():
                name = _xid(body.gtrid, body.bqual, body.format_id)
                what = b"XA COMMIT %b ONE PHASE" if body.one_phase else b"XA PREPARE %b"
                yield b"\tXID = " + name + b"\n" + what % name + b"\n" + DELIMITER
            case _:
                yield self._small(event)

    def _format(self, event: Event, body: FormatDescription) -> Iterator[bytes]:
        version = body.server_version.encode("utf-8", "surrogateescape")
        yield b"\tStart: binlog v %d, server v %b created %b" % (
            body.binlog_version, version, self._lines.time(event.header.timestamp).encode(),
        )  # fmt: skip
        yield b" at startup\n" if body.created else b"\n"
        if event.header.flags & Flag.IN_USE:
            yield b"# Warning: this binlog is either in use or was not closed properly.\n"
        if body.created and not event.header.flags & (Flag.ARTIFICIAL | Flag.RELAY_LOG):
            yield b"ROLLBACK" + DELIMITER

    def _gtid(self, server_id: int, body: MariadbGtid) -> Iterator[bytes]:
        words = f"\tGTID {body.text(server_id)}"
        if body.commit_id is not None:
            words += f" cid={body.commit_id}"
        for flag, word in ((GtidFlag.DDL, " ddl"), (GtidFlag.TRANSACTIONAL, " trans"), (GtidFlag.WAITED, " waited")):
            words += word if body.gtid_flags & flag else ""
        yield words.encode() + b"\n"
        parallel = int(not body.gtid_flags & GtidFlag.ALLOW_PARALLEL)
        for version, name, value in (
            (100101, "skip_parallel_replication", parallel), (100001, "gtid_domain_id", body.domain_id),
            (100001, "server_id", server_id),
        ):  # fmt: skip
            if self._printed.get(name) != value:
                self._printed[name] = value
                yield b"/*M!%d SET @@session.%b=%d*/" % (version, name.encode(), value) + DELIMITER
        yield b"/*M!100001 SET @@session.gtid_seq_no=%d*/" % body.seq_no + DELIMITER
        if body.xid is not None and body.gtid_flags & GtidFlag.PREPARED_XA:
            yield b"XA START " + _xid(*body.xid) + DELIMITER
        elif body.begins:
            yield b"START TRANSACTION\n" + DELIMITER

    def _small(self, event: Event) -> bytes:
        """The text of events of a line or two that change no state here."""
        text = small_text(event, self._session, signed=False, charset=False)
        if text is not None:
            return text
        match event.body:
            case control_events.Incident(number=number):
                return b"\n# Incident: %b\nRELOAD DATABASE; # Shall generate syntax error\n" % (
                    b"LOST_EVENTS" if number == 1 else b"%d" % number
                )
            case _:
                return b"\t%b\n# not shown\n" % event.name.encode()


def _xid(gtrid: bytes, bqual: bytes, format_id: int) -> bytes:
    return b"X'%b',X'%b',%d" % (gtrid.hex().encode(), bqual.hex().encode(), format_id)


def _plain(event: Event, body: LazyRows, data: bytes) -> bytes:
    """The bytes of a rows event as the client prints them: rows that were compressed are not."""
    if body.type not in COMPRESSED_TYPES:
        return data
    kind = COMPRESSED_TYPES[body.type]
    inside = encode_head(replace(body, type=kind)) + bytes(body.data)
    footer = 0 if event.checksum is None else FOOTER_SIZE
    plain = encode_header(event.header._replace(type=kind, length=HEADER_SIZE + len(inside) + footer)) + inside
    return plain + crc32(plain).to_bytes(FOOTER_SIZE, "little") if footer else plain
