"""A session on the tape: commands, and the packets that answer them, byte for byte.

The connection above is the ordinary one: it reads the recorded packets with the code that reads a server's.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from conformance.servers.errors import ConnectionLost
from conformance.servers.recording.error_values import dump_error, load_error
from conformance.servers.recording.tape import RecordingTape, ReplayTape
from conformance.servers.recording.values import DamagedValue, Value
from conformance.servers.wire.connection import Connection
from conformance.servers.wire.packets import PacketStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.recording.tape import Tape
    from conformance.servers.wire.connection import Address

_PACKETS = "packets for"


class RecordingStream(PacketStream):
    """Passes commands and packets on, and writes them down."""

    __slots__ = ("_channel", "_error", "_inner", "_item", "_packets", "_request", "_tape")

    def __init__(self, tape: RecordingTape, channel: str, inner: PacketStream) -> None:
        self._tape, self._channel, self._inner = tape, channel, inner
        self.query_prefix = inner.query_prefix
        self._request: bytes | None = None
        self._packets: list[bytes] = []
        self._error: Value = None
        self._item = 0
        tape.opened(self)

    def send(self, payload: bytes) -> None:
        self.finish()
        self._request, self._item = payload, self._tape.item
        try:
            self._inner.send(payload)
        except ConnectionLost as error:
            self._error = dump_error(error)
            raise

    def read(self) -> bytes:
        try:
            packet = self._inner.read()
        except ConnectionLost as error:
            self._error = dump_error(error)
            raise
        self._packets.append(packet)
        return packet

    def finish(self) -> None:
        """Write down the answer to the last command."""
        if self._request is None:
            return
        blob = b"".join(len(packet).to_bytes(4, "little") + packet for packet in self._packets)
        self._tape.put(self._item, self._channel, _PACKETS, self._request, [blob, self._error])
        self._request, self._packets, self._error = None, [], None

    def close(self) -> None:
        self._inner.close()
        self.finish()


class ReplayStream(PacketStream):
    """Answers commands with the recorded packets."""

    __slots__ = ("_channel", "_error", "_packets", "_tape")

    def __init__(self, tape: ReplayTape, channel: str, prefix: bytes) -> None:
        self._tape, self._channel = tape, channel
        self.query_prefix = prefix
        self._packets: Iterator[bytes] = iter(())
        self._error: Value = None

    def send(self, payload: bytes) -> None:
        match self._tape.answer(self._channel, _PACKETS, payload):
            case [bytes(blob), error]:
                self._packets, self._error = _split(blob), error
            case _:
                raise self._tape.damaged(self._channel, "a command: expected packets and an error")

    def read(self) -> bytes:
        packet = next(self._packets, None)
        if packet:
            return packet
        if packet is not None or self._error is None:
            raise self._tape.damaged(self._channel, "a command: its packets end too early")
        try:
            raise load_error(self._error)
        except DamagedValue as damage:
            raise self._tape.damaged(self._channel, f"a command: {damage}") from damage

    def close(self) -> None:
        self._packets = iter(())


def _split(blob: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(blob):
        end = place + 4 + int.from_bytes(blob[place : place + 4], "little")
        if end > len(blob):
            yield b""  # no packet is empty: it is told as an end that comes too early
            return
        yield blob[place + 4 : end]
        place = end


def taped_connection(
    tape: Tape,
    channel: str,
    request: Value,
    address: Address,
    live: Callable[[], Connection],
    fate: Callable[[ConnectionLost], ConnectionLost],
) -> Connection:
    """A session whose login and commands are on the tape."""
    opened: list[Connection] = []

    def log_in() -> Value:
        connection = live()
        opened.append(connection)
        prefix = connection._stream.query_prefix  # noqa: SLF001 - the stream is what is put on the tape
        return [connection.thread_id, connection.server_version, prefix]

    answer = tape.call(channel, "login", request, log_in)
    if isinstance(tape, RecordingTape):
        (real,) = opened
        stream: PacketStream = RecordingStream(tape, channel, real._stream)  # noqa: SLF001
        raw: object = real._raw  # noqa: SLF001 - keeps the socket alive
    else:
        match answer:
            case [int(thread), str(version), bytes(prefix)]:
                raw = SimpleNamespace(connection_id=thread, server_info=version)
                stream = ReplayStream(cast("ReplayTape", tape), channel, prefix)
            case _:
                raise cast("ReplayTape", tape).damaged(channel, "a login: expected thread, version and prefix")
    return Connection(raw, stream, address, fate)
