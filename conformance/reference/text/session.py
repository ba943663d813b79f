"""The session variables before statements, as mysqlbinlog prints them: only those that changed since the last print
(binlog-events 8 for the fields; the lines as observed with mysqlbinlog 9.7.4).
"""

from __future__ import annotations

from struct import unpack
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Status, StatusInteger, StatusIntegers, StatusText, StatusVariable
from conformance.reference.binlog.statement_events import UserVar, UserVarType
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.opaque import unpack_decimal
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.text.pseudo_sql import quoted_name

if TYPE_CHECKING:
    from conformance.reference.binlog.header import Header
    from conformance.reference.binlog.load import ExecuteLoadQuery
    from conformance.reference.binlog.query import Query

DELIMITER: Final = b"/*!*/;\n"
_DDL_XID: Final = int(Status.DDL_LOGGED_WITH_XID)
_NO_DATABASE: Final = (
    b"BEGIN",
    b"COMMIT",
    b"ROLLBACK",
    b"SAVEPOINT",
    b"XA ",
)  # statements that leave the printed USE in force
# Bits of the first status variable, with the words of the variable and whether a set bit means 0.
_OPTIONS: Final = (
    (1 << 26, "foreign_key_checks", True),
    (1 << 14, "sql_auto_is_null", False),
    (1 << 27, "unique_checks", True),
    (1 << 19, "autocommit", True),
)
# Modes that 8.0 no longer has, such as NO_AUTO_CREATE_USER of 5.7; it refuses a value with one of them (3899).
_OLD_MODES: Final = 0x1003FF00
_NO_OLD_MODES: Final = b"/*!80005 &~0x%x*/" % _OLD_MODES
_CONDITIONAL: Final = (
    (Status.SQL_REQUIRE_PRIMARY_KEY, b"/*!80013 SET @@session.sql_require_primary_key=%d*/"),
    (Status.DEFAULT_TABLE_ENCRYPTION, b"/*!80016 SET @@session.default_table_encryption=%d*/"),
)


def charset_lines(numbers: tuple[int, ...]) -> bytes:
    client, connection, server = numbers
    known = COLLATIONS.get(client)
    out = f"/*!\\C {known.charset} */".encode() + DELIMITER if known else b""
    words = b"SET @@session.character_set_client=%d,@@session.collation_connection=%d,@@session.collation_server=%d"
    return out + words % (client, connection, server) + DELIMITER


