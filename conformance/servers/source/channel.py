"""A connection from the server's side: packets in and out, parts of 16 MB, TLS in the middle of the handshake."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from typing import TYPE_CHECKING, Final

from conformance.servers.wire.packets import MAX_PAYLOAD

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_COMMAND: Final = 64 << 20  # bytes of a command from a client, whatever it announces
_RECEIVE: Final = 1 << 16
_IDLE: Final = 28800.0  # seconds, as the variable wait_timeout says
_BATCH: Final = 1 << 18  # bytes that go out in one call


class ClientGone(Exception):
    """The client left, said nothing in the stated time, or does not speak the protocol."""


class Channel:
    """Packets on an accepted socket. ``sequence`` is the number of the next packet."""

    def __init__(self, raw: socket.socket, *, patience: float) -> None:
        raw.settimeout(patience)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = raw
        self._buffer = b""
        self._sequence = 0
        self.tape: list[bytes] | None = None  # keeps what is sent, if somebody records it
        self._ahead = 0  # bytes to read beyond what is needed: during the handshake none, as they may be TLS's

    def send(self, payloads: Iterable[bytes]) -> None:
        """Send packets; one of 16 MB and more goes in parts, and the last part is shorter than that."""
        out: list[bytes] = []
        size = 0
        for payload in payloads:
            if self.tape is not None:
                self.tape.append(payload)
            for start in range(0, len(payload) + 1, MAX_PAYLOAD):
                part = payload[start : start + MAX_PAYLOAD]
                out.append(len(part).to_bytes(3, "little") + bytes((self._sequence,)) + part)
                self._sequence = (self._sequence + 1) & 0xFF
                size += len(part)
            if size >= _BATCH:
                self._write(b"".join(out))
                out, size = [], 0
        if out:
            self._write(b"".join(out))

    def send_torn(self, payload: bytes, size: int) -> None:
        """Send only the first bytes of a packet's payload: the rest never follows."""
        head = min(len(payload), MAX_PAYLOAD).to_bytes(3, "little") + bytes((self._sequence,))
        self._write(head + payload[: min(size, MAX_PAYLOAD)])

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except (OSError, ValueError) as error:
            raise ClientGone(str(error)) from error

    def receive(self) -> bytes:
        """The next packet, joined with its continuations."""
        parts: list[bytes] = []
        size = 0
        while True:
            head = self._take(4)
            length = int.from_bytes(head[:3], "little")
            self._sequence = (head[3] + 1) & 0xFF
            size += length
            if size > MAX_COMMAND:
                raise ClientGone(f"a command of more than {MAX_COMMAND} bytes")
            parts.append(self._take(length))
            if length < MAX_PAYLOAD:
                return b"".join(parts)

    def command(self) -> bytes:
        """The next command: the numbers of packets start again."""
        self._sequence = 0
        return self.receive()

    def _take(self, size: int) -> bytes:
        pieces = [self._buffer]
        have = len(self._buffer)
        while have < size:
            try:
                piece = self._socket.recv(max(self._ahead, min(size - have, 1 << 20)))
            except (OSError, ValueError) as error:
                raise ClientGone(str(error)) from error
            if not piece:
                raise ClientGone("the client closed the connection")
            pieces.append(piece)
            have += len(piece)
        data = b"".join(pieces)
        self._buffer = data[size:]
        return data[:size]

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Go on encrypted."""
        try:
            self._socket = context.wrap_socket(self._socket, server_side=True)
        except (OSError, ValueError) as error:
            raise ClientGone(f"TLS: {error}") from error

    @property
    def encrypted(self) -> bool:
        """Whether the connection has TLS."""
        return isinstance(self._socket, ssl.SSLSocket)

    def spoke(self, timeout: float) -> bool:
        """Whether the client says something, or leaves, within the time."""
        if self._buffer or (isinstance(self._socket, ssl.SSLSocket) and self._socket.pending()):
            return True
        try:
            return bool(select.select([self._socket], [], [], timeout)[0])
        except (OSError, ValueError):
            return True

    def forever(self) -> None:
        """Wait without limit for commands from now on: the client is no stranger any more."""
        self._socket.settimeout(_IDLE)
        self._ahead = _RECEIVE

    def close(self) -> None:
        """End the connection at once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._socket.close()


class Deaf(Channel):
    """Commands that are known, in the place of a connection. ``said``: each with the packets of its answer."""

    def __init__(self, commands: Iterable[bytes]) -> None:
        self.tape = None
        self._commands = iter(commands)
        self.said: list[tuple[bytes, list[bytes]]] = []

    def command(self) -> bytes:
        """The next one; COM_QUIT behind the last."""
        found = next(self._commands, b"\x01")
        self.said.append((found, []))
        return found

    def send(self, payloads: Iterable[bytes]) -> None:
        """Keep the packets."""
        self.said[-1][1].extend(payloads)

    def spoke(self, timeout: float) -> bool:  # noqa: ARG002 - it has no time
        """The next command follows at once."""
        return True
