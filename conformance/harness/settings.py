"""A run as the user asked for it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.harness.profiles import PROFILES
from conformance.requirements.versions import OBSERVED
from conformance.subjects.specs import shown

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

    def again(self, requirement: str) -> str:
        """The command that judges a requirement once more as this run does, on values that the seed alone decides.

        Its report has a directory of its own: the one of this run stays.
        """
        words = ["binlog-lab", "conformance", "-r", requirement, "--profile", self.profile, "--seed", self.seed]
        words += [] if self.updates == PROFILES[self.profile] else ["--updates", str(self.updates)]
        words += ["--subject", shown(self.subject)] if self.subject else shlex.split(self.replay)[2:]
        words += [] if self.deviations or "--no-deviations" in words else ["--no-deviations"]
        return shlex.join([*words, "--report", f"again-{requirement}"])

    @property
    def small(self) -> bool:
        """Whether the data of its servers fit into memory: 2 GB in all, observed in the profile ``quick``."""
        return self.profile == "quick" and self.updates <= PROFILES["quick"] and not self.keep
