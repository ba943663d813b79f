"""Connections to a server: login through mysql-connector-python, statements through our own packet reader.

The first connect imports the connector. It runs in pure Python because the packet reader needs its socket (why not its
cursors: see ``packets``). Errors carry the server's number and SQL state. A broken connection reports the server's fate
if its owner (the process handle) knows it.
"""

from __future__ import annotations

import contextlib
import os
import struct
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, LoginRefused, ProtocolError, ServerUnavailable, SqlError
from conformance.servers.wire.packets import PacketStream, Result, parse_error
from conformance.servers.wire.tls import Options, require_tls, tls_arguments, tls_trouble, without_strict_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
# Login errors of the server: access denied (1044, 1045, 1698), must change password (1820, 1862), host blocked or not
# allowed (1129, 1130), account locked (3118), secure transport required (3159), plugin not usable (1251, 2059, 2061).
_REFUSALS = frozenset({1044, 1045, 1129, 1130, 1251, 1698, 1820, 1862, 2059, 2061, 3118, 3159})
_QUERY_ATTRIBUTES = 1 << 27
PATIENCE: Final = "BINLOG_LAB_PATIENCE"
_PATIENCE_SECONDS: Final = 600.0
_LOGIN_SECONDS, _LOGIN_SECONDS_HERE = 10.0, 60.0
_COM_QUIT, _COM_PING = b"\x01", b"\x0e"
_PACKET_TARGET = 4 << 20  # statements per packet: by size, so that one failure never costs more than one packet


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Host, port and account of a server. ``repr`` omits the password."""

    host: str = "127.0.0.1"
    port: int = 3306
    socket: str | None = None
    user: str = "root"
    password: str = field(default="", repr=False)
    tls: Options = ()

    def as_user(self, user: str | None, password: str | None, *, tcp: bool = False) -> Address:
        """The same server with another account (``None``: the same account), over TCP alone if ``tcp``."""
        return replace(
            self,
            socket=None if tcp else self.socket,
            user=user or self.user,
            password=self.password if user is None else password or "",
        )

    def __str__(self) -> str:
        return f"{self.user}@{self.socket}" if self.socket else f"{self.user}@{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The outcome of :meth:`Connection.execute_many`: results in order, and the error that ended the batch.

    ``error.position`` is the index of the failing statement; the server did not execute those after it.
    """

    results: tuple[Result, ...]
    error: SqlError | None = None

    def check(self) -> tuple[Result, ...]:
        """The results; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.results


class Connection(Closing):
    """One session. Threads must not share it."""

    def __init__(
        self, raw: Any, stream: PacketStream, address: Address, fate: Callable[[ConnectionLost], ConnectionLost]
    ) -> None:
        self._raw = raw  # keeps the connector's object, and so the socket, alive
        self._stream = stream
        self._fate = fate
        self._max_packet: int | None = None
        self.address = address
        self.thread_id: int = int(raw.connection_id or 0)
        self.server_version: str = str(raw.server_info)
        self.closed = False
        self._lost: ConnectionLost | None = None

    # -- statements -------------------------------------------------------------------------------------------------

    def execute(self, sql: str | bytes) -> Result:
        """Execute one statement. A procedure call returns its last result."""
        with self._watching():
            self._stream.query(sql if isinstance(sql, bytes) else sql.encode())
            shown = sql if isinstance(sql, str) else sql[:300].decode("utf-8", "replace")
            result, more = self._stream.result(shown)
            position = 0
            while more:
                position += 1
                result, more = self._stream.result(shown, position)
            return result

    def execute_many(self, statements: Sequence[str]) -> Batch:
        """Execute statements of one result each, in multi-statement packets of some megabytes; stop at the first error.

        A statement with more than one result (CALL), or several statements in one text, break the count and raise
        :class:`ProtocolError` after their packet.
        """
        results: list[Result] = []
        start = 0
        while start < len(statements):
            end, packet = self._pack(statements, start)
            error = self._run_packet(packet, statements, start, end, results)
            if error is not None:
                return Batch(results=tuple(results), error=error)
            start = end
        return Batch(results=tuple(results))

    def _pack(self, statements: Sequence[str], start: int) -> tuple[int, bytes]:
        limit = min(_PACKET_TARGET, self.max_allowed_packet - 16)
        texts: list[bytes] = []
        size, end = 0, start
        while end < len(statements):
            text = statements[end].rstrip().rstrip(";").encode()
            if not text.strip():
                raise ValueError(f"statement {end} is empty")
            if texts and size + len(text) + 1 > limit:
                break
            texts.append(text)
            size += len(text) + 1
            end += 1
        return end, b";".join(texts)

    def _run_packet(
        self, packet: bytes, statements: Sequence[str], start: int, end: int, results: list[Result]
    ) -> SqlError | None:
        position = start
        with self._watching():
            stream = self._stream
            stream.query(packet)
            more = True
            while more:
                try:
                    result, more = stream.result("", position)
                except SqlError as error:
                    if position >= end:
                        raise ProtocolError(f"more results than the {end - start} statements sent") from error
                    return SqlError(
                        error.number, error.sqlstate, error.message, statement=statements[position], position=position
                    )
                results.append(result)
                position += 1
        if position != end:
            raise ProtocolError(f"{position - start} results for {end - start} statements from statement {start} on")
        return None

    @property
    def max_allowed_packet(self) -> int:
        """The server's limit for one packet; the session asks once."""
        if self._max_packet is None:
            self._max_packet = self.execute("SELECT @@max_allowed_packet").number()
        return self._max_packet

    def warnings(self) -> list[tuple[str, int, str]]:
        """Level, number and text of each diagnostic of the last statement."""
        return [
            (level or "", int(number or 0), text or "") for level, number, text in self.execute("SHOW WARNINGS").texts()
        ]

    def variable(self, name: str) -> str | None:
        """A system variable of this session (or global, for variables without a session value); None if unknown."""
        try:
            return self.execute(f"SELECT @@{name}").scalar()
        except SqlError as error:
            if error.number == 1193:  # ER_UNKNOWN_SYSTEM_VARIABLE
                return None
            raise

    # -- protocol ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        """Close a lost connection, and report it with the server's fate."""
        if self._lost is not None:  # a clean-up may not hide why it cannot work
            raise self._lost
        if self.closed:
            raise ConnectionLost(f"the connection to {self.address} is closed")
        try:
            yield
        except ConnectionLost as error:
            self._abandon()
            self._lost = fate = self._fate(error)
            if fate is error:
                raise  # with its own cause: took_too_long looks for it
            raise fate from error
        except (IndexError, struct.error, ProtocolError) as error:
            self._abandon()
            if isinstance(error, ProtocolError):
                raise
            raise ProtocolError(f"a packet from {self.address} ends too early") from error
        except BaseException as error:
            if not isinstance(error, SqlError):
                self._abandon()  # an answer may be half read (Ctrl-C): this session is of no further use
            raise

    @contextlib.contextmanager
    def dump(self, payload: bytes) -> Iterator[Iterator[bytes]]:
        """Send a binary log dump command; yield the event packets' contents up to EOF.

        The session is of no use for anything else afterwards and is closed.
        """
        with self._watching():
            self._stream.send(payload)
            try:
                yield self._dumped()
            finally:
                self._abandon()

    def _dumped(self) -> Iterator[bytes]:
        while True:
            packet = self._stream.read()
            if packet[0] == 0x00:
                yield packet[1:]
            elif packet[0] == 0xFF:
                raise parse_error(packet)
            elif packet[0] == 0xFE and len(packet) < 9:
                return
            else:
                raise ProtocolError(f"unexpected packet {packet[:1].hex()} in a binary log dump")

    def ping(self) -> None:
        """Raise if the server does not answer."""
        with self._watching():
            self._stream.send(_COM_PING)
            self._stream.result()

    def _abandon(self) -> None:
        self.closed = True
        self._stream.close()

    def close(self) -> None:
        """Send COM_QUIT and close; a second call does nothing."""
        if not self.closed:
            with contextlib.suppress(ConnectionLost):
                self._stream.send(_COM_QUIT)
            self._abandon()

    def __repr__(self) -> str:
        return f"<Connection {self.address} thread {self.thread_id}{' closed' if self.closed else ''}>"


