"""The progress that a user sees while a job runs: scenarios done, and their rate."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from scenarios.spark.session import is_connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVERY: Final = 5.0  # seconds between two lines


class Watch:
    """Counts scenarios over the groups of a run; within a group by its finished tasks, which take about as long."""

    def __init__(self, spark: Any, total: int, done: int, narrate: Callable[[str], None]) -> None:
        self.spark = spark
        self.total = total
        self.done = done
        self.narrate = narrate
        self.begun = time.monotonic()
        self.first = done
        self._said = 0.0
        self._shown = -1

    @contextmanager
    def group(self, scenarios: int) -> Iterator[None]:
        """Print progress lines while the body runs."""
        connect = is_connect(self.spark)
        stop = threading.Event()
        thread = threading.Thread(target=self._poll, args=(stop, scenarios), daemon=True)
        if connect:

            def progressed(stages: Any = (), **_: object) -> None:
                self._progress(
                    sum(stage.num_completed_tasks for stage in stages),
                    sum(stage.num_tasks for stage in stages),
                    scenarios,
                )

            self.spark.registerProgressHandler(progressed)
        else:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            if connect:
                self.spark.clearProgressHandlers()
            else:
                thread.join(timeout=5)
        self.done += scenarios

    def _poll(self, stop: threading.Event, scenarios: int) -> None:
        with suppress(Exception):  # the session ends during the question
            tracker = self.spark.sparkContext.statusTracker()
            while not stop.wait(0.5):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                found = [stage for stage in stages if stage is not None]
                self._progress(
                    sum(stage.numCompletedTasks for stage in found), sum(stage.numTasks for stage in found), scenarios
                )

    def _progress(self, completed: int, tasks: int, scenarios: int) -> None:
        now = time.monotonic()
        if not tasks or now - self._said < EVERY:
            return
        self._said = now
        done = self.done + scenarios * completed // tasks
        if done == self._shown:
            return
        self._shown = done
        seconds = now - self.begun
        rate = (done - self.first) / seconds
        pace = f", {rate:,.0f}/s, about {(self.total - done) / rate:.0f} s left" if rate > 0 else ""
        self.narrate(f"  {done:,} of {self.total:,} scenarios{pace}")
