"""The type codes of events and their names in the specification (binlog-events 2), and those that other servers add."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class EventType(IntEnum):
    """Type codes. 23 to 25 are the row events of servers up to 8.2; later servers do not write them."""

    START_V3 = 1
    QUERY = 2
    STOP = 3
    ROTATE = 4
    INTVAR = 5
    SLAVE = 7
    APPEND_BLOCK = 9
    DELETE_FILE = 11
    RAND = 13
    USER_VAR = 14
    FORMAT_DESCRIPTION = 15
    XID = 16
    BEGIN_LOAD_QUERY = 17
    EXECUTE_LOAD_QUERY = 18
    TABLE_MAP = 19
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42


class MariadbEventType(IntEnum):
    """Type codes that MariaDB alone writes, with MariaDB's names (its documentation of the replication protocol)."""

    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    GTID = 162
    GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171
    PARTIAL_ROW_DATA = 172


# Seen in logs of Aurora MySQL, flagged as ignorable; their content is not documented (osheroff #23, DBZ-2499).
AURORA_TYPES: Final = frozenset((100, 101))

# Names in the specification that differ from the member's name plus _EVENT.
_NAMES: Final = {
    EventType.WRITE_ROWS_V1: "WRITE_ROWS_EVENT_V1",
    EventType.UPDATE_ROWS_V1: "UPDATE_ROWS_EVENT_V1",
    EventType.DELETE_ROWS_V1: "DELETE_ROWS_EVENT_V1",
    EventType.HEARTBEAT: "HEARTBEAT_LOG_EVENT",
    EventType.HEARTBEAT_V2: "HEARTBEAT_LOG_EVENT_V2",
    EventType.IGNORABLE: "IGNORABLE_LOG_EVENT",
    EventType.ROWS_QUERY: "ROWS_QUERY_LOG_EVENT",
    EventType.GTID: "GTID_LOG_EVENT",
    EventType.ANONYMOUS_GTID: "ANONYMOUS_GTID_LOG_EVENT",
    EventType.PREVIOUS_GTIDS: "PREVIOUS_GTIDS_LOG_EVENT",
    EventType.XA_PREPARE: "XA_PREPARE_LOG_EVENT",
    EventType.GTID_TAGGED: "GTID_TAGGED_LOG_EVENT",
}


def _mariadb_name(member: MariadbEventType) -> str:
    name, version, _ = member.name.partition("_V1")
    return f"{name}_EVENT{version}"


_MARIADB: Final = {int(member): _mariadb_name(member) for member in MariadbEventType}
_KNOWN: Final = _MARIADB | {int(member): _NAMES.get(member, f"{member.name}_EVENT") for member in EventType}


def event_name(code: int) -> str:
    """The name of an event type where it is documented, ``UNKNOWN_EVENT(n)`` for an unknown number."""
    return _KNOWN.get(code) or f"UNKNOWN_EVENT({code})"


def writer_of(code: int) -> str | None:
    """The product that alone writes events of this type; ``None`` for MySQL's types and for unknown numbers."""
    return "MariaDB" if code in _MARIADB else "Aurora" if code in AURORA_TYPES else None


def event_words(code: int) -> str:
    """The type in words for people: ``MariaDB's GTID_EVENT (type 162)``, ``UNKNOWN_EVENT(121)``."""
    writer = writer_of(code)
    if writer is None:
        return event_name(code)
    return f"{writer}'s {event_name(code)} (type {code})" if code in _MARIADB else f"{writer}'s event of type {code}"
