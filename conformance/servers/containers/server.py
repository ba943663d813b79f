"""A private server in a container of the lab.

The engine publishes the server's port on 127.0.0.1 only, and keeps its data in a volume of their own. Its command line
carries the options of every server of the lab. The lab never looks at paths of the container. It reads the log over the
replication protocol, moves files through the engine, and runs programs inside. A start with other options makes another
container on the same volume.
"""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.clock import REAL
from conformance.servers.containers.data_files import ContainerFiles
from conformance.servers.containers.engine import IMAGE_LABEL, new_name, telling
from conformance.servers.containers.engine_run import engine_run
from conformance.servers.containers.files import put_file, put_tree, read_tree
from conformance.servers.containers.image import DATA, Image
from conformance.servers.containers.programs import Programs
from conformance.servers.containers.standing import RUN, STANDING, password_of, reset_server, reusable
from conformance.servers.containers.template import OPTIONS, DataTemplate, data_template
from conformance.servers.errors import (
    ConnectionLost,
    LoginRefused,
    ServerDied,
    ServerUnavailable,
    SpecError,
    StartFailed,
)
from conformance.servers.install.cache import Narrate, silent
from conformance.servers.run.options import Options, default_options, option_words
from conformance.servers.run.owned import START_SECONDS, STOP_SECONDS, Launch, OwnServer
from conformance.servers.run.process import PERSISTED, death_reason, greets, log_tail, status_words
from conformance.servers.wire.capture import Capture
from conformance.servers.wire.connection import Address, connect, version_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Unpack

    from docker.models.containers import Container
    from docker.models.networks import Network
    from docker.models.volumes import Volume

    from conformance.servers.base import Server
    from conformance.servers.programs import Program

PORT: Final = 3306
MEMORY: Final = 4 << 30  # bytes: several times the data of a run; the engine ends a server that grows beyond it
# What the official entry point needs to give the data to its user and to become that user.
_CAPABILITIES: Final = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID")
_DEFAULTS: Final = "/etc/binlog-lab.cnf"
_PUBLISHED: Final[Any] = {f"{PORT}/tcp": ("127.0.0.1",)}  # any free port, on the loopback only
# A login with TLS takes 40 ms and more of the lab's time, one without 1 ms. The server takes the latter for an account
# with caching_sha2_password after one of the former (documentation, Caching SHA-2 Pluggable Authentication).
_PLAIN: Final = (("ssl-mode", "DISABLED"),)
_FATE_SECONDS: Final = 3.0
_REFUSED_SECONDS: Final = 5.0  # a server that answers and goes on refusing the password is not ours
_WORLD: Final = 0o644  # mysqld passes over option files that others may write


