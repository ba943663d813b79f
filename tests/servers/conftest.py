"""What tests of servers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.connection import Connection
    from conformance.servers.process import ProcessServer


@pytest.fixture
def session(server: ProcessServer) -> Iterator[Connection]:
    """A session in a schema of its own."""
    with server.connect() as connection, server.schema(connection):
        yield connection
