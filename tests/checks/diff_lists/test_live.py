"""The check of long lists of diffs on real servers, and what it must notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks.diff_lists import check
from conformance.checks.diff_lists.run import expected_list, logged_lists
from conformance.harness.pairs.run import PairRun
from conformance.harness.profiles import SIZES
from conformance.reference.jsonb.encode import encode
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.partial.diffs import RawDiff
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


def test_long_lists_are_logged_and_applied(recorded: Recorded) -> None:
    run(check.test_long_lists_of_diffs, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases("diff_lists/long-lists") == 60


FAULTS = (
    Fault("cut", "NR4", "The whole list is logged.", lambda diffs: diffs[:-1]),
    Fault("another_path", "NR4", "Each diff has its path.",
          lambda diffs: [*diffs[:50], diffs[50]._replace(path=b"$.k"), *diffs[51:]]),
    Fault("another_value", "NR4", "Each diff has its value.",
          lambda diffs: [*diffs[:-1], diffs[-1]._replace(data=encode(9))]),
    Fault("in_reverse", "NR4", "Diffs are logged in their order.", lambda diffs: diffs[::-1]),
)  # fmt: skip


@pytest.fixture
def few_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SIZES["diff_lists/long-lists"], "quick", 4)


@pytest.mark.usefixtures("few_lists")
@each(FAULTS)
def test_a_log_with_other_lists_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    def logged(events: Iterable[bytes]) -> list[list[RawDiff] | None]:
        first, *rest = logged_lists(events)
        assert first is not None
        return [fault.change(first), *rest]

    monkeypatch.setattr(check, "logged_lists", logged)
    recorded.fails(check.test_long_lists_of_diffs, "not logged as it is")
    assert recorded.failing == {"diff_lists/long-lists"}


def test_a_missing_list_is_told_and_a_whole_document_is_no_fault() -> None:
    one = expected_list([("$.a", 10), ("$.b", 11)])
    assert check.compare_lists([one, one], [one, None]) == []
    (problem,) = check.compare_lists([one, one], [one])
    assert (problem.expected, problem.got) == ("2 lists", "1 lists")
    (problem,) = check.compare_lists([one], [one[:1]])
    assert problem.field == "list 1, diff 2"
    assert problem.got == "1 diffs, none"


@pytest.mark.usefixtures("few_lists")
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
    recorded.fails(check.test_long_lists_of_diffs)
    assert recorded.failing == {"diff_lists/long-lists"}
