"""The checks of what must not be demanded, on real servers: a judge that demands it fails them, one that lets pass more
as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.checks import lab as labs
from conformance.checks import liberties, test_liberties
from conformance.checks.lab import Lab, Settings
from conformance.checks.pairs import PairRun
from conformance.judge import diverged as judging
from conformance.judge.diverged import Grade, Judged
from conformance.stream import Block, CaseVerdict, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.process import ProcessServer
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
        return {item.requirements[0]: item.cases for item in self.records if isinstance(item, Block) and item.block}

    def said(self) -> dict[str, str]:
        found = [item for item in self.records if isinstance(item, CaseVerdict) and item.verdict is Verdict.INFO]
        return {item.requirement: item.message for item in found}


@pytest.fixture
def recorded(server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    monkeypatch.setattr(labs, "resolve", lambda *_, **__: server)
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path), records.append)
    try:
        yield Recorded(lab, records)
    finally:
        if lab._injector is not None:
            lab._injector.close()
        if lab._pairs is not None:  # the server is the tests' own
            lab._pairs.close()


def test_a_right_judge_demands_nothing_and_what_was_seen_is_told(recorded: Recorded) -> None:
    test_liberties.test_diverged_updates_may_apply(recorded.lab)
    test_liberties.test_other_forms_are_free(recorded.lab)
    test_liberties.test_long_lists_of_diffs(recorded.lab)
    assert recorded.failing() == set()
    assert set(recorded.said()) == set(recorded.cases()) == {"NR1", "NR2", "NR3", "NR4", "NR5"}
    assert all(count >= 50 for count in recorded.cases().values())
    assert recorded.said()["NR3"].startswith("0 of ")


@pytest.mark.planted("NR1")
@pytest.mark.parametrize("grade", [Grade.FAIL, Grade.DIFFERS])
def test_a_judge_of_diverged_rows_that_is_wrong_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, grade: Grade
) -> None:
    """It demands what this server does, or it lets pass a row that cannot be read."""
    monkeypatch.setattr(judging, "judge_injection", lambda *_: Judged(grade))
    with pytest.raises(pytest.fail.Exception, match="the judge is wrong"):
        test_liberties.test_diverged_updates_may_apply(recorded.lab)
    assert recorded.failing() == {"NR1"}


@pytest.mark.planted("NR2", "NR3", "NR5")
@pytest.mark.parametrize("taken", [None, "NR5"])
def test_a_judge_of_forms_that_is_wrong_fails(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, taken: str | None
) -> None:
    """It knows one form only, or it takes any."""
    monkeypatch.setattr(liberties, "liberty_of", lambda *_: taken)
    with pytest.raises(pytest.fail.Exception, match="the judge is wrong"):
        test_liberties.test_other_forms_are_free(recorded.lab)
    assert recorded.failing() == {"NR2", "NR3", "NR5"}


@pytest.mark.planted("NR4")
def test_a_judge_that_bounds_memory_fails(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_liberties, "judge_applier", lambda *, off, on: "fail" if off + on > 1e6 else "pass")
    with pytest.raises(pytest.fail.Exception):
        test_liberties.test_long_lists_of_diffs(recorded.lab)
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
        test_liberties.test_long_lists_of_diffs(recorded.lab)
    assert recorded.failing() == {"NR4"}
