"""Servers on the tape: each question to a server is a request, whether a server is beneath or only the recording.

In a recording run ``live`` is the real server, whose own work (logins of its own, waits) stays beneath the tape. In a
judging run it is ``None``.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, TypeVar, cast

from conformance.servers.base import Server
from conformance.servers.errors import ConnectionLost
from conformance.servers.recording.beside import TapedFiles, TapedProgram
from conformance.servers.recording.error_values import dump_error, load_error
from conformance.servers.recording.streams import taped_connection
from conformance.servers.run.owned import START_SECONDS, STOP_SECONDS, Maker, OwnServer
from conformance.servers.settings.rights import SCHEMA_PREFIX
from conformance.servers.wire.connection import Address, Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path
    from typing import Unpack

    from conformance.servers.files import Files
    from conformance.servers.programs import Program
    from conformance.servers.recording.tape import Tape
    from conformance.servers.run.options import Options
    from conformance.servers.run.owned import Launch

Seen = TypeVar("Seen")


def _facts(server: Server) -> dict[str, Any]:
    """Return the facts about a server at this moment, without paths and passwords."""
    facts: dict[str, Any] = {
        "id": server.id,
        "version": server.version,
        "number": list(server.number),
        "started_by_us": server.started_by_us,
        "client_host": server.client_host,
        "host": server.address.host,
        "port": server.address.port,
        "user": server.address.user,
        "own": isinstance(server, OwnServer),
    }
    if isinstance(server, OwnServer):
        facts |= {
            "options": dict(server.options),
            "wrapper": list(server.wrapper),
            "server_id": server.server_id,
            "keep": server.keep,
            "pid": server.pid,
        }
    return facts


class TapedServer(Server):
    """Any server on the tape."""

    attachable = False

    def __init__(self, tape: Tape, channel: str, facts: Any, live: Any) -> None:
        self._tape, self._channel, self._live = tape, channel, live
        self._log = ""
        self._take(facts)

    def _take(self, facts: Any) -> None:
        self.id, self.version = str(facts["id"]), str(facts["version"])
        first, second, third = facts["number"]
        self.number = int(first), int(second), int(third)
        self.started_by_us = bool(facts["started_by_us"])
        self.client_host = str(facts["client_host"])
        self.address = Address(host=str(facts["host"]), port=int(facts["port"]), user=str(facts["user"]))

    def _ask(self, kind: str, request: Any, live: Callable[[], Any]) -> Any:
        return self._tape.call(self._channel, kind, request, live)

    def _told(self, kind: str, method: str) -> Any:
        """Return the answer of the server beneath to a method without arguments."""
        return self._ask(kind, None, lambda: getattr(self._live, method)())  # noqa: PLW0108 - there may be none beneath

    def connect(
        self,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        timeout: float | None = None,
        tcp: bool = False,
        inherits: AbstractSet[str] = frozenset(),
    ) -> Connection:
        channel = self._tape.channel("session")
        return taped_connection(
            self._tape,
            channel,
            [self._channel, user, database, tcp],
            self.address if user is None else self.address.as_user(user, ""),
            lambda: self._live.connect(
                user=user, password=password, database=database, timeout=timeout, tcp=tcp, inherits=inherits
            ),
            lambda error: self._fate_on(channel, error),
        )

    def fate(self, error: ConnectionLost) -> ConnectionLost:
        return self._fate_on(self._channel, error)

    def _fate_on(self, channel: str, error: ConnectionLost) -> ConnectionLost:
        """A thread asks on its session's channel: several may lose their sessions at once."""

        def ask() -> Any:
            found = self._live.fate(error)
            return None if found is error else dump_error(found)

        found: Any = self._tape.call(channel, "fate", type(error).__name__, ask)
        known = error if found is None else load_error(found)
        assert isinstance(known, ConnectionLost)
        return known

    def alive(self) -> bool:
        return bool(self._told("alive", "alive"))

    def describe(self) -> str:
        return f"MySQL {self.version}, {'recorded now' if self._tape.recording else 'from a recording'}"

    @property
    def provenance(self) -> str:
        return str(self._ask("provenance", None, lambda: self._live.provenance))

    @property
    def files(self) -> Files:
        self._ask("has files", None, lambda: bool(self._live.files))
        return TapedFiles(self._tape, self._channel, lambda: self._live.files)

    def client_program(self, name: str, *, login: bool = False) -> Program:
        found: list[Program] = []

        def look() -> Any:
            found.append(self._live.client_program(name, login=login))
            return found[0].name

        called = str(self._ask("client program", [name, login], look))
        return TapedProgram(self._tape, self._channel, called, found[0] if found else None)

    def _with_word(self, address: Address) -> Any:
        return [address.host, address.port, address.user, self._tape.hide(address.password) if address.password else ""]

    def _address(self, kind: str, method: str, *arguments: object) -> Address:
        """An address for statements: their password is real in a recording run, and the word for it otherwise."""
        found: list[Address] = []

        def look() -> Any:
            found.append(getattr(self._live, method)(*arguments))
            return self._with_word(found[0])

        host, port, user, word = self._ask(kind, None, look)
        if found:
            return found[0]
        return Address(host=str(host), port=int(port), user=str(user), password=str(word))

    def tcp_address(self) -> Address:
        return self._address("address", "tcp_address")

    def address_for(self, replica: Server) -> Address:
        beneath = replica._live if isinstance(replica, TapedServer) else replica  # noqa: SLF001
        return self._address("address for a replica", "address_for", beneath)

    def found_by_containers(self) -> bool:
        return bool(self._told("found by containers", "found_by_containers"))

    def hazards(self) -> frozenset[str]:
        return frozenset(map(str, self._ask("hazards", None, lambda: sorted(self._live.hazards()))))

    def error_log(self) -> str:
        """The log; the tape holds what was new in it each time."""

        def read() -> Any:
            text = self._live.error_log() or ""
            return [len(self._log), text[len(self._log) :]] if text.startswith(self._log) else [0, text]

        kept, more = self._ask("error log", None, read)
        self._log = self._log[: int(kept)] + str(more)
        return self._log

    def new_schema(self) -> str:
        return str(self._ask("name of a schema", None, lambda: SCHEMA_PREFIX + secrets.token_hex(6)))

    def observed(self, what: str, look: Callable[[Any], Seen]) -> Seen:
        return cast("Seen", self._ask(what, None, lambda: look(self._live)))

    def close(self) -> None:
        self._told("close", "close")


