"""Ctrl-C, SIGTERM and SIGHUP end a command by an exception, and none of them is lost on its way.

Python drops an exception that comes while an object is destroyed. One that comes while a lock is taken again can hide
behind another one: ``RuntimeError: cannot release un-acquired lock`` (``threading.Condition.wait``, CPython 3.11).
A command that ends well by Ctrl-C takes it where it waits alone, so that no line is cut (:func:`held`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_MOMENT: Final = 0.05  # seconds
_came: list[KeyboardInterrupt] = []
_held: list[KeyboardInterrupt | None] = []  # the Ctrl-C that waits, in as many :func:`held` as are open


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, raised like Ctrl-C so that every server is stopped on the way out."""


def interrupted() -> KeyboardInterrupt | None:
    """The last interrupt of this process, whatever became of its exception."""
    return _came[-1] if _came else None


def handle_interrupts() -> None:
    """Turn the signals into exceptions that :func:`interrupted` remembers. An ignored Ctrl-C stays ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _again


@contextmanager
def held() -> Iterator[None]:
    """Let a Ctrl-C wait until :func:`let_through`, or until the end. A second one does not wait, nor another signal."""
    _held.append(None)
    try:
        yield
    finally:
        waiting = _held.pop()
    if waiting is not None:
        raise waiting


@contextmanager
def let_through() -> Iterator[None]:
    """Within :func:`held`: raise the Ctrl-C that waits, and each that comes."""
    outer, _held[:] = _held[:], []
    try:
        if outer and (waiting := outer[-1]) is not None:
            outer[-1] = None
            raise waiting
        yield
    finally:
        _held[:] = outer


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _came.append(KeyboardInterrupt() if number == signal.SIGINT else Terminated(signal.Signals(number).name))
    if number == signal.SIGINT and _held and _held[-1] is None:
        _held[-1] = _came[-1]
    else:
        raise _came[-1]


def _again(unraisable: sys.UnraisableHookArgs) -> None:
    """Interrupt again where Python would drop an interrupt.

    From another thread and a moment later, because an exception of this hook would be dropped as well.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        number = signal.SIGTERM if issubclass(unraisable.exc_type, Terminated) else signal.SIGINT
        again = threading.Timer(_MOMENT, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)
