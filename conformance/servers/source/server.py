"""The source itself: it listens on 127.0.0.1, and serves each client in a thread of its own.

Clients are strangers: whatever one sends ends its own connection at most. :meth:`Source.close` breaks all connections
and waits for their threads.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import socket
import threading
import time
from struct import Struct
from struct import error as struct_error
from typing import TYPE_CHECKING, Final

from conformance.servers.closing import Closing
from conformance.servers.errors import ServerUnavailable
from conformance.servers.source.answers import answer
from conformance.servers.source.channel import Channel, ClientGone, Deaf
from conformance.servers.source.dump import Dump, DumpRequest
from conformance.servers.source.facts import Facts, Replica
from conformance.servers.source.identity import own_identity
from conformance.servers.source.login import Account, log_in
from conformance.servers.source.packets import EOF, OK, Refused, result_packets
from conformance.servers.source.prepared import PreparedStatements
from conformance.servers.source.session import SessionState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from conformance.servers.source.cuts import Cut
    from conformance.servers.source.log_files import LogFiles
    from conformance.servers.source.packets import Value

HOST: Final = "127.0.0.1"
MAX_CLIENTS: Final = 100
_QUIT, _INIT_DB, _QUERY, _STATISTICS, _PING = 0x01, 0x02, 0x03, 0x09, 0x0E
_DUMP, _REGISTER, _SET_OPTION, _DUMP_GTID, _RESET = 0x12, 0x15, 0x1B, 0x1E, 0x1F
_PREPARE, _EXECUTE, _CLOSE, _RESET_STATEMENT = 0x16, 0x17, 0x19, 0x1A
_FINE: Final = frozenset((_PING, _RESET, _RESET_STATEMENT))
_HANDSHAKE_PATIENCE: Final = 30.0
_CLOSING_PATIENCE: Final = 10.0
_TICK: Final = 0.05  # seconds between two looks for more
_BATCH: Final = 256  # events
_U4: Final = Struct("<I").unpack_from
_U2: Final = Struct("<H").unpack_from


class CutOff(Exception):
    """The source breaks the connection on purpose."""


def _listener(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except OSError as error:
        if host == HOST:
            raise
        raise ServerUnavailable(f"the lab cannot listen at {host}, where a container would find it: {error}") from error


class Source(Closing):
    """A source of ``logs``.

    ``host``: another address of this machine to listen at, for a client that cannot see the loopback. Raises
    :class:`ServerUnavailable` if it is none of this machine. ``tls``: offer TLS, where the package for certificates is
    installed. ``cut_each`` makes the cut of each dump. :attr:`armed` is a cut for whatever dump comes to it first; then
    it is over. ``narrate`` gets a line about each login, dump and end. :attr:`tape`,
    where it is a list, gets each command with the packets of its answer.
    """

    def __init__(
        self,
        logs: LogFiles,
        *,
        host: str = HOST,
        port: int = 0,
        account: Account | None = None,
        version: str | None = None,
        gtid_mode: str = "",
        tls: bool = True,
        prepared: tuple[str, ...] = (),
        variables: Mapping[str, Value] | None = None,
        cut_each: Callable[[], Cut] | None = None,
        narrate: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.account = account or Account(password=secrets.token_urlsafe(12))
        self.asked: list[DumpRequest] = []
        self.ended: list[str] = []
        self.armed: Cut | None = None
        self.tape: list[tuple[bytes, list[bytes]]] | None = None
        self.identity = own_identity() if tls else None
        self._cut_each = cut_each
        self._narrate = narrate
        self._numbers = itertools.count(1)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._clients: dict[int, tuple[Channel, threading.Thread]] = {}
        self._listener = _listener(host, port)
        self.port = int(self._listener.getsockname()[1])
        self.facts = Facts(
            logs,
            version=version or logs.version,
            port=self.port,
            gtid_mode=gtid_mode,
            prepared=prepared,
            others=variables or {},
        )
        self._thread = threading.Thread(target=self._listen, name="source", daemon=True)
        self._thread.start()

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        with self._lock:
            return len(self._clients)

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            channel = Channel(raw, patience=_HANDSHAKE_PATIENCE)
            number = next(self._numbers)
            thread = threading.Thread(target=self._serve, args=(channel, number), name=f"client {number}", daemon=True)
            with self._lock:
                full = len(self._clients) >= MAX_CLIENTS or self._closing.is_set()
                if not full:
                    self._clients[number] = channel, thread
            if full:
                channel.close()
            else:
                thread.start()

    def _serve(self, channel: Channel, number: int) -> None:
        end = ""
        try:
            login = log_in(channel, self.account, self.identity, version=self.facts.version, number=number)
            self._narrate(f"client {number}: logged in ({login.path}{', TLS' if channel.encrypted else ''})")
            state = SessionState(
                number=number, user=login.user, database=login.database, variables=self.facts.variables.own()
            )
            channel.forever()
            prepared = PreparedStatements(lambda sql: answer(self.facts, state, sql))
            while self._command(channel, state, prepared):
                pass
        except ClientGone as gone:
            end = str(gone)
        except CutOff as cut:
            end = f"cut off {cut}"
        except Exception as problem:  # noqa: BLE001 - a stranger's bytes never end the lab
            end = f"{type(problem).__name__}: {problem}"
            self.ended.append(end)
        finally:
            channel.close()
            with self._lock:
                self._clients.pop(number, None)
            self._narrate(f"client {number}: {end or 'left'}")

    def _command(self, channel: Channel, state: SessionState, prepared: PreparedStatements) -> bool:
        """Answer one command; whether another may follow."""
        packet = channel.command()
        if self.tape is not None:
            channel.tape = []
            self.tape.append((packet, channel.tape))
        code, body = (packet[0], packet[1:]) if packet else (0, b"")
        if code == _QUIT:
            return False
        try:
            if code == _QUERY:
                sql = body.decode("utf-8", "replace")
                result = answer(self.facts, state, sql)
                channel.send([OK] if result is None else result_packets(result))
            elif code == _INIT_DB:
                state.database = body.decode("utf-8", "replace")
                channel.send([OK])
            elif code in _FINE:
                channel.send([OK])
            elif code == _STATISTICS:
                channel.send([b"Uptime: 1  Threads: 1"])
            elif code == _SET_OPTION:
                channel.send([EOF])
            elif code == _REGISTER:
                self._register(state, body)
                channel.send([OK])
            elif code in (_DUMP, _DUMP_GTID):
                made = DumpRequest.by_position if code == _DUMP else DumpRequest.by_gtid
                self.dump(channel, made(body, checksum=state.checksum, period=state.period))
            elif code == _PREPARE:
                channel.send(list(prepared.prepare(body.decode("utf-8", "replace"))))
            elif code == _EXECUTE:
                channel.send(list(prepared.execute(body)))
            elif code == _CLOSE:
                prepared.close(body)
            else:
                raise Refused(1047, "08S01", f"Unknown command {code}")
        except Refused as refused:
            channel.send([refused.packet])
        return True

    def answers(self, commands: Iterable[bytes]) -> list[tuple[bytes, list[bytes]]]:
        """Return the source's answers to these commands of one session, without a connection."""
        channel = Deaf(commands)
        state = SessionState(number=1, user=self.account.user, variables=self.facts.variables.own())
        prepared = PreparedStatements(lambda sql: answer(self.facts, state, sql))
        while self._command(channel, state, prepared):
            pass
        return channel.said

    def _register(self, state: SessionState, body: bytes) -> None:
        """COM_REGISTER_SLAVE: server id, host, user and password, port."""
        try:
            server_id, at, texts = _U4(body)[0], 4, []
            for _ in range(3):
                size = body[at]
                texts.append(body[at + 1 : at + 1 + size].decode("utf-8", "replace"))
                at += 1 + size
            port = _U2(body, at)[0]
        except (struct_error, IndexError) as error:
            raise Refused(1835, "HY000", "Malformed communication packet.") from error
        uuid = str(state.own.get("@replica_uuid") or state.own.get("@slave_uuid") or "")
        self.facts.replicas[server_id] = Replica(server_id=server_id, host=texts[0], port=port, uuid=uuid)

    def dump(self, channel: Channel, request: DumpRequest) -> None:
        """Send what a client asks for, and wait with it for more. Raises :class:`Refused`."""
        with self._lock:
            self.asked.append(request)
        cut = self._cut_each() if self._cut_each else None
        what = f"after {request.gtids}" if request.gtids is not None else f"from {request.file}:{request.position}"
        self._narrate(f"server id {request.server_id} dumps {what}")
        dump = Dump(self.facts.logs, request, self.facts.uuid)
        spoken = time.monotonic()
        while not self._closing.is_set():
            if self._send(channel, dump, cut):
                spoken = time.monotonic()
            if not request.blocking:
                channel.send([EOF])
                return
            if channel.spoke(_TICK):
                return
            if request.period and time.monotonic() - spoken >= request.period:
                channel.send([b"\0" + dump.heartbeat()])
                spoken = time.monotonic()
        raise ClientGone("the source closes")

    def _send(self, channel: Channel, dump: Dump, cut: Cut | None) -> bool:
        """Send the events up to the present end; whether there were any."""
        waiting: list[bytes] = []
        any_sent = False
        try:
            for sent in dump.events():
                keeps = cut.keeps(sent) if cut else None
                if self.armed is not None and keeps is None:
                    keeps = self.armed.keeps(sent)
                if keeps is not None:
                    self.armed = None
                    channel.send(waiting)
                    waiting = []
                    if keeps:
                        channel.send_torn(b"\0" + sent.data, keeps + 1)
                    raise CutOff(f"at {sent.file}:{(sent.start or 0) + keeps}")
                waiting.append(b"\0" + sent.data)
                if len(waiting) >= _BATCH:
                    channel.send(waiting)
                    waiting, any_sent = [], True
        except Refused:
            channel.send(waiting)
            raise
        channel.send(waiting)
        return any_sent or bool(waiting)

    def close(self) -> None:
        """Refuse new clients, and end those that are there."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(_CLOSING_PATIENCE)
        with self._lock:
            left = list(self._clients.values())
        for channel, _ in left:
            channel.close()
        for _, thread in left:
            thread.join(_CLOSING_PATIENCE)
        self.facts.forget_tables()
