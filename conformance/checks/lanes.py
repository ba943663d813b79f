"""The assignment of checks to workers, when the checks of a run go side by side on servers of their own.

The unit is a module of checks: its fixtures and its order stay as they are. Experiments that use the same further
server (a replica, an applier fed by hand) share a lane, which their manifests name. One worker takes the lane, so that
such a server starts once. All other experiments go to whoever is free, first what takes longest, so that the workers
end together. When none is left, a worker with nothing to do helps with the longest lane: another start of such a
server takes less time than an idle core loses.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from conformance.harness.experiments.manifests import Experiment, experiments

if TYPE_CHECKING:
    from collections.abc import Iterable


class Lanes:
    """The modules of a run, given out to workers that are numbered from 0. ``rooms``: the room of each module."""

    def __init__(self, rooms: Iterable[tuple[str, str]]) -> None:
        known = experiments()
        lanes: defaultdict[str, deque[str]] = defaultdict(deque)
        free: list[tuple[int, str]] = []
        for module, room in rooms:
            experiment = known.get(room) or Experiment(room=room, checks={})
            if experiment.lane:
                lanes[experiment.lane].append(module)
            else:
                free.append((experiment.seconds, module))
        # Those that nobody has begun, the longest first.
        self._lanes = deque(sorted(lanes.values(), key=len, reverse=True))
        self._own: dict[int, deque[str]] = {}
        self._free = deque(module for _, module in sorted(free, key=lambda entry: -entry[0]))

    def workers(self, most: int) -> int:
        """The number of workers that have something to do."""
        return min(most, len(self._lanes) + len(self._free))

    def take(self, worker: int) -> str | None:
        """The next module for this worker: of its own lane, of a lane that nobody has, one for whoever is free, and at
        last the end of another worker's lane."""
        own = self._own.get(worker)
        if not own and self._lanes:
            own = self._own[worker] = self._lanes.popleft()
        modules = own or self._free
        if modules:
            return modules.popleft()
        longest = max(self._own.values(), key=len, default=())
        return longest.pop() if longest else None
