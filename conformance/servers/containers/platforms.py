"""Platforms of images: which exist, which one the lab takes, and the refusal of one that does not run here.

The lab takes the platform that ``DOCKER_DEFAULT_PLATFORM`` names, as Docker's own programs do, else the engine's own.
An image for another platform runs only where the engine emulates it, so it has to be asked for by that variable. The
official images from 8.0 on exist for ``linux/amd64`` and ``linux/arm64``, that of 5.7 for ``linux/amd64`` only (their
documentation, "Supported architectures").
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from conformance.servers.containers.engine import telling
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docker import DockerClient

VARIABLE: Final = "DOCKER_DEFAULT_PLATFORM"
_SAME: Final = {"x86_64": "amd64", "aarch64": "arm64"}  # names of one architecture


def wanted(client: DockerClient) -> str:
    """The platform of the lab's containers: ``linux/amd64``. A variant behind it counts for nothing."""
    named = os.environ.get(VARIABLE)
    if named:
        return _plain(*named.split("/")[:2])
    with telling("say what it is"):
        version: Any = client.version()
    return _plain(version.get("Os") or "linux", version.get("Arch") or "")


def of_image(attributes: Mapping[str, Any]) -> str:
    """The platform of an image that the engine has."""
    return _plain(attributes.get("Os") or "linux", attributes.get("Architecture") or "")


def in_registry(client: DockerClient, name: str) -> list[str]:
    """The platforms for which a registry has an image; nothing where it does not say so."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        found = client.images.get_registry_data(name).attrs.get("Platforms") or []
    except (DockerException, RequestException):  # the pull will say what is wrong
        return []
    known = {_plain(each.get("os") or "", each.get("architecture") or "") for each in found}
    return sorted(each for each in known if "unknown" not in each)


def require(name: str, platform: str, exist: list[str]) -> None:
    """Raise :class:`ServerUnavailable` where an image does not exist for a platform; ``exist`` may be empty."""
    if not exist or platform in exist:
        return
    remedy = "name another image" if VARIABLE in os.environ else f"name another image, or set {VARIABLE}={exist[0]}"
    raise ServerUnavailable(
        f"there is no image {name} for {platform}: it exists for {', '.join(exist)}",
        remedy if VARIABLE in os.environ else f"{remedy} if the engine emulates that platform (it is slow then)",
    )


def _plain(system: str = "linux", architecture: str = "", *_: str) -> str:
    return f"{system.lower()}/{_SAME.get(architecture.lower(), architecture.lower())}"
