"""A server as worker processes see it: another process of the lab started it or was given it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.servers.base import Server

if TYPE_CHECKING:
    from typing import Self

    from conformance.servers.wire.connection import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """The facts a worker needs to use a server. They travel between processes, never into files: the password is among
    them.
    """

    id: str
    version: str
    number: tuple[int, int, int]
    started_by_us: bool
    files_readable: bool
    address: Address

    @classmethod
    def of(cls, server: Server) -> Self:
        return cls(
            id=server.id,
            version=server.version,
            number=server.number,
            started_by_us=server.started_by_us,
            files_readable=server.files_readable,
            address=server.address,
        )


class AttachedServer(Server):
    """A server for sessions and captures; its owner starts and stops it."""

    def __init__(self, attachment: Attachment) -> None:
        self.id = attachment.id
        self.version = attachment.version
        self.number = attachment.number
        self.started_by_us = attachment.started_by_us
        self.files_readable = attachment.files_readable
        self.address = attachment.address

    def alive(self) -> bool:
        """Always true: the owner watches the process."""
        return True

    def close(self) -> None:
        """Do nothing: the owner closes the server."""

    def describe(self) -> str:
        return f"MySQL {self.version} at {self.address}"
