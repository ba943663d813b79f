"""A run as the user asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.harness.profiles import PROFILES
from conformance.requirements.versions import OBSERVED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """A run as the user asked for it."""

    server: str = "auto"
    recorded: str = OBSERVED  # the version whose recordings are judged, where there is no server
    subject: str = ""  # a subject's spec: the run is about it, and starts no server
    replica: str = ""  # a server spec; empty: as the source
    updates: int = PROFILES["quick"]
    profile: str = "quick"  # of PROFILES
    requirements: frozenset[str] = frozenset()  # those asked for; empty: all
    seed: str = "1"
    deviations: bool = True
    deviations_file: Path | None = None
    server_options: tuple[tuple[str, str | None], ...] = ()
    wrapper: str = ""
    allow: frozenset[str] = frozenset()
    keep: bool = False
    record: Path | None = None  # where the run's recording goes
    column: str = ""  # the subject's name in a matrix of several servers; empty: the server's own
    cases: Path | None = None  # where failing Cases are stored
    replay: str = "binlog-lab replay"  # with the options that a stored Case needs
    campaign: Callable[..., Any] | None = None  # makes the update campaign from a server, where it is not the local one

    @property
    def small(self) -> bool:
        """Whether the data of its servers fit into memory: 2 GB in all, observed in the profile ``quick``."""
        return self.profile == "quick" and self.updates <= PROFILES["quick"] and not self.keep
