"""Reading binary log files and dump streams, without any input or output of its own (binlog-events 2).

:class:`EventDecoder` turns event bytes into events and keeps the state that later events need: the FORMAT_DESCRIPTION
in force, the checksum algorithm, the TABLE_MAPs. A client of a dump stream gives it the event of each packet.

:class:`FileReader` takes pieces of a file of any size and yields each event once it is complete. It keeps at most one
event; the rows of an event larger than :data:`WINDOW` are a view of it. :func:`read_events` feeds the reader from a
binary file object.

Rows come as :class:`~.rows.LazyRows`, compressed transactions as one event unless ``expand`` is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import Body, Event, check_sum, decode_body, decode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.header import (
    ENCRYPTED_MAGIC,
    FOOTER_SIZE,
    HEADER,
    HEADER_SIZE,
    MAGIC,
    Checksum,
    Flag,
    Header,
    footer_size,
)
from conformance.reference.binlog.payload import TransactionPayload
from conformance.reference.binlog.rows import COMPRESSED_TYPES, ROWS_TYPES, V1_TYPES, LazyRows
from conformance.reference.crc import crc32
from conformance.reference.errors import CodecError, DecodeError, Unsupported
from conformance.reference.event_types import EventType, MariadbEventType, event_name
from conformance.reference.integers import u4_at
from conformance.reference.tables.metadata import SHIPPED, MetadataRules
from conformance.reference.tables.table_map import TableMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.binlog.event import UnreadEvents
    from conformance.reference.binlog.unfolding import InnerFrame

    RulesFor = Callable[[str], MetadataRules]

WINDOW: Final = 1 << 20

# Plain numbers for the path of every event: looking up a member of an enumeration costs more than the comparison.
_FORMAT_DESCRIPTION: Final = int(EventType.FORMAT_DESCRIPTION)
_TABLE_MAP: Final = int(EventType.TABLE_MAP)
_QUERY: Final = int(EventType.QUERY)
_XID: Final = int(EventType.XID)
_XID_END: Final = HEADER_SIZE + 8
_GTIDS: Final = frozenset(map(int, (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED)))
_START_ENCRYPTION: Final = int(MariadbEventType.START_ENCRYPTION)
PASSED: Final = frozenset((_TABLE_MAP, _QUERY, _XID, *_GTIDS))  # where rows are wanted, these need no event
_NOT_INSIDE: Final = (int(EventType.TRANSACTION_PAYLOAD), _FORMAT_DESCRIPTION)

_TYPE_OFFSET: Final = 4
_LENGTH_OFFSET: Final = 9
_CRC_RESIDUE: Final = 0x2144DF1C  # what CRC-32 gives over any bytes followed by their own CRC-32
_MAX_CACHED_MAPS: Final = 512
_MAX_CACHED_SIZE: Final = 16384
_MAX_CACHED_QUERY: Final = 256  # bytes of one; the BEGINs of a session mostly have the same
_MAX_OPEN_TABLES: Final = 4096  # far above the 61 tables of a join and what triggers and cascades add
# Columns of the tables that keep what was computed from them, up to 1 KB a column: the 4,096 of eight tables at least.
_MAX_DERIVED: Final = 1 << 15
_ROWS: Final = frozenset(map(int, ROWS_TYPES))
_VIEWED: Final = frozenset((*_ROWS, int(EventType.TRANSACTION_PAYLOAD)))  # read without a copy
_ANCIENT_TABLE_ID: Final = 6  # post-header length of rows events with a 4-byte table id
_new = tuple.__new__  # of a named tuple from a tuple: its own constructor costs as much as all else about a small event


class Note(NamedTuple):
    """An unusual fact about a file that is not an error."""

    code: str
    position: int
    message: str


class Passed:
    """Events that were passed over: how many of each type, and the ``gtid`` that somebody still has to take.

    ``gtid``: the body of the last event of a GTID.
    """

    def __init__(self) -> None:
        self._counts = [0] * 256  # by type, which is one byte
        self.gtid: Body | None = None

    def count(self, code: int) -> None:
        """One more event of this type."""
        self._counts[code] += 1

    def take_counts(self) -> dict[int, int]:
        """The numbers by type, once."""
        counts, self._counts = self._counts, [0] * 256
        return {code: number for code, number in enumerate(counts) if number}

    def take_gtid(self) -> Body | None:
        """The body, once."""
        gtid, self.gtid = self.gtid, None
        return gtid


class EventDecoder:
    """A decoder of events that keeps the state between them. ``algorithm`` holds until the first FORMAT_DESCRIPTION.

    ``verify=False`` reads checksums without comparing them. ``limit``: the most bytes of a compressed transaction;
    without one, the bounds of :mod:`.unfolding`. ``keep_bytes`` keeps those of the last event in
    ``event_bytes``. ``rules`` are for the metadata of TABLE_MAPs; ``rules_for``
    returns the rules of the writer whose version a FORMAT_DESCRIPTION names.

    ``pass_over``: events of :data:`PASSED` are read and checked as ever, but a :class:`FileReader` counts them there
    instead of yielding them, except inside payloads. ``unread``: takes the events of types that have no reader, which
    are yielded as bytes too. ``describe``: gives a TABLE_MAP facts from beside the log.
    """

    def __init__(
        self,
        *,
        algorithm: int = Checksum.CRC32,
        verify: bool = True,
        limit: int | None = None,
        rules: MetadataRules = SHIPPED,
        rules_for: RulesFor | None = None,
    ) -> None:
        self.rules = rules
        self._rules_for = rules_for
        self.algorithm: int = algorithm
        self.verify = verify
        self.limit = limit
        self.format: FormatDescription | None = None
        self.tables: dict[int, TableMap] = {}
        self.keep_bytes = False
        self.pass_over: Passed | None = None
        self.unread: UnreadEvents | None = None
        self.describe: Callable[[TableMap], None] | None = None
        self.event_bytes = b""
        self._encrypted = False  # behind a START_ENCRYPTION of MariaDB
        self._footer = footer_size(algorithm)
        # One TABLE_MAP precedes every statement, nearly always with the same bytes: decoding it once also keeps the
        # row readers that were compiled for it.
        self._maps: dict[bytes, TableMap] = {}
        self._queries: dict[bytes, Body] = {}
        # The rows events of a table mostly begin with the same bytes: those, and the fields they stand for.
        self._head: tuple[bytes, tuple[Any, ...]] = (b"", ())
        self._latest: TableMap | None = None  # stands last in the tables
        self._columns = 0  # of the tables that were decoded since the others lost what was computed from them

    def decode(self, data: bytes | bytearray, position: int | None = None) -> Event:
        """Decode one event that is exactly ``data``. Offsets in errors count from its start."""
        event = self.read(data, position)
        assert event is not None, "only a file reader passes over events"
        return event

    def read(self, data: bytes | bytearray, position: int | None = None) -> Event | None:
        """As :meth:`decode`; ``None`` for an event that is passed over."""
        if len(data) < HEADER_SIZE:
            raise DecodeError("truncated", "an event header needs 19 bytes", offset=0, expected=19, got=len(data))
        length = u4_at(data, _LENGTH_OFFSET)
        if length != len(data) and data[_TYPE_OFFSET] != _FORMAT_DESCRIPTION:
            raise DecodeError("bad-length", "the event has another length", offset=9, expected=length, got=len(data))
        return self.read_whole(data, position)

    def read_whole(self, data: bytes | bytearray, position: int | None) -> Event | None:
        """As :meth:`read`, where the length in the header was compared."""
        if self.keep_bytes:
            self.event_bytes = bytes(data)
        code = data[_TYPE_OFFSET]
        if code == _FORMAT_DESCRIPTION:
            return self._format_description(bytes(data), position)
        if self._encrypted:
            self.check_encrypted()
        end = len(data)
        if self._footer:
            end -= FOOTER_SIZE
            if end < HEADER_SIZE:
                raise DecodeError("truncated", "no room for the checksum", offset=HEADER_SIZE, got=len(data))
            if self.verify and crc32(data) != _CRC_RESIDUE:
                check_sum(memoryview(data)[:end], u4_at(data, end))
        passed = self.pass_over
        if passed is not None and code == _XID and end == _XID_END:
            passed.count(code)
            return None  # eight bytes of any value: there is nothing to check
        if end <= WINDOW:
            whole = data if type(data) is bytes else bytes(data)
            octets = whole  # in the compiled build, their address
            body = self._body(code, octets[HEADER_SIZE:end])
        else:
            view = memoryview(data)[HEADER_SIZE:end]
            body = self._body(code, view if code in _VIEWED else bytes(view))
        if passed is not None and code in PASSED:
            passed.count(code)
            if code in _GTIDS:
                passed.gtid = body
            return None
        header = _new(Header, HEADER.unpack_from(data))
        if type(body) is Opaque and self.unread is not None:
            self.unread.add(code, header.flags, position)
        if code == _START_ENCRYPTION and not header.flags & Flag.IGNORABLE:
            self._encrypted = True  # the flag: a server that sends the event sends the rest as it was
        checksum = u4_at(data, end) if self._footer else None
        return _new(Event, (header, body, checksum, position, None))

    def _body(self, code: int, data: Any) -> Body:
        """``data``: bytes, or a view for the types of :data:`_VIEWED`."""
        if code == _TABLE_MAP:
            return self._table_map(data)
        if code == _QUERY and len(data) <= _MAX_CACHED_QUERY:
            return self._query(data)
        if code in V1_TYPES and self.format and self.format.post_header_length(code) == _ANCIENT_TABLE_ID:
            raise Unsupported("table-id-size", "rows events with a 4-byte table id", got=event_name(code))
        return self._rows(code, data) if code in _ROWS else decode_body(code, data, self.tables)

    def _rows(self, code: int, data: bytes | memoryview) -> Body:
        head, fields = self._head
        size = len(head)
        if size and fields[0] == code and data[:size] == head:
            _, table_id, flags, extra, count, before, after = fields
            return LazyRows(
                code, table_id, flags, extra, count, before, after, self.tables.get(table_id), data[size:], size
            )
        body = decode_body(code, data, self.tables)
        assert isinstance(body, LazyRows)
        if code in COMPRESSED_TYPES:  # what follows the head is not the rows
            return body
        fields = (
            code, body.table_id, body.flags, body.extra, body.column_count, body.before_columns, body.after_columns,
        )  # fmt: skip
        self._head = bytes(data[: body.offset]), fields
        return body

    def _query(self, data: bytes) -> Body:
        query = self._queries.get(data)
        if query is None:
            query = decode_body(_QUERY, data, self.tables)
            if len(self._queries) >= _MAX_CACHED_MAPS:
                self._queries.clear()
            self._queries[data] = query
        return query

    def _table_map(self, data: bytes) -> TableMap:
        table = self._maps.get(data)
        if table is None:
            try:
                table = TableMap.decode(data, self.rules)
            except CodecError as error:
                raise error.at(event_name(EventType.TABLE_MAP), HEADER_SIZE) from None
            if self.describe is not None:
                self.describe(table)
            self._columns += len(table.columns)
            if self._columns > _MAX_DERIVED:
                self._columns = len(table.columns)
                self._maps.clear()
                for other in self.tables.values():
                    other.forget_derived()
            if len(data) <= _MAX_CACHED_SIZE:
                if len(self._maps) >= _MAX_CACHED_MAPS:
                    self._maps.clear()
                self._maps[data] = table
        tables = self.tables
        if table is self._latest:
            return table
        self._latest = table
        # The server forgets its tables at the end of each statement. A filtered log may still refer to them.
        tables.pop(table.table_id, None)
        if len(tables) >= _MAX_OPEN_TABLES:
            del tables[next(iter(tables))]
        tables[table.table_id] = table
        return table

    def _format_description(self, data: bytes, position: int | None) -> Event:
        event = decode_event(data, verify=self.verify, position=position)
        assert isinstance(event.body, FormatDescription)
        self.format = event.body
        self.algorithm = event.body.algorithm
        self._encrypted = False
        self._footer = footer_size(self.algorithm)
        rules = self.rules if self._rules_for is None else self._rules_for(event.body.server_version)
        self.rules = rules._replace(mariadb=event.body.mariadb)
        self._maps.clear()
        self.forget_tables()  # table ids start again in another server's, or another run's, file
        return event

    def check_encrypted(self) -> None:
        """Raise :class:`Unsupported` where what follows is MariaDB's ciphertext."""
        if self._encrypted:
            raise Unsupported("encrypted-events", "the binary log is encrypted from here on, by MariaDB", offset=0)

    def forget_tables(self) -> None:
        """Rows events need new TABLE_MAPs from here on."""
        self.tables.clear()
        self._latest = None

    def inner_events(self, event: Event) -> Iterator[Event]:
        """The events of a compressed transaction. They have no checksum, and their positions have no meaning."""
        payload = event.body
        if not isinstance(payload, TransactionPayload):
            return
        for frame in payload.inner_frames(self.limit):
            yield self.inner_event(frame, event.position)

    def inner_event(self, frame: InnerFrame, position: int | None = None) -> Event:
        """An event inside a compressed transaction, whose own position in the file is ``position``."""
        number, start, data, begin, end = frame
        header = Header._make(HEADER.unpack_from(data, begin))
        code = header.type
        try:
            if code in _NOT_INSIDE:
                raise DecodeError("bad-nesting", "this event cannot be inside a payload", offset=4, got=code)
            if self.keep_bytes:
                self.event_bytes = data[begin:end]
            if end - begin > WINDOW and code in _VIEWED:
                body = self._body(code, memoryview(data)[begin + HEADER_SIZE : end])
            else:
                body = self._body(code, data[begin + HEADER_SIZE : end])
            if type(body) is Opaque and self.unread is not None:
                self.unread.add(code, header.flags, position)
        except CodecError as error:
            raise error.at(f"inner[{number}]", start) from None
        return Event(header, body, None, position, number)


