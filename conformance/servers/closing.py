"""Objects that a ``with`` block closes at its end, and work that no signal breaks off."""

from __future__ import annotations

import signal
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator


class Closing(ABC):
    """A context manager that closes itself."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def interrupts_held(*signals: signal.Signals) -> Iterator[None]:
    """Let these signals come after this; of none, Ctrl-C and SIGTERM."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals or (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
