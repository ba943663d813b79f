"""The facts that one client told a source: its database, its variables, and how it wants its dump."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.reference.binlog.header import Checksum

if TYPE_CHECKING:
    from conformance.servers.source.packets import Value

_NANO: Final = 1_000_000_000
_CHECKSUMS: Final = ("@source_binlog_checksum", "@master_binlog_checksum")
_PERIODS: Final = ("@source_heartbeat_period", "@master_heartbeat_period")


@dataclass(slots=True, kw_only=True)
class SessionState:
    """The settings of one client: session variables, and its ``own`` ones by name with ``@``."""

    number: int
    user: str
    database: str = ""
    variables: dict[str, Value] = field(default_factory=dict)
    own: dict[str, Value] = field(default_factory=dict)

    @property
    def checksum(self) -> int | None:
        """The checksum that the client said it reads; ``None`` if it said nothing."""
        for name in _CHECKSUMS:
            if (value := self.own.get(name)) is not None:
                return Checksum.CRC32 if str(value).upper() in ("CRC32", "1") else Checksum.NONE
        return None

    @property
    def period(self) -> float:
        """Seconds between heartbeats; 0 for none."""
        for name in _PERIODS:
            if (value := self.own.get(name)) is not None:
                try:
                    return max(0.0, float(str(value)) / _NANO)
                except ValueError:
                    return 0.0
        return 0.0
