"""Adapter of python-mysql-replication without a server: its BinLogStreamReader gets the events of a file as packets.

As in the library's own examples, the reader is asked for row events only.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

from mysql_replication_log import events_of
from mysql_replication_values import changes_of
from pymysqlreplication.row_event import DeleteRowsEvent, PartialUpdateRowsEvent, UpdateRowsEvent, WriteRowsEvent
from talk import Refused, converse

_ROWS = [WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent, PartialUpdateRowsEvent]


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read a log from its beginning to its end."""
    changes: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    with Path(request["path"]).open("rb") as file:
        try:
            for event in events_of(file, _ROWS):
                changes += changes_of(event, marks)
        except Exception as error:
            raise Refused(str(error) or repr(error), code=type(error).__name__, changes=changes, marks=marks) from error
    return {"changes": changes, "marks": marks}


converse(
    {
        "name": "python-mysql-replication",
        "version": importlib.metadata.version("mysql-replication"),
        "roles": ["decode"],
        "capabilities": ["file"],
        "note": "fed with events",
    },
    {"decode": decode},
)
