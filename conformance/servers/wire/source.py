"""A hand-made source: speaks the replication protocol to a real replica's receiver and sends it any events.

It answers the questions that a receiver asks before its dump request (observed on 9.7.4: clock, server id, checksum,
gtid_mode, UUID; every SET with OK), and lets any account in. It then sends one stream for each connection: the
artificial ROTATE, and the events unchanged. It listens on 127.0.0.1 and serves one receiver at a time.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from struct import Struct
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.control_events import Rotate
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import Flag
from conformance.servers.closing import Closing

if TYPE_CHECKING:
    from collections.abc import Sequence
SERVER_ID: Final = 93
UUID: Final = "0b1a5000-0000-4000-8000-000000000093"
FILE: Final = "made.000001"
_COM_QUIT, _COM_QUERY, _COM_PING, _COM_DUMP, _COM_REGISTER, _COM_DUMP_GTID = 0x01, 0x03, 0x0E, 0x12, 0x15, 0x1E
# Long password, found rows, long flag, database, protocol 4.1, transactions, secure connection, multi results, plugin.
_CAPABILITIES: Final = 1 | 2 | 4 | 8 | 0x200 | 0x2000 | 0x8000 | 0x20000 | 0x80000
_OK: Final = b"\x00\x00\x00\x02\x00\x00\x00"
_EOF: Final = b"\xfe\x00\x00\x02\x00"
_GREETING: Final = Struct("<I8sxHBHHB10x13s")
_DUMP_POSITION: Final = Struct("<I").unpack_from
_SET: Final = re.compile(rb"\s*SET\b", re.IGNORECASE)
_PATIENCE: Final = 30.0


class _Session:
    """One connection from the server's side."""

    def __init__(self, raw: socket.socket) -> None:
        self._socket = raw
        self._sequence = 0

    def send(self, *payloads: bytes) -> None:
        out = []
        for payload in payloads:
            assert len(payload) < (1 << 24) - 1
            out.append(len(payload).to_bytes(3, "little") + bytes((self._sequence,)) + payload)
            self._sequence = (self._sequence + 1) & 0xFF
        self._socket.sendall(b"".join(out))

    def receive(self) -> bytes:
        """The next packet; empty at the end of the connection."""
        head = self._exactly(4)
        if len(head) < 4:
            return b""
        self._sequence = (head[3] + 1) & 0xFF
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, size: int) -> bytes:
        out = b""
        while len(out) < size:
            piece = self._socket.recv(size - len(out))
            if not piece:
                return b""
            out += piece
        return out

    def greet(self, version: str) -> None:
        """Send the handshake; accept any account."""
        self.send(
            b"\x0a" + version.encode() + b"\0"
            + _GREETING.pack(
                1, b"binloglb", _CAPABILITIES & 0xFFFF, 255, 2, _CAPABILITIES >> 16, 21, b"abcdefghijkl\0"
            )
            + b"caching_sha2_password\0"
        )  # fmt: skip
        if self.receive():
            self.send(b"\x01\x03", _OK)  # as if the client had sent the right password

    def row(self, value: str) -> None:
        """Send a result of one column and one row."""
        name = b"\x03def\x00\x00\x00\x01v\x01v\x0c\xff\x00\xff\x00\x00\x00\xfd\x00\x00\x00\x00\x00"
        text = value.encode()
        self.send(b"\x01", name, _EOF, bytes((len(text),)) + text, _EOF)


class WireSource(Closing):
    """A source that sends ``streams``: the events for the first connection, the second and so on.

    Later connections get the last stream again. ``asked``: the position that each dump requested.
    """

    def __init__(self, streams: Sequence[Sequence[bytes]], *, version: str, gtid_mode: str = "ON_PERMISSIVE") -> None:
        self.asked: list[tuple[str, int]] = []
        self._streams = streams
        self._version = version
        self._gtid_mode = gtid_mode
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_PATIENCE)
        self.port = int(self._listener.getsockname()[1])
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            with raw, contextlib.suppress(OSError):
                raw.settimeout(_PATIENCE)
                self._talk(_Session(raw))

    def _talk(self, session: _Session) -> None:
        session.greet(self._version)
        while packet := session.receive():
            code, rest = packet[0], packet[1:]
            if code == _COM_QUIT:
                return
            if code in (_COM_DUMP, _COM_DUMP_GTID):
                self._dump(session, code, rest)
                return
            if code == _COM_QUERY and not _SET.match(rest):
                session.row(self._answer(rest.decode("utf-8", "replace").upper()))
            else:
                session.send(_OK)

    def _answer(self, query: str) -> str:
        for words, value in (
            ("UNIX_TIMESTAMP", str(int(time.time()))),
            ("SERVER_ID", str(SERVER_ID)),
            ("SERVER_UUID", UUID),
            ("GTID_MODE", self._gtid_mode),
            ("CHECKSUM", "CRC32"),
            ("VERSION", self._version),
        ):
            if words in query:
                return value
        return ""

    def _dump(self, session: _Session, code: int, rest: bytes) -> None:
        position = _DUMP_POSITION(rest)[0] if code == _COM_DUMP else 4
        number = len(self.asked)
        self.asked.append((FILE, position))
        rotate = encode_event(
            Rotate(name=FILE.encode(), position=position), server_id=SERVER_ID, flags=Flag.ARTIFICIAL, log_pos=0
        )
        events = self._streams[min(number, len(self._streams) - 1)]
        session.send(*(b"\0" + event for event in (rotate, *events)))
        if number + 1 >= len(self._streams):  # earlier streams end with their connection
            self._closing.wait()

    def close(self) -> None:
        """Refuse new connections and end the present one."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(_PATIENCE)
