"""The client/server protocol after login: packets in and out, OK, error and text result sets.

The connector logs in (authentication plugins, TLS); this module then works on its socket, for three reasons. The binary
log dump needs packets anyway. The connector's C extension hides its socket and does not load everywhere (it requires a
newer OpenSSL than Debian 12 has). Its Python reader is slow.

Measured on 9.7.4, local socket, two busy cores (``tests/benchmarks/bench_clients.py`` prints the figures again):

* The server limits small UPDATEs in multi-statement packets to about 30,000 a second, whichever client reads.
* In one transaction the limit is 50,000, and 12,000 for statements sent one by one.
* Each such UPDATE takes 8 us of client CPU here and 10 us in the pure connector.
* Statements without work reach 200,000 a second.
* This module reads 900,000 result rows a second, the pure connector 290,000, its C extension 1,700,000.

Facts: MySQL client/server protocol documentation, "Text Protocol", "OK_Packet", "ERR_Packet". The connection does not
use CLIENT_DEPRECATE_EOF, CLIENT_SESSION_TRACK and compression, so the 4.1 forms apply.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING

from conformance.servers.errors import ConnectionLost, ProtocolError, SqlError

if TYPE_CHECKING:
    import socket

MAX_PAYLOAD = 0xFFFFFF  # the next packet continues a packet of this length
MORE_RESULTS = 0x0008  # SERVER_MORE_RESULTS_EXISTS in the status flags
_EOF, _EOF_SIZE = 0xFE, 5
_NO_EOF = 9  # bytes from which on 0xfe begins a length
_RECEIVE = 1 << 18
_STATUS_WARNINGS = Struct("<HH").unpack_from
_U2 = Struct("<H").unpack_from
_U8 = Struct("<Q").unpack_from

Row = tuple[bytes | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One answer: an OK packet (``columns`` empty) or a text result set. Values are the bytes the server sent."""

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    affected: int = 0
    last_insert_id: int = 0
    warnings: int = 0
    info: str = ""

    def scalar(self) -> str | None:
        """First column of the only row as text."""
        if len(self.rows) != 1:
            raise ProtocolError(f"expected one row, got {len(self.rows)}")
        value = self.rows[0][0]
        return None if value is None else _text(value)

    def number(self) -> int:
        """First column of the only row as a whole number."""
        return whole(self.scalar())

    def only(self) -> tuple[str | None, ...]:
        """The only row."""
        if len(self.rows) != 1:
            raise ProtocolError(f"expected one row, got {len(self.rows)}")
        return self.texts()[0]

    def texts(self) -> list[tuple[str | None, ...]]:
        """All rows with their values decoded as UTF-8 (the connection's result character set)."""
        return [tuple(None if value is None else _text(value) for value in row) for row in self.rows]

    def named(self) -> list[dict[str, str | None]]:
        """All rows as column name -> text."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.texts()]


def _text(value: bytes) -> str:
    r"""Text with ``\xNN`` for bytes that are no UTF-8: 9.7.4 repeats bytes of a damaged event in its messages
    unchanged.
    """
    return value.decode("utf-8", "backslashreplace")


def whole(text: str | None) -> int:
    """A value as a whole number, 0 or more. Raises :class:`ProtocolError` for NULL and for anything else."""
    if text is None or not (text.isascii() and text.isdecimal()):
        raise ProtocolError(f"expected a whole number, got {'NULL' if text is None else repr(text[:40])}")
    return int(text)


def lenenc(data: bytes, pos: int) -> tuple[int, int]:
    """A length-encoded integer and the position after it."""
    first = data[pos]
    if first < 0xFB:
        return first, pos + 1
    if first == 0xFC:
        return _U2(data, pos + 1)[0], pos + 3
    if first == 0xFD:
        return int.from_bytes(data[pos + 1 : pos + 4], "little"), pos + 4
    if first == 0xFE:
        return _U8(data, pos + 1)[0], pos + 9
    raise ProtocolError(f"byte {first:#x} does not begin a length-encoded integer")


def parse_error(packet: bytes, statement: str = "", position: int = 0) -> SqlError:
    """An ERR packet: 0xff, number, '#', SQL state, text."""
    number = _U2(packet, 1)[0]
    if packet[3:4] == b"#":
        state, text = packet[4:9].decode("latin-1"), packet[9:]
    else:
        state, text = "HY000", packet[3:]
    return SqlError(number, state, text.decode("utf-8", "replace"), statement=statement, position=position)


@lru_cache(maxsize=256)  # a batch of like statements gets like answers: half of the reading time
def parse_ok(packet: bytes) -> tuple[Result, bool]:
    """An OK packet, and whether another result follows."""
    affected, pos = lenenc(packet, 1)
    insert_id, pos = lenenc(packet, pos)
    status, warnings = _STATUS_WARNINGS(packet, pos)
    info = packet[pos + 4 :]
    result = Result(
        affected=affected, last_insert_id=insert_id, warnings=warnings, info=info.decode("utf-8", "replace")
    )
    return result, bool(status & MORE_RESULTS)


def parse_row(packet: bytes, width: int) -> Row:
    """One text row: length-encoded strings, 0xfb for NULL."""
    values: list[bytes | None] = []
    pos = 0
    for _ in range(width):
        length = packet[pos]
        if length < 0xFB:
            pos += 1
        elif length == 0xFB:
            values.append(None)
            pos += 1
            continue
        else:
            length, pos = lenenc(packet, pos)
        end = pos + length
        values.append(packet[pos:end])
        pos = end
    if pos != len(packet):
        raise ProtocolError(f"a row of {width} columns takes {pos} bytes of a packet of {len(packet)}")
    return tuple(values)


class PacketStream:
    """Packets on an open socket. One command at a time: send it, then read its whole answer."""

    __slots__ = ("_buffer", "_pos", "_socket", "query_prefix")

    def __init__(self, sock: socket.socket, *, query_attributes: bool) -> None:
        self._socket = sock
        self._buffer = b""
        self._pos = 0
        # With CLIENT_QUERY_ATTRIBUTES a COM_QUERY carries a parameter count (0) and a set count (1) before the text.
        self.query_prefix = b"\x03\x00\x01" if query_attributes else b"\x03"

    def send(self, payload: bytes) -> None:
        """Send one command, split over packets of 16 MiB if needed."""
        self._buffer, self._pos = b"", 0
        parts = []
        sequence = start = 0
        while True:
            part = payload[start : start + MAX_PAYLOAD]
            parts.append(len(part).to_bytes(3, "little") + bytes((sequence & 0xFF,)) + part)
            start += len(part)
            sequence += 1
            if len(part) < MAX_PAYLOAD:
                break
        try:
            for packet in parts:
                self._socket.sendall(packet)
        except TimeoutError as error:
            raise ConnectionLost(f"{self._no_answer()}: it takes no more input") from error
        except (OSError, ValueError) as error:
            raise ConnectionLost(f"sending to the server failed: {error}") from error

    def _no_answer(self) -> str:
        seconds = self._socket.gettimeout()  # None: the system's own limit of an unreachable host
        return "no answer from the server" if seconds is None else f"no answer from the server in {seconds:g} s"

    def _fill(self, need: int) -> None:
        """Read until at least ``need`` bytes are available after the position."""
        have = len(self._buffer) - self._pos
        chunks = [self._buffer[self._pos :]] if have else []
        try:
            while have < need:
                chunk = self._socket.recv(max(_RECEIVE, min(need - have, 1 << 24)))
                if not chunk:
                    raise ConnectionLost("the server closed the connection")
                chunks.append(chunk)
                have += len(chunk)
        except TimeoutError as error:
            raise ConnectionLost(self._no_answer()) from error
        except (OSError, ValueError) as error:
            raise ConnectionLost(f"reading from the server failed: {error}") from error
        self._buffer, self._pos = b"".join(chunks), 0

    def read(self) -> bytes:
        """The payload of the next packet, joined with its continuations."""
        payload = self._read_one()
        if len(payload) < MAX_PAYLOAD:
            return payload
        parts = [payload]
        while len(payload) == MAX_PAYLOAD:
            payload = self._read_one()
            parts.append(payload)
        return b"".join(parts)

    def _read_one(self) -> bytes:
        pos = self._pos
        if len(self._buffer) - pos < 4:
            self._fill(4)
            pos = 0
        length = int.from_bytes(self._buffer[pos : pos + 3], "little")
        end = pos + 4 + length
        if len(self._buffer) < end:
            self._fill(4 + length)
            pos, end = 0, 4 + length
        self._pos = end
        return self._buffer[pos + 4 : end]

    def query(self, sql: bytes) -> None:
        """Send a COM_QUERY; read the answer with :meth:`result`."""
        self.send(self.query_prefix + sql)

    def result(self, statement: str = "", position: int = 0) -> tuple[Result, bool]:
        """One result of the command in flight, and whether more follow."""
        packet = self.read()
        first = packet[0]
        if first == 0x00:
            return parse_ok(packet)
        if first == 0xFF:
            raise parse_error(packet, statement, position)
        if first == 0xFB:
            raise ProtocolError("the server asks for a local file; the lab never sends one")
        width, _ = lenenc(packet, 0)
        columns = tuple(_column_name(self.read()) for _ in range(width))
        self._end(self.read())  # of the column definitions
        rows: list[Row] = []
        while True:
            packet = self.read()
            if packet[0] == _EOF and len(packet) < _NO_EOF:
                warnings, status = self._end(packet)
                return Result(columns=columns, rows=tuple(rows), warnings=warnings), bool(status & MORE_RESULTS)
            if packet[0] == 0xFF:
                raise parse_error(packet, statement, position)
            rows.append(parse_row(packet, width))

    @staticmethod
    def _end(packet: bytes) -> tuple[int, int]:
        """Warnings and status of an EOF packet."""
        if len(packet) != _EOF_SIZE or packet[0] != _EOF:
            raise ProtocolError(f"expected an EOF packet of {_EOF_SIZE} bytes, got {packet[:16].hex()}")
        warnings, status = _STATUS_WARNINGS(packet, 1)
        return warnings, status

    def close(self) -> None:
        """Break the connection without a farewell (the caller sends COM_QUIT)."""
        with contextlib.suppress(OSError):
            self._socket.close()


def _column_name(packet: bytes) -> str:
    """The displayed name: fifth length-encoded string of a column definition."""
    pos = 0
    for _ in range(4):
        length, pos = lenenc(packet, pos)
        pos += length
    length, pos = lenenc(packet, pos)
    return packet[pos : pos + length].decode("utf-8", "replace")
