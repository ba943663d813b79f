"""Binary logs of a running server, over the replication protocol, in the place of files (mysqlbinlog-output 8).

A log of a server is a :class:`RemoteName`: the text that stands for it in all output, which knows where it is. Its
bytes are those of the file, and they arrive event by event.
"""

from __future__ import annotations

import contextlib
from struct import Struct
from typing import TYPE_CHECKING, Final

from conformance import interrupts
from conformance.messages import did_you_mean
from conformance.reference.binlog.format_description import is_mariadb
from conformance.reference.binlog.header import HEADER, MAGIC, Flag
from conformance.reference.event_types import EventType
from conformance.server_use import server_errors
from conformance.user_errors import CouldNotRun, InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.servers.wire.connection import Address, Connection

_SCHEME: Final = "mysql://"
_COM_BINLOG_DUMP: Final = 0x12
_NON_BLOCKING: Final = 1  # the server ends the dump at the end of its log
_SEND_ANNOTATIONS: Final = 2  # MariaDB sends ANNOTATE_ROWS too
_MARIADB_CAPABILITY: Final = 4  # a replica that knows all of MariaDB's events; else some are changed or left out
_SERVER_ID: Final = 0x4C414221  # of a reader that waits: the server takes it for a replica, and two need two ids
_HEARTBEAT: Final = 10  # seconds: a server that is silent for longer is not there any more
_COMMAND: Final = Struct("<BIHI")
_SENT_ONLY: Final = frozenset((EventType.HEARTBEAT, EventType.HEARTBEAT_V2))


class RemoteName(str):
    """The name of a log on a server. ``waits``: reading it waits for what the server writes next.

    ``following`` is set at its end: the name of the log with which the server goes on.
    """

    __slots__ = ("address", "following", "waits")

    address: Address
    following: str | None
    waits: bool

    @classmethod
    def of(cls, name: str, address: Address, *, waits: bool) -> RemoteName:
        """The log ``name`` of the server at an address."""
        made = cls(name)
        made.address, made.waits, made.following = address, waits, None
        return made

    def next_log(self) -> RemoteName | None:
        """After its end: the log with which the server goes on, if the reader waits for it."""
        return RemoteName.of(self.following, self.address, waits=True) if self.waits and self.following else None


def resolve(files: Sequence[str], remote: str | None, *, waits: bool) -> tuple[str, ...]:
    """Files with the logs of servers in place of what names them. ``mysql://USER@HOST:PORT`` alone is all of them."""
    found: list[str] = []
    for file in files:
        if remote is not None:
            found += _logs_of(remote, file, waits=False)
        elif file.startswith(_SCHEME):
            found += _logs_of(*_split(file), waits=False)
        else:
            found.append(file)
    if waits:
        if not found or not isinstance(last := found[-1], RemoteName):
            raise Usage("--stop-never waits for the log of a server", hint="--read-from-remote-server names the server")
        last.waits = True
    return tuple(found)


def _split(url: str) -> tuple[str, str]:
    """A server's address and the log that stands behind it as a path, or an empty name."""
    place, question, options = url.partition("?")
    head, slash, name = place[len(_SCHEME) :].rpartition("/")
    if not slash:
        return url, ""
    return f"{_SCHEME}{head}{question}{options}", name


def _logs_of(url: str, name: str, *, waits: bool) -> list[str]:
    """The named log of a server, or all of its logs."""
    from conformance.servers.specs import SpecKind, parse_spec
    from conformance.servers.wire.connection import connect

    with server_errors():
        spec = parse_spec(url)
        if spec.kind is not SpecKind.MYSQL:
            raise Usage(f"{url}: not the address of a server", hint="mysql://USER@HOST:PORT")
        address = spec.login()
        with connect(address) as connection, _privileges():
            names = [str(row[0]) for row in connection.execute("SHOW BINARY LOGS").texts()]
    if name and name not in names:
        raise Usage(f"{spec} has no log {name}{did_you_mean(name, names)}", hint=f"it has {', '.join(names)}")
    return [RemoteName.of(each, address, waits=waits) for each in ([name] if name else names)]


def followed(files: Sequence[str]) -> bool:
    """Whether the reader of these files waits for what a server writes next."""
    return any(isinstance(path, RemoteName) and path.waits for path in files)


def ending_well(files: Sequence[str]) -> contextlib.AbstractContextManager[None]:
    """Where :func:`followed`, a Ctrl-C is taken when the reader waits, so that no event is printed in part."""
    return interrupts.held() if followed(files) else contextlib.nullcontext()


