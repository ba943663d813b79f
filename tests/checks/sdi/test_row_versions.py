"""Files with rows in several versions: the listed end of a server is known, and every other outcome is red."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import MagicMock

import pytest

from conformance.cases.by_hand.row_versions import DROP, statements
from conformance.checks.sdi import check_row_versions
from conformance.checks.sdi.row_versions import NotInstant, Taken, damage_of_file, judge_taken
from conformance.requirements.crashes import IMPORTING, ROW_VERSIONS, Crash
from conformance.stream import Block, CaseVerdict
from conformance.verdict import Verdict
from generators.draw import Stream
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.recorded import Recorded

ROWS: Final = ((b"1", b"3"), (b"2", b"4"))
ONE: Final = Taken(name="one page", statements=("one",), damage="", rows=ROWS)
SEVERAL: Final = Taken(name="several pages", statements=("several",), damage=ROW_VERSIONS, death="signal 6")


def taken(**changes: Any) -> Callable[[tuple[Taken, Taken]], tuple[Taken, Taken]]:
    """Another outcome of the file that is known to end servers."""
    return lambda pair: (pair[0], replace(pair[1], **changes))


FAULTS: Final = [
    Fault("another-signal", "SDI66", "The server is known to end by SIGABRT alone.", taken(death="signal 11")),
    Fault("without-the-damage", "SDI66", "It ends at row versions beside long SDI alone.", taken(damage="")),
    Fault("refused", "SDI66", "A file that matches is not refused.", taken(death="", error=1808)),
    Fault("row-lost", "SDI66", "A file that matches is taken with all rows.", taken(death="", rows=ROWS[:1])),
    Fault("silent", "SDI66", "The server answers.", taken(death="", silent=True)),
    Fault("control-refused", "SDI66", "A file beside short SDI is taken.",
          lambda pair: (replace(pair[0], error=1808, rows=()), pair[1])),
    Fault("gone", "SDI66", "The list says what the server does.", taken(death="", rows=ROWS)),
]  # fmt: skip


def test_the_statements_leave_two_versions_of_rows() -> None:
    made = statements(Stream("test").letters, "COMPACT", long=False)
    assert made[0] == "CREATE TABLE t (id int PRIMARY KEY, a int, b int) ROW_FORMAT=COMPACT"
    assert made[2] == DROP
    assert statements(Stream("test").letters, "COMPACT", long=True)[0].count("COMMENT") == 30


def test_the_damage_needs_versions_and_several_pages() -> None:
    def file(private: str, pages: int) -> Any:
        table = {"columns": [{"se_private_data": private}]}
        return MagicMock(tables=[table], pages=((3, 17853),) * pages)

    assert damage_of_file(file("version_dropped=1;", 2)) == ROW_VERSIONS
    assert damage_of_file(file("version_added=1;", 3)) == ROW_VERSIONS
    assert damage_of_file(file("version_dropped=1;", 1)) == ""
    assert damage_of_file(file("", 2)) == ""


def test_a_server_that_lives_and_has_the_rows_passes() -> None:
    assert judge_taken(ONE).verdict is Verdict.PASS
    assert SEVERAL.crash == Crash(IMPORTING, ROW_VERSIONS, 6)
    assert ONE.crash is None


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[Taken, Taken]], None]:
    """A function that sets the two observations of the check, in place of a server of its own."""

    @contextmanager
    def no_server(_: Any) -> Iterator[Any]:
        yield MagicMock()

    def given(pair: tuple[Taken, Taken]) -> None:
        monkeypatch.setattr(check_row_versions, "observe", lambda *_, long: pair[long])

    monkeypatch.setattr(check_row_versions, "own_server", no_server)
    monkeypatch.setattr(check_row_versions, "keep_run", lambda *_: None)
    return given


@pytest.mark.live
def test_the_listed_end_of_the_server_is_no_failure(recorded: Recorded, files: Callable[..., None]) -> None:
    files((ONE, SEVERAL))
    run(check_row_versions.test_files_with_row_versions, recorded.lab)
    (block,) = recorded.of(Block)
    assert (block.cases, block.verdicts, block.deviations) == (2, {"pass": 1}, {"import-abort-at-row-versions": 1})
    assert recorded.failing == set()


@pytest.mark.live
@each(FAULTS)
def test_every_other_outcome_makes_sdi66_red_alone(
    recorded: Recorded, files: Callable[..., None], fault: Fault
) -> None:
    files(fault.change((ONE, SEVERAL)))
    recorded.fails(check_row_versions.test_files_with_row_versions)
    assert recorded.red == {"SDI66"}


@pytest.mark.live
def test_a_server_without_instant_drops_is_not_judged(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, long: bool) -> Taken:
        raise NotInstant(long)

    monkeypatch.setattr(check_row_versions, "own_server", lambda _: MagicMock())
    monkeypatch.setattr(check_row_versions, "observe", refused)
    run(check_row_versions.test_files_with_row_versions, recorded.lab)
    assert [item.verdict for item in recorded.of(CaseVerdict)] == ["not-applicable"]


@pytest.mark.live
def test_a_real_server_shows_what_is_listed(recorded: Recorded) -> None:
    run(check_row_versions.test_files_with_row_versions, recorded.lab)
    assert recorded.failing == set()
    assert recorded.cases("sdi/row-versions") == 2
