"""The fixture that tests of servers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection


@pytest.fixture
def session(server: ProcessServer) -> Iterator[Connection]:
    """A session in a schema of its own."""
    with server.connect() as connection, server.schema(connection):
        yield connection
