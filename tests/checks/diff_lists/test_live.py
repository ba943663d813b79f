"""The check of long lists of diffs on real servers, and what it must notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.diff_lists import check
from conformance.harness import session as labs
from conformance.harness.lab import Lab, Settings
from conformance.harness.pairs.run import PairRun
from conformance.stream import Block

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

pytestmark = pytest.mark.live


class Recorded:
    """A lab on the tests' server, and its records."""

    def __init__(self, lab: Lab, records: list[AnyRecord]) -> None:
        self.lab = lab
        self.records = records

    def failing(self) -> set[str]:
        return {
            name for item in self.records if isinstance(item, Block) and item.failures for name in item.requirements
        }

    def cases(self) -> dict[str, int]:
        return {item.requirements[0]: item.cases for item in self.records if isinstance(item, Block)}


@pytest.fixture
def recorded(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path), records.append)
    try:
        yield Recorded(lab, records)
    finally:
        if lab._pairs is not None:  # the server is the tests' own
            lab._pairs.close()


def test_long_lists_are_logged_and_applied(recorded: Recorded) -> None:
    check.test_long_lists_of_diffs(recorded.lab)
    assert recorded.failing() == set()
    assert recorded.cases() == {"NR4": 60}


@pytest.mark.planted("NR4")
def test_a_log_with_shorter_lists_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    real = check.logged_lengths
    monkeypatch.setattr(check, "logged_lengths", lambda events: [100, *real(events)[1:]])
    with pytest.raises(pytest.fail.Exception, match="not logged or applied"):
        check.test_long_lists_of_diffs(recorded.lab)
    assert recorded.failing() == {"NR4"}


@pytest.mark.planted("NR4")
def test_a_replica_that_cuts_long_lists_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    original = PairRun.catch_up

    def catch_up(self: Any) -> None:
        original(self)
        found = self.replica.execute(f"SHOW TABLES FROM {self.schema} LIKE 'longs'").rows if self.schema else []
        if found:
            self.replica.execute("SET SESSION sql_log_bin = 0")
            self.replica.execute("UPDATE longs SET j = JSON_SET(j, '$.a', 0)")

    monkeypatch.setattr(PairRun, "catch_up", catch_up)
    with pytest.raises(pytest.fail.Exception):
        check.test_long_lists_of_diffs(recorded.lab)
    assert recorded.failing() == {"NR4"}
