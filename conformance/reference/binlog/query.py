"""QUERY (2): a statement with the session variables that affect it (binlog-events 8)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Final, TypeAlias

from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.mariadb.compression import uncompressed
from conformance.reference.cursor import Cursor, Decoded, Layout
from conformance.reference.errors import CodecError, DecodeError, EncodeError
from conformance.reference.event_types import EventType, MariadbEventType
from conformance.reference.portable import shown

POST_HEADER: Final = Layout(thread_id="I", execution_time="I", schema_length="B", error_code="H", status_length="H")
_NEEDS_NO_DATABASE: Final = (b"BEGIN", b"COMMIT", b"SAVEPOINT ", b"XA ", b"CREATE DATABASE ", b"DROP DATABASE ")
TOO_MANY_DATABASES: Final = 254


class Status(IntEnum):
    """Codes of the status variables (binlog-events 8, versions 5.8). MariaDB's own begin at 128."""

    FLAGS2 = 0
    SQL_MODE = 1
    CATALOG = 2
    AUTO_INCREMENT = 3
    CHARSET = 4
    TIME_ZONE = 5
    CATALOG_NZ = 6
    LC_TIME_NAMES = 7
    CHARSET_DATABASE = 8
    TABLE_MAP_FOR_UPDATE = 9
    MASTER_DATA_WRITTEN = 10
    INVOKER = 11
    UPDATED_DB_NAMES = 12
    MICROSECONDS = 13
    COMMIT_TS = 14
    COMMIT_TS2 = 15
    EXPLICIT_DEFAULTS_FOR_TIMESTAMP = 16
    DDL_LOGGED_WITH_XID = 17
    DEFAULT_COLLATION_FOR_UTF8MB4 = 18
    SQL_REQUIRE_PRIMARY_KEY = 19
    DEFAULT_TABLE_ENCRYPTION = 20
    ENABLE_CASCADE_TRIGGERS = 21
    MARIADB_MICROSECONDS = 128
    MARIADB_XID = 129
    MARIADB_GTID_FLAGS = 130


@dataclass(frozen=True, slots=True)
class StatusInteger:
    code: int
    value: int


@dataclass(frozen=True, slots=True)
class StatusIntegers:
    """AUTO_INCREMENT (increment, offset) and CHARSET (client, connection collation, server collation)."""

    code: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StatusText:
    code: int
    text: bytes


@dataclass(frozen=True, slots=True)
class StatusInvoker:
    user: bytes
    host: bytes
    code: int = Status.INVOKER


@dataclass(frozen=True, slots=True)
class StatusDatabases:
    """The databases that a statement uses. ``None``: more databases than the server lists."""

    names: tuple[bytes, ...] | None
    code: int = Status.UPDATED_DB_NAMES


@dataclass(frozen=True, slots=True)
class StatusUnknown:
    """An unknown code: the length of its value is unknown, so it ends the block (as it does for the server)."""

    code: int
    rest: bytes


StatusVariable: TypeAlias = (
    "StatusInteger | StatusIntegers | StatusText | StatusInvoker | StatusDatabases | StatusUnknown"
)

_INTEGERS: Final = {
    Status.FLAGS2: 4,
    Status.SQL_MODE: 8,
    Status.LC_TIME_NAMES: 2,
    Status.CHARSET_DATABASE: 2,
    Status.TABLE_MAP_FOR_UPDATE: 8,
    Status.MASTER_DATA_WRITTEN: 4,
    Status.MICROSECONDS: 3,
    Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP: 1,
    Status.DDL_LOGGED_WITH_XID: 8,
    Status.DEFAULT_COLLATION_FOR_UTF8MB4: 2,
    Status.SQL_REQUIRE_PRIMARY_KEY: 1,
    Status.DEFAULT_TABLE_ENCRYPTION: 1,
    Status.ENABLE_CASCADE_TRIGGERS: 1,
    Status.MARIADB_MICROSECONDS: 3,
    Status.MARIADB_XID: 8,
    Status.MARIADB_GTID_FLAGS: 2,
}
_LISTS: Final = {Status.AUTO_INCREMENT: 2, Status.CHARSET: 3}
_TEXTS: Final = frozenset((Status.CATALOG, Status.TIME_ZONE, Status.CATALOG_NZ))


@lru_cache(maxsize=256)
def decode_status(data: bytes, highest: int = max(Status)) -> tuple[StatusVariable, ...]:
    """The status variables in stored order. Cached, because most statements of a session have the same variables.

    ``highest``: the last code that the reader knows; an older reader stops at the first code above it.
    """
    return read_status(Cursor(data), highest)


def read_status(cursor: Cursor, highest: int = max(Status)) -> tuple[StatusVariable, ...]:
    """As :func:`decode_status`, from a cursor over the variables."""
    found: list[StatusVariable] = []
    for _ in cursor.items("status"):
        code = cursor.u1("code")
        try:
            known = code <= highest
            found.append(_read_variable(cursor, code) if known else StatusUnknown(code, cursor.rest("unknown")))
        except DecodeError as error:
            error.path = (Status(code).name,)
            raise
    return tuple(found)


def _read_variable(cursor: Cursor, code: int) -> StatusVariable:
    if code in _INTEGERS:
        return StatusInteger(code, cursor.number(_INTEGERS[Status(code)], "value"))
    if code in _LISTS:
        return StatusIntegers(code, tuple([cursor.u2("value") for _ in range(_LISTS[Status(code)])]))
    if code in _TEXTS:
        text = cursor.take(cursor.u1("length"), "text")
        if code == Status.CATALOG:
            cursor.u1("end")  # the one text that ends with a zero byte
        return StatusText(code, text)
    if code == Status.INVOKER:
        return StatusInvoker(cursor.sized(1, "user"), cursor.sized(1, "host"))
    if code == Status.UPDATED_DB_NAMES:
        count = cursor.u1("count")
        return StatusDatabases(None if count == TOO_MANY_DATABASES else tuple([_name(cursor) for _ in range(count)]))
    return StatusUnknown(code, cursor.rest("unknown"))


