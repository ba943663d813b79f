"""Servers for the tests marked ``live``: one installation, one shared server; a test that cannot have one says why."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from conformance.servers.auto import find_installation
from conformance.servers.errors import ServerUnavailable
from conformance.servers.process import ProcessServer, launch
from conformance.servers.specs import parse_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.installation import Installation


@pytest.fixture(scope="session")
def installation() -> Installation:
    """MySQL as ``--server process`` would find it (fetched at the first use)."""
    try:
        return find_installation(parse_spec("process"), narrate=lambda text: print(text, file=sys.stderr))  # noqa: T201
    except ServerUnavailable as error:
        pytest.skip(f"no MySQL server here: {error.missing}")


@pytest.fixture(scope="session")
def server(installation: Installation) -> Iterator[ProcessServer]:
    """A running server that tests share and leave as they found it."""
    with launch(installation) as running:
        yield running
