"""The container engine: how the lab finds it, explains its errors, and labels its objects.

The package ``docker`` talks to Docker and to Podman's socket; the lab imports it when a run asks for a container. Every
container, volume and network of the lab carries labels: its run, and the process that owns it (host and pid namespace,
pid, start time). The labels distinguish the objects of a killed lab from those of a living one.
"""

from __future__ import annotations

import os
import resource
import secrets
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.extras import to_install
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.cache import silent
from conformance.servers.run.process_identity import is_running, start_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker.types import Ulimit

    from conformance.servers.install.cache import Narrate
    from docker import DockerClient

RUN_LABEL: Final = "org.binlog-lab.run"
OWNER_LABEL: Final = "org.binlog-lab.owner"
IMAGE_LABEL: Final = "org.binlog-lab.image"  # label: the requested name
KEPT_LABEL: Final = "org.binlog-lab.kept"  # label of objects that outlive their lab
PREFIX: Final = "binlog-lab-"
_MOST: Final = 1 << 14  # files and processes: more than a server requests, and less than engines are allowed
_SWEEP_SECONDS: Final = 25.0
_broken_off: list[str] = []  # the request in flight when a signal came
_TIMEOUT: Final = 120  # seconds that the lab waits for one answer of the engine
_REMEDY: Final = "start Docker, or Podman's socket (podman system service), or set DOCKER_HOST to an engine"


def sockets() -> list[Path]:
    """Sockets of this machine's engines: Docker's default, Docker's and Podman's of this user, Podman's of root."""
    user = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    return [
        Path("/var/run/docker.sock"),
        user / "docker.sock",
        user / "podman/podman.sock",
        Path("/run/podman/podman.sock"),
    ]


def connect() -> DockerClient:
    """The engine that ``DOCKER_HOST`` names, else the first of this machine that answers."""
    package = find_spec("docker")
    if package is None or package.origin is None:  # without a file: the folder of that name in our own checkout
        raise ServerUnavailable(
            "the Python package docker is not installed, which talks to container engines",
            to_install("docker"),
        )
    named = os.environ.get("DOCKER_HOST")
    if named:
        return _connect(named)
    places = [f"unix://{place}" for place in sockets() if place.exists()]
    if not places:
        looked = ", ".join(map(str, sockets()))
        raise ServerUnavailable(
            f"no container engine: DOCKER_HOST is not set, and there is no socket at {looked}", _REMEDY
        )
    problems = []
    for place in places:
        try:
            return _connect(place)
        except ServerUnavailable as problem:
            problems.append(problem)
    if len(problems) == 1:
        raise problems[0]
    raise ServerUnavailable("; ".join(problem.missing for problem in problems), problems[0].remedy)


def _connect(url: str) -> DockerClient:
    from docker.errors import DockerException

    import docker

    try:
        if url.startswith("unix://"):  # the client, when it fails, leaves the socket open and wraps the reason twice
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(_TIMEOUT)
                probe.connect(url.removeprefix("unix://"))
        environment = {**os.environ, "DOCKER_HOST": url}
        client = docker.DockerClient.from_env(timeout=_TIMEOUT, environment=environment, version="auto")
        client.ping()
    except (DockerException, OSError) as error:
        raise _no_engine(url, error) from error
    return client


def _no_engine(url: str, error: BaseException) -> ServerUnavailable:
    """The error that explains why no engine answers, taken from the chain of errors that the client wraps around the
    system's.
    """
    seen: set[int] = set()
    stack: list[object] = [error]
    while stack:
        item = stack.pop()
        if id(item) in seen or not isinstance(item, BaseException):
            continue
        seen.add(id(item))
        if isinstance(item, PermissionError):
            return ServerUnavailable(
                f"no permission to use the container engine at {url}",
                "let this user into the group that owns the socket (usually docker), or use an engine of this user "
                "(rootless Docker or Podman) through DOCKER_HOST",
            )
        if isinstance(item, FileNotFoundError):
            return ServerUnavailable(f"no container engine at {url}: there is no such socket", _REMEDY)
        if isinstance(item, ConnectionRefusedError):
            return ServerUnavailable(f"the container engine at {url} does not answer: connection refused", _REMEDY)
        stack += [item.__cause__, item.__context__, *item.args]
    return ServerUnavailable(f"the container engine at {url} cannot be used: {error}", _REMEDY)


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Translate the engine's errors into errors of this family; ``what`` names the attempted action."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException) as error:
        raise ServerUnavailable(f"the container engine could not {what}: {reason(error)}") from error
    except BaseException as error:
        if not isinstance(error, Exception):
            _broken_off.append(what)
        raise


