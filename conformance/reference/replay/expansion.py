"""A binary log without events 39 and 40: the file that a server writes with neither partial JSON nor compression.

Every PARTIAL_UPDATE_ROWS becomes UPDATE_ROWS with whole documents, split as the server splits rows; the events of a
TRANSACTION_PAYLOAD stand in the file themselves; events that MariaDB compresses one by one are plain. Positions,
checksums and the transaction lengths of GTIDs are recomputed. All else is copied byte for byte: FORMAT_DESCRIPTION,
table maps, texts, times (binlog-events 2, binlog-events 6, binlog-events 10.1, binlog-events 15).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import Gtid, GtidTagged, body_with_length
from conformance.reference.binlog.header import HEADER_SIZE, MAGIC, Checksum, Flag, footer_size
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import COMPRESSED_TYPES, STMT_END, LazyRows, RowsBody, split_rows, table_map_of
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.errors import Unsupported
from conformance.reference.event_types import EventType
from conformance.reference.replay.mariadb_form import mariadb_body, mariadb_map, mariadb_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.event import Body, Event
    from conformance.reference.binlog.header import Header
    from conformance.reference.replay.full_rows import FullRows

ROW_EVENT_MAX_SIZE: Final = 8192
_BETWEEN_GROUPS: Final = frozenset(
    (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.PREVIOUS_GTIDS, EventType.ROTATE,
     EventType.STOP, EventType.FORMAT_DESCRIPTION)
)  # fmt: skip


@dataclass(slots=True)
class _Group:
    """The events of one transaction, without checksums, until its end is known."""

    gtid: Gtid | GtidTagged | None = None
    events: list[bytes] = field(default_factory=list)
    changed: bool = False


@dataclass(slots=True)
class _Statement:
    """The rows of consecutive events of one kind: the server would have split them at other places."""

    header: Header
    rows: RowsBody


class Expansion:
    """Rewrites one file. Pass it every event in order, those of payloads too, with the bytes of those in the file.

    ``mariadb``: in the words that MariaDB reads (:mod:`.mariadb_form`).
    The file's bytes come out of :meth:`event` and :meth:`finish`. ``counts`` has the number of events by name that were
    rewritten, and of rows and documents.
    """

    def __init__(
        self,
        full: FullRows,
        *,
        row_event_max_size: int = ROW_EVENT_MAX_SIZE,
        limit: int | None = None,
        mariadb: bool = False,
    ) -> None:
        self._full = full
        self._max_size = row_event_max_size
        self._limit = limit
        self._mariadb = mariadb
        self._writer = FileWriter()
        self._footer = footer_size(self._writer.format.algorithm)
        self._group = _Group()
        self._statement: _Statement | None = None
        self._inner, self._inner_position = b"", 0  # of the payload in work
        self.counts: Counter[str] = Counter()

    def event(self, event: Event, raw: bytes) -> Iterable[bytes]:
        """Take one event; returns what is to be written before the next one is taken: the group that ended before it.

        ``raw``: its bytes in the file; not used for an event of a payload.
        """
        if event.inner is None:
            data = raw[: len(raw) - self._footer]
        else:
            start, self._inner_position = self._inner_position, self._inner_position + event.header.length
            data = self._inner[start : self._inner_position]
        body = event.body
        out = self.finish() if event.header.type in _BETWEEN_GROUPS else ()
        if isinstance(body, LazyRows):
            self._rows(event, body, data)
        elif isinstance(body, FormatDescription):
            out = [*out, self._first(event, body, raw)]
        else:
            self._end_statement()
            self._full.other(event)
            if isinstance(body, TransactionPayload):
                self._inner, self._inner_position = body.uncompressed(self._limit), 0
                self._group.changed = True
                self.counts[event.name] += 1
                return out
            body, data = self._other_form(event, body, data)
            if isinstance(body, (Gtid, GtidTagged)):
                self._group.gtid = body
            self._group.events.append(data)
        return out

    def _other_form(self, event: Event, body: Body, data: bytes) -> tuple[Body, bytes]:
        """The event in the words of the reader that the file is for."""
        other = body
        if isinstance(body, Query) and body.compressed is not None:
            self.counts["compressed"] += 1
            other = replace(body, compressed=None)
        if self._mariadb:
            other = mariadb_body(other)
        if other is body:
            return body, data
        self._group.changed = True
        return other, _encoded(other, event.header)

    def _first(self, event: Event, body: FormatDescription, raw: bytes) -> bytes:
        if self._writer.position:
            raise Unsupported(
                "format-description", "a second FORMAT_DESCRIPTION", expected="one, at 4", got=event.position
            )
        if event.header.flags & Flag.RELAY_LOG:
            raise Unsupported(
                "relay-log",
                "a relay log: its positions are those of another file",
                expected="a binary log",
                got="a relay log",
            )
        self._full.other(event)
        self._writer.format = body
        self._footer = footer_size(body.algorithm)
        self._writer.position = len(MAGIC) + len(raw)
        return MAGIC + raw

    # --- rows --------------------------------------------------------------------------------------------------------

    def _rows(self, event: Event, body: LazyRows, data: bytes) -> None:
        """Replace the rows of event 39; leave those of other events as they are."""
        if body.type != EventType.PARTIAL_UPDATE_ROWS:
            self._full.follow(body)
            self._end_statement()
            if body.type in COMPRESSED_TYPES:
                self.counts["compressed"] += 1
                data = _encoded(replace(body.typed(), type=COMPRESSED_TYPES[body.type]), event.header)
            elif self._mariadb and mariadb_map(table_map_of(body)) is not body.table:
                self._group.changed = True
                data = _encoded(mariadb_rows(body.typed()), event.header)
            self._group.events.append(data)
            return
        rows = self._full.rows(body.typed())
        if self._mariadb:
            rows = mariadb_rows(rows)
        self._group.changed = True
        self.counts[event.name] += 1
        self.counts["rows"] += len(rows.rows)
        pending = self._statement
        if pending is not None and _together(pending, event.header, rows):
            joined = replace(rows, rows=(*pending.rows.rows, *rows.rows))
            self._statement = _Statement(pending.header, joined)
        else:
            self._end_statement()
            self._statement = _Statement(event.header, rows)
        if rows.flags & STMT_END:
            self._end_statement()

    def _end_statement(self) -> None:
        if self._statement is None:
            return
        header, rows = self._statement.header, self._statement.rows
        self._statement = None
        self._group.events += [_encoded(part, header) for part in split_rows(rows, self._max_size)]

    # --- groups ------------------------------------------------------------------------------------------------------

    def finish(self) -> Iterable[bytes]:
        """End the transaction, or the file; the GTID of a rewritten one gets its new length."""
        self._end_statement()
        group, self._group = self._group, _Group()
        if group.changed and group.gtid is not None and group.gtid.transaction_length is not None:
            group.events[0] = _with_length(group, self._footer)
        return map(self._writer.place, group.events)


def _encoded(body: Body, header: Header) -> bytes:
    """An event without a checksum and without its position, which come when it is written."""
    return encode_event(
        body, timestamp=header.timestamp, server_id=header.server_id, flags=header.flags, algorithm=Checksum.NONE
    )


def _together(pending: _Statement, header: Header, rows: RowsBody) -> bool:
    """Whether the server would have added these rows to the pending event (binlog-events 10.1)."""
    old = pending.rows
    return (
        old.table is rows.table
        and (old.table_id, old.before_columns, old.after_columns, old.extra, old.null_fill)
        == (rows.table_id, rows.before_columns, rows.after_columns, rows.extra, rows.null_fill)
        and old.flags | STMT_END == rows.flags | STMT_END
        and (pending.header.server_id, pending.header.timestamp) == (header.server_id, header.timestamp)
    )


def _with_length(group: _Group, footer: int) -> bytes:
    """The GTID event with the length of its rewritten transaction."""
    assert group.gtid is not None
    old = group.events[0]
    others = sum(map(len, group.events)) - len(old) + footer * (len(group.events) - 1)
    body = body_with_length(group.gtid, old[HEADER_SIZE:], others, footer)
    if body is None:
        raise Unsupported(
            "gtid-form", "the GTID event has fields that cannot be written again", expected="the fields up to 9.7"
        )
    return old[:HEADER_SIZE] + body