def patience() -> float:
    """Seconds after which the lab gives up a reachable server that does not answer.

    ``BINLOG_LAB_PATIENCE``, or ten minutes; statements of a run take far less.
    """
    named = os.environ.get(PATIENCE)
    try:
        return max(1.0, float(named)) if named else _PATIENCE_SECONDS
    except ValueError:
        raise ServerUnavailable(
            f"{PATIENCE} is {named!r}, expected a number of seconds", f"unset {PATIENCE}, or give it a number"
        ) from None


def _unknown_fate(error: ConnectionLost) -> ConnectionLost:
    return error


def connect(
    address: Address,
    *,
    database: str | None = None,
    timeout: float | None = None,
    connect_timeout: float | None = None,
    fate: Callable[[ConnectionLost], ConnectionLost] = _unknown_fate,
) -> Connection:
    """Log in.

    ``timeout``: seconds of every wait for the server (``None``: :func:`patience`). ``connect_timeout``: those of the
    login. ``None``: 10, and 60 on this machine, where a server that answers late is only busy; never more than the
    patience.
    """
    if connect_timeout is None:
        connect_timeout = min(patience(), _LOGIN_SECONDS_HERE if _is_here(address) else _LOGIN_SECONDS)
    try:
        from mysql import connector  # heavy, and only needed where a server is
    except ImportError as error:
        raise ServerUnavailable(
            "the Python package mysql-connector-python is not installed", "pip install mysql-connector-python"
        ) from error
    arguments: dict[str, Any] = {
        "user": address.user,
        "password": address.password,
        "charset": "utf8mb4",
        "autocommit": True,
        "get_warnings": False,
        "connection_timeout": max(1, round(connect_timeout)),
        "allow_local_infile": False,
    }
    if address.socket:
        arguments |= {"unix_socket": address.socket, "ssl_disabled": True}
    else:
        arguments |= {"host": address.host, "port": address.port, **tls_arguments(address.tls)}
        require_tls(str(address), (address.host, address.port), address.tls, connect_timeout)
    if database is not None:
        arguments["database"] = database
    raw: Any = without_strict_checks(connector.MySQLConnection)()
    try:
        raw.connect(**arguments)
    except BaseException as error:
        # A server that dies between the login and the connector's first statements leaves the socket open.
        if (left := _socket_of(raw)) is not None:
            left.close()
        if isinstance(error, connector.Error):
            raise _login_error(address, error, connect_timeout) from None
        if isinstance(error, (OSError, ValueError, AttributeError, TypeError)):  # from a bad handshake
            raise ConnectionLost(f"login at {address} failed: {error}") from None
        raise
    sock = _socket_of(raw)
    if sock is None:
        raise ServerUnavailable(
            "this version of mysql-connector-python does not let its socket be used",
            "pip install a version that the lab was tested with (9.1 to 26.10)",
        )
    sock.settimeout(patience() if timeout is None else timeout)
    stream = PacketStream(sock, query_attributes=bool(raw.client_flags & _QUERY_ATTRIBUTES))
    return Connection(raw, stream, address, fate)


