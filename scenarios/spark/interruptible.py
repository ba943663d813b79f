"""Work on a session that Ctrl-C ends cleanly.

A signal reaches the main thread wherever it is; in the middle of a message to the JVM it breaks the connection, and
what runs there goes on. So the work is done by another thread, and the main one waits, with a connection of its own.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scenarios.spark.session import is_connect

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
PATIENCE: Final = 30.0  # seconds for the work to end after it was cancelled
PAUSE: Final = 0.5


def interruptible(spark: Any, work: Callable[[], T]) -> T:
    """The answer of ``work``, or what it raised; a KeyboardInterrupt meanwhile cancels the jobs that run."""
    answer: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            raised.append(error)
        finally:
            ended.set()

    # Not Thread.join(): interrupted, it takes a thread that runs for one that has ended (observed on Python 3.11).
    ended = threading.Event()
    try:
        threading.Thread(target=run, name="binlog-lab run", daemon=True).start()
        while not ended.wait(PAUSE):
            pass
    except KeyboardInterrupt:
        for _ in range(int(PATIENCE / PAUSE)):
            _cancel(spark)  # again, as the next job may have begun
            if ended.wait(PAUSE):
                break
        raise
    if raised:
        raise raised[0]
    return answer[0]


def _cancel(spark: Any) -> None:
    with suppress(Exception):
        if is_connect(spark):
            spark.interruptAll()
        else:
            spark.sparkContext.cancelAllJobs()