def _name(cursor: Cursor) -> bytes:
    end = cursor.data.find(b"\0", cursor.pos, cursor.end) + 1
    if not end:
        cursor.refuse(DecodeError("truncated", "a database name has no end", offset=cursor.pos))
        end = cursor.end
    return cursor.take(end - cursor.pos, "name").removesuffix(b"\0")


def _short_text(text: bytes) -> bytes:
    return bytes((len(text),)) + text


def _encode_variable(variable: StatusVariable) -> bytes:
    match variable:
        case StatusInteger(code, value):
            return value.to_bytes(_INTEGERS[Status(code)], "little")
        case StatusIntegers(code, values):
            if len(values) != _LISTS[Status(code)]:
                raise ValueError(f"{len(values)} numbers")
            return b"".join(value.to_bytes(2, "little") for value in values)
        case StatusText(code, text):
            return _short_text(text) + (b"\0" if code == Status.CATALOG else b"")
        case StatusInvoker(user, host):
            return _short_text(user) + _short_text(host)
        case StatusDatabases(None):
            return bytes((TOO_MANY_DATABASES,))
        case StatusDatabases(tuple(names)):
            if len(names) >= TOO_MANY_DATABASES or any(b"\0" in name for name in names):
                raise ValueError("too many names, or a zero byte in one")
            return bytes((len(names),)) + b"".join(name + b"\0" for name in names)
        case StatusUnknown(_, rest):
            return rest
    raise ValueError(f"not a status variable: {shown(variable)}")


def encode_status(variables: tuple[StatusVariable, ...]) -> bytes:
    out = bytearray()
    for variable in variables:
        try:
            out.append(variable.code)
            out += _encode_variable(variable)
        except (ValueError, OverflowError, KeyError):
            raise EncodeError(
                "bad-value",
                "not a value of this status variable",
                got=shown(variable)[:80],
                path=(f"status[{variable.code}]",),
            ) from None
    return bytes(out)


# The status variables that 9.7.4 writes with BEGIN in a session with default settings (observed in the corpus).
DEFAULT_STATUS: Final[tuple[StatusVariable, ...]] = (
    StatusInteger(Status.FLAGS2, 0),
    StatusInteger(Status.SQL_MODE, 0x45A00020),
    StatusText(Status.CATALOG_NZ, b"std"),
    StatusIntegers(Status.CHARSET, (255, 255, 255)),
    StatusInteger(Status.DEFAULT_COLLATION_FOR_UTF8MB4, 255),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Decoded):
    """A statement. ``schema`` and ``text`` are bytes in the client's character set, which is a status variable.

    ``compressed``: the statement as MariaDB's QUERY_COMPRESSED has it, which then is the type of the event.
    """

    text: bytes
    schema: bytes = b""
    thread_id: int = 0
    execution_time: int = 0
    error_code: int = 0
    status: tuple[StatusVariable, ...] = DEFAULT_STATUS
    compressed: bytes | None = None

    @property
    def type(self) -> int:
        """The type code of the event."""
        return EventType.QUERY if self.compressed is None else MariadbEventType.QUERY_COMPRESSED

    @property
    def default_flags(self) -> int:
        """Statements that need no database have SUPPRESS_USE (binlog-events 2.1)."""
        return Flag.SUPPRESS_USE if self.text.startswith(_NEEDS_NO_DATABASE) else 0

    @classmethod
    def read(cls, cursor: Cursor, code: int = EventType.QUERY) -> Query:
        """``code``: QUERY or QUERY_COMPRESSED."""
        thread_id, execution_time, schema_length, error_code, status_length = cursor.fields(POST_HEADER, "post_header")
        status, schema = read_tail(cursor, schema_length, status_length)
        start = cursor.pos
        text = cursor.rest("text")
        part = None
        if code == MariadbEventType.QUERY_COMPRESSED:
            part = bytes(text)
            try:
                text = uncompressed(part)
            except CodecError as error:
                raise error.at("text", start) from None
        return cls(
            thread_id=thread_id,
            execution_time=execution_time,
            error_code=error_code,
            status=status,
            schema=schema,
            text=text,
            compressed=part,
        )

    def encode(self) -> bytes:
        status = encode_status(self.status)
        head = POST_HEADER.pack(self.thread_id, self.execution_time, len(self.schema), self.error_code, len(status))
        return head + encode_tail(status, self.schema) + (self.text if self.compressed is None else self.compressed)


def read_tail(cursor: Cursor, schema_length: int, status_length: int) -> tuple[tuple[StatusVariable, ...], bytes]:
    """Status variables and database, whose form EXECUTE_LOAD_QUERY shares; the text follows them."""
    start = cursor.pos
    end = start + status_length + schema_length
    if end >= cursor.end:
        cursor.refuse(
            DecodeError(
                "truncated",
                "no room for status variables and schema",
                offset=start,
                expected=end + 1,
                got=cursor.end,
            )
        )
    if cursor.records:
        status = read_status(cursor.part(status_length, "status"))
    else:
        try:
            status = decode_status(cursor.take(status_length, "status"))
        except DecodeError as error:
            raise error.at("status", start) from None
    schema = cursor.take(schema_length, "schema")
    if cursor.u1("schema_end"):
        cursor.refuse(DecodeError("bad-name", "the schema does not end with a zero byte", offset=end, path=("schema",)))
    return status, schema


def encode_tail(status: bytes, schema: bytes) -> bytes:
    return status + schema + b"\0"