def reason(error: Exception) -> str:
    """The engine's own error message."""
    return str(getattr(error, "explanation", None) or error)


def is_podman(client: DockerClient) -> bool:
    """Whether Podman answers behind Docker's interface."""
    with telling("say what it is"):
        return any("podman" in part.get("Name", "").lower() for part in client.version().get("Components") or ())


def own_limits() -> list[Ulimit]:
    """Resource limits for a container.

    Podman requests the highest limits, which some machines forbid (observed with 4.3: "error setting rlimit type 7:
    operation not permitted").
    """
    from docker.types import Ulimit

    found = []
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        hard = resource.getrlimit(number)[1]
        value = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
        found.append(Ulimit(name=name, soft=value, hard=value))
    return found


def _place() -> str:
    """The host and pid namespace: a lab in a container has its own pids, and may share the host's name."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        space = ""
    return f"{socket.gethostname()} {space}".strip()


def owner() -> str:
    """The label that identifies this process as an owner."""
    pid = os.getpid()
    return f"{_place()}/{pid}/{start_time(pid)}"


def is_orphan(label: str) -> bool:
    """Whether the owner ran in this host and pid namespace and is gone. Labs elsewhere never count as orphans."""
    place, _, rest = label.partition("/")
    pid, _, start = rest.partition("/")
    return place == _place() and pid.isdigit() and not is_running(int(pid), start)


def labels_of(run: str, kept: str = "") -> dict[str, str]:
    """The labels of a new object."""
    return {RUN_LABEL: run, OWNER_LABEL: owner(), **({KEPT_LABEL: kept} if kept else {})}


def new_name() -> str:
    """A new name for a container and its volume."""
    return PREFIX + secrets.token_hex(5)


@dataclass(slots=True)
class Removed:
    """How many objects of each kind were removed."""

    containers: int = 0
    volumes: int = 0
    networks: int = 0

    def __bool__(self) -> bool:
        return bool(self.containers or self.volumes or self.networks)

    def __str__(self) -> str:
        counts = (("container", self.containers), ("volume", self.volumes), ("network", self.networks))
        return ", ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in counts if count) or "nothing"


def remove_run(client: DockerClient, run: str) -> Removed:
    """Remove all objects of a run, except those that are to be kept."""
    return _remove(client, f"{RUN_LABEL}={run}", lambda _: True)


def remove_orphans(client: DockerClient, narrate: Narrate = silent) -> Removed:
    """Remove the objects of dead labs of this host."""
    removed = _remove(client, RUN_LABEL, lambda labels: is_orphan(labels.get(OWNER_LABEL, "")))
    if removed:
        narrate(f"removed what a killed lab had left in the container engine: {removed}")
    return removed


def sweep(client: DockerClient, run: str) -> Removed:
    """Remove a run's objects after a broken-off request: the engine may still be creating the requested object."""
    total = Removed()
    deadline = time.monotonic() + _SWEEP_SECONDS
    quiet = 0
    while quiet < 2 and time.monotonic() < deadline:
        removed = remove_run(client, run)
        quiet = 0 if removed else quiet + 1
        total.containers += removed.containers
        total.volumes += removed.volumes
        total.networks += removed.networks
        time.sleep(0.5)
    return total


def broken_off() -> bool:
    """Whether Ctrl-C or another signal interrupted this process while it waited for the engine."""
    return bool(_broken_off)


def _remove(client: DockerClient, label: str, wanted: Any) -> Removed:
    """Remove containers first, because they hold the other objects. An object that somebody else removes meanwhile is
    no error.
    """
    from docker.errors import APIError, NotFound

    removed = Removed()
    filters: Any = {"label": label}
    item: Any
    for kind, listing, options in (
        ("containers", lambda: client.containers.list(all=True, filters=filters, ignore_removed=True), {"v": True}),
        ("volumes", lambda: client.volumes.list(filters=filters), {}),
        ("networks", lambda: client.networks.list(filters=filters), None),
    ):
        for item in listing():
            labels = _labels(item)
            if KEPT_LABEL in labels or not wanted(labels):
                continue
            try:
                if options is None:
                    item.remove()
                else:
                    item.remove(force=True, **options)
            except NotFound:
                continue
            except APIError:  # being removed already, or still used by a container of somebody else
                continue
            setattr(removed, kind, getattr(removed, kind) + 1)
    return removed


def _labels(item: Any) -> dict[str, str]:
    """The labels of a container, volume or network; each kind stores them in another place."""
    attributes = item.attrs
    found = attributes.get("Labels") or attributes.get("Config", {}).get("Labels")
    return found or {}
