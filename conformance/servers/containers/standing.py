"""Containers that outlive their lab: those that a run kept (``--keep``) and those of ``binlog-lab servers start``.

A later run with ``--keep`` that needs a server of the same image and options reuses a stopped one. It first removes the
server's schemas, source and log.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.sql.quoting import quote_identifier
from conformance.requirements.versions import dialect_of
from conformance.servers.containers.engine import IMAGE_LABEL, KEPT_LABEL, connect, telling
from conformance.servers.errors import ServerUnavailable
from conformance.servers.settings.rights import SCHEMA_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docker.models.containers import Container

    from conformance.servers.wire.connection import Connection
    from docker import DockerClient

RUN: Final = "run"  # kept by a run
STANDING: Final = "standing"  # kept by ``servers start``
_PASSWORD: Final = "MYSQL_ROOT_PASSWORD="  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True)
class Kept:
    """A container that outlives its lab. ``kind``: :data:`RUN` or :data:`STANDING`."""

    name: str
    image: str
    kind: str
    running: bool


def kept_containers() -> list[Kept]:
    """All of this engine's; none where there is no engine."""
    try:
        client = connect()
    except ServerUnavailable:
        return []
    with contextlib.closing(client), telling("list containers"):
        found = client.containers.list(all=True, filters={"label": [KEPT_LABEL]}, ignore_removed=True)
    return [
        Kept(str(item.name), item.labels.get(IMAGE_LABEL, ""), item.labels[KEPT_LABEL], item.status == "running")
        for item in found
    ]


def remove_kept(name: str) -> bool:
    """Remove a container, its volume, and its own network if it has one; return whether the container was running."""
    from docker.errors import NotFound

    with contextlib.closing(connect()) as client, telling(f"remove {name}"):
        running = False
        with contextlib.suppress(NotFound):
            container = client.containers.get(name)
            running = container.status == "running"
            container.remove(force=True, v=True)
        with contextlib.suppress(NotFound):
            client.volumes.get(name).remove(force=True)
        with contextlib.suppress(NotFound):
            client.networks.get(name).remove()
    return running


def reusable(client: DockerClient, image: str, command: Sequence[str]) -> Container | None:
    """A stopped container that a run kept, of this image and with exactly this command."""
    filters: Any = {"label": [f"{KEPT_LABEL}={RUN}"], "status": "exited"}
    with telling("look for kept containers"):
        for container in client.containers.list(all=True, filters=filters, ignore_removed=True):
            attributes = container.attrs
            if attributes["Image"] == image and attributes["Config"]["Cmd"] == list(command):
                return container
    return None


def password_of(container: Container) -> str:
    """Root's password, from the container's environment."""
    return next(
        (word.removeprefix(_PASSWORD) for word in container.attrs["Config"]["Env"] if word.startswith(_PASSWORD)), ""
    )


def reset_server(connection: Connection, number: tuple[int, int, int]) -> None:
    """Remove what a run has left on the server: a source, schemas of the lab, the log."""
    terms = dialect_of(number).terms
    schemas = connection.execute("SHOW SCHEMAS").texts()
    connection.execute_many(
        [
            f"STOP {terms.replica}",
            f"RESET {terms.replica} ALL",
            *(
                f"DROP SCHEMA {quote_identifier(str(row[0]))}"
                for row in schemas
                if str(row[0]).startswith(SCHEMA_PREFIX)
            ),
            terms.reset,
        ]
    ).check()
