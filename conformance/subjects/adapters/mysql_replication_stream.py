"""Adapter of python-mysql-replication's BinLogStreamReader, with the settings of its own examples."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from mysql_replication_values import changes_of
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import RotateEvent
from pymysqlreplication.row_event import RowsEvent
from talk import Refused, converse, is_marker


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read from the Case's position to its last marker."""
    server = request["server"]
    changes: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    reader = BinLogStreamReader(
        connection_settings={
            "host": server["host"],
            "port": server["port"],
            "user": server["user"],
            "passwd": server["password"],
            "charset": "utf8mb4",
        },
        server_id=server.get("client_id", 1071),
        log_file=server["file"],
        log_pos=server["position"],
        resume_stream=True,
        blocking=False,
        enable_logging=False,
    )
    event = None
    try:
        for event in reader:
            if isinstance(event, RowsEvent):
                if event.table == server.get("marker", {}).get("table"):
                    found = changes_of(event)
                    if any(is_marker(request, c["schema"], c["table"], (c["after"] or {}).values()) for c in found):
                        break
                else:
                    changes += changes_of(event)
            elif isinstance(event, RotateEvent):
                continue
            elif type(event).__name__ == "NotImplementedEvent":
                marks.append({"message": repr(event), "event": str(event.event_type), "position": None})
    except Exception as error:
        raise Refused(
            f"{type(error).__name__}: {error}", code=type(error).__name__, changes=changes, marks=marks
        ) from error
    finally:
        reader.close()
    return {"changes": changes, "marks": marks}


converse(
    {
        "name": "python-mysql-replication",
        "version": importlib.metadata.version("mysql-replication"),
        "roles": ["decode"],
        "capabilities": ["server"],
        "input": "path",
    },
    {"decode": decode},
)
