"""The events of a file through python-mysql-replication's BinLogStreamReader, without a server.

The library has no file reader. Here the file is cut at the lengths in the event headers. The reader gets each event as
the packet in which a server would send it. The format description event says whether events have checksums, which the
reader would ask the server. Of the TABLE_MAP events the reader takes what they have (binlog_row_metadata=FULL in the
server's words).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from pymysql.protocol import MysqlPacket
from pymysqlreplication import BinLogStreamReader

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

_MAGIC = b"\xfebin"
_HEADER = 19
_FORMAT_DESCRIPTION = 15
_PRIVATE = "_BinLogStreamReader__"


def events_of(file: BinaryIO, only: Sequence[type] | None = None) -> Iterator[Any]:
    """The reader's events, of the classes in ``only`` or of all that it gives by default. It may raise anything."""
    reader = BinLogStreamReader(connection_settings={}, server_id=1, only_events=only, enable_logging=False)
    reader._stream_connection = reader._ctl_connection = _Connection(file, reader)  # noqa: SLF001
    for state in ("connected_stream", "connected_ctl", "optional_meta_data"):
        setattr(reader, _PRIVATE + state, True)
    try:
        yield from reader
    finally:
        reader.close()


def _packets(file: BinaryIO) -> Generator[bytes, None, None]:
    """The events of a file; an event of zeros to skip is read like all others. A source never sends a part of one."""
    if file.read(4) != _MAGIC:
        raise ValueError("not a binary log")
    while header := file.read(_HEADER):
        size = struct.unpack_from("<I", header, 9)[0] if len(header) == _HEADER else 0
        if size < _HEADER:
            raise ValueError(f"no event at {file.tell() - len(header)}")
        event = header + file.read(size - _HEADER)
        if len(event) != size:
            raise ValueError(f"the log ends inside an event of {size} bytes")
        yield event


class _Connection:
    """A stand-in for the reader's two connections: one gives packets, the other is only asked who the server is."""

    charset = "utf8mb4"

    def __init__(self, file: BinaryIO, reader: BinLogStreamReader) -> None:
        self._packets = _packets(file)
        self._reader = reader

    def _read_packet(self) -> MysqlPacket:
        event = next(self._packets, None)
        if event is None:
            return MysqlPacket(b"\xfe\0\0\0\0", "utf8")
        if event[4] == _FORMAT_DESCRIPTION:
            setattr(self._reader, _PRIVATE + "use_checksum", event[-5:-4] == b"\1")
        return MysqlPacket(b"\0" + event, "utf8")

    def _get_dbms(self) -> str:
        return "mysql"

    def close(self) -> None:
        self._packets.close()