def _is_here(address: Address) -> bool:
    return bool(address.socket) or address.host in ("127.0.0.1", "::1", "localhost")


def _socket_of(raw: Any) -> Any:
    return getattr(getattr(raw, "_socket", None), "sock", None)


def _login_error(address: Address, error: Any, seconds: float) -> Exception:
    if _is_timeout(error):  # the connector's own text advises on calls of the connector
        return ConnectionLost(f"cannot connect to {address}: no answer from the server in {seconds:g} s")
    if (trouble := tls_trouble(str(address), address.tls, error)) is not None:
        return trouble
    number = int(error.errno or 0)
    text = str(error.msg or error)
    if number in _REFUSALS:
        return LoginRefused(f"{address}: the server refuses the login: {number} {text}")
    if number == 1049:
        return SqlError(number, str(error.sqlstate or "42000"), text)
    return ConnectionLost(f"cannot connect to {address}: {number} {text}" if number > 0 else f"{address}: {text}")


def _is_timeout(error: BaseException | None) -> bool:
    """Whether a socket's timeout lies under the connector's errors, which differ between its versions."""
    while error is not None and not isinstance(error, TimeoutError):
        error = error.__cause__ or error.__context__
    return error is not None


def version_number(text: str) -> tuple[int, int, int]:
    """``9.7.4-2`` -> (9, 7, 4); missing parts are 0."""
    parts = []
    for part in text.split("-", maxsplit=1)[0].split("+", maxsplit=1)[0].split(".")[:3]:
        digits = "".join(character for character in part if character.isdigit())
        parts.append(int(digits or 0))
    parts += [0] * (3 - len(parts))
    return parts[0], parts[1], parts[2]
