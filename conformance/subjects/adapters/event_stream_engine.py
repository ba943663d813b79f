"""Adapter of mysql-event-stream: its CdcEngine is fed with the bytes of a log.

The library documents its forms: ENUM is an index, SET and BIT are integers, TIMESTAMP is seconds since 1970 as text,
JSON is the bytes of the JSONB value. They are given as they are: the judge takes each of them for the value. A ``str``
is a column's bytes in whatever character set, read as UTF-8 with ``surrogateescape``: so its bytes are given.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any, BinaryIO

from mysql_event_stream import CdcEngine
from talk import Refused, converse

_MAGIC = b"\xfebin"
_HEADER, _TYPE, _FORMAT_DESCRIPTION = 19, 4, 15


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return {"hex": value.encode("utf-8", "surrogateescape").hex()}
    return value


def _image(event: Any, values: dict[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    # Without names in the log its keys are places that count from 0.
    named = event.names_resolved
    return {name if named else f"@{int(name) + 1}": _value(value) for name, value in values.items()}


def _change(event: Any) -> dict[str, Any]:
    operation = event.type.name.lower()
    before, after = _image(event, event.before), _image(event, event.after)
    return {
        "schema": event.database,
        "table": event.table,
        "operation": operation,
        # The library gives no image where the event's has no columns.
        "before": None if operation == "insert" else before or {},
        "after": None if operation == "delete" else after or {},
        "timestamp": event.timestamp,
    }


def _next(file: BinaryIO) -> bytes:
    """The next event. After an error the library forgets what it has read, so it gets one event at a time."""
    header = file.read(_HEADER)
    size = int.from_bytes(header[9:13], "little")
    event = header + file.read(max(size - _HEADER, 0))
    if event and len(event) != size:
        raise ValueError(
            f"the log ends inside an event of {size} bytes"
        )  # reading files is the library's user's matter
    return event


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Feed a log to the end, as the library's own example does."""
    changes: list[dict[str, Any]] = []
    try:
        with CdcEngine() as engine, Path(request["path"]).open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ValueError("not a binary log")  # the library leaves these four bytes to its user
            while event := _next(file):
                if event[_TYPE] == _FORMAT_DESCRIPTION:  # its own client tells the engine what the source says of them
                    engine.set_checksum_enabled(event[-5:-4] == b"\1")
                while event and (consumed := engine.feed(event)):
                    event = event[consumed:]
                    changes += map(_change, iter(engine.next_event, None))
                if event:
                    raise ValueError(f"{len(event)} bytes at the end make no event")
    except Exception as error:
        raise Refused(str(error) or repr(error), code=type(error).__name__, changes=changes) from error
    return {"changes": changes, "marks": []}


converse(
    {
        "name": "mysql-event-stream",
        "version": importlib.metadata.version("mysql-event-stream"),
        "roles": ["decode"],
        "capabilities": ["file", "member-numbers"],
    },
    {"decode": decode},
)