class TapedOwnServer(TapedServer, OwnServer):
    """A server that the lab started, on the tape."""

    def _take(self, facts: Any) -> None:
        super()._take(facts)
        self.options = dict(facts["options"])
        self.wrapper = tuple(facts["wrapper"])
        self.server_id, self.keep, self.pid = int(facts["server_id"]), bool(facts["keep"]), int(facts["pid"])

    @property
    def maker(self) -> Maker:
        return TapedMaker(self._tape, self._channel, self.version, self.number, self._live and self._live.maker)

    def start(self, extra: Options | None = None, *, timeout: float = START_SECONDS) -> None:
        def start() -> Any:
            self._live.start(extra, timeout=timeout)
            return _facts(self._live)

        self._take(self._ask("start", dict(extra or {}), start))

    def stop(self, *, clean: bool = True, timeout: float = STOP_SECONDS) -> int | None:
        status = self._ask("stop", clean, lambda: self._live.stop(clean=clean, timeout=timeout))
        return None if status is None else int(status)

    def meeting_host(self) -> str:
        return str(self._told("meeting host", "meeting_host"))

    def serve(self, make: Callable[[str], Seen]) -> Seen:
        """A judging run listens at its own loopback, where nobody comes; whether the lab could listen is recorded."""
        made: list[Seen] = []
        self._ask("serve", None, lambda: made.append(self._live.serve(make)))
        return made[0] if made else make("127.0.0.1")

    def forget_persisted(self) -> None:
        self._told("forget persisted", "forget_persisted")

    def defaults_file(self, text: str) -> str:
        return str(self._ask("defaults file", text, lambda: self._live.defaults_file(text)))

    def copy_data(self, target: Path) -> None:
        """Copy the data as evidence; a recording holds no data directories."""
        self._ask("copy of the data", None, lambda: self._live.copy_data(target))

    def detach(self) -> None:
        self._told("detach", "detach")


class TapedMaker:
    """Makes servers on the tape."""

    def __init__(
        self, tape: Tape, channel: str, version: str, number: tuple[int, int, int], live: Maker | None
    ) -> None:
        self._tape, self._channel, self._live = tape, channel, live
        self.version, self.number = version, number

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> OwnServer:
        made: list[OwnServer] = []

        def launch() -> Any:
            assert self._live is not None
            made.append(self._live.launch(wrapper=wrapper, **wishes))
            return _facts(made[0])

        request: Any = {
            "server_id": wishes.get("server_id", 1),
            "options": dict(wishes.get("options") or {}),
            "start": wishes.get("start", True),
        }
        facts = self._tape.call(self._channel, "launch", request, launch)
        return TapedOwnServer(self._tape, self._tape.channel("server"), facts, made[0] if made else None)


def taped_server(tape: Tape, live: Callable[[], Server | None]) -> Server | None:
    """The server under test on the tape."""
    made: list[Server | None] = []

    def start() -> Any:
        made.append(live())
        return None if made[0] is None else _facts(made[0])

    channel = tape.channel("server")
    facts: Any = tape.call(channel, "server under test", None, start)
    if facts is None:
        return None
    kind = TapedOwnServer if facts["own"] else TapedServer
    return kind(tape, channel, facts, made[0] if made else None)


def taped_maker(tape: Tape, what: str, live: Callable[[], Maker]) -> Maker:
    """A maker of other servers than the one under test, on the tape; raises what ``live`` raised."""
    made: list[Maker] = []

    def look() -> Any:
        made.append(live())
        return [made[0].version, list(made[0].number)]

    channel = tape.channel(what)
    version, number = _pair(tape.call(channel, what, None, look))
    return TapedMaker(tape, channel, version, number, made[0] if made else None)


def _pair(value: Any) -> tuple[str, tuple[int, int, int]]:
    version, (first, second, third) = value
    return str(version), (int(first), int(second), int(third))
