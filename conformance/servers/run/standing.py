"""Handing a started server over to the user: it stays when the lab's process ends."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.containers.image import Image
    from conformance.servers.install.cache import Narrate
    from conformance.servers.run.options import Options
    from conformance.servers.run.owned import OwnServer


def hand_over(server: OwnServer, directory: Path) -> str:
    """Detach ``server`` and give its URL. The password goes to an option file that only this user can read."""
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
    """Start a container that stays until ``servers stop``, and give its URL."""
    from conformance.servers.containers.server import launch_container
    from conformance.servers.containers.standing import STANDING
    from conformance.servers.run.directories import CONTAINER, new_run_directory, remove_run_directory

    directory = new_run_directory(keep=True, name=name)
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
