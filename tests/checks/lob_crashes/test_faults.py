"""Crashes of a real server, and faults planted in what was seen of one: each is caught under its requirement."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import pytest

from conformance.checks.lob_crashes import check, files
from conformance.checks.lob_crashes.generate import FORMATS, SESSIONS, Place, places
from conformance.checks.lob_crashes.judge import COMMITTED, READABLE, ROLLED_BACK, Crash, judge
from conformance.checks.lob_crashes.run import OPTIONS, Victim
from conformance.reference.errors import DecodeError
from conformance.reference.innodb.large_values import large_values
from conformance.servers.errors import ServerDied, StartFailed
from conformance.servers.run.process import launch
from conformance.stream import Block
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.replay.data_files import Comparison
    from conformance.servers.install.installation import Installation
    from tests.recorded import Recorded

pytestmark = pytest.mark.live


class Seen(NamedTuple):
    """A kill of a server, and the files that are there after recovery."""

    crash: Crash
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def seen(installation: Installation) -> Iterator[Seen]:
    """The observations of one kill; the server is still there."""
    with Victim(lambda: launch(installation, options=OPTIONS), "faults") as victim:
        yield Seen(victim.kill(0), victim.server.files.matching("crashes/*.ibd"))


def test_a_kill_loses_nothing(seen: Seen) -> None:
    crash = seen.crash
    assert judge(crash) == {COMMITTED: [], ROLLED_BACK: [], READABLE: []}
    assert set(crash.log) == set(places())
    assert sum(crash.moments.values()) == SESSIONS
    assert crash.before.files == len(FORMATS) + 1
    assert crash.before.documents > 0
    assert crash.statements > 0
    assert {each.name[1] for each in crash.files} == {*FORMATS, "done"}


# --- faults of a server ----------------------------------------------------------------------------------------------


def place(crash: Crash, *, undone: bool) -> Place:
    """A document whose last change was committed, or not; the observation is made to have one."""
    chosen = places()[0]
    crash.undone = crash.undone | {chosen} if undone else crash.undone - {chosen}
    return chosen


def comparison(crash: Crash, table: str) -> Comparison:
    return next(each for each in crash.files if each.name[1] == table)


def lost_commit(crash: Crash) -> None:
    crash.acknowledged = {**crash.acknowledged, 1: crash.logged[1] + 1}
    crash.sent = {**crash.sent, 1: crash.logged[1] + 1}


def not_recovered(crash: Crash) -> None:
    crash.recovered = {**crash.recovered, 2: crash.logged[2] - 1}


def never_sent(crash: Crash) -> None:
    crash.logged = {**crash.logged, 0: crash.sent[0] + 1}
    crash.recovered = {**crash.recovered, 0: crash.sent[0] + 1}


def stale_version(crash: Crash) -> None:
    chosen = place(crash, undone=False)
    crash.server = {**crash.server, chosen: crash.log[chosen].replace("k1", "k0", 1)}


def lost_row(crash: Crash) -> None:
    crash.server = {**crash.server, place(crash, undone=False): None}


def row_too_many(crash: Crash) -> None:
    crash.server = {**crash.server, Place("dynamic", 99): "{}"}


def stale_file(crash: Crash) -> None:
    chosen = place(crash, undone=False)
    comparison(crash, chosen.table).only_in_file.append({"id": str(chosen.id)})


def damaged_file(crash: Crash) -> None:
    comparison(crash, "compact").damaged.append("record at 120: page[4].j: the page is damaged")


def change_kept(crash: Crash) -> None:
    chosen = place(crash, undone=True)
    crash.server = {**crash.server, chosen: f"{crash.log[chosen][:-1]}x"}


def change_kept_in_the_file(crash: Crash) -> None:
    chosen = place(crash, undone=True)
    comparison(crash, chosen.table).missing.append({"id": str(chosen.id)})


SERVER_FAULTS = (
    Fault("lost-commit", COMMITTED, "What was acknowledged is in the log.", lost_commit,
          says="acknowledged is not in the log"),
    Fault("not-recovered", COMMITTED, "What is in the log is recovered.", not_recovered,
          says="does not have the last transaction of the log"),
    Fault("never-sent", COMMITTED, "Nothing is in the log that was not sent.", never_sent,
          says="whose COMMIT no session sent"),
    Fault("stale-version", COMMITTED, "A row is the last one that was logged.", stale_version,
          says="is not the last one that was logged"),
    Fault("lost-row", COMMITTED, "No row of the log is lost.", lost_row, says="is not the last one that was logged"),
    Fault("row-too-many", COMMITTED, "No row is there that nobody inserted.", row_too_many,
          says="has a row that no transaction inserted"),
    Fault("stale-file", COMMITTED, "A file has the last row that was logged.", stale_file,
          says="is not the last one that was logged"),
    Fault("damaged-file", COMMITTED, "A file is whole.", damaged_file, says="is not the last one that was logged"),
    Fault("rolled-back-change-kept", ROLLED_BACK, "A change that was not committed is gone.", change_kept,
          says="unfinished transaction changed is not as before"),
    Fault("rolled-back-change-in-the-file", ROLLED_BACK, "It is gone from the file too.", change_kept_in_the_file,
          says="is not as before"),
)  # fmt: skip


@each(SERVER_FAULTS)
def test_a_fault_of_recovery_is_caught(seen: Seen, fault: Fault) -> None:
    crash = deepcopy(seen.crash)
    fault.change(crash)
    found = {name: problems for name, problems in judge(crash).items() if problems}
    assert list(found) == [fault.requirement]
    assert all(fault.says in problem.message for problem in found[fault.requirement])


# --- faults of the reader --------------------------------------------------------------------------------------------


def undeclared(*_: Any, **__: Any) -> Iterator[Any]:
    raise KeyError("pages")


def endless(space: Any, *_: Any, **__: Any) -> Iterator[Any]:
    while True:
        space.page(4)
        yield from ()


def nameless(*_: Any, **__: Any) -> Iterator[Any]:
    raise DecodeError("bad-lob-length", "the value is too long")


def swallowed(*arguments: Any, **options: Any) -> Iterator[Any]:
    """The walk ends silently in front of the last row."""
    rows = list(large_values(*arguments, **options))
    yield from rows[:-1]


@pytest.mark.planted(READABLE)
@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (undeclared, "neither read nor refused with a declared error"),
        (endless, "neither read nor refused with a declared error"),
        (nameless, "names no page and field"),
        (swallowed, "a document is neither read nor refused"),
    ],
)
def test_a_fault_of_the_reader_is_caught(
    seen: Seen, monkeypatch: pytest.MonkeyPatch, reader: Callable[..., Iterator[Any]], message: str
) -> None:
    sound = files.read_files(seen.files)
    assert (sound.documents, sound.undeclared, sound.unnamed) == (len(places()), [], [])
    monkeypatch.setattr(files, "large_values", reader)
    monkeypatch.setattr(files, "_READS", 1)
    monkeypatch.setattr(files._CountedPages, "_left", 50)
    crash = deepcopy(seen.crash)
    crash.before = files.read_files(seen.files)
    found = {name: problems for name, problems in judge(crash).items() if problems}
    assert list(found) == [READABLE]
    assert message in found[READABLE][0].message


# --- the check -------------------------------------------------------------------------------------------------------


def test_the_check_records_each_requirement(seen: Seen, recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(recorded.lab, "narrate", told.append)
    monkeypatch.setattr(check, "Victim", lambda *_: Recording(seen.crash))
    run(check.test_large_objects_survive_a_crash, recorded.lab)
    assert recorded.failing == set()
    blocks = recorded.of(Block)
    assert {block.requirements for block in blocks} == {(COMMITTED,), (READABLE,), (ROLLED_BACK,)}
    assert sum(block.cases for block in blocks) == 2 * sum(seen.crash.cases.values())
    assert "2 kills, sessions " in told[-1]


@pytest.mark.planted(ROLLED_BACK)
@pytest.mark.parametrize("error", [StartFailed("it ended", detail="Assertion failure: x"), ServerDied("it died")])
def test_a_server_that_does_not_come_back_is_caught(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(check, "Victim", lambda *_: Recording(error))
    recorded.fails(check.test_large_objects_survive_a_crash, "does not come back after a kill")
    assert recorded.failing == {f"lob_crashes/kills/{ROLLED_BACK}"}


class Recording:
    """Stands in for the server: what was seen of it before, or an error."""

    def __init__(self, crash: Crash | Exception) -> None:
        self._crash = crash

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def kill(self, _: int) -> Crash:
        if isinstance(self._crash, Exception):
            raise self._crash
        return self._crash
