"""Packets on a socket, and the answers in them, as the relay reads and writes them.

The relay removes from the server's greeting what it does not read: TLS, compression, the newer ends of result sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from conformance.servers.wire.packets import MAX_PAYLOAD, lenenc, parse_row

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

# CLIENT_COMPRESS, CLIENT_SSL, CLIENT_SESSION_TRACK, CLIENT_DEPRECATE_EOF, CLIENT_OPTIONAL_RESULTSET_METADATA,
# CLIENT_ZSTD_COMPRESSION_ALGORITHM
_UNREAD: Final = (1 << 5) | (1 << 11) | (1 << 23) | (1 << 24) | (1 << 25) | (1 << 26)
_RECEIVE: Final = 1 << 16
MORE_RESULTS: Final = 0x0008
OK, ERROR, EOF = 0x00, 0xFF, 0xFE


class Wire:
    """Packets in both directions on one socket, each with the number behind the last one."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._data = bytearray()
        self._sequence = 255

    def command(self, payload: bytes) -> None:
        """Begin a command: its packets count from 0."""
        self._sequence = 255
        self.write(payload)

    def write(self, *payloads: bytes) -> None:
        """Send payloads as packets, in one piece."""
        out = bytearray()
        for payload in payloads:
            start = 0
            while True:
                part = payload[start : start + MAX_PAYLOAD]
                self._sequence = (self._sequence + 1) & 0xFF
                out += len(part).to_bytes(3, "little") + bytes((self._sequence,)) + part
                start += len(part)
                if len(part) < MAX_PAYLOAD:
                    break
        self.socket.sendall(out)

    def read(self) -> bytes:
        """The payload of the next packet, joined with its continuations. Raises EOFError at the end."""
        payload = bytearray()
        while True:
            self._fill(4)
            length = int.from_bytes(self._data[:3], "little")
            self._sequence = self._data[3]
            self._fill(4 + length)
            payload += self._data[4 : 4 + length]
            del self._data[: 4 + length]
            if length < MAX_PAYLOAD:
                return bytes(payload)

    @property
    def waiting(self) -> bool:
        """Whether bytes were received that nobody has read."""
        return bool(self._data)

    def _fill(self, need: int) -> None:
        while len(self._data) < need:
            chunk = self.socket.recv(_RECEIVE)
            if not chunk:
                raise EOFError
            self._data += chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer to a statement: a result set (``head``: its packets in front of the rows), an OK, or an error."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[bytes | None, ...], ...] = ()
    error: tuple[int, str, str] | None = None  # number, SQL state, text
    affected: int = 0
    last_insert_id: int = 0
    warnings: int = 0
    info: bytes = b""
    status: int = 2
    head: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def more(self) -> bool:
        """Whether another answer follows."""
        return self.error is None and bool(self.status & MORE_RESULTS)

    def followed(self, more: bool) -> Answer:
        """With the mark that another answer follows, or without it."""
        return replace(self, status=self.status & ~MORE_RESULTS | (MORE_RESULTS if more else 0))

    def packets(self) -> Iterator[bytes]:
        """The payloads of the answer."""
        if self.error is not None:
            number, state, text = self.error
            yield bytes((ERROR,)) + number.to_bytes(2, "little") + b"#" + state.encode() + text.encode()
            return
        tail = self.status.to_bytes(2, "little")
        warnings = self.warnings.to_bytes(2, "little")
        if not self.head:
            yield bytes((OK,)) + packed(self.affected) + packed(self.last_insert_id) + tail + warnings + self.info
            return
        yield from self.head
        for row in self.rows:
            yield b"".join(b"\xfb" if value is None else packed(len(value)) + value for value in row)
        yield bytes((EOF,)) + warnings + tail


def read_answer(wire: Wire) -> Answer:
    """The next answer to a query."""
    packet = wire.read()
    if packet[0] == OK:
        affected, pos = lenenc(packet, 1)
        insert_id, pos = lenenc(packet, pos)
        return Answer(
            affected=affected,
            last_insert_id=insert_id,
            status=int.from_bytes(packet[pos : pos + 2], "little"),
            warnings=int.from_bytes(packet[pos + 2 : pos + 4], "little"),
            info=packet[pos + 4 :],
        )
    if packet[0] == ERROR:
        return _error(packet)
    width, _ = lenenc(packet, 0)
    head = [packet, *(wire.read() for _ in range(width + 1))]  # and the EOF behind the columns
    rows: list[tuple[bytes | None, ...]] = []
    while True:
        packet = wire.read()
        if packet[0] == ERROR:
            return _error(packet)
        if packet[0] == EOF and len(packet) < 9:
            return Answer(
                columns=tuple(map(_name, head[1:-1])),
                rows=tuple(rows),
                warnings=int.from_bytes(packet[1:3], "little"),
                status=int.from_bytes(packet[3:5], "little"),
                head=tuple(head),
            )
        rows.append(parse_row(packet, width))


def _error(packet: bytes) -> Answer:
    text = packet[9:].decode("utf-8", "backslashreplace")
    return Answer(error=(int.from_bytes(packet[1:3], "little"), packet[4:9].decode("latin-1"), text))


def _name(definition: bytes) -> str:
    """The displayed name of a column: the fifth string of its definition."""
    pos = start = 0
    for _ in range(5):
        length, start = lenenc(definition, pos)
        pos = start + length
    return definition[start:pos].decode("utf-8", "replace")


def packed(number: int) -> bytes:
    """A length-encoded integer."""
    if number < 0xFB:
        return bytes((number,))
    for first, size in ((0xFC, 2), (0xFD, 3), (0xFE, 8)):
        if number < 1 << 8 * size:
            return bytes((first,)) + number.to_bytes(size, "little")
    raise ValueError(number)


def readable_greeting(greeting: bytes) -> bytes:
    """A greeting of version 10 without the capabilities that the relay does not read."""
    low = greeting.index(b"\0", 1) + 14  # server version, thread id 4, challenge 8, filler 1
    high = low + 5  # lower capabilities 2, character set 1, status 2
    words = _read(greeting[low : low + 2] + greeting[high : high + 2])
    return greeting[:low] + words[:2] + greeting[low + 2 : high] + words[2:] + greeting[high + 2 :]


def readable_login(login: bytes) -> bytes:
    """A client's login without the same: the C client names also what the server did not offer."""
    return _read(login[:4]) + login[4:]


def _read(flags: bytes) -> bytes:
    return (int.from_bytes(flags, "little") & ~_UNREAD).to_bytes(4, "little")
