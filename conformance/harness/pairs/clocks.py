"""The clocks of the servers of a pair or chain, over one block: a replica's log has the times of several of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.judge.updates.server_clock import step_between
from conformance.servers.wire.log_facts import read_clock

if TYPE_CHECKING:
    from conformance.servers.wire.connection import Connection


class ClockWatch:
    """The clocks of some servers from now on."""

    def __init__(self, *sessions: Connection) -> None:
        self._begun = [(session, read_clock(session)) for session in sessions]

    def step(self) -> int:
        """By how many microseconds a clock was set meanwhile, the farthest of them; 0: all ran on."""
        steps = []
        for session, first in self._begun:
            last = read_clock(session)
            steps.append(step_between((first.clock, last.clock), last.elapsed(first)))
        return max(steps, key=abs)
