"""System variables of a server that a check changes and puts back."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.servers.base import Server


@contextmanager
def global_variable(server: Server, name: str, value: str) -> Iterator[None]:
    """Set the variable to this value until the end of the context."""
    with server.connect() as connection:
        before = connection.variable(f"global.{name}")
        connection.execute(f"SET GLOBAL {name} = '{value}'")
        try:
            yield
        finally:
            connection.execute(f"SET GLOBAL {name} = '{before}'")
