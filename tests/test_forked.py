"""Child processes of a command: order, what they print and raise, and that none outlives its command."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from multiprocessing import active_children
from typing import TYPE_CHECKING, NoReturn

import pytest

from conformance.console import narrate
from conformance.forked import ChildLostError, Children, forget_printed, in_order
from conformance.user_errors import InputCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def shout(number: int) -> int:
    print("dropped")  # noqa: T201 - a child prints
    forget_printed()
    sys.stdout.buffer.write(b"%d\xff" % number)
    narrate(f"\udcff {number}")
    return number * number


def raises(error: Exception) -> NoReturn:
    raise error


class Closed(Exception):
    """An error that cannot be sent."""

    def __reduce__(self) -> NoReturn:
        raise TypeError


def test_children_come_in_order_with_what_they_print() -> None:
    begun = []

    def works() -> Iterator[Callable[[], int]]:
        for number in range(7):
            begun.append(number)
            yield partial(shout, number)

    with Children(2) as children:
        for place, child in enumerate(in_order(children, works(), ahead=3)):
            assert child.take() == place * place
            assert b"".join(child.printed()) == b"%d\xff" % place
            assert "".join(child.told()) == f"\udcff {place}\n"
            assert len(begun) <= place + 4
    assert begun == list(range(7))
    assert active_children() == []


def test_the_command_raises_what_a_child_raises() -> None:
    errors = [InputCorrupt("damaged", hint="look"), FileNotFoundError(2, "gone", "name"), Closed("words")]
    with Children(1) as children:
        found = list(in_order(children, iter([partial(raises, error) for error in errors[:1]]), ahead=1))
        with pytest.raises(InputCorrupt, match="damaged") as caught:
            found[0].take()
        assert caught.value.hint == "look"
        for error, kind, words in ((errors[1], FileNotFoundError, "gone"), (errors[2], RuntimeError, "Closed: words")):
            child = children.start(partial(raises, error))
            children.wait()
            with pytest.raises(kind, match=words):
                child.take()


def test_a_child_that_something_ends_is_an_error_with_its_reason() -> None:
    for end, words in ((lambda: os.kill(os.getpid(), 9), "SIGKILL"), (lambda: os._exit(7), "exit code 7")):
        with Children(1) as children:
            children.start(end)
            with pytest.raises(ChildLostError, match=words):
                children.wait()


def test_no_child_outlives_its_command() -> None:
    def leave() -> None:
        with Children(2) as children:
            children.start(partial(time.sleep, 600))
            children.start(partial(time.sleep, 600))
            assert not children.free
            assert len(active_children()) == 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert active_children() == []
