"""LOAD DATA in statement format: the file travels in blocks, then the statement (binlog-events 13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from conformance.reference.binlog.query import (
    DEFAULT_STATUS,
    POST_HEADER,
    StatusVariable,
    encode_status,
    encode_tail,
    read_tail,
)
from conformance.reference.cursor import Cursor, Decoded, Layout
from conformance.reference.errors import DecodeError
from conformance.reference.event_types import EventType

_FILE_ID: Final = Layout(file_id="I")
_POST_HEADER: Final = Layout(**POST_HEADER.forms, file_id="I", name_start="I", name_end="I", duplicates="B")
_REPLACE: Final = 2  # 0: a duplicate key is an error, 1: the new row is ignored, 2: it replaces the other


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBlock(Decoded):
    """BEGIN_LOAD_QUERY (17) is the first block of a file, APPEND_BLOCK (9) every other."""

    default_flags: ClassVar[int] = 0
    type: int
    file_id: int
    data: bytes

    @classmethod
    def read(cls, cursor: Cursor, code: int = EventType.APPEND_BLOCK) -> LoadBlock:
        return cls(type=code, file_id=cursor.fields(_FILE_ID, "file_id")[0], data=cursor.rest("data"))

    def encode(self) -> bytes:
        return _FILE_ID.pack(self.file_id) + self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFile(Decoded):
    """The load failed: the replica may forget the file."""

    type: ClassVar[int] = EventType.DELETE_FILE
    default_flags: ClassVar[int] = 0
    file_id: int

    @classmethod
    def read(cls, cursor: Cursor) -> DeleteFile:
        (file_id,) = cursor.fields(_FILE_ID, "DELETE_FILE")
        cursor.expect_end("DELETE_FILE")
        return cls(file_id=file_id)

    def encode(self) -> bytes:
        return _FILE_ID.pack(self.file_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteLoadQuery(Decoded):
    """The statement; ``start`` and ``end`` delimit its ``INFILE ...`` part, where the replica puts its own file."""

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
    def read(cls, cursor: Cursor) -> ExecuteLoadQuery:
        begin = cursor.pos
        thread_id, time, schema_length, error, status_length, *load = cursor.fields(_POST_HEADER, "post_header")
        file_id, start, end, duplicates = load
        status, schema = read_tail(cursor, schema_length, status_length)
        text = cursor.rest("text")
        limits = (
            ("name_start", "start", start, len(text)),
            ("name_end", "end", end, len(text)),
            ("duplicates", "duplicates", duplicates, _REPLACE),
        )
        for field, name, got, highest in limits:
            if got > highest:  # the server and its clients refuse these too (observed on 9.7.4)
                offset = begin + _POST_HEADER.offset(field)
                cursor.refuse(
                    DecodeError("out-of-range", name, offset=offset, expected=f"0..{highest}", got=got, path=(name,))
                )
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
            text=text,
        )

    def encode(self) -> bytes:
        status = encode_status(self.status)
        head = _POST_HEADER.pack(
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
