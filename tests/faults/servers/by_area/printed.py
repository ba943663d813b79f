"""Faulty servers whose own mysqlbinlog prints another text than the log has."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import checksum_of
from tests.faults.servers.fault import REPLICA, server

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOBS: Final = re.compile(rb"(?<=BINLOG '\n)[^']*(?=')")
_LENGTH: Final = slice(9, 13)
_HEADER: Final = 19


def _other_paths(text: bytes) -> bytes:
    """Every path of a diff has another member or element."""
    return re.sub(rb"('\$[^']*)'", rb"\1.x'", text)


def _other_calls(text: bytes) -> bytes:
    """Inserts are shown as replacements."""
    return text.replace(b"JSON_INSERT(", b"JSON_REPLACE(").replace(b"JSON_ARRAY_INSERT(", b"JSON_REPLACE(")


def _without_words(text: bytes) -> bytes:
    """The client says nothing about damage."""
    lines = text.split(b"\n")
    told = (b"while printing JSON diff", b"Corrupted replication event was detected")
    return b"\n".join(line for line in lines if not any(words in line for words in told))


def _broken_off(text: bytes) -> bytes:
    """The client ends with the damage."""
    return text.partition(b"'$.after'")[0]


def _of_flags(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the flags of the events inside BINLOG statements."""

    def one(event: bytes) -> bytes:
        data = event[:17] + change(event[17:19]) + event[_HEADER:-4]
        return base64.encodebytes(data + checksum_of(data).to_bytes(4, "little"))

    return lambda text: _BLOBS.sub(lambda found: b"".join(map(one, _events(found[0]))), text)


def _events(blob: bytes) -> list[bytes]:
    """The events of a BINLOG statement: each has base64 lines of its own."""
    lines = blob.split()
    out = []
    while lines:
        size = int.from_bytes(base64.b64decode(lines[0][:20])[_LENGTH], "little")
        event = b""
        while len(event) < size and lines:
            event += base64.b64decode(lines.pop(0))
        out.append(event)
    return out


PRINTED_FAULTS: Final = (
    server("printed-paths-are-others", "FR7", "mysqlbinlog prints other paths than the diffs have.", r"line .*\$",
           checks="test_printed_updates", printed=_other_paths),
    server("printed-inserts-are-replacements", "FR7", "mysqlbinlog prints JSON_REPLACE for diffs that insert.",
           "JSON_(ARRAY_)?INSERT.*JSON_REPLACE", checks="test_printed_updates", printed=_other_calls),
    server("damage-is-not-told", "P9", "mysqlbinlog prints a damaged event without a word about the damage.",
           "Error.*does not say that the event is damaged", checks="test_damaged_diffs", printed=_without_words),
    server("printing-ends-at-damage", "P9", "mysqlbinlog prints nothing behind a damaged event.",
           "does not print the event behind it", checks="test_damaged_diffs", printed=_broken_off),
    server("row-format-has-no-events", "TP3",
           "mysqlbinlog refuses the first event of a file when it asks for row format.",
           "expected the event at.*ends elsewhere", checks="test_what_is_not_row_format", at=REPLICA,
           printed=lambda text: b"" if b"\n# at " in text else text),
    server("row-format-is-missed-early", "TP3",
           "mysqlbinlog refuses the event in front of the one that row format would not have.",
           "expected the event at.*ends elsewhere", checks="test_what_is_not_row_format", at=REPLICA,
           printed=lambda text: text.rpartition(b"\n# at ")[0] if b"\n# at " in text else text),
    server("binlog-statements-lose-the-markers", "TF3",
           "mysqlbinlog clears the flags of the events that it prints as BINLOG statements.",
           "row event .* of the BINLOG statements.*is not that of the marked file", checks="test_marked_files",
           at=REPLICA, printed=_of_flags(lambda _: bytes(2))),
    server("binlog-statements-turn-the-flags", "TF3",
           "mysqlbinlog writes the two bytes of the flags in the other order in BINLOG statements.",
           "row event .* of the BINLOG statements.*is not that of the marked file", checks="test_marked_files",
           at=REPLICA, printed=_of_flags(lambda flags: flags[::-1])),
)  # fmt: skip
