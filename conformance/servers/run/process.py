"""A private mysqld as an ordinary process of this user.

The server listens on 127.0.0.1 and on a socket in its own run directory. It has its own copy of a data directory, and
ends with the lab: its parent is the small supervisor of ``supervisor.py``. The settings favour speed, as the data are
thrown away. Observed on 9.7.4: a server answers 0.4 to 0.6 s after its start, with about 290 MB resident (540 MB with
the performance schema on).
"""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import dataclasses
import json
import os
import re
import secrets
import select
import shlex
import signal
import socket
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.servers.clock import REAL
from conformance.servers.errors import ConnectionLost, ServerDied, StartFailed
from conformance.servers.files import LocalFiles
from conformance.servers.install.cache import Narrate, require_space, silent
from conformance.servers.programs import LocalProgram
from conformance.servers.run import deaths
from conformance.servers.run.directories import (
    NameTakenError,
    kill_servers_in,
    make_run_directory,
    memory_root,
    remove_orphans,
    run_directory,
    runs_root,
    socket_path,
)
from conformance.servers.run.options import Options, default_options, option_words
from conformance.servers.run.owned import START_SECONDS, STOP_SECONDS, Launch, OwnServer
from conformance.servers.run.process_identity import signal_if_same
from conformance.servers.run.supervisor import remove_run_directory
from conformance.servers.run.template import PAGE_SIZE, copy_template, template
from conformance.servers.wire.connection import Address, version_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from conformance.servers.install.installation import Installation

_RUN_SPACE = 300 << 20
TCP_USER = "lab"
PERSISTED = "mysqld-auto.cnf"  # in the data directory; holds the variables that SET PERSIST wrote
_PORT_ATTEMPTS = 5
_TAIL = 4000
_FATE_SECONDS = 3.0
_REPORT_SECONDS = 30.0  # that a server takes at most to write its crash report; other threads may still greet
_ERROR_LINES = 10
_SUPERVISOR = Path(__file__).with_name("supervisor.py")

_DEATHS = (
    re.compile(r"Assertion (?:failure|`).*"),
    re.compile(r"mysqld got (?:signal|exception) \S+"),
    re.compile(r"(?:ERROR: \w+Sanitizer|runtime error): .*"),
)


