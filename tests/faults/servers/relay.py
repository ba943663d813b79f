"""The relay in front of a server: it forwards every packet, and puts the armed fault into what passes.

It listens on a socket of its own, and on a port of 127.0.0.1 for replicas; without a fault nothing changes.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import traceback
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Final

from conformance.reference.event_types import EventType
from conformance.servers.wire.groups import STARTS
from tests.faults.servers.log import FaultyLog, sealed, with_checksum
from tests.faults.servers.packets import EOF, ERROR, OK, Answer, Wire, read_answer, readable_greeting, readable_login
from tests.faults.servers.statements import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.wire.connection import Address
    from tests.faults.servers.fault import Altered, ChangedLog, Diagnostic

_QUIT, _QUERY, _DUMP, _DUMP_GTID, _CHANGE_USER = 0x01, 0x03, 0x12, 0x1E, 0x11
_QUERY_ATTRIBUTES: Final = 1 << 27
_CHANGE_SOURCE: Final = b"CHANGE REPLICATION SOURCE TO "
_POSITION: Final = ("File", "Position")
_WARNINGS: Final = "SHOW WARNINGS"
_LOADED: Final = re.compile(r"^SELECT LOAD_FILE\(.*?([\w#.]+\.ibd)")  # a data file as an answer
_OF_STATEMENTS: Final = frozenset(("statement", "answer", "diagnostics", "file"))  # one packet, one statement
_KNOWN: Final = b"\x01\x03"  # of a login: the server knew the password, and speaks again


class Relay:
    """Listens for one server. ``real``: where that server listens, which changes when it starts again; ``data``: its
    data directory, in which its log stands."""

    log: FaultyLog | None
    name = ""

    def __init__(self, real: Callable[[], Address], data: Path) -> None:
        self._real = real
        self._data = data
        self._folder = TemporaryDirectory(prefix="relay-")
        self.path = f"{self._folder.name}/socket"
        self.altered: Altered = {}
        self.log = None
        self._logs = 0
        self.broken = ""  # the traceback of a fault that failed
        self._listening = [socket.socket(socket.AF_UNIX), socket.create_server(("127.0.0.1", 0))]
        self._listening[0].bind(self.path)
        self._listening[0].listen()
        self.port: int = self._listening[1].getsockname()[1]
        self._open: set[socket.socket] = set()
        for listening in self._listening:
            Thread(target=self._accept, args=(listening,), daemon=True).start()

    def arm(self, altered: Altered, name: str = "") -> None:
        """From now on alter what passes. ``name``: the name of the fault that does so."""
        self.altered, self.name = altered, name
        self.log = None
        if "log" in altered:
            self._logs += 1
            copies = Path(self._folder.name, str(self._logs))
            copies.mkdir()
            self.log = self.new_log(self._data, copies, altered["log"])

    def new_log(self, data: Path, copies: Path, change: ChangedLog) -> FaultyLog:
        """The copies of the server's log with this change in them."""
        return FaultyLog(data, copies, change)

    def session(self, client: Wire, server: Wire) -> Session:
        """One connection through the relay."""
        return Session(self, client, server)

    def greeting(self, packet: bytes) -> bytes:
        """The server's greeting as the client gets it."""
        return readable_greeting(packet)

    def close(self) -> None:
        """Stop listening and break all connections."""
        for one in (*self._listening, *tuple(self._open)):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._folder.cleanup()

    # --- connections -------------------------------------------------------------------------------------------------

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server: socket.socket | None = None
        self._open.add(client)
        try:
            address = self._real()
            if client.family == socket.AF_UNIX:
                server = socket.socket(socket.AF_UNIX)
                server.connect(address.socket or "")
            else:
                server = socket.create_connection((address.host, address.port))
            self._open.add(server)
            self.session(Wire(client), Wire(server)).run()
        except (OSError, EOFError):
            pass  # one side is gone, and the other learns it by the close
        except Exception:  # noqa: BLE001 - a defect of the fault, which the bench reports
            self.broken = traceback.format_exc()
        finally:
            for one in filter(None, (client, server)):
                self._open.discard(one)
                one.close()

    # --- the log -----------------------------------------------------------------------------------------------------

    def shown(self, answer: Answer) -> Answer:
        """An answer that names the server's log, as the copy of the log has it."""
        log = self.log
        if log is None or not answer.rows:
            return answer
        if answer.columns[:2] == _POSITION:
            name, offset, *rest = answer.rows[0]
            end = log.position((name or b"").decode(), int(offset or 0))
            return replace(answer, rows=((name, b"%d" % end, *rest),))
        if answer.columns == ("@@log_bin_basename",):
            return replace(answer, rows=((log.basename((answer.rows[0][0] or b"").decode()).encode(),),))
        return answer


