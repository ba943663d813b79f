"""The rules of explore for Hypothesis: a state machine that searches, and shrinks by itself.

    class Test(explore_machine(world).TestCase): ...

The second driver beside the stream of :mod:`conformance.explore.explorer`; needs the package ``hypothesis``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from conformance.explore.episode import Episode
from conformance.explore.rules.workload import Workload
from generators.strategies.draw import HypothesisDraw

if TYPE_CHECKING:
    from conformance.explore.oracles.problem import Problem
    from conformance.explore.world import World


def explore_machine(world: World) -> type[RuleBasedStateMachine]:
    """A state machine class over a world, as ``conformance.explore.topologies`` makes one. The caller closes the world.

    Each example has schemas of its own. A problem that an oracle sees is an :class:`AssertionError` with its text.
    """

    class ExploreMachine(RuleBasedStateMachine):
        """Tables first, then statements, and all oracles at the end."""

        def __init__(self) -> None:
            super().__init__()
            self._episode = Episode(world.begin())
            self._workload: Workload | None = None

        @initialize(data=st.data())
        def tables(self, data: Any) -> None:
            """Make the tables and their first rows."""
            self._workload = Workload(HypothesisDraw(data.draw))
            for step in self._workload.setup():
                self._run(step)

        @rule(data=st.data())
        def statement(self, data: Any) -> None:
            """Run one more statement."""
            assert self._workload is not None
            self._workload.draw_from(HypothesisDraw(data.draw))
            if self._workload.tables:
                self._run(self._workload.next())

        def _run(self, step: Any) -> None:
            assert self._workload is not None
            error, problems = self._episode.step(step)
            self._workload.told(step, error)
            _assert_none(problems)

        def teardown(self) -> None:
            """Ask every oracle, and drop the schemas."""
            try:
                if self._workload is not None:
                    for step in self._workload.end():
                        _assert_none(self._episode.step(step)[1])
                    _assert_none(self._episode.look(last=True))
            finally:
                self._episode.close()

    return ExploreMachine


def _assert_none(problems: list[Problem]) -> None:
    assert not problems, "\n".join(f"{each.oracle}: {each.kind}: {each.detail}" for each in problems)
