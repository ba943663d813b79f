"""The packets that a server writes: OK, EOF, errors, and text results, in the 4.1 forms."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

OK: Final = b"\x00\x00\x00\x02\x00\x00\x00"
EOF: Final = b"\xfe\x00\x00\x02\x00"
_INTEGER, _TEXT = 8, 253  # types of columns: LONGLONG, VAR_STRING
_UTF8MB4, _BINARY = 255, 63
_LENGTH: Final = 1 << 16
_COLUMN: Final = Struct("<BHIBHBxx")

Value = int | str | bytes | None


@dataclass(frozen=True, slots=True)
class Rows:
    """A result: names of columns, and rows of as many values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...] = ()


class Refused(Exception):
    """An error that the client gets: number, SQL state and text."""

    def __init__(self, number: int, state: str, text: str) -> None:
        super().__init__(f"{number} ({state}): {text}")
        self.packet = error_packet(number, state, text)


def error_packet(number: int, state: str, text: str) -> bytes:
    """An ERR packet."""
    return b"\xff" + number.to_bytes(2, "little") + b"#" + state.encode() + text.encode("utf-8", "replace")


def counted(data: bytes) -> bytes:
    """A length-encoded string."""
    size = len(data)
    if size < 0xFB:
        return bytes((size,)) + data
    width, mark = (2, b"\xfc") if size < 1 << 16 else (3, b"\xfd") if size < 1 << 24 else (8, b"\xfe")
    return mark + size.to_bytes(width, "little") + data


def result_packets(result: Rows) -> Iterator[bytes]:
    """The packets of a text result."""
    yield bytes((len(result.columns),))
    yield from definitions(result)
    yield EOF
    for row in result.rows:
        yield b"".join(b"\xfb" if value is None else counted(_bytes(value)) for value in row)
    yield EOF


def definitions(result: Rows) -> Iterator[bytes]:
    """The definitions of a result's columns."""
    for number, name in enumerate(result.columns):
        shown = name.encode("utf-8", "replace")
        names = b"".join(map(counted, (b"def", b"", b"", b"", shown, shown)))
        kind, charset = (_INTEGER, _BINARY) if is_numeric(result, number) else (_TEXT, _UTF8MB4)
        yield names + _COLUMN.pack(0x0C, charset, _LENGTH, kind, 0, 0)


def is_numeric(result: Rows, column: int) -> bool:
    """Whether a column has integers alone: clients in typed languages ask for that."""
    found = [row[column] for row in result.rows if row[column] is not None]
    return bool(found) and all(isinstance(value, int) for value in found)


def _bytes(value: int | str | bytes) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")