class Session:
    """The session state that the text has set so far."""

    _options_of_flags: ClassVar[tuple[tuple[int, str, bool], ...]] = _OPTIONS
    _masks_modes: ClassVar[bool] = True
    _charset_lines = staticmethod(charset_lines)

    def __init__(self) -> None:
        self._schema: bytes | None = None
        self._thread: int | None = None
        self._printed: dict[str, object] = {}
        self._charset: tuple[int, ...] | None = None
        self._options: int | None = None
        self._last: tuple[Query | ExecuteLoadQuery, int, tuple[bytes, bytes]] | None = None

    @property
    def state(self) -> tuple[Any, ...]:
        """All that the lines of later statements depend on."""
        return self._schema, self._thread, dict(self._printed), self._charset, self._options

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self._schema, self._thread, printed, self._charset, self._options = state
        self._printed, self._last = dict(printed), None

    def statement(self, header: Header, query: Query | ExecuteLoadQuery) -> bytes:
        """All lines between the header of a statement and its text."""
        before, behind = self.settings(header, query)
        return b"%b%d%b" % (before, header.timestamp, behind)

    def settings(self, header: Header, query: Query | ExecuteLoadQuery) -> tuple[bytes, bytes]:
        """The lines up to the timestamp of a statement, and behind it; the same tuple for the same statement again."""
        last = self._last
        if last is not None and last[0] is query and last[1] == header.flags:
            # The third BEGIN in a row says what the second did, but for its time: nothing has changed in between.
            return last[2]
        schema, thread, options, charset, printed = (
            self._schema, self._thread, self._options, self._charset, dict(self._printed),
        )  # fmt: skip
        lines = self._use(header, query) + b"SET TIMESTAMP=", self._settings(header, query)
        unchanged = (schema, thread, options, charset, printed) == (
            self._schema, self._thread, self._options, self._charset, self._printed,
        )  # fmt: skip
        self._last = (query, header.flags, lines) if unchanged else None
        return lines

    def _settings(self, header: Header, query: Query | ExecuteLoadQuery) -> bytes:
        known = _integers(query.status)
        micro = known.get(Status.MICROSECONDS) or known.get(Status.MARIADB_MICROSECONDS)
        out = bytearray(b".%06d" % micro if micro else b"") + DELIMITER
        if self._thread is None or (header.flags & Flag.THREAD_SPECIFIC and query.thread_id != self._thread):
            self._thread = query.thread_id
            out += b"SET @@session.pseudo_thread_id=%d" % query.thread_id + DELIMITER
        if Status.FLAGS2 in known:
            out += self._flags(known[Status.FLAGS2])
        if Status.SQL_MODE in known:
            mode = known[Status.SQL_MODE]
            masked = mode & _OLD_MODES and self._masks_modes
            out += self._changed("sql_mode", b"%d%b" % (mode, _NO_OLD_MODES if masked else b""))
        lists = {item.code: item.values for item in query.status if isinstance(item, StatusIntegers)}
        increments = lists.get(Status.AUTO_INCREMENT, (1, 1))
        if self._printed.get("increments") != increments:
            self._printed["increments"] = increments
            words = b"SET @@session.auto_increment_increment=%d, @@session.auto_increment_offset=%d"
            out += words % increments + DELIMITER
        charset = lists.get(Status.CHARSET)
        if charset is not None and charset != self._charset:
            self._charset = charset
            out += self._charset_lines(charset)
        zone = [item.text for item in query.status if isinstance(item, StatusText) and item.code == Status.TIME_ZONE]
        if zone:
            out += self._changed("time_zone", b"'" + zone[0] + b"'")
        out += self._changed("lc_time_names", b"%d" % known.get(Status.LC_TIME_NAMES, 0))
        database = known.get(Status.CHARSET_DATABASE)
        out += self._changed("collation_database", b"%d" % database if database else b"DEFAULT")
        if Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP in known:
            value = known[Status.EXPLICIT_DEFAULTS_FOR_TIMESTAMP]
            out += b"SET @@session.explicit_defaults_for_timestamp=%d" % value + DELIMITER
        utf8mb4 = known.get(Status.DEFAULT_COLLATION_FOR_UTF8MB4)
        if utf8mb4 is not None and self._printed.get("utf8mb4") != utf8mb4:
            self._printed["utf8mb4"] = utf8mb4
            out += b"/*!80011 SET @@session.default_collation_for_utf8mb4=%d*/" % utf8mb4 + DELIMITER
        for code, words in _CONDITIONAL:
            if code in known:
                out += words % known[code] + DELIMITER
        if known.get(Status.ENABLE_CASCADE_TRIGGERS):
            out += b"/*!90700 SET @@session.enable_cascade_triggers=1*/" + DELIMITER
        return bytes(out)

    def _use(self, header: Header, query: Query | ExecuteLoadQuery) -> bytes:
        if header.flags & Flag.SUPPRESS_USE:
            if not query.text.startswith(_NO_DATABASE):
                self._schema = None
        elif query.schema != self._schema:
            self._schema = query.schema
            if query.schema:
                return b"use `" + query.schema.replace(b"`", b"``") + b"`" + DELIMITER
        return b""

    def _flags(self, flags: int) -> bytes:
        changed = ~0 if self._options is None else flags ^ self._options
        self._options = flags
        settings = [
            f"@@session.{name}={int(bool(flags & bit) != inverse)}"
            for bit, name, inverse in self._options_of_flags
            if changed & bit
        ]
        return b"SET " + ", ".join(settings).encode() + DELIMITER if settings else b""

    def _changed(self, name: str, value: bytes) -> bytes:
        if self._printed.get(name) == value:
            return b""
        self._printed[name] = value
        return b"SET @@session." + name.encode() + b"=" + value + DELIMITER

    def user_variable(self, variable: UserVar, *, charset: bool = True) -> bytes:
        """A user variable. ``charset``: set under its own character sets, then the former ones again."""
        if not charset:
            return self._variable(variable)
        own = variable.kind != UserVarType.STRING and variable.value is not None and variable.collation in COLLATIONS
        connection = variable.collation if own else 33
        out = charset_lines((33, connection, 33)) + self._variable(variable)
        return out + (charset_lines(self._charset) if self._charset is not None else b"")

    @staticmethod
    def _variable(variable: UserVar) -> bytes:
        name = quoted_name(variable.name.decode("utf-8", "surrogateescape"))
        return b"SET @" + name + b":=" + _variable_value(variable) + DELIMITER


def _integers(status: tuple[StatusVariable, ...]) -> dict[int, int]:
    return {item.code: item.value for item in status if isinstance(item, StatusInteger)}


def ddl_xid(query: Query) -> int | None:
    """The engine's transaction of a DDL statement, which is in its header line."""
    found = [item.value for item in query.status if isinstance(item, StatusInteger) and item.code == _DDL_XID]
    return found[-1] if found else None


def _variable_value(variable: UserVar) -> bytes:
    value = variable.value
    if value is None:
        return b"NULL"
    known = COLLATIONS.get(variable.collation)
    if known is None:
        return b"???"
    if variable.kind == UserVarType.REAL and len(value) == 8:
        return format(unpack("<d", value)[0], ".14g").encode()
    if variable.kind == UserVarType.INT and len(value) == 8:
        return b"%d" % int.from_bytes(value, "little", signed=not (variable.flags or 0) & 1)
    if variable.kind == UserVarType.DECIMAL and len(value) > 2:
        try:
            return f"{unpack_decimal(value[2:], value[0], value[1]):f}".encode()
        except CodecError:
            return b"???"
    if variable.kind != UserVarType.STRING:
        return b"???"
    text = b"0x" + value.hex().upper().encode() if value else b'""'
    return f"_{known.charset} ".encode() + text + f" COLLATE `{known.name}`".encode()
