"""Servers that outlive the lab's process: handing one over to the user, finding them again, stopping them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from conformance.servers.clock import REAL
from conformance.servers.containers.server import launch_container
from conformance.servers.containers.standing import STANDING, kept_containers, remove_kept
from conformance.servers.run.directories import make_run_directory, run_directory, runs_root
from conformance.servers.run.process_identity import is_running, signal_if_same
from conformance.servers.run.supervisor import remove_run_directory

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.containers.image import Image
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.options import Options
    from conformance.servers.run.owned import OwnServer

CONTAINER = "container"  # in the directory of a standing server: the name of its container


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingServer:
    """A server that outlives the lab's process."""

    name: str
    directory: Path
    url: str
    version: str
    pid: int
    supervisor: int
    supervisor_start: str
    running: bool
    container: str = ""  # the container's name, if the server is in a container


def free_name() -> str:
    """The first number that is no standing server's name."""
    taken = {directory.name.removeprefix("server-") for directory in runs_root().glob("server-*")}
    number = 1
    while str(number) in taken:
        number += 1
    return str(number)


def stop_standing(server: StandingServer, *, timeout: float = 45.0) -> bool:
    """Stop a standing server in order and remove its directory. False if it had ended before."""
    if server.container:
        asked = remove_kept(server.container)
        remove_run_directory(server.directory)
        return asked
    asked = signal_if_same(server.supervisor, server.supervisor_start, signal.SIGTERM)
    while not REAL.until(lambda: not is_running(server.supervisor, server.supervisor_start), timeout, 0.02):
        # The kernel takes the server along with its supervisor.
        signal_if_same(server.supervisor, server.supervisor_start, signal.SIGKILL)
    remove_run_directory(server.directory)
    return asked


def _contained(directory: Path, about: dict[str, str]) -> StandingServer:
    name = (directory / CONTAINER).read_text(encoding="utf-8")
    return StandingServer(
        name=directory.name.removeprefix("server-"),
        directory=directory,
        url=about["url"],
        version=about["version"],
        pid=0,
        supervisor=0,
        supervisor_start="",
        running=any(item.name == name and item.running for item in kept_containers()),
        container=name,
    )


def standing_servers() -> list[StandingServer]:
    """All standing servers of this user, dead ones included (their directories remain until ``stop``)."""
    found = []
    for directory in sorted(runs_root().glob("server-*")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            about = json.loads((directory / "server.json").read_text(encoding="utf-8"))
            if (directory / CONTAINER).exists():
                found.append(_contained(directory, about))
                continue
            process = json.loads((directory / "process.json").read_text(encoding="utf-8"))
            supervisor, begun = int(process["supervisor"]), str(process["supervisor_start"])
            found.append(
                StandingServer(
                    name=directory.name.removeprefix("server-"),
                    directory=directory,
                    url=str(about["url"]),
                    version=str(about["version"]),
                    pid=int(process["pid"]),
                    supervisor=supervisor,
                    supervisor_start=begun,
                    running=is_running(supervisor, begun),
                )
            )
    return found


def hand_over(server: OwnServer, directory: Path) -> str:
    """Detach ``server`` and return its URL. Only this user can read the option file that holds the password."""
    address = server.tcp_address()
    client = directory / "client.cnf"
    descriptor = os.open(client, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            f"[client]\nhost={address.host}\nport={address.port}\nuser={address.user}\npassword={address.password}\n"
        )
    url = f"mysql://{address}?defaults-file={quote(str(client), safe='/')}"
    record = {"url": url, "version": server.version}
    temporary = directory / "server.json.new"
    temporary.write_text(json.dumps(record), encoding="utf-8")
    temporary.replace(directory / "server.json")
    server.detach()
    return url


def start_container(
    image: Image, name: str, *, server_id: int, options: Options, performance_schema: bool, narrate: Narrate
) -> str:
    """Start a container that stays until ``servers stop``, and return its URL."""
    directory = run_directory(keep=True, name=name)
    make_run_directory(directory)
    try:
        server = launch_container(
            image,
            server_id=server_id,
            options=options,
            performance_schema=performance_schema,
            keep=False,
            kept=STANDING,
            narrate=narrate,
        )
        with server:  # detached at the end: closes only what failed before
            (directory / CONTAINER).write_text(server.name, encoding="utf-8")
            narrate(server.describe())
            return hand_over(server, directory)
    except BaseException:
        remove_run_directory(directory)
        raise
