"""LOB11, LOB21, LOB31 at crashes: SIGKILL at a random moment inside transactions of partial updates."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from conformance.checks.lob_crashes.judge import ROLLED_BACK, judge
from conformance.checks.lob_crashes.run import OPTIONS, Victim
from conformance.judge.problem import Problem
from conformance.servers.errors import ServerDied, StartFailed
from conformance.servers.run.process import death_reason
from conformance.servers.settings.listed import beside

if TYPE_CHECKING:
    from conformance.checks.lob_crashes.judge import Crash
    from conformance.harness.check import Check


@pytest.mark.check("kills")
def test_large_objects_survive_a_crash(check: Check) -> None:
    """Every kill leaves readable or refused files; recovery gives every document as the log has it."""
    server = check.needs_own_server(
        "a server: one like it is killed", "needs a server that the lab starts: it is killed"
    )
    launch = partial(server.maker.launch, options={**beside(server.options), **OPTIONS}, narrate=check.narrate)
    total = check.size()
    told = Tally()
    with Victim(launch, check.seed) as victim:
        for number in check.blocks():
            try:
                crash = victim.kill(number)
            except (StartFailed, ServerDied) as error:
                check.part(ROLLED_BACK, ROLLED_BACK).record(number, [never_back(error)], cases=1)
                break
            record(check, number, crash)
            told.add(crash)
            check.progress(number + 1, total, "kills")
    check.narrate(f"lob crashes: {told}")


def record(check: Check, number: int, crash: Crash) -> None:
    """One block for each requirement."""
    for name, problems in judge(crash).items():
        check.part(name, name).record(number, problems, cases=crash.cases[name])


def never_back(error: StartFailed | ServerDied) -> Problem:
    """The server did not start again, or died while it rolled back what it found open."""
    reason = death_reason(str(error)) or str(error).splitlines()[0]
    return Problem("server", "it recovers", reason, "the server does not come back after a kill")


class Tally:
    """The figures of all kills in words."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._moments: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()

    def add(self, crash: Crash) -> None:
        """Count a kill."""
        before = crash.before
        self._counts += Counter({
            "kills": 1, "open": crash.open, "committed": crash.committed, "statements": crash.statements,
            "documents": len(crash.log), "rows": sum(each.equal for each in crash.files), "undone": len(crash.undone),
            "files": before.files, "refused": before.refused_files, "read": before.documents,
        })  # fmt: skip
        self._moments += crash.moments
        self._refusals += before.refusals

    def __str__(self) -> str:
        of = self._counts
        moments = ", ".join(f"{count} {moment}" for moment, count in self._moments.most_common())
        refusals = ", ".join(f"{code} {count}" for code, count in self._refusals.most_common()) or "none"
        return (
            f"{of['kills']} kills, sessions {moments}; {of['statements']:,} statements,"
            f" {of['committed']:,} transactions committed, {of['open']:,} open at a kill;"
            f" after recovery {of['documents']:,} documents compared by SELECT"
            f" ({of['undone']:,} of them last changed by an unfinished transaction),"
            f" {of['rows']:,} rows equal in the files; before recovery {of['files']:,} files and"
            f" {of['read']:,} documents read, {of['refused']} files refused; refusals: {refusals}"
        )
