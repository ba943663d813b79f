"""Row events as SQL: BINLOG statements that a server applies, with pseudo-SQL in comments for people.

The base64 form keeps every value: documents with their types, text in its character set, generated columns, tables
whose columns have no names in the log.
"""

from __future__ import annotations

from base64 import encodebytes
from typing import TYPE_CHECKING

from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import Checksum
from conformance.reference.text.pseudo_sql import row_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.reference.binlog.format_description import FormatDescription
    from conformance.reference.binlog.header import Header
    from conformance.reference.binlog.rows import RowsBody


def description_statement(description: FormatDescription) -> bytes:
    """The statement that tells the server how the events behind it are to be read.

    The server expects a GTID from the log then; the second statement asks it for numbers of its own (observed on
    9.7.4).
    """
    return _statement([encode_event(description)]) + b"SET @@SESSION.GTID_NEXT = 'AUTOMATIC';\n"


def rows_statement(header: Header, rows: RowsBody, *, algorithm: int = Checksum.CRC32) -> Iterator[bytes]:
    """The statement that applies one row event; its rows stand in front as comments."""
    for text in row_lines(rows):
        # A name may hold a line feed: no line may leave the comment. Text of other character sets is no UTF-8.
        for line in text.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
            yield (line if line.startswith("### ") else f"### {line}").encode() + b"\n"
    yield _statement(
        encode_event(body, timestamp=header.timestamp, server_id=header.server_id, algorithm=algorithm)
        for body in (rows.map(), rows)
    )


def _statement(events: Iterable[bytes]) -> bytes:
    return b"BINLOG '\n" + b"".join(map(encodebytes, events)) + b"';\n"