class _Window:
    """Bytes of a file, and where the next event starts in them."""

    __slots__ = ("data", "pos")

    def __init__(self, data: bytes | bytearray) -> None:
        self.data = data
        self.pos = 0


class FileReader:
    """A reader of a file in pieces: feed a piece, take the complete events, and call :meth:`finish` at the end.

    ``position`` is the start of the next event. ``notes`` lists unusual facts: an open file, a cut-off last event of an
    open file, zeros after the last event.
    """

    def __init__(
        self,
        *,
        verify: bool = True,
        expand: bool = False,
        limit: int | None = None,
        rules: MetadataRules = SHIPPED,
        rules_for: RulesFor | None = None,
    ) -> None:
        self.decoder = EventDecoder(verify=verify, limit=limit, rules=rules, rules_for=rules_for)
        self.expand = expand
        self.position = 0
        self.notes: list[Note] = []
        self.in_use = False
        self.wanted = len(MAGIC)
        self._parts: list[bytes] = []
        self._large: bytearray | None = None  # an event above a window, up to the last piece: the buffer grows in place
        self._size = 0
        self._zeros = False

    @property
    def format(self) -> FormatDescription | None:
        return self.decoder.format

    def skip_to(self, position: int) -> None:
        """Continue at another position of the file, where an event starts; all earlier events must have been taken."""
        self.position = position

    def feed(self, data: bytes) -> None:
        self._size += len(data)
        if self._large is not None:
            lacking = self.wanted - len(self._large)
            self._large += data[:lacking]
            data = data[lacking:]
        if data:
            self._parts.append(bytes(data))

    def events(self) -> Iterator[Event]:
        """Every complete event. The remaining bytes wait for more; ``wanted`` is the least number still missing."""
        while self._size >= self.wanted and not self._zeros:
            yield from self._events(self._taken())
        if self._zeros:
            self._check_zeros()

    def _taken(self) -> bytes | bytearray:
        """The bytes that were fed and not read: a large event by itself, or all bytes."""
        data: bytes | bytearray
        if self._large is not None:
            data, self._large = self._large, None
        else:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts = []
            self.wanted = HEADER_SIZE
        self._size -= len(data)
        return data

    def _events(self, data: bytes | bytearray) -> Iterator[Event]:
        window = _Window(data)
        try:
            if self.position == 0:
                self._magic(data)
                window.pos = self.position = len(MAGIC)
            del data  # the window alone holds it, as long as it is needed
            while (event := self._next(window)) is not None:
                yield event
                if self.expand and isinstance(event.body, TransactionPayload):
                    yield from self._inner(event)
        finally:
            # Also when the caller stops early, or feeds more in between: what was taken out is gone, the rest stays.
            rest = window.data[window.pos :] if window.pos else window.data
            self._size += len(rest)
            if self.wanted > WINDOW and rest:
                self._large = bytearray(rest) if isinstance(rest, bytes) else rest
                between, self._parts = self._parts, []
                for part in between:
                    self._size -= len(part)
                    self.feed(part)
            elif rest:
                self._parts.insert(0, bytes(rest))

    def _next(self, window: _Window) -> Event | None:
        """The next event that is not passed over; ``None`` where the window has no further one."""
        data, pos = window.data, window.pos
        whole = data if type(data) is bytes else b""
        octets = whole  # in the compiled build, their address
        end = len(data)
        decoder = self.decoder
        while not self._zeros:
            left = end - pos
            if left < HEADER_SIZE:
                self.wanted = HEADER_SIZE
                break
            length = u4_at(data, pos + _LENGTH_OFFSET)
            if length < HEADER_SIZE:
                self._bad_length(data, pos, length)
                break
            if length > left:
                self.wanted = length
                break
            piece = data if length == end else octets[pos : pos + length] if whole else data[pos : pos + length]
            try:
                if decoder.format is None:
                    event: Event | None = self._first(piece, self.position)
                else:
                    event = decoder.read_whole(piece, self.position)
            except CodecError as error:
                raise error.at(f"event@{self.position}", self.position) from None
            pos += length
            window.pos = pos
            self.position += length
            if pos == end:
                window.data, window.pos = b"", 0  # it is not needed any more
                data, pos, end = b"", 0, 0
                self.wanted = HEADER_SIZE
            if event is not None:
                return event
        return None

    def finish(self) -> None:
        """End the file. A half event is an error unless the file was open when it was copied (binlog-events 2)."""
        if self.position == 0:
            raise DecodeError("not-a-binlog", "the file is too short for a binary log", offset=0, got=self._size)
        if not self._size and self.decoder.format is None:
            raise DecodeError("truncated", "the log ends before its first event", offset=self.position)
        if not self._size or self._zeros:
            return
        where = self.position
        if not self.in_use:
            raise DecodeError(
                "truncated", "the last event is cut off", offset=where, expected=self.wanted, got=self._size
            )
        self.notes.append(Note("truncated", where, f"the file ends with a truncated event of {self._size} bytes"))
        self._parts, self._large, self._size = [], None, 0

    def _magic(self, data: bytes | bytearray) -> None:
        magic = bytes(data[: len(MAGIC)])
        if magic == ENCRYPTED_MAGIC:
            raise Unsupported("encrypted", "the binary log is encrypted", offset=0)
        if magic != MAGIC:
            raise DecodeError("not-a-binlog", "not a binary log", offset=0, expected=MAGIC.hex(), got=magic.hex())

    def _first(self, data: bytes | bytearray, position: int) -> Event:
        if data[4] != EventType.FORMAT_DESCRIPTION:
            raise DecodeError(
                "no-format-description",
                "the first event must be FORMAT_DESCRIPTION",
                offset=4,
                expected=15,
                got=data[4],
            )
        event = self.decoder.decode(data, position)
        if event.header.flags & Flag.IN_USE:
            self.in_use = True
            self.notes.append(Note("in-use", position, "the file was not closed"))
        return event

    def _inner(self, event: Event) -> Iterator[Event]:
        try:
            yield from self.decoder.inner_events(event)
        except CodecError as error:
            # Offsets inside decompressed bytes mean nothing in the file.
            error.offset = event.position
            raise error.at(f"event@{event.position}") from None

    def _bad_length(self, data: bytes | bytearray, pos: int, length: int) -> None:
        if length == 0 and not any(data[pos : pos + HEADER_SIZE]):
            self._zeros = True
            self.wanted = 1
            self.notes.append(Note("zeros", self.position, "zeros after the last event"))
            return
        raise DecodeError(
            "bad-length",
            "an event is at least as long as its header",
            offset=self.position + _LENGTH_OFFSET,
            expected=f">= {HEADER_SIZE}",
            got=length,
            path=(f"event@{self.position}",),
        )

    def _check_zeros(self) -> None:
        for part in self._parts:
            if part.count(0) != len(part):
                raise DecodeError("bad-length", "an event without a length", offset=self.position, got=0)
        self._parts, self._size = [], 0


def read_events(
    file: BinaryIO,
    *,
    reader: FileReader | None = None,
    window: int = WINDOW,
    verify: bool = True,
    expand: bool = False,
) -> Iterator[Event]:
    """All events of an open file. To look at the notes afterwards, give a ``reader`` of your own."""
    reader = reader or FileReader(verify=verify, expand=expand)
    # Read in limited pieces: an event may claim a false length.
    while data := file.read(window):
        reader.feed(data)
        yield from reader.events()
    reader.finish()


def decode_file(data: bytes, *, verify: bool = True, expand: bool = False) -> list[Event]:
    """All events of a file in memory, with typed rows."""
    reader = FileReader(verify=verify, expand=expand)
    reader.feed(data)
    events = [event.typed() for event in reader.events()]
    reader.finish()
    return events