def numbers_of(log: RemoteName, variables: Sequence[str]) -> dict[str, int]:
    """The values of those global variables that the server of a log has."""
    from conformance.servers.wire.connection import connect

    names = ", ".join(f"'{name}'" for name in variables)
    with server_errors(), connect(log.address) as connection:
        rows = connection.execute(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})").texts()
    return {str(name): int(str(value)) for name, value in rows}


@contextlib.contextmanager
def _privileges() -> Iterator[None]:
    from conformance.servers.errors import SqlError

    try:
        yield
    except SqlError as error:
        if error.number in (1227, 1045):
            raise CouldNotRun(f"the account may not read binary logs: {error}", hint=_GRANT) from error
        if error.number == 1381:
            raise CouldNotRun(f"the server writes no binary log: {error}") from error
        raise


_GRANT: Final = "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO … allows it"


class RemoteLog:
    """The bytes of a server's log, as a file that can be read, and whose place can be moved forward."""

    def __init__(self, name: RemoteName) -> None:
        self._name = name
        self._rest = MAGIC  # bytes that came and were not taken
        self._place = len(MAGIC)  # behind them
        self._events: Iterator[bytes] | None = None

    def read(self, size: int) -> bytes:
        """Read up to this number of bytes; empty at the end of the log. Waits for one event only."""
        if not self._rest:
            with interrupts.let_through() if self._name.waits else contextlib.nullcontext():
                self._rest = self._next()
            self._place += len(self._rest)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def seekable(self) -> bool:
        """Whether :meth:`seek` works."""
        return True

    def seek(self, offset: int, _whence: int) -> None:
        """Move the place of the next byte forward: the server begins its dump anew there."""
        self.close()
        self._place += offset - len(self._rest)
        self._rest = b""

    def close(self) -> None:
        """Leave the server."""
        events, self._events = self._events, None
        if events is not None:
            events.close()  # type: ignore[attr-defined]  # a generator

    def _next(self) -> bytes:
        if self._events is None:
            self._events = self._dumped(self._place)
        return next(self._events, b"")

    def _dumped(self, start: int) -> Iterator[bytes]:
        """The events of this log from a place on, without those that the server makes for the reader alone."""
        from conformance.servers.errors import ServerError, SqlError
        from conformance.servers.wire.capture import rotate_target, without_in_use_flag
        from conformance.servers.wire.connection import connect

        name, waits, place = self._name, self._name.waits, start
        try:
            connection = connect(name.address, timeout=3.0 * _HEARTBEAT if waits else None)
        except ServerError as error:
            raise CouldNotRun(str(error)) from error
        try:
            flags = (0 if waits else _NON_BLOCKING) | _introduce(connection)
            with connection.dump(
                _COMMAND.pack(_COM_BINLOG_DUMP, start, flags, _SERVER_ID if waits else 0) + name.encode()
            ) as events:
                for event in events:
                    _, kind, _, _, end, flags = HEADER.unpack_from(event)
                    if kind == EventType.ROTATE and (flags & Flag.ARTIFICIAL or not end):
                        target = rotate_target(event)
                        if target != name:
                            name.following = target
                            return
                    elif kind not in _SENT_ONLY and (kind != EventType.FORMAT_DESCRIPTION or end):
                        place += len(event)
                        yield without_in_use_flag(event)
        except SqlError as error:
            if error.number in (1227, 1045):
                raise CouldNotRun(f"the account may not read binary logs: {error}", hint=_GRANT) from error
            raise InputCorrupt(f"{name}: the server sends no more from offset {place}: {error}") from error
        except ServerError as error:
            raise InputCorrupt(f"{name}: the server was lost at offset {place}: {error}") from error
        finally:
            connection.close()


def _introduce(connection: Connection) -> int:
    """Say that this reader knows checksums, and how often it wants to hear that the server is still there.

    Both names: a server reads the one that it knows. Without the variable it removes checksums from events.
    MariaDB also hears that its own events are known. Returns the flags of the dump that this server knows.
    """
    checksum = connection.variable("binlog_checksum") or "NONE"
    values = {"binlog_checksum": f"'{checksum}'", "heartbeat_period": str(_HEARTBEAT * 10**9)}
    for variable, value in values.items():
        connection.execute(f"SET @source_{variable} = {value}, @master_{variable} = {value}")
    if not is_mariadb(connection.server_version):
        return 0
    connection.execute(f"SET @mariadb_slave_capability = {_MARIADB_CAPABILITY}")
    return _SEND_ANNOTATIONS
