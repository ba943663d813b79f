"""A client that dies at the event that it should refuse has not refused it (requirements TP3)."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.checks.boundaries.broken_streams import RowFormatRun, run_row_format
from conformance.servers.child_process import Ended


class Client:
    """Ends as it is told, behind the event at 126."""

    def __init__(self, status: int | None) -> None:
        self.status = status

    def run(self, *_: object, **__: object) -> Ended:
        return Ended(self.status, b"# at 4\n# at 126\n", b"words", 0)


class Placed:
    def __init__(self, position: int) -> None:
        self.position, self.data = position, bytes(19)


STREAM: Any = [Placed(position) for position in (4, 126, 157)]


def ran(status: int | None) -> RowFormatRun:
    client: Any = Client(status)
    return run_row_format(client, b"", STREAM)


def test_a_refusal_and_a_whole_file() -> None:
    assert ran(0) == RowFormatRun(None, "words")
    assert ran(1) == RowFormatRun(157, "words")


@pytest.mark.planted("TP3")
@pytest.mark.parametrize("status", [-11, -6, 2, 127, None])
def test_a_death_is_no_refusal(status: int | None) -> None:
    found = ran(status)
    assert (found.died, found.refused) == (True, None)
    assert found.words == f"status {status}: words"
