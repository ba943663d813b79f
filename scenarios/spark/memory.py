"""The peak memory of a run: the driver, its JVM and the Python workers, as far as they run on this machine.

Workers and executors of a local master are children of the driver's JVM, which is a child of this process or, under
``spark-submit``, its parent. On a cluster the sampler sees only the driver.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scenarios.costs import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY: Final = 1.0  # seconds between two samples


class Sampler:
    """Samples memory. ``peak``: the largest values so far; ``None`` if they cannot be measured (no psutil)."""

    def __init__(self) -> None:
        self.peak: Memory | None = None

    def sample(self) -> None:
        """Take one sample. Processes that end meanwhile count as nothing."""
        import psutil

        driver = psutil.Process()
        parent = driver.parent()
        roots = [parent] if parent is not None and _is_java(parent) else filter(_is_java, driver.children())
        jvms: list[int] = []
        workers: list[int] = []
        for root in roots:
            for process in (root, *root.children(recursive=True)):
                if process != driver and not _is_starting(process):
                    (jvms if _is_java(process) else workers).append(_resident(process))
        mine = _resident(driver)
        now = Memory(
            driver=mine,
            jvm=sum(jvms),
            worker=max(workers, default=0),
            workers=sum(workers),
            together=mine + sum(jvms) + sum(workers),
        )
        self.peak = now if self.peak is None else self.peak.or_more(now)


def _is_java(process: Any) -> bool:
    # By its program: a child that the JVM just made has the name of the thread that made it.
    with suppress(Exception):  # the process has ended
        return Path(process.exe()).name == "java"
    return False


def _is_starting(process: Any) -> bool:
    """Whether a JVM made this child and it runs no program of its own yet: its memory is that of the JVM."""
    with suppress(Exception):
        parent = process.parent()
        return _is_java(process) and parent is not None and process.cmdline() == parent.cmdline()
    return False


def _resident(process: Any) -> int:
    with suppress(Exception):
        return int(process.memory_info().rss)
    return 0


@contextmanager
def sampled() -> Iterator[Sampler]:
    """Sample as long as the body runs."""
    sampler = Sampler()
    if find_spec("psutil") is None:
        yield sampler
        return
    stop = threading.Event()

    def look() -> None:
        with suppress(Exception):  # a measurement ends no run
            while True:
                sampler.sample()
                if stop.wait(EVERY):
                    return

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        stop.set()
        thread.join(timeout=5)