class ContainerServer(OwnServer):
    """A server that :func:`launch_container` makes. ``name`` is the name of its containers (one at a time) and of its
    volume.
    """

    client_host = "%"  # the engine's gateway, whose address is the engine's choice

    def __init__(
        self,
        image: Image,
        template: DataTemplate,
        *,
        server_id: int = 1,
        options: Options,
        performance_schema: bool = False,
        keep: bool = False,
        kept: str = "",
        narrate: Narrate = silent,
    ) -> None:
        self.image = image
        self.server_id = server_id
        self.options = {name.replace("_", "-"): value for name, value in options.items()}
        self.wrapper = ()
        self.keep = keep
        self.version, self.number = image.version, image.number
        self.name = new_name()
        self.id = f"docker-{image.version}-{server_id}"
        self.pid = 0
        self.start_seconds = 0.0
        self.address = Address(user="root", password=template.password, tls=_PLAIN)
        self._template = template
        self._performance_schema = performance_schema
        self._kept = kept
        self._narrate = narrate
        self._run = engine_run(narrate)
        self._container: Container | None = None
        self._extra: dict[str, str | None] = {}  # options of the present container
        self._volume: Volume | None = None
        self._own_network: Network | None = None
        self._files: dict[str, tuple[bytes, int]] = {}
        self._said = ""  # log output of removed containers
        self._programs = Programs(self, self._run, narrate)
        self._stopped_by_us = False
        self._closed = False
        self._run.enter(self)

    # -- starting ---------------------------------------------------------------------------------------------------

    @property
    def container(self) -> Container:
        """The server's present container."""
        assert self._container is not None
        return self._container

    def reuse(self) -> bool:
        """Start a matching container that an earlier run kept, if there is one, and take it over."""
        found = reusable(self._run.client, self.image.id, self._command({}))
        if found is None:
            return False
        with telling(f"take over {found.name}"):
            self._run.network().connect(found)
            self._volume = self._run.client.volumes.get(str(found.name))
        self.name, self._container = str(found.name), found
        self.address = dataclasses.replace(self.address, password=password_of(found))
        self.start()
        with self.connect() as connection:
            reset_server(connection, self.number)
        self._narrate(f"{self.id}: took over the kept container {self.name}")
        return True

    def start(self, extra: Options | None = None, *, timeout: float = START_SECONDS) -> None:
        """Start, and wait until root can log in over TCP: while an image makes its data, its server has no TCP."""
        begun = time.monotonic()
        wanted = {name.replace("_", "-"): value for name, value in (extra or {}).items()}
        if self._container is None or wanted != self._extra:
            self._discard_container()
            self._create(wanted)
        self._stopped_by_us = False
        try:
            with telling(f"start {self.name}"):
                self.container.start()
            self._await_ready(begun + timeout)
        except ServerUnavailable:
            self.stop(clean=False)
            raise
        except BaseException:
            with contextlib.suppress(ServerUnavailable):
                self.stop(clean=False)
            raise
        self.start_seconds = time.monotonic() - begun
        with self.connect() as connection:
            self.version = connection.variable("version") or self.version
            self.number = version_number(self.version)

    def _command(self, extra: Options) -> list[str]:
        defaults = default_options(self.image.number, performance_schema=self._performance_schema)
        own = {"bind-address": "*", "server-id": str(self.server_id), "port": str(PORT)}
        given = {**self.options, **extra}
        file = given.pop("defaults-file", None)
        words = option_words({**defaults, **own, **given})
        return words if file is None else [f"--defaults-file={file}", *words]

    def _create(self, extra: dict[str, str | None]) -> None:
        """Make a container that does not run yet, with its files in place."""
        run = self._run
        labels = run.labels(self._kept)
        with telling(f"make a container of {self.image.name}"):
            fresh = self._volume is None
            if self._volume is None:
                self._volume = run.client.volumes.create(self.name, labels=labels)
            self._container = run.client.containers.create(
                self.image.id,
                self._command(extra),
                name=self.name,
                hostname=self.name,
                labels={**labels, IMAGE_LABEL: self.image.name},
                environment={
                    "MYSQL_ROOT_PASSWORD": self._template.password,
                    "MYSQL_ROOT_HOST": "%",
                    "MYSQL_INITDB_SKIP_TZINFO": "1",
                },
                volumes={self.name: {"bind": DATA, "mode": "rw"}},
                ports=_PUBLISHED,
                network=self._network(),
                ulimits=run.limits,
                mem_limit=MEMORY,
                cap_drop=["ALL"],
                cap_add=list(_CAPABILITIES),
                security_opt=["no-new-privileges"],
            )
        self._extra = extra
        if fresh and self._template.archive.is_file():
            put_tree(self.container, DATA, self._template.archive)
        for path, (data, mode) in self._files.items():
            put_file(self.container, path, data, mode=mode)

    def _network(self) -> str:
        """The network of the run; a network of its own for a server that outlives the run."""
        if self._kept != STANDING:
            return str(self._run.network().name)
        if self._own_network is None:
            self._own_network = self._run.client.networks.create(self.name, labels=self._run.labels(self._kept))
        return self.name

    def _await_ready(self, deadline: float) -> None:
        refused: float | None = None
        while True:
            state = self._state()
            if state.get("Status") not in ("running", "created", "restarting"):
                raise StartFailed(
                    f"the container of {self.image.name} ended while starting ({status_words(_status(state))})",
                    detail=log_tail(self.error_log()),
                )
            problem = self._try_login()
            if problem is None:
                return
            now = time.monotonic()
            if isinstance(problem, LoginRefused):
                refused = refused or now
                if now - refused > _REFUSED_SECONDS:
                    raise StartFailed(
                        f"the server of {self.image.name} does not take the password given in MYSQL_ROOT_PASSWORD",
                        detail=str(problem),
                    )
            if now > deadline:
                raise StartFailed(
                    f"the server of {self.image.name} does not answer in the stated time at "
                    f"127.0.0.1:{self.address.port} ({problem})",
                    detail=log_tail(self.error_log()),
                )
            time.sleep(0.05)

    def _try_login(self) -> Exception | None:
        """Log in over the published port; return the error if that fails."""
        ports = self.container.attrs.get("NetworkSettings", {}).get("Ports", {}).get(f"{PORT}/tcp")
        if not ports:
            return ConnectionLost(f"port {PORT} of the container is not published")
        self.address = dataclasses.replace(self.address, port=int(ports[0]["HostPort"]))
        if not greets(socket.AF_INET, ("127.0.0.1", self.address.port)):
            return ConnectionLost("no greeting")
        try:
            self.introduced()
        except (ConnectionLost, LoginRefused) as error:
            return error
        return None

    def introduced(self) -> bool:
        """Log in with TLS once, after which logins without TLS succeed: FLUSH PRIVILEGES makes a server forget root's
        password.
        """
        connect(dataclasses.replace(self.address, tls=())).close()
        return True

    def _state(self) -> dict[str, Any]:
        """The container's state as the engine reports it now."""
        with telling(f"look at {self.name}"):
            self.container.reload()
        state: dict[str, Any] = self.container.attrs["State"]
        self.pid = state.get("Pid") or self.pid
        return state

    # -- using ------------------------------------------------------------------------------------------------------

    def found_by_containers(self) -> bool:
        """Whether a replica in a container can connect: it finds this server by name."""
        return True

    def address_for(self, replica: Server) -> Address:
        """The container's name for another container of the run, else the published port.

        Podman resolves names only with a plugin from a separate package (seen missing on Debian 12). Without the plugin
        the address on the private network stands in for the name.
        """
        return self.inner_address() if isinstance(replica, ContainerServer) else super().address_for(replica)

    def meeting_host(self) -> str:
        """The gateway of the private network: it is this machine, if the engine runs here."""
        return self._run.gateway()

    def inner_address(self) -> Address:
        """Where another container of the run finds this one."""
        network = self.container.attrs["NetworkSettings"]["Networks"][self._network()]
        host = network["IPAddress"] if self._run.podman else self.name
        return dataclasses.replace(self.address, host=host, port=PORT)

    @property
    def maker(self) -> ContainerMaker:
        """A maker of servers from the same image."""
        return ContainerMaker(self.image)

    def capture(self) -> Capture:
        """A reader of the log over the protocol: the paths are the container's."""
        return Capture(self, over_protocol=True)

    @property
    def files(self) -> ContainerFiles:
        """The files of the volume, through the engine."""
        return ContainerFiles(self.container, self._template.owner)

    def client_program(self, name: str, *, login: bool = False) -> Program:
        """The image's own program, in a container beside the server, or another (see ``Programs``)."""
        return self._programs.program(name, login=login)

    def forget_persisted(self) -> None:
        """Put an empty file of persisted variables in place: the engine cannot remove files."""
        if self._container is not None:
            self.files.write(PERSISTED, b'{ "Version" : 2 }')

    def defaults_file(self, text: str) -> str:
        """Store an option file that every container of this server gets from now on."""
        self._files[_DEFAULTS] = text.encode(), _WORLD
        if self._container is not None:
            put_file(self._container, _DEFAULTS, text.encode(), mode=_WORLD)
        return _DEFAULTS

    def copy_data(self, target: Path) -> None:
        """Copy files, and nothing else, out of the volume."""
        for member, content in read_tree(self.container, DATA):
            path = target / member.name
            if content is not None:
                path.write_bytes(content.read())
            elif member.isdir():
                path.mkdir(parents=True)

    def describe(self) -> str:
        """One line for people: the kind of server, its version, its place."""
        return f"MySQL {self.version} (image {self.image.name}), container {self.name}, 127.0.0.1:{self.address.port}"

    @property
    def provenance(self) -> str:
        """The image, identified by its content."""
        return f"container of {self.image.name} ({self.image.id[:19]})"

    def error_log(self) -> str:
        """The log output of all its containers."""
        return self._said + self._logs()

    def _logs(self) -> str:
        if self._container is None:
            return ""
        from docker.errors import NotFound

        with telling(f"read what {self.name} said"):
            try:
                return self._container.logs(stdout=True, stderr=True).decode("utf-8", "replace")
            except NotFound:
                return ""

    # -- ending -----------------------------------------------------------------------------------------------------

    def alive(self) -> bool:
        """Whether the container runs."""
        try:
            return self._container is not None and bool(self._state().get("Running"))
        except ServerUnavailable:  # somebody removed it
            return False

    def fate(self, error: ConnectionLost) -> ConnectionLost:
        """Wait a moment first: a connection often breaks just before its server is seen to be gone."""
        if isinstance(error, ServerDied) or self._container is None:
            return error
        place = ("127.0.0.1", self.address.port)
        REAL.until(lambda: not self.alive() or greets(socket.AF_INET, place), _FATE_SECONDS, 0.02)
        if self.alive():
            return error  # only this session was lost
        if self._removed():
            said = log_tail(self._said)
            return ServerDied(f"{self.id}: its container {self.name} was removed", reason="removed", log_tail=said)
        how = "was stopped" if self._stopped_by_us else "died"
        state = self.container.attrs["State"]
        status = _status(state)
        tail = log_tail(self.error_log())
        why = "out of memory" if state.get("OOMKilled") else death_reason(tail)
        words = f"{self.id} {how} ({status_words(status)}{f'; {why}' if why else ''})"
        return ServerDied(words, status=status, reason=why, log_tail=tail)

    def _removed(self) -> bool:
        """Whether somebody removed the container."""
        from docker.errors import NotFound

        with telling(f"look for {self.name}"):
            try:
                self._run.client.containers.get(self.name)
            except NotFound:
                return True
        return False

    def stop(self, *, clean: bool = True, timeout: float = STOP_SECONDS) -> int | None:
        """Stop the container, and keep it for the next start."""
        if self._container is None:
            return None
        self._stopped_by_us = True
        if self.alive():
            from docker.errors import APIError, NotFound

            with telling(f"stop {self.name}"), contextlib.suppress(NotFound):
                if clean:
                    self.container.stop(timeout=round(timeout))
                else:
                    with contextlib.suppress(APIError):  # it ended by itself just now
                        self.container.kill()
                    self.container.wait(timeout=round(timeout))
        try:
            return _status(self._state())
        except ServerUnavailable:
            return None

    def _discard_container(self) -> None:
        """Remove the container before another takes its place on the volume; keep its log output."""
        if self._container is None:
            return
        from docker.errors import NotFound

        self._said += self._logs()
        with telling(f"remove {self.name}"), contextlib.suppress(NotFound):
            self._container.remove(force=True, v=True)  # removes the image's other volumes; never one with a name
        self._container = None

    def detach(self) -> None:
        """Let the container outlive the lab (``binlog-lab servers start``)."""
        self._closed = True
        self._run.leave(self)

    def close(self) -> None:
        """Remove the container and its volume, or keep them for a later run that wants the same."""
        if self._closed:
            return
        self._closed = True
        from docker.errors import NotFound

        try:
            if self.keep and self._kept and self._container is not None:
                self.stop()
                with telling(f"take {self.name} off its network"):
                    self._run.network().disconnect(self.container, force=True)
                self._narrate(
                    f"{self.id}: kept container and volume {self.name} for a later run with --keep; "
                    f"to remove them: binlog-lab servers stop {self.name}"
                )
            else:
                with telling(f"remove {self.name}"), contextlib.suppress(NotFound):
                    if self._container is not None:
                        self._container.remove(force=True, v=True)
                with telling(f"remove the volume {self.name}"), contextlib.suppress(NotFound):
                    if self._volume is not None:
                        self._volume.remove(force=True)
                with telling(f"remove the network {self.name}"), contextlib.suppress(NotFound):
                    if self._own_network is not None:
                        self._own_network.remove()
        finally:
            self._run.leave(self)


