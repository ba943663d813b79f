"""Adapter of python-mysql-replication's BinLogStreamReader, with the settings of its own examples."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from mysql_replication_values import changes_of
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.row_event import RowsEvent
from talk import Refused, converse, is_marker


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read from the Case's position to its last marker.

    A request may have the reader stopped behind a number of changes. Another one then goes on from where the first
    says that it stands. A broken connection is the library's own matter.
    """
    server = request["server"]
    changes: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    stop = server.get("stop_after")
    place = server["file"], server["position"]
    while True:
        reader = _reader(server, *place)
        try:
            for event in reader:
                if not isinstance(event, RowsEvent):
                    continue
                found = changes_of(event, marks)
                if any(is_marker(request, c["schema"], c["table"], (c["after"] or {}).values()) for c in found):
                    return {"changes": changes, "marks": marks}
                changes += found
                if stop is not None and len(changes) >= stop:
                    stop = None
                    place = reader.log_file, reader.log_pos
                    break
            else:
                raise Refused("the stream ends before the last row", code="timed-out", changes=changes, marks=marks)
        except Refused:
            raise
        except Exception as error:
            raise Refused(str(error) or repr(error), code=type(error).__name__, changes=changes, marks=marks) from error
        finally:
            reader.close()


def _reader(server: dict[str, Any], file: str, position: int) -> BinLogStreamReader:
    return BinLogStreamReader(
        connection_settings={
            "host": server["host"],
            "port": server["port"],
            "user": server["user"],
            "passwd": server["password"],
            "charset": "utf8mb4",
            "ssl_disabled": not server.get("tls", True),  # its context of TLS alone costs 30 ms
        },
        server_id=server.get("client_id", 1071),
        log_file=file,
        log_pos=position,
        resume_stream=True,
        blocking=False,
        enable_logging=False,
    )


converse(
    {
        "name": "python-mysql-replication",
        "version": importlib.metadata.version("mysql-replication"),
        "roles": ["decode"],
        "capabilities": ["server", "position", "stop"],
        "input": "path",
    },
    {"decode": decode},
)
