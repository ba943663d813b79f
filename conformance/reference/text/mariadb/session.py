"""The session variables before statements, as mariadb-binlog prints them (observed with 10.11.18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from conformance.reference.binlog.header import Flag
from conformance.reference.binlog.query import Status, StatusInteger
from conformance.reference.binlog.statement_events import UserVarType
from conformance.reference.tables.charsets import COLLATIONS
from conformance.reference.text.session import DELIMITER, Session, charset_lines

if TYPE_CHECKING:
    from conformance.reference.binlog.header import Header
    from conformance.reference.binlog.load import ExecuteLoadQuery
    from conformance.reference.binlog.query import Query
    from conformance.reference.binlog.statement_events import UserVar

_OPTIONS: Final = (
    (1 << 26, "foreign_key_checks", True),
    (1 << 14, "sql_auto_is_null", False),
    (1 << 27, "unique_checks", True),
    (1 << 19, "autocommit", True),
    (1 << 15, "check_constraint_checks", True),
    (1 << 28, "sql_if_exists", False),
    (1 << 24, "explicit_defaults_for_timestamp", False),
    (1 << 30, "system_versioning_insert_history", False),
)


def _named(numbers: tuple[int, ...]) -> bytes:
    """The lines of the character sets; the client's has its name."""
    client = numbers[0]
    known = COLLATIONS.get(client)
    lines = charset_lines(numbers)
    if known is None:
        return lines
    return lines.replace(b"character_set_client=%d," % client, b"character_set_client=%b," % known.charset.encode(), 1)


class MariadbSession(Session):
    """The session state that the text has set so far."""

    _options_of_flags: ClassVar[tuple[tuple[int, str, bool], ...]] = _OPTIONS
    _masks_modes: ClassVar[bool] = False
    _charset_lines = staticmethod(_named)

    def _use(self, header: Header, query: Query | ExecuteLoadQuery) -> bytes:
        if header.flags & Flag.SUPPRESS_USE:
            return b""
        return super()._use(header, query)

    def user_variable(self, variable: UserVar, *, charset: bool = False) -> bytes:
        """A user variable; MariaDB sets it under no other character sets."""
        text = super().user_variable(variable, charset=charset)
        if variable.kind != UserVarType.STRING or not variable.value:
            return text
        return text.replace(
            b" 0x" + variable.value.hex().upper().encode(), b" X'%b'" % variable.value.hex().upper().encode()
        )


def xid_of(query: Query) -> int:
    """The engine's transaction of a DDL statement, which is in its header line; 0 for other statements."""
    found = [item.value for item in query.status if isinstance(item, StatusInteger) and item.code == Status.MARIADB_XID]
    return found[-1] if found else 0


__all__ = ["DELIMITER", "MariadbSession", "xid_of"]
