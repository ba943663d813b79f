"""A check as its function gets it: the session, the size of its profile, its blocks, and the ways to end.

A check never raises a failure itself: the failures that its blocks recorded fail it once, at its end
(:func:`concluding`).
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NoReturn

import pytest

from conformance.harness.profiles import SIZES
from conformance.harness.recorder import Recorder
from conformance.servers.errors import ProgramUnusable, ServerUnavailable
from conformance.servers.program_identity import own_program
from conformance.servers.run.owned import OwnServer
from conformance.stream import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.update_case import Hazard
    from conformance.servers.base import Server
    from conformance.servers.programs import Program
    from conformance.servers.roles.applier import Applier
    from conformance.servers.run.owned import Maker

GUEST: Final = "needs a server that the lab started itself: global values are changed, accounts made, or it restarts"


class LeftOut(Exception):
    """The rest of a check is not applicable; the reason is recorded."""


class Check(Recorder):
    """One check while it runs: the recorder of its results, and its requests to the harness."""

    # --- the run -------------------------------------------------------------------------------------------------

    @property
    def seed(self) -> str:
        return self.lab.settings.seed

    @property
    def quick(self) -> bool:
        """Whether this is the smallest profile."""
        return self.lab.settings.profile == "quick"

    def size(self, name: str = "") -> int:
        """How much the check does in this profile, by its manifest. ``name``: the name of one of several sizes."""
        return SIZES[f"{self.id}/{name}" if name else self.id][self.lab.settings.profile]

    def blocks(self, name: str = "") -> range:
        """The numbers of the blocks of this profile."""
        return range(self.size(name))

    def narrate(self, text: str) -> None:
        """Print a message for the user while the check runs."""
        self.lab.narrate(text)

    def progress(self, done: int, total: int, unit: str, *, label: str = "", note: str = "") -> None:
        """Report how far the check is."""
        self.lab.sink(Progress(label=label or self.id, done=done, total=total, unit=unit, note=note))

    # --- the ways to end -----------------------------------------------------------------------------------------

    def leave_out(self, reason: str, *requirements: str) -> NoReturn:
        """End the check here: recorded as not applicable under the check's own id."""
        self.not_applicable(reason, *requirements)
        raise LeftOut(reason)

    def skip(self, reason: str) -> NoReturn:
        """End the check here: pytest's skip, which the plugin records as not applicable under the item's name."""
        pytest.skip(reason)

    def fail(self, reason: str) -> None:
        """Fail at the end for a failure without a block of its own."""
        self.failures.add(reason)

    def conclude(self) -> None:
        """Raise the one failure of the check, if something failed."""
        if self.failures.count:
            pytest.fail(str(self.failures), pytrace=False)

    # --- what a check needs --------------------------------------------------------------------------------------

    def needs_server(self, what: str) -> Server:
        """The server under test; skips without one: ``needs WHAT``."""
        if self.lab.server is None:
            self.skip(f"needs {what}")
        return self.lab.server

    def needs_own_server(self, what: str, reason: str = GUEST) -> OwnServer:
        """The server under test where the lab set it up, so that others of the same installation can start."""
        server = self.needs_server(what)
        if not isinstance(server, OwnServer):
            self.leave_out(reason)
        return server

    def needs_started_server(self, what: str, reason: str = GUEST) -> Server:
        """The server under test where the lab started it."""
        server = self.needs_server(what)
        if not server.started_by_us:
            self.leave_out(reason)
        return server

    def needs_applier(self) -> Applier:
        """The server whose applier takes relay logs written by hand."""
        self.needs_server("a server: its applier is fed with a relay log")
        applier = self.lab.applier()
        if applier is None:
            self.leave_out(
                "needs a server that the lab starts beside the one under test: it reads a relay log made by hand"
            )
        return applier

    def needs_leave(self, hazard: Hazard, what: str) -> None:
        """Go on only where the server may meet this hazard. ``what``: the harm it may do there."""
        server = self.lab.server
        if server is not None and str(hazard) not in server.hazards():
            self.leave_out(f"needs leave, --allow {hazard}: it {what}")

    def needs_programs(self, *names: str, server: Server | None = None) -> Program:
        """The server's own client program, the first of ``names``; skips where the server brings none.

        Raises :class:`ProgramUnusable` where one is not what it ought to be: the check could not run then.
        """
        server = server or self.lab.server
        assert server is not None
        try:
            program, *_ = [own_program(server, name) for name in names]
        except ProgramUnusable:
            raise
        except ServerUnavailable as error:
            what = names[0] if len(names) == 1 else "client programs"
            self.skip(f"needs the server's own {what}: {error}")
        return program

    def needs_old_server(self) -> Maker:
        """The maker of servers from before the feature; skips without one, or without a server under test."""
        self.needs_server("a server under test and an old one beside it")
        try:
            return self.lab.old_maker()
        except ServerUnavailable as error:
            self.skip(str(error))


@contextmanager
def concluding(check: Check) -> Iterator[None]:
    """Run a check function: it may leave the rest out, and fails at its end for the failures that its blocks
    recorded."""
    with suppress(LeftOut):
        yield
    check.conclude()
