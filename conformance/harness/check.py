"""What a check function is given: the session, the size of its profile, its blocks, and the ways to end.

A check never raises a failure itself: what its blocks recorded fails it once, at its end (:func:`concluding`).
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

from conformance.harness.profiles import SIZES
from conformance.harness.recorder import BlockRecord, Failures
from conformance.servers.errors import ServerUnavailable
from conformance.servers.roles import old_server
from conformance.servers.run.owned import OwnServer
from conformance.stream import Progress, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.cases.update_case import Hazard, UpdateCase
    from conformance.harness.session import Lab
    from conformance.judge.problem import Problem
    from conformance.requirements.versions import Version
    from conformance.servers.base import Server
    from conformance.servers.install.installation import Installation
    from conformance.servers.roles.applier import Applier
    from conformance.stream import AnyRecord

GUEST: Final = "changes global values, makes accounts or restarts: only on a server that the lab started itself"


class LeftOut(Exception):
    """The rest of a check is not applicable; the reason is recorded."""


class Check:
    """One check while it runs: its id and requirements, and what it may ask of the harness."""

    def __init__(
        self, lab: Lab, name: str, requirements: Iterable[str] = (), *, failures: Failures | None = None
    ) -> None:
        self.lab = lab
        self.id = name
        self.requirements = tuple(requirements)
        self.failures = Failures() if failures is None else failures

    # --- the run -------------------------------------------------------------------------------------------------

    @property
    def subject(self) -> str:
        """The server under test, by its name in the stream."""
        return self.lab.subject

    @property
    def seed(self) -> str:
        return self.lab.settings.seed

    @property
    def quick(self) -> bool:
        """Whether this is the smallest profile."""
        return self.lab.settings.profile == "quick"

    def size(self, name: str = "") -> int:
        """How much to do in this profile: the entry of ``profiles.toml`` under the check's id (and ``name``)."""
        return SIZES[f"{self.id}/{name}" if name else self.id][self.lab.settings.profile]

    def blocks(self, name: str = "") -> range:
        """The numbers of the blocks of this profile."""
        return range(self.size(name))

    def named(self, name: str, *requirements: str) -> Check:
        """A check with another id whose failures are this one's. Without ``requirements``: those of this one."""
        return Check(self.lab, name, requirements or self.requirements, failures=self.failures)

    def part(self, name: str, *requirements: str) -> Check:
        """A check with this one's id and a name behind it."""
        return self.named(f"{self.id}/{name}", *requirements)

    def narrate(self, text: str) -> None:
        """Say something to the user while the check runs."""
        self.lab.narrate(text)

    def progress(self, done: int, total: int, unit: str, *, label: str = "", note: str = "") -> None:
        """Say how far the check is."""
        self.lab.sink(Progress(label=label or self.id, done=done, total=total, unit=unit, note=note))

    # --- records -------------------------------------------------------------------------------------------------

    def block(
        self,
        number: int = 0,
        *,
        cases: int | None = 0,
        requirement: str = "",
        requirements: Sequence[str] = (),
        verdict: Verdict = Verdict.FAIL,
        version: Version | None = None,
        case: UpdateCase | None = None,
        replay: str | None = None,
        replays: bool = False,
        seconds: float | None = None,
        **figures: Any,
    ) -> BlockRecord:
        """A block of cases as a context; see :class:`BlockRecord`. ``cases`` can be set inside as well."""
        return BlockRecord(
            check=self,
            requirements=(requirement,) if requirement else tuple(requirements) or self.requirements,
            number=number,
            cases=cases,
            verdict=verdict,
            version=version,
            case=case,
            replay=replay,
            replays=replays,
            seconds=seconds,
            figures=figures,
        )

    def record(self, number: int = 0, problems: Iterable[Problem] = (), **options: Any) -> None:
        """A block that was judged already: :meth:`block` with its problems, all at once."""
        with self.block(number, **options) as block:
            block.differs(*problems)

    def write(self, record: AnyRecord) -> None:
        """Give a record to the stream."""
        self.lab.sink(record)

    def not_applicable(self, reason: str, *requirements: str) -> None:
        """Record that the subject's own features exclude this check, or these of its requirements."""
        for requirement in requirements or self.requirements:
            with self.block(cases=1, requirement=requirement, seconds=0.0) as block:
                block.count(Verdict.NOT_APPLICABLE)
                block.show(Verdict.NOT_APPLICABLE, case=self.id, message=reason)

    def not_run(self, reason: str) -> None:
        """Record that the check was selected and has no result."""
        with self.block(cases=1, seconds=0.0) as block:
            block.count(Verdict.NOT_RUN)
            for requirement in self.requirements:
                block.show(Verdict.NOT_RUN, case=self.id, requirement=requirement, message=reason)

    # --- the ways to end -----------------------------------------------------------------------------------------

    def leave_out(self, reason: str, *requirements: str) -> NoReturn:
        """End here: recorded as not applicable under the check's own id."""
        self.not_applicable(reason, *requirements)
        raise LeftOut(reason)

    def skip(self, reason: str) -> NoReturn:
        """End here: pytest's skip, which the plugin records as not applicable under the item's name."""
        pytest.skip(reason)

    def fail(self, reason: str) -> None:
        """Fail at the end for what has no block of its own."""
        self.failures.add(reason)

    def conclude(self) -> None:
        """The one failure of the check, if something failed."""
        if self.failures.count:
            pytest.fail(str(self.failures), pytrace=False)

    # --- what a check needs --------------------------------------------------------------------------------------

    def needs_server(self, what: str) -> Server:
        """The server under test; skips without one: ``needs WHAT``."""
        if self.lab.server is None:
            self.skip(f"needs {what}")
        return self.lab.server

    def needs_own_server(self, what: str, reason: str = GUEST) -> OwnServer:
        """The server under test where the lab made it, so that others can be made of the same installation."""
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
        """The server whose applier gets relay logs written by hand."""
        self.needs_server("a server: its applier is fed with a relay log")
        applier = self.lab.applier()
        if applier is None:
            self.leave_out("a relay log is written only for a server that the lab starts beside the one under test")
        return applier

    def needs_leave(self, hazard: Hazard, what: str) -> None:
        """Go on only where the server may meet this hazard. ``what`` it may do there."""
        server = self.lab.server
        if server is not None and str(hazard) not in server.hazards():
            self.leave_out(f"{what}: give leave with --allow {hazard}")

    def needs_programs(self, *names: str, server: Server | None = None) -> list[str]:
        """The command of the server's own client program, the first of ``names``; skips where one is missing."""
        server = server or self.lab.server
        assert server is not None
        try:
            program, *_ = [server.program(name) for name in names]
        except ServerUnavailable as error:
            what = names[0] if len(names) == 1 else "client programs"
            self.skip(f"needs the server's own {what}: {error}")
        return program

    def needs_old_server(self) -> Installation:
        """The installation of a server from before the feature; skips without one, or without a server under test."""
        self.needs_server("a server under test and an old one beside it")
        try:
            return old_server.old_installation()
        except ServerUnavailable as error:
            self.skip(str(error))


def marks_of(item: pytest.Item) -> tuple[str, tuple[str, ...]]:
    """The id and the requirements that an item is marked with: ``check(id, *requirements)``."""
    marks = list(item.iter_markers("check"))
    return (marks[0].args[0] if marks else ""), tuple(name for mark in marks for name in mark.args[1:])


@contextmanager
def concluding(check: Check) -> Iterator[None]:
    """Around a check function: it may leave the rest out, and fails at its end for what its blocks recorded."""
    with suppress(LeftOut):
        yield
    check.conclude()
