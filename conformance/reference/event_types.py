"""The type codes of events and their names in the specification (binlog-events 2)."""

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

_KNOWN: Final = {int(member): _NAMES.get(member, f"{member.name}_EVENT") for member in EventType}


def event_name(code: int) -> str:
    """The name of an event type in the specification, ``UNKNOWN_EVENT(n)`` for an unknown number."""
    return _KNOWN.get(code) or f"UNKNOWN_EVENT({code})"
