"""The engine that container tests share; where none answers they are skipped and say how to get one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tests import engine as engines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import DockerClient


@pytest.fixture(scope="session")
def engine() -> Iterator[DockerClient]:
    """A client of the engine that answers."""
    import docker

    try:
        address = engines.answering()
    except engines.NoEngineError as error:
        pytest.skip(str(error))
    if address is None:
        pytest.skip("no container engine answers (python -m tests.engine starts one for a command, as root)")
    with contextlib.closing(docker.DockerClient(base_url=address, timeout=120)) as client:
        yield client


@pytest.fixture(scope="session")
def mysql_image(engine: DockerClient) -> str:
    """The home-made server image, if the engine has it."""
    return _image(engine, "mysql")


@pytest.fixture(scope="session")
def official_image(engine: DockerClient) -> str:
    """The same server behind an entry point as the official images have it, if the engine has it."""
    return _image(engine, "official")


@pytest.fixture(scope="session")
def clients_image(engine: DockerClient) -> str:
    """The image that docker/clients makes of the official one, if the engine has it."""
    return _image(engine, "clients")


def _image(engine: DockerClient, which: str) -> str:
    name = engines.IMAGES[which]
    if not engine.images.list(name=name):
        pytest.skip(f"the engine has no image {name} (python -m tests.engine --image {which} builds it for a command)")
    return name