class Session:
    """One connection through the relay."""

    def __init__(self, relay: Relay, client: Wire, server: Wire) -> None:
        self._relay = relay
        self._client = client
        self._server = server
        self._prefix = b"\x03"
        self._diagnostics: list[Diagnostic] | None = None  # what SHOW WARNINGS has to list

    def run(self) -> None:
        self._client.write(self._relay.greeting(self._server.read()))
        login = readable_login(self._client.read())
        if int.from_bytes(login[:4], "little") & _QUERY_ATTRIBUTES:
            self._prefix = b"\x03\x00\x01"
        self._server.write(login)
        if not self._logged_in():
            return
        while True:
            command = self._client.read()
            if command[0] == _QUERY:
                self._query(command)
                continue
            if command[0] in (_DUMP, _DUMP_GTID):
                self.dump(command)
                return
            self._server.command(command)
            if command[0] == _QUIT:
                return
            if command[0] == _CHANGE_USER:
                self._logged_in()
                continue
            self._client.write(self._server.read())

    def _logged_in(self) -> bool:
        """Forward the rest of a login; whether it succeeded."""
        while True:
            packet = self._server.read()
            self._client.write(packet)
            if packet[0] in (OK, ERROR):
                return packet[0] == OK
            if packet[:2] != _KNOWN:
                self._server.write(self._client.read())

    # --- statements --------------------------------------------------------------------------------------------------

    def _query(self, command: bytes) -> None:
        altered = self._relay.altered
        body = command.removeprefix(self._prefix)
        if body.startswith(_CHANGE_SOURCE):  # a replica of 9.7 wants TLS, which a relay in front of its source has not
            body = body.replace(_CHANGE_SOURCE, _CHANGE_SOURCE + b"SOURCE_SSL = 0, ", 1)
            command = self._prefix + body
        text = body.decode("utf-8", "surrogateescape")
        if not altered.keys() & _OF_STATEMENTS:
            self._server.command(command)
            while True:
                answer = self._relay.shown(read_answer(self._server))
                self._client.write(*answer.packets())
                if not answer.more:
                    return
        statements = split(text) or [text]
        for number, statement in enumerate(statements):
            answer = self._judged(altered, statement)
            last = number == len(statements) - 1
            self._client.write(*answer.followed(not last).packets())
            if answer.error is not None:
                return

    def _judged(self, altered: Altered, statement: str) -> Answer:
        """One statement with the fault in it."""
        answer = self._asked(altered["statement"](statement) if "statement" in altered else statement)
        if "diagnostics" in altered:
            if statement.upper() == _WARNINGS:
                if self._diagnostics is not None:
                    rows = tuple((a.encode(), b"%d" % b, c.encode()) for a, b, c in self._diagnostics)
                    answer = replace(answer, rows=rows)
            else:
                listed = self._listed() if answer.error is None else []
                self._diagnostics = altered["diagnostics"](statement, listed)
                answer = replace(answer, warnings=len(self._diagnostics))
        if "file" in altered and (loaded := _LOADED.search(statement)):
            name, change = loaded[1], altered["file"]
            files = tuple(tuple(None if cell is None else change(name, cell) for cell in row) for row in answer.rows)
            answer = replace(answer, rows=files)
        if "answer" in altered:
            answer = altered["answer"](statement, answer)
        return self._relay.shown(answer)

    def _listed(self) -> list[Diagnostic]:
        return [
            ((level or b"").decode(), int(number or 0), (text or b"").decode("utf-8", "replace"))
            for level, number, text in self._asked(_WARNINGS).rows
        ]

    def _asked(self, statement: str) -> Answer:
        """The answer to one statement (of a procedure call, the last one)."""
        self._server.command(self._prefix + statement.encode("utf-8", "surrogateescape"))
        answer = read_answer(self._server)
        while answer.more:
            answer = read_answer(self._server)
        return answer

    # --- the log as a stream -----------------------------------------------------------------------------------------

    def dump(self, command: bytes) -> None:
        """Forward events until one side goes; what the fault makes of an event takes its place."""
        self._server.command(command)
        maps: list[bytes] = []  # of the transaction: rows cannot be read without them
        for packet in self._sent():
            altered = self._relay.altered
            if packet[0] == OK and "stream" in altered:
                event = packet[1:]
                end = int.from_bytes(event[13:17], "little")
                checksum = with_checksum(event)
                maps = [] if event[4] in STARTS else maps
                for changed in altered["stream"]([*maps, event])[len(maps) :]:
                    self._client.write(b"\0" + (event if changed == event else sealed(changed, end, checksum=checksum)))
                if event[4] == EventType.TABLE_MAP:
                    maps.append(event)
            else:
                self._client.write(packet)

    def _sent(self) -> Iterator[bytes]:
        """The packets of a dump, until one side goes."""
        while True:
            if not self._server.waiting:
                ready, _, _ = select.select([self._client.socket, self._server.socket], [], [])
                if self._client.socket in ready:
                    return  # a reader of the log says nothing: it is gone
            packet = self._server.read()
            yield packet
            if packet[0] == ERROR or (packet[0] == EOF and len(packet) < 9):
                return
