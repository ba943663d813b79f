"""The interface that every real server offers to the lab, whoever started it."""

from __future__ import annotations

import contextlib
import secrets
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.requirements.versions import dialect_of
from conformance.servers.closing import Closing
from conformance.servers.errors import ConnectionLost, LoginRefused, ServerError, ServerUnavailable
from conformance.servers.settings.asked import require_fit
from conformance.servers.settings.rights import SCHEMA_PREFIX
from conformance.servers.settings.sessions import Beginning
from conformance.servers.wire.capture import Capture
from conformance.servers.wire.connection import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from conformance.servers.child_process import Ended, Limits
    from conformance.servers.files import Files
    from conformance.servers.programs import Program
    from conformance.servers.wire.connection import Address, Connection

Seen = TypeVar("Seen")

# How long the removal of a schema may wait for tables in use, where something failed. Two sessions of a client that is
# gone can hang for good (observed on 9.7.4): FLUSH TABLES ... FOR EXPORT holds its lock and waits until purge stops,
# and purge waits for the table behind DROP, which waits for that lock. What stays is found by guests.leftovers.
_LOCK_WAIT_SECONDS = 10
# The option of a program's first statement. A mysqldump that has none warns, and begins like any other session.
_OPENING = {"mysql": "--init-command", "mysqldump": "--loose-init-command"}
ALL_HAZARDS = frozenset({"none", "stops-replica", "corrupts-row", "may-crash"})


class Server(Closing):
    """A running MySQL server."""

    id: str  # unique in a run, without secrets
    version: str  # as the server itself says it (@@version)
    number: tuple[int, int, int]
    started_by_us: bool
    files_readable: bool = False  # its paths are paths of this machine
    attachable: bool = True  # other processes of the lab can use it by its address alone
    client_host: str = "localhost"  # what the server calls the host that the lab connects from
    address: Address
    _beginning: Beginning | None = None  # of the sessions of the lab's own account

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
        """A new session; as the lab's own account unless ``user`` says otherwise.

        The lab's own sessions begin alike on all servers (``servers.settings``), but for variables that a session
        ``inherits`` from the server.
        """
        address = (self.tcp_address() if tcp else self.address).as_user(user, password)
        log_in = partial(connect, address, database=database, timeout=timeout, fate=self.fate)
        try:
            try:
                connection = log_in()
            except LoginRefused:
                if user is not None or not self.introduced():
                    raise
                connection = log_in()
        except ConnectionLost as error:
            raise self.fate(error) from None
        if user is None:
            self._begin(connection, inherits)
        return connection

    def _begin(self, connection: Connection, inherits: AbstractSet[str]) -> None:
        """Give a session of the lab its settings; the server is asked at the first one."""
        try:
            if self._beginning is None:
                self._beginning = Beginning(connection)
            self._beginning.put(connection, inherits)
        except BaseException:
            connection.close()
            raise

    def opening_words(self, program: str) -> list[str]:
        """The words that let a session of a client program begin as those of the lab do."""
        statement = "" if self._beginning is None else self._beginning.statement()
        return [f"{_OPENING[program]}={statement}"] if statement and program in _OPENING else []

    def require_fit(self) -> None:
        """Raise :class:`NotJudgeable` where settings or rights keep the lab from judging this server."""
        with self.connect() as connection:
            assert self._beginning is not None
            require_fit(connection, self._beginning, dialect_of(self.number).terms.show_log)

    def introduced(self) -> bool:
        """Whether another login attempt may succeed, because the server was just reminded of the account."""
        return False

    @abstractmethod
    def alive(self) -> bool:
        """Whether the server still runs."""

    @abstractmethod
    def describe(self) -> str:
        """One line for people: the kind of server, its version, its place."""

    @property
    def provenance(self) -> str:
        """Where the server comes from, in a few words that stay true when it is gone: for reports."""
        return self.describe()

    @property
    def files(self) -> Files:
        """The files below the data directory. Raises :class:`ServerUnavailable` where the lab cannot reach them."""
        raise ServerUnavailable(f"the data directory of {self.id} is not the lab's to read")

    def client_program(self, name: str, *, login: bool = False) -> Program:
        """A MySQL client program that fits this server. ``login``: its first arguments log in as root.

        Raises :class:`ServerUnavailable` where there is none: the error says what is missing.
        """
        del login
        raise ServerUnavailable(f"{self.id} brings no programs, so there is no {name}")

    def run_program(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        login: bool = False,
        stdin: bytes = b"",
        files: Mapping[str, bytes] | None = None,
        timeout: float | None = None,
        limits: Limits | None = None,
    ) -> Ended:
        """Run a client program to its end; see :meth:`client_program` and ``Program.run``."""
        program = self.client_program(name, login=login)
        return program.run(arguments, stdin=stdin, files=files, timeout=timeout, limits=limits)

    def tcp_address(self) -> Address:
        """The host, port and account that a replica or a program uses."""
        return self.address.as_user(None, None, tcp=True)

    def address_for(self, replica: Server) -> Address:  # noqa: ARG002 - a container is found in two ways
        """The host, port and account that ``replica`` uses, which may differ from the lab's own."""
        return self.tcp_address()

    def found_by_containers(self) -> bool:
        """Whether a replica in a container can connect: this machine's loopback is not the container's."""
        return self.address.host not in ("127.0.0.1", "localhost", "::1")

    def hazards(self) -> frozenset[str]:
        """The hazards that a Case may have on this server."""
        return ALL_HAZARDS

    def fate(self, error: ConnectionLost) -> ConnectionLost:
        """Describe a lost connection in more detail, where more is known."""
        return error

    def error_log(self) -> str | None:
        """The server's error log, where the lab can read it."""
        return None

    def capture(self) -> Capture:
        """A reader of this server's binary log between two moments."""
        return Capture(self)

    def new_schema(self) -> str:
        """The name of a schema that nobody has."""
        return SCHEMA_PREFIX + secrets.token_hex(6)

    def observed(self, what: str, look: Callable[[Any], Seen]) -> Seen:  # noqa: ARG002 - the name is for recordings
        """Return the lab's view of the server beside its answers: ``look`` gets the server. A recording holds it too.

        The result is made of ``None``, numbers, texts, bytes and lists.
        """
        return look(self)

    @contextlib.contextmanager
    def schema(self, connection: Connection) -> Iterator[str]:
        """A fresh schema, dropped at the end (over a new session if this one was lost)."""
        name = self.new_schema()
        # Held as long as the session: a schema whose lock is free has lost its maker (see guests.leftovers).
        connection.execute(f"SELECT GET_LOCK('{name}', 0)")
        connection.execute(f"CREATE SCHEMA {name} DEFAULT CHARACTER SET utf8mb4")
        failed = True
        try:
            connection.execute(f"USE {name}")
            yield name
            failed = False
        finally:
            with (
                contextlib.suppress(ServerError),
                self.connect() if connection.closed else contextlib.nullcontext(connection) as session,
            ):
                if failed:  # another session may have lost its client and kept a lock on these tables
                    session.execute(f"SET SESSION lock_wait_timeout = {_LOCK_WAIT_SECONDS}")
                session.execute(f"DROP SCHEMA IF EXISTS {name}")
                session.execute(f"SELECT RELEASE_LOCK('{name}')")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.version}>"
