"""Work on a session that Ctrl-C ends cleanly.

A signal reaches the main thread at any point. In the middle of a message to the JVM it breaks the connection, and the
jobs there go on. So another thread does the work, and the main thread waits, with a connection of its own.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scenarios.spark.session import is_connect

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
PATIENCE: Final = 30.0  # seconds in which the work must end after it was cancelled
PAUSE: Final = 0.5


def interruptible(spark: Any, work: Callable[[], T]) -> T:
    """The result of ``work``, or its exception; a KeyboardInterrupt meanwhile cancels the running jobs."""
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
            cancel(spark)  # cancel again, as the next job may have begun
            if ended.wait(PAUSE):
                break
        raise
    if raised:
        raise raised[0]
    return answer[0]


def cancel(spark: Any) -> None:
    """End the running jobs of a session."""
    with suppress(Exception):
        if is_connect(spark):
            spark.interruptAll()
        else:
            spark.sparkContext.cancelAllJobs()
