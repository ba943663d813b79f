"""The commands that read logs take little memory for hostile ones.

This is a sample: ``python -m tests.hostile.memory`` measures all logs, at several sizes.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli.main import run
from conformance.reference.binlog.files import FileReader, read_events
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.errors import CodecError
from tests.hostile.logs.catalogue import LOGS
from tests.hostile.memory import ALLOWED, Result, tiny_log
from tests.hostile.processes import COMMANDS, Bench

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.hostile.logs.log import HostileLog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")

_SIZE = 1 << 16
_BOUND = ALLOWED // 3  # for a sixteenth of a megabyte, and what every log takes
_SAMPLE = (
    "document, inserted: chains of small objects",
    "rows of NULL: 1 columns, inserted",
    "rows of NULL: 4096 columns, inserted",
    "event, compressed: TABLE_MAP: lists of no members",
    "a statement: opening brackets",
    "a bomb of 64 MB: one event of NULL rows",
    "a bomb of 64 MB: one value of letters",
)


def _log(name: str) -> HostileLog:
    return next(log for log in LOGS if log.id == name)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("hostile"), tiny_log())


def test_there_are_enough_hostile_logs_and_each_ends_with_a_value_or_a_declared_error() -> None:
    assert len({log.id for log in LOGS}) == len(LOGS) >= 250
    ends: dict[str, int] = {}
    for log in LOGS:
        if log.family in ("a bomb of 256 MB", "a bomb of 1024 MB"):
            continue  # they differ in their size alone
        data = log.make(2000)
        assert len(data) < 40_000, log.id
        try:
            for _ in read_events(io.BytesIO(data), reader=FileReader(expand=True)):
                pass
            code = "read"
        except CodecError as error:
            code = error.code
        ends[code] = ends.get(code, 0) + 1
    assert ends["read"] > 200
    assert ends["payload-bomb"] >= 8
    assert len(ends) > 8, ends


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", _SAMPLE)
@pytest.mark.parametrize("command", COMMANDS)
def test_memory_of_a_hostile_log(command: str, name: str, bench: Bench) -> None:
    found = bench.over(command, _log(name).make(_SIZE))
    assert found.code in (0, 1), found
    assert found.peak <= _BOUND, found


def _keeps_everything(arguments: Sequence[str]) -> int:
    """A planted reader: it keeps every row of the log, and its text."""
    with Path(arguments[-1]).open("rb") as file:
        kept = list(_rows(file))
    return int(not kept)


def _rows(file: io.BufferedReader) -> Iterator[object]:
    for event in read_events(file):
        if isinstance(event.body, LazyRows):
            yield from ({"row": row, "text": repr(row)} for row in event.body.rows())


def test_a_reader_that_keeps_everything_is_seen(bench: Bench) -> None:
    found = bench.over("decode", _log("rows of NULL: 1 columns, inserted").make(4 * _SIZE), _keeps_everything)
    assert found.code == 0
    assert found.peak > _BOUND


def test_a_bomb_that_is_read_all_the_same_is_seen(bench: Bench) -> None:
    """The option to go on works, and it costs what the bounds save."""

    def go_on(arguments: Sequence[str]) -> int:
        return run([*arguments, "--max-uncompressed", "64"])

    found = bench.over("decode", _log("a bomb of 16 MB: one value of letters").make(0), go_on)
    assert found.code == 0
    assert found.peak > _BOUND


def test_a_process_that_dies_is_beyond_bounds(bench: Bench) -> None:
    def die(_: Sequence[str]) -> int:
        raise MemoryError

    found = bench.over("decode", tiny_log(), die)
    assert Result("decode", found, None).trouble == "died"
    assert Result("decode", found._replace(code=1, peak=ALLOWED + 1), None).trouble == "memory"
    assert Result("decode", found._replace(code=1, peak=0, seconds=1.0), 1.9).trouble == "time"
    assert not Result("decode", found._replace(code=1, peak=0, seconds=1.0), 1.2).trouble