class ProcessServer(OwnServer):
    """A server that :func:`launch` makes. ``directory`` is its run directory, ``data_directory`` the data in it."""

    files_readable = True

    def __init__(
        self,
        installation: Installation,
        directory: Path,
        *,
        server_id: int,
        options: Options,
        wrapper: Sequence[str],
        performance_schema: bool,
        keep: bool,
        in_memory: bool = False,
        narrate: Narrate = silent,
    ) -> None:
        self.installation = installation
        self.program_file = installation.mysqld
        self.directory = directory
        self.data_directory = directory / "data"
        self.server_id = server_id
        self.options = {name.replace("_", "-"): value for name, value in options.items()}
        self.wrapper = tuple(wrapper)
        self.keep = keep
        self.in_memory = in_memory
        self.version = installation.version
        self.number = installation.number
        self.id = f"process-{installation.version}-{server_id}"
        self.pid = 0
        self.start_seconds = 0.0
        self._port = 0
        self._performance_schema = performance_schema
        self._start = ""
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._stopped_by_us = False
        self._begun: dict[str, int] = {}  # by log file: its length when this process was started
        self._answered = False
        self._closed = False
        self._tcp_password: str | None = None
        self._narrate = narrate
        self._socket = socket_path(directory)
        self.address = Address(socket=self._socket)

    # -- starting ---------------------------------------------------------------------------------------------------

    def start(self, extra: Options | None = None, *, timeout: float = START_SECONDS) -> None:
        """Start, and wait until the server answers. ``extra`` options are for this start only.

        A further start takes the same port, where its replicas look for it, unless somebody else has it now.
        """
        begun = time.monotonic()
        attempt = 0
        while True:
            port = self._port if self._port and not attempt else _free_port()
            attempt += 1
            self._spawn(port, extra or {})
            try:
                self._await_ready(begun + timeout - time.monotonic())
            except StartFailed as error:
                self.stop(clean=False)
                # Somebody took the port between our look and the server's bind: the only failure worth another try.
                if attempt < _PORT_ATTEMPTS and _port_was_taken(error.detail):
                    continue
                raise
            except BaseException:
                self.stop(clean=False)
                raise
            break
        self.start_seconds = time.monotonic() - begun
        self._port = port
        self.address = Address(host="127.0.0.1", port=port, socket=self._socket)
        with self.connect() as connection:
            self.version = connection.variable("version") or self.version
            self.number = version_number(self.version)

    def _command(self, port: int, extra: Options) -> list[str]:
        own: dict[str, str | None] = {
            "datadir": str(self.data_directory),
            "tmpdir": str(self.directory / "tmp"),
            "socket": self._socket,
            "port": str(port),
            "pid-file": str(self.directory / "mysqld.pid"),
            "log-error": str(self.directory / "error.log"),
            "server-id": str(self.server_id),
        }
        if os.geteuid() == 0:
            own["user"] = "root"
        defaults = default_options(self.installation.number, performance_schema=self._performance_schema)
        given = {**self.options, **{name.replace("_", "-"): value for name, value in extra.items()}}
        file = given.pop("defaults-file", None)  # with an option file the server reads persisted settings as well
        return [
            *self.wrapper,
            *self.installation.launcher,
            str(self.installation.mysqld),
            "--no-defaults" if file is None else f"--defaults-file={file}",
            *self.installation.options,
            *option_words({**defaults, **own, **given}),
        ]

    def _spawn(self, port: int, extra: Options) -> None:
        for name in ("exit.json", "process.json"):
            (self.directory / name).unlink(missing_ok=True)
        (self.directory / "tmp").mkdir(exist_ok=True)
        self._begun = {name: len(text) for name, text in self._logs()}
        self._answered = False
        config: dict[str, object] = {
            "argv": self._command(port, extra),
            "environment": {},
            "directory": str(self.directory),
            "output": str(self.directory / "output.log"),
            "owner": os.getpid(),
            "keep": self.keep,
            "stop_seconds": STOP_SECONDS,
        }
        path = self.directory / "supervisor.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        self._stopped_by_us = False
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_supervisor(self.directory)), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # the terminal's Ctrl-C is for the lab, which then stops the server in order
        )
        assert self._supervisor.stdout is not None
        ready, _, _ = select.select([self._supervisor.stdout], [], [], 30)
        line = self._supervisor.stdout.readline().split() if ready else []
        if len(line) < 2 or line[0] != b"started":
            self._supervisor.kill()
            raise StartFailed("the supervisor process of the server did not start", detail=log_tail(self.error_log()))
        self.pid = int(line[1])
        self._start = line[2].decode() if len(line) > 2 else ""

    def _await_ready(self, seconds: float) -> None:
        """Wait until the server greets on its socket."""

        def answered() -> bool:
            if not self.alive():
                status = self._exit_status()
                raise StartFailed(
                    f"{self.installation.mysqld} ended while starting ({status_words(status)})",
                    detail=log_tail(self.error_log()),
                )
            return greets(socket.AF_UNIX, self._socket)

        self._answered = REAL.until(answered, seconds, 0.01)
        if not self._answered:
            raise StartFailed(
                f"{self.installation.mysqld} does not answer in the stated time", detail=log_tail(self.error_log())
            )

    # -- using ------------------------------------------------------------------------------------------------------

    def tcp_address(self) -> Address:
        """An account with all privileges for TCP (replicas, programs); made on first use, not written to the log."""
        if self._tcp_password is None:
            password = secrets.token_urlsafe(18)
            account = f"'{TCP_USER}'@'127.0.0.1'"
            with self.connect() as connection:
                connection.execute("SET SESSION sql_log_bin = 0")
                connection.execute(f"CREATE USER {account} IDENTIFIED BY '{password}'")
                connection.execute(f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION")
            self._tcp_password = password
        return dataclasses.replace(self.address, socket=None, user=TCP_USER, password=self._tcp_password)

    @property
    def maker(self) -> ProcessMaker:
        """A maker of servers from the same programs, with their data in the same kind of place."""
        return ProcessMaker(self.installation, in_memory=self.in_memory)

    @property
    def files(self) -> LocalFiles:
        """The files of the data directory themselves."""
        return LocalFiles(self.data_directory)

    def client_program(self, name: str, *, login: bool = False) -> LocalProgram:
        """A program of the server's own installation; the server program with what it needs to find its files."""
        words = self.client(name) if login else self.program(name)
        return LocalProgram([*words, *(self.installation.options if name == "mysqld" else ())], name=name)

    def program(self, name: str) -> list[str]:
        """Command words of a client program of the server's own installation."""
        return self.installation.program(name)

    def client(self, name: str) -> list[str]:
        """Command words of a client program over the socket, where root needs no password."""
        login = ["--no-defaults", f"--socket={self._socket}", "--user=root"]
        return [*self.program(name), *login, *self.opening_words(name)]

    def forget_persisted(self) -> None:
        """Remove the file of persisted variables."""
        (self.data_directory / PERSISTED).unlink(missing_ok=True)

    def defaults_file(self, text: str) -> str:
        """Store an option file in the run directory."""
        path = self.directory / "my.cnf"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def copy_data(self, target: Path) -> None:
        """Copy the data directory in the way a start copies the template."""
        copy_template(self.data_directory, target)

    def describe(self) -> str:
        """One line for people: the kind of server, its version, its place."""
        return (
            f"MySQL {self.version} ({self.installation.origin}), process {self.pid}, "
            f"127.0.0.1:{self.address.port}, {self.directory}"
        )

    @property
    def provenance(self) -> str:
        """A process of the lab's own, and the origin of its programs."""
        return f"private process, {self.installation.origin}"

    def error_log(self) -> str:
        """The error log, and the program's output elsewhere."""
        return "".join(text for _, text in self._logs())

    def _logs(self) -> list[tuple[str, str]]:
        paths = (self.directory / name for name in ("output.log", "error.log"))
        return [(path.name, path.read_text(encoding="utf-8", errors="replace")) for path in paths if path.exists()]

    def _keep_death(self) -> None:
        """Keep what this process logged, if it has ended by itself after it had answered."""
        if self._answered and not self._stopped_by_us and not self.alive():
            self._answered = False  # once
            deaths.keep(self.id, self.pid, status_words(self._exit_status()), self._log_since_start())

    def _log_since_start(self) -> str:
        return "".join(text[self._begun.get(name, 0) :] for name, text in self._logs())

    # -- ending -----------------------------------------------------------------------------------------------------

    def alive(self) -> bool:
        """Whether the supervisor runs: it ends right after its server."""
        return self._supervisor is not None and self._supervisor.poll() is None

    def _exit_status(self) -> int | None:
        try:
            record = json.loads((self.directory / "exit.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return int(record["status"])

    def fate(self, error: ConnectionLost) -> ConnectionLost:
        """Wait a moment first: a connection often breaks just before its server is seen to be gone."""
        if isinstance(error, ServerDied) or self._supervisor is None:
            return error
        REAL.until(lambda: not self.alive() or greets(socket.AF_UNIX, self._socket), _FATE_SECONDS, 0.01)
        if self.alive() and death_reason(self._log_since_start()):
            REAL.until(lambda: not self.alive(), _REPORT_SECONDS, 0.05)
        if self.alive():
            return error  # only this session was lost
        self._keep_death()
        how = "was stopped" if self._stopped_by_us else "died"
        status = self._exit_status()
        tail = log_tail(self.error_log())
        reason = death_reason(tail)
        words = f"{self.id} {how} ({status_words(status)}{f'; {reason}' if reason else ''})"
        return ServerDied(words, status=status, reason=reason, log_tail=tail)

    def stop(self, *, clean: bool = True, timeout: float = STOP_SECONDS) -> int | None:
        """Stop the server and return its exit status.

        ``clean`` is a shutdown (SIGTERM, SIGKILL after the timeout) (servers 5). The supervisor signals: as the parent
        it cannot meet another process under the same pid.
        """
        handle = self._supervisor
        if handle is None:
            return None
        self._keep_death()
        self._stopped_by_us = True
        try:
            self._command_supervisor(b"T" if clean else b"K")
            try:
                handle.wait(timeout)
            except subprocess.TimeoutExpired:
                self._command_supervisor(b"K")
                handle.wait(10)
        finally:
            if handle.poll() is None:  # the supervisor does not answer: the kernel kills the server together with it
                handle.kill()
                handle.wait()
            if not (self.directory / "exit.json").exists():  # a killed supervisor left no exit status
                signal_if_same(self.pid, self._start, signal.SIGKILL)
                kill_servers_in(self.directory)  # a server behind a wrapper is not the supervisor's child
            for pipe in (handle.stdin, handle.stdout):
                if pipe is not None:
                    pipe.close()
            self._supervisor = None
        return self._exit_status()

    def _command_supervisor(self, command: bytes) -> None:
        try:
            assert self._supervisor is not None
            assert self._supervisor.stdin is not None
            self._supervisor.stdin.write(command)
        except (OSError, ValueError):  # the process is gone already
            return

    def detach(self) -> None:
        """Let the server outlive the lab (``binlog-lab servers start``)."""
        self._command_supervisor(b"D")
        self.keep = self._closed = True

    def close(self) -> None:
        """Stop the server and remove the run directory.

        The data are removed, so the stop is hard, unless somebody may inspect them (``keep``) or a wrapper reports at
        its end.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self.stop(clean=self.keep or bool(self.wrapper))
        finally:
            if self.keep:
                self._narrate(f"{self.id}: kept {self.directory}")
            else:
                remove_run_directory(self.directory)


def launch(
    installation: Installation,
    *,
    server_id: int = 1,
    options: Options | None = None,
    wrapper: Sequence[str] | str = (),
    performance_schema: bool = False,
    keep: bool = False,
    name: str | None = None,
    start: bool = True,
    in_memory: bool = False,
    timeout: float = START_SECONDS,
    narrate: Narrate = silent,
) -> ProcessServer:
    """Copy the template and start a server on it. With ``start=False`` the caller can prepare the data directory first.

    ``name`` is for a server that will be detached. The option ``innodb-page-size`` chooses the template. ``in_memory``:
    keep the data in memory if it has room.
    """
    given = {key.replace("_", "-"): value for key, value in (options or {}).items()}
    source = template(installation, narrate, page_size=given.get(PAGE_SIZE))
    remove_orphans()
    root = memory_root() if in_memory else runs_root()
    require_space(root, _RUN_SPACE, "a running server")
    directory = run_directory(keep=keep, name=name, root=root)
    try:
        make_run_directory(directory)
        copy_template(source, directory / "data")
        server = ProcessServer(
            installation,
            directory,
            server_id=server_id,
            options=options or {},
            wrapper=shlex.split(wrapper) if isinstance(wrapper, str) else wrapper,
            performance_schema=performance_schema,
            keep=keep,
            in_memory=in_memory,
            narrate=narrate,
        )
        if start:
            server.start(timeout=timeout)
        return server
    except NameTakenError:
        raise
    except BaseException:
        if not keep:
            remove_run_directory(directory)
        raise


@dataclasses.dataclass(frozen=True, slots=True)
class ProcessMaker:
    """Makes servers of one installation's programs. ``in_memory``: their data stay in memory if it has room."""

    installation: Installation
    in_memory: bool = dataclasses.field(default=False, kw_only=True)

    @property
    def version(self) -> str:
        """The version as the programs print it."""
        return self.installation.version

    @property
    def number(self) -> tuple[int, int, int]:
        """The version as numbers."""
        return self.installation.number

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> ProcessServer:
        """A private server of these programs."""
        return launch(self.installation, wrapper=wrapper, in_memory=self.in_memory, **wishes)


def _supervisor(directory: Path) -> Path:
    """The supervisor's program; a copy in the run directory where the package is in a zip, as on Spark's executors."""
    if _SUPERVISOR.is_file():
        return _SUPERVISOR
    copy = directory / _SUPERVISOR.name
    copy.write_bytes(resources.files(__package__).joinpath(_SUPERVISOR.name).read_bytes())
    return copy


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def greets(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    """Whether a server greets a new connection at once."""
    try:
        with socket.socket(family) as probe:
            probe.settimeout(5)
            probe.connect(address)
            greeting = probe.recv(5)
    except OSError:
        return False
    return len(greeting) == 5 and greeting[4] == 10  # protocol version; 0xff would be "too many connections" and such


def _port_was_taken(log: str) -> bool:
    return "Address already in use" in log or "Do you already have another" in log


def log_tail(text: str) -> str:
    """The part of an error log that explains a server's end."""
    errors = [line for line in text.splitlines() if "[ERROR]" in line]
    crash = max(text.rfind("mysqld got signal"), text.rfind("Assertion failure"))
    if crash > 0 and len(text) - crash > _TAIL:  # the beginning of a crash report explains more than its end
        text = text[text.rfind("\n", 0, crash) + 1 :][:_TAIL].rpartition("\n")[0]
    elif len(text) > _TAIL:
        # A failed start ends with a long orderly shutdown, which explains nothing: its reasons precede it.
        text = "\n".join(errors[-_ERROR_LINES:]) or text[-_TAIL:].partition("\n")[2]
    return "  | " + "\n  | ".join(text.splitlines()) if text else "(the error log is empty)"


def death_reason(log: str) -> str:
    """The reason in a dying server's log: the failed assertion, else the signal that its handler caught.

    Observed on 9.7.4: a server hit by SIGSEGV writes a report and then exits with status 2.
    """
    for pattern in _DEATHS:
        found = pattern.findall(log)
        if found:
            return str(found[-1]).strip()
    return ""


def status_words(status: int | None) -> str:
    """An exit status in words for people."""
    if status is None:
        return "exit status unknown"
    if status < 0:
        try:
            return f"signal {signal.Signals(-status).name}"
        except ValueError:
            return f"signal {-status}"
    return f"exit status {status}"
