"""Objects that all containers of one lab process share: the engine, the private network, and the reaper.

They begin with the first container and end with the last. On the network other containers reach a server by its
container's name, which is how a replica finds its source. The lab itself uses the port published on 127.0.0.1.
"""
# ruff: noqa: S603 (starting programs is the job of this module)

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.containers.engine import (
    PREFIX,
    broken_off,
    connect,
    is_podman,
    labels_of,
    own_limits,
    remove_orphans,
    remove_run,
    sweep,
    telling,
)
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.cache import silent

if TYPE_CHECKING:
    from docker.models.containers import Container
    from docker.models.networks import Network
    from docker.types import Ulimit

    from conformance.servers.install.cache import Narrate
    from docker import DockerClient

_ROOT: Final = Path(__file__).parents[2]
_current: EngineRun | None = None


class EngineRun:
    """The shared objects of this process; :func:`engine_run` makes them."""

    def __init__(self, narrate: Narrate) -> None:
        self.client: DockerClient = connect()
        self.id = secrets.token_hex(6)
        self._pid = os.getpid()
        self._servers: set[object] = set()
        self._network: Network | None = None
        self.told: set[tuple[str, str]] = set()  # images and programs whose origin the run has named
        self.tools: dict[str, Container] = {}  # by image: where its client programs run
        self.podman = is_podman(self.client)
        self.limits: list[Ulimit] | None = own_limits() if self.podman else None
        remove_orphans(self.client, narrate)
        self._reaper = _start_reaper(self.id)
        atexit.register(self.close)

    def labels(self, kept: str = "") -> dict[str, str]:
        """The labels of new objects of this run."""
        return labels_of(self.id, kept)

    def network(self) -> Network:
        """The private network of the run."""
        if self._network is None:
            with telling("make a network"):
                self._network = self.client.networks.create(
                    PREFIX + self.id, driver="bridge", check_duplicate=True, labels=self.labels()
                )
        return self._network

    def gateway(self) -> str:
        """The address of the engine's machine on the private network."""
        network = self.network()
        with telling("describe its network"):
            network.reload()
        for config in (network.attrs.get("IPAM") or {}).get("Config") or ():
            if config.get("Gateway"):
                return str(config["Gateway"]).partition("/")[0]
        raise ServerUnavailable("the engine names no gateway of its network, where a container would find the lab")

    def enter(self, server: object) -> None:
        """Register a server that needs the engine from now on."""
        self._servers.add(server)

    def leave(self, server: object) -> None:
        """Unregister a server; with the last server everything of the run is removed."""
        self._servers.discard(server)
        if not self._servers:
            self.close()

    def close(self) -> None:
        """Remove the run's remaining objects and end the reaper. A second call does nothing."""
        global _current  # noqa: PLW0603 - one per process
        if _current is self:
            _current = None
        if self._reaper is None or self._pid != os.getpid():  # a forked copy owns nothing
            return
        reaper, self._reaper = self._reaper, None
        atexit.unregister(self.close)
        try:
            (sweep if broken_off() else remove_run)(self.client, self.id)
        finally:
            assert reaper.stdin is not None
            with contextlib.suppress(OSError):
                reaper.stdin.write(b"Q")
            with contextlib.suppress(OSError):
                reaper.stdin.close()
            reaper.wait()
            self.client.close()


def engine_run(narrate: Narrate = silent) -> EngineRun:
    """The engine run of this process, made on first use."""
    global _current  # noqa: PLW0603 - one per process
    if _current is None:
        _current = EngineRun(narrate)
    return _current


def _start_reaper(run: str) -> subprocess.Popen[bytes] | None:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    more: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": path}}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "conformance.servers.containers.reaper", run, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        bufsize=0,
        start_new_session=True,  # the terminal's Ctrl-C is for the lab
        **more,
    )
