"""Handing a started server over to the user: it stays when the lab's process ends."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from conformance.servers.process import ProcessServer


def hand_over(server: ProcessServer) -> str:
    """Detach ``server`` and give its URL. The password goes to an option file that only this user can read."""
    address = server.tcp_address()
    client = server.directory / "client.cnf"
    descriptor = os.open(client, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(
            f"[client]\nhost={address.host}\nport={address.port}\nuser={address.user}\npassword={address.password}\n"
        )
    url = f"mysql://{address}?defaults-file={quote(str(client), safe='/')}"
    record = {"url": url, "version": server.version}
    temporary = server.directory / "server.json.new"
    temporary.write_text(json.dumps(record), encoding="utf-8")
    temporary.replace(server.directory / "server.json")
    server.detach()
    return url