def launch_container(
    image: Image,
    *,
    server_id: int = 1,
    options: Options | None = None,
    performance_schema: bool = False,
    keep: bool = False,
    start: bool = True,
    kept: str = "",
    narrate: Narrate = silent,
) -> ContainerServer:
    """A server on a copy of the image's data template; ``kept``: the label of a server that will be detached."""
    server = ContainerServer(
        image,
        data_template(image, partial(_initialised, image, narrate), narrate),
        server_id=server_id,
        options=options or {},
        performance_schema=performance_schema,
        keep=keep,
        kept=kept or (RUN if keep else ""),
        narrate=narrate,
    )
    try:
        if start and not (keep and server.reuse()):
            server.start()
    except BaseException:
        with contextlib.suppress(ServerUnavailable):
            server.keep = False
            server.close()
        raise
    return server


@dataclasses.dataclass(frozen=True, slots=True)
class ContainerMaker:
    """Makes servers in containers of one image."""

    image: Image

    @property
    def version(self) -> str:
        """The version as the image's server prints it."""
        return self.image.version

    @property
    def number(self) -> tuple[int, int, int]:
        """The version as numbers."""
        return self.image.number

    def launch(self, *, wrapper: Sequence[str] | str = (), **wishes: Unpack[Launch]) -> ContainerServer:
        """Start a server in a container."""
        if wrapper:
            raise SpecError(
                f"docker:{self.image.name}", "a wrapper is for a process of the lab", expected="no --wrapper"
            )
        return launch_container(self.image, **wishes)


@contextlib.contextmanager
def _initialised(image: Image, narrate: Narrate, template: DataTemplate) -> Iterator[Container]:
    """A stopped container in which the image has made its data directory."""
    with ContainerServer(image, template, options=OPTIONS, narrate=narrate) as server:
        server.start()
        server.stop()
        yield server.container


def _status(state: dict[str, Any]) -> int | None:
    """The exit status in the form that processes have: negative for a signal."""
    code = state.get("ExitCode")
    if state.get("Running") or code is None:
        return None
    return 128 - int(code) if 128 < int(code) < 192 else int(code)
