"""``apply --verify --jobs``: each table is one worker's, and all workers follow the same log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.logs.replaying.shared_verification import SharedReplay
from conformance.reference.binlog.files import read_events
from conformance.reference.errors import CodecError
from conformance.reference.replay.engine import Replay

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGS: Final = tuple(sorted((Path(__file__).parents[1] / "data" / "binlogs").glob("*.binlog")))
JOBS: Final = 3


def replayed(replay: Replay, path: Path) -> tuple[int, int, str]:
    """The open changes and prepared transactions at the end, and the error that ended it before."""
    error = ""
    with path.open("rb") as log:
        try:
            for event in read_events(log, expand=True):
                replay.event(event)
        except CodecError as problem:
            error = str(problem)
    return (*replay.finish(), error)


def check_shares(path: Path, shares: Sequence[SharedReplay]) -> int:
    """Hold the workers' tables against those of a whole replay; returns how many tables have rows."""
    whole = Replay()
    open_changes, prepared, error = replayed(whole, path)
    ends = [replayed(share, path) for share in shares]
    if error:
        assert error in {found for *_, found in ends}
        return 0
    assert {found for *_, found in ends} == {""}
    assert sum(found for found, *_ in ends) == open_changes
    assert {found for _, found, _ in ends} == {prepared}
    with_rows = 0
    for name, state in whole.tables.items():
        rows = dict(state.rows.items())
        owners = [share for share in shares if name in share.owned()]
        assert [dict(owner.tables[name].rows.items()) for owner in owners] == [rows] * len(owners)
        assert len(owners) == (1 if rows else len(owners)) > 0
        assert all(not share.tables[name].rows for share in shares if share not in owners)
        with_rows += bool(rows)
    return with_rows


def test_the_tables_of_every_log() -> None:
    assert sum(check_shares(path, [SharedReplay(number, JOBS) for number in range(JOBS)]) for path in LOGS) > 20


@pytest.mark.parametrize("numbers", [((1, 3), (1, 3), (2, 3)), ((0, 1), (1, 3), (2, 3)), ((0, 2), (1, 3), (2, 3))])
def test_workers_that_do_not_agree_are_found(numbers: tuple[tuple[int, int], ...]) -> None:
    """A table that nobody has, or that two have."""

    def check() -> None:
        for path in LOGS:
            check_shares(path, [SharedReplay(number, jobs) for number, jobs in numbers])

    with pytest.raises(AssertionError):
        check()
