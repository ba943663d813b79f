"""Ctrl-C, SIGTERM and SIGHUP end a command by an exception, and none of them is lost on its way.

Python drops an exception that comes while an object is destroyed. One that comes while a lock is taken again can hide
behind another one: ``RuntimeError: cannot release un-acquired lock`` (``threading.Condition.wait``, CPython 3.11).
A command that ends well by Ctrl-C takes it where it waits alone, so that no line is cut (:func:`held`).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_MOMENT: Final = 0.05  # seconds
_came: list[KeyboardInterrupt] = []


class _Hold:
    """An open :func:`held`: the Ctrl-C that waits, and whether it lets one through now."""

    def __init__(self) -> None:
        self.waiting: KeyboardInterrupt | None = None
        self.is_open = False


_holds: Final[list[_Hold]] = []  # the innermost last


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
    hold = _Hold()
    _holds.append(hold)
    try:
        yield
    finally:
        _holds.remove(hold)
    if hold.waiting is not None:
        raise hold.waiting


@contextmanager
def let_through() -> Iterator[None]:
    """Within :func:`held`: raise the Ctrl-C that waits, and each that comes.

    One may come at each step of this function too, so its only state is one that the handler itself puts back.
    """
    hold = _holds[-1] if _holds else _Hold()
    hold.is_open = True
    try:
        if (waiting := hold.waiting) is not None:
            hold.waiting = None
            raise waiting
        yield
    finally:
        hold.is_open = False


def _interrupt(number: int, _frame: FrameType | None) -> None:
    came = KeyboardInterrupt() if number == signal.SIGINT else Terminated(signal.Signals(number).name)
    _came.append(came)
    hold = _holds[-1] if _holds else None
    if number == signal.SIGINT and hold is not None and not hold.is_open and hold.waiting is None:
        hold.waiting = came
        return
    if hold is not None:
        hold.is_open = False
    raise came


def _again(unraisable: sys.UnraisableHookArgs) -> None:
    """Interrupt again where Python would drop an interrupt.

    From another thread and a moment later, because an exception of this hook would be dropped as well.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        import threading

        number = signal.SIGTERM if issubclass(unraisable.exc_type, Terminated) else signal.SIGINT
        again = threading.Timer(_MOMENT, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)
