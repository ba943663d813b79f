"""Images of MySQL: how the lab finds or pulls them, their version, and what their containers need (servers 2,
versions 9).

The lab takes every image that works like the official ones. ``mysqld`` is on PATH, and the entry point passes options
to it. The entry point makes a data directory in /var/lib/mysql with root's password from ``MYSQL_ROOT_PASSWORD``. The
error log goes to standard error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from conformance.servers.containers import platforms
from conformance.servers.containers.engine import new_name, reason, telling
from conformance.servers.containers.engine_run import engine_run
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install.bundle import Progress, no_progress
from conformance.servers.install.cache import silent
from conformance.servers.install.installation import parse_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.servers.install.cache import Narrate

DATA: Final = "/var/lib/mysql"
_SHOWN: Final = 600  # characters of a program's output
_SECONDS: Final = 60  # seconds for a program to print its version


@dataclass(frozen=True, slots=True)
class Image:
    """``name`` is the requested name; ``id`` identifies the content."""

    name: str
    id: str
    version: str
    number: tuple[int, int, int]


def find_image(name: str, *, narrate: Narrate = silent, progress: Callable[[Progress], None] = no_progress) -> Image:
    """Find the image in the engine, or pull it, for the platform that the lab takes (see ``platforms``)."""
    client = engine_run(narrate).client  # first: it says what is missing where the package is not installed
    from docker.errors import ImageNotFound

    platform = platforms.wanted(client)
    with telling(f"look for the image {name}"):
        try:
            found = client.images.get(name)
        except ImageNotFound:
            found = None
    if found is None:
        exist = platforms.in_registry(client, name)
        platforms.require(name, platform, exist)
        others = f" (it exists for {', '.join(exist)})" if exist else ""
        narrate(f"pulling {name} for {platform}{others}")
        _pull(name, platform, progress)
        with telling(f"look for the image {name}"):
            found = client.images.get(name)
    platforms.require(name, platform, [platforms.of_image(found.attrs)])
    version, number = _version_of(str(found.id), name)
    return Image(name, str(found.id), version, number)


def _pull(name: str, platform: str, progress: Callable[[Progress], None]) -> None:
    """Pull the image layer by layer; the engine reports errors in the stream as well as in its answer."""
    from docker.errors import APIError
    from docker.utils import parse_repository_tag
    from requests.exceptions import RequestException

    repository, tag = parse_repository_tag(name)
    layers: dict[str, tuple[int, int]] = {}
    try:
        for line in engine_run().client.api.pull(
            repository, tag or "latest", stream=True, decode=True, platform=platform
        ):
            if "error" in line:
                raise _not_there(name, str(line["error"]))
            detail = line.get("progressDetail") or {}
            if line.get("status") == "Downloading" and detail.get("total"):
                layers[line["id"]] = (detail["current"], detail["total"])
                done, total = (sum(column) for column in zip(*layers.values(), strict=True))
                progress(Progress(step=f"pulling {name}", percent=100 * done / total, total=total, what="image"))
    except (APIError, RequestException) as error:
        raise _not_there(name, reason(error)) from error


def _not_there(name: str, why: str) -> ServerUnavailable:
    return ServerUnavailable(
        f"there is no image {name}: the engine does not have it, and it cannot be pulled: {why}",
        "name an image that 'docker images' lists, or build one where no registry can be reached (docker/README.md)",
    )


@lru_cache(maxsize=64)
def _version_of(identity: str, name: str) -> tuple[str, tuple[int, int, int]]:
    """The version that mysqld prints in a container of its own: labels and tags may say anything."""
    said = _said(identity, name)
    version = parse_version(said)
    if version is None:
        words = repr(said.strip()[:_SHOWN]) if said.strip() else "nothing"
        raise ServerUnavailable(
            f"the image {name} holds no MySQL server: its mysqld, asked for its version, says {words}"
        )
    return version


def _said(identity: str, name: str) -> str:
    from docker.errors import APIError

    run = engine_run()
    container = None
    try:
        with telling(f"start a container of {name}"):
            container = run.client.containers.create(
                identity,
                ["--version"],
                entrypoint=["mysqld"],
                name=new_name(),
                labels=run.labels(),
                network_mode="none",
                ulimits=run.limits,
            )
            container.start()
            container.wait(timeout=_SECONDS)
            said: bytes = container.logs(stdout=True, stderr=True)
            return said.decode("utf-8", "replace")
    except ServerUnavailable as error:
        cause = error.__cause__
        if isinstance(cause, APIError) and "mysqld" in reason(cause) and "not found" in reason(cause):
            raise ServerUnavailable(f"the image {name} holds no MySQL server: no mysqld in it") from cause
        raise
    finally:
        if container is not None:
            with telling(f"remove {container.name}"):
                container.remove(force=True, v=True)
