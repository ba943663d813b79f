"""Filters on logs that a real server writes now: the comparison in short, and that it sees what is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.run.process import launch
from tests.reference.text.live_filters import compare, write_logs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def logs(installation: Installation) -> Iterator[tuple[list[str], list[Path], str]]:
    """The program, five logs, and the UUID of their server."""
    with launch(installation) as server, server.connect() as connection:
        yield server.program("mysqlbinlog"), write_logs(connection), str(connection.variable("server_uuid"))


def test_each_filter_does_what_it_does_in_mysqlbinlog(logs: tuple[list[str], list[Path], str]) -> None:
    program, paths, source = logs
    result = compare(program, paths, source, rounds=1)
    assert result.problems == []
    assert result.counts["with rows"] >= 10
    for option in ("database", "include-gtids", "exclude-gtids", "start-datetime", "stop-datetime", "start-position"):
        assert result.counts[f"--{option}"], option


@pytest.mark.parametrize("option", ["--stop-position", "--database", "--stop-datetime"])
def test_a_filter_that_is_not_heard_is_seen(logs: tuple[list[str], list[Path], str], option: str) -> None:
    program, paths, source = logs

    def deaf(words: list[str]) -> list[str]:
        return [word for word in words if not word.startswith(option)]

    assert compare(program, paths[:2], source, rounds=1, alter=deaf).problems
