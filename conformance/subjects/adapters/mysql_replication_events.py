"""Adapter of python-mysql-replication without a server: its BinLogStreamReader gets the events of a file as packets.

The library has no file reader. The adapter cuts the file at the lengths in the event headers and gives each event to
the reader as the packet in which a server would send it. Whether events have checksums, which the reader would ask the
server, the format description event says; of the TABLE_MAP events it takes what they have (binlog_row_metadata=FULL in
the server's words). As in the library's own examples, the reader is asked for row events only.
"""

from __future__ import annotations

import importlib.metadata
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mysql_replication_values import changes_of
from pymysql.protocol import MysqlPacket
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.row_event import DeleteRowsEvent, PartialUpdateRowsEvent, UpdateRowsEvent, WriteRowsEvent
from talk import Refused, converse

if TYPE_CHECKING:
    from collections.abc import Generator

_MAGIC = b"\xfebin"
_HEADER = 19
_FORMAT_DESCRIPTION = 15
_ROWS = [WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent, PartialUpdateRowsEvent]
_PRIVATE = "_BinLogStreamReader__"


def _events(path: str) -> Generator[bytes, None, None]:
    """The events of a file, the last one possibly cut off; an event of zeros to skip is read like all others."""
    with Path(path).open("rb") as file:
        if file.read(4) != _MAGIC:
            raise ValueError("not a binary log")
        while header := file.read(_HEADER):
            size = struct.unpack_from("<I", header, 9)[0] if len(header) == _HEADER else 0
            if size < _HEADER:
                raise ValueError(f"no event at {file.tell() - len(header)}")
            file.seek(-_HEADER, 1)
            yield file.read(size)


class _Connection:
    """What the reader takes for its two connections: one gives packets, the other is only asked who the server is."""

    charset = "utf8mb4"

    def __init__(self, path: str, reader: BinLogStreamReader) -> None:
        self._events = _events(path)
        self._reader = reader

    def _read_packet(self) -> MysqlPacket:
        event = next(self._events, None)
        if event is None:
            return MysqlPacket(b"\xfe\0\0\0\0", "utf8")
        if event[4] == _FORMAT_DESCRIPTION:
            setattr(self._reader, _PRIVATE + "use_checksum", event[-5:-4] == b"\1")
        return MysqlPacket(b"\0" + event, "utf8")

    def _get_dbms(self) -> str:
        return "mysql"

    def close(self) -> None:
        self._events.close()


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read a log from its beginning to its end."""
    changes: list[dict[str, Any]] = []
    reader = BinLogStreamReader(connection_settings={}, server_id=1, only_events=_ROWS, enable_logging=False)
    reader._stream_connection = reader._ctl_connection = _Connection(request["path"], reader)  # noqa: SLF001
    for state in ("connected_stream", "connected_ctl", "optional_meta_data"):
        setattr(reader, _PRIVATE + state, True)
    try:
        for event in reader:
            changes += changes_of(event)
    except Exception as error:
        raise Refused(str(error) or repr(error), code=type(error).__name__, changes=changes) from error
    finally:
        reader.close()
    return {"changes": changes, "marks": []}


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
