"""The check of long lists of diffs on real servers, and what it must notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.diff_lists import check
from conformance.checks.diff_lists.run import logged_lengths
from conformance.harness.pairs.run import PairRun
from tests.running import run

if TYPE_CHECKING:
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


def test_long_lists_are_logged_and_applied(recorded: Recorded) -> None:
    run(check.test_long_lists_of_diffs, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases("liberties/long-lists") == 60


@pytest.mark.planted("NR4")
def test_a_log_with_shorter_lists_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "logged_lengths", lambda events: [100, *logged_lengths(events)[1:]])
    with pytest.raises(pytest.fail.Exception, match="not logged as it is"):
        run(check.test_long_lists_of_diffs, recorded.lab)
    assert recorded.failing == {"liberties/long-lists"}


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
        run(check.test_long_lists_of_diffs, recorded.lab)
    assert recorded.failing == {"liberties/long-lists"}
