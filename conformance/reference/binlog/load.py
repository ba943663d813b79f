"""LOAD DATA in statement format: the file travels in blocks, then the statement (binlog-events 13)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final

from conformance.reference.binlog.control_events import pack, unpack
from conformance.reference.binlog.query import DEFAULT_STATUS, StatusVariable, decode_tail, encode_status, encode_tail
from conformance.reference.cursor import Cursor
from conformance.reference.event_types import EventType

_FILE_ID: Final = Struct("<I")
_POST_HEADER: Final = Struct("<IIBHHIIIB")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBlock:
    """BEGIN_LOAD_QUERY (17) is the first block of a file, APPEND_BLOCK (9) every other."""

    default_flags: ClassVar[int] = 0
    type: int
    file_id: int
    data: bytes

    @classmethod
    def decode(cls, code: int, data: bytes) -> LoadBlock:
        cursor = Cursor(data)
        return cls(type=code, file_id=cursor.u4("file_id"), data=cursor.rest())

    def encode(self) -> bytes:
        return pack(_FILE_ID, self.file_id) + self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile:
    """The load failed: the replica may forget the file."""

    type: ClassVar[int] = EventType.DELETE_FILE
    default_flags: ClassVar[int] = 0
    file_id: int

    @classmethod
    def decode(cls, data: bytes) -> DeleteFile:
        return cls(file_id=unpack(_FILE_ID, data, "DELETE_FILE")[0])

    def encode(self) -> bytes:
        return pack(_FILE_ID, self.file_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteLoadQuery:
    """The statement; ``start`` and ``end`` are where its ``INFILE ...`` part is, to be replaced by the replica's file.

    ``duplicates``: 0 error, 1 ignore, 2 replace.
    """

    type: ClassVar[int] = EventType.EXECUTE_LOAD_QUERY
    default_flags: ClassVar[int] = 0
    text: bytes
    file_id: int
    start: int
    end: int
    duplicates: int = 0
    schema: bytes = b""
    thread_id: int = 0
    execution_time: int = 0
    error_code: int = 0
    status: tuple[StatusVariable, ...] = DEFAULT_STATUS

    @classmethod
    def decode(cls, data: bytes) -> ExecuteLoadQuery:
        pos = Cursor(data).skip(_POST_HEADER.size, "post_header")
        thread_id, time, schema_length, error, status_length, *load = _POST_HEADER.unpack_from(data, pos)
        file_id, start, end, duplicates = load
        status, schema, pos = decode_tail(data, _POST_HEADER.size, schema_length, status_length)
        return cls(
            thread_id=thread_id,
            execution_time=time,
            error_code=error,
            file_id=file_id,
            start=start,
            end=end,
            duplicates=duplicates,
            status=status,
            schema=schema,
            text=data[pos:],
        )

    def encode(self) -> bytes:
        status = encode_status(self.status)
        head = pack(
            _POST_HEADER,
            self.thread_id,
            self.execution_time,
            len(self.schema),
            self.error_code,
            len(status),
            self.file_id,
            self.start,
            self.end,
            self.duplicates,
        )
        return head + encode_tail(status, self.schema) + self.text
