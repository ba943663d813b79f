"""``decode --jobs``: the same bytes, messages and exit code as with one job, whatever is in the logs."""

from __future__ import annotations

import os
import signal
import subprocess
from io import BytesIO
from multiprocessing import active_children
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from conformance.cli import jobs
from conformance.cli import main as frame
from conformance.forked import Children
from conformance.logs import parts
from conformance.logs.inputs import require_files
from conformance.logs.printing import side_by_side as decode_jobs
from conformance.logs.printing.printers import Tally
from conformance.logs.remote import RemoteName
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.event_types import EventType
from conformance.user_errors import Usage
from tests.live import PROGRAM, ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from conformance.reference.binlog.event import Event

LOGS: Final = tuple(sorted((Path(__file__).parents[1] / "data" / "binlogs").glob("*.binlog")))
NAMED: Final = {path.stem: path for path in LOGS}
PARTIAL: Final = NAMED["05-partial-multi-json-minimal"]
WITHOUT_CHECKSUMS: Final = NAMED["15-checksum-none"]
FORMS: Final = (
    ("-vv", "--hexdump", "--table-metadata"),
    ("--format", "jsonl", "--types", "--events", "all"),
    ("--format", "csv"),
)


class Ended(NamedTuple):
    """How a command ended, and all that it wrote."""

    code: int
    out: bytes
    err: bytes


if TYPE_CHECKING:
    Decode: TypeAlias = Callable[..., Ended]


@pytest.fixture
def decode(capsysbinary: pytest.CaptureFixture[bytes]) -> Decode:
    """Run ``decode`` in this process."""

    def run(*words: str | Path) -> Ended:
        code = frame.run(["decode", *map(str, words)])
        return Ended(code, *capsysbinary.readouterr())

    return run


class Workers:
    """Counts of a run's workers, by how they began. ``again``: from a known state; ``anew``: from the beginning of all
    logs."""

    def __init__(self) -> None:
        self.started = self.again = self.anew = 0

    def count(self, guess: Any) -> None:
        self.started += 1
        self.again += guess is not None and guess.certain
        self.anew += guess is None


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> Workers:
    """Parts of a few hundred bytes, and a count of the workers."""
    counted, start = Workers(), Children.start

    def counting(self: Children, work: Any) -> Any:
        counted.count(work.args[-1])
        return start(self, work)

    monkeypatch.setattr(Children, "start", counting)
    cut(monkeypatch, 600)
    return counted


def cut(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(decode_jobs, "PART_BYTES", size)
    monkeypatch.setattr(decode_jobs, "GUESS_BYTES", 1)


def events(data: bytes) -> list[tuple[int, Event]]:
    """The events of a log with their positions."""
    return [(event.position or 0, event) for event in read_events(BytesIO(data))]


def without(data: bytes, position: int) -> bytes:
    """A log without the event at a position; positions in later events are not read."""
    length = int.from_bytes(data[position + 9 : position + 13], "little")
    return data[:position] + data[position + length :]


# --- the same ---------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(20)
@pytest.mark.parametrize("words", FORMS, ids=" ".join)
@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_log_in_parts(decode: Decode, monkeypatch: pytest.MonkeyPatch, path: Path, words: tuple[str, ...]) -> None:
    cut(monkeypatch, max(1, path.stat().st_size // 3))
    alone = decode(*words, path)
    assert alone.code == 0
    assert decode(*words, "--jobs", "3", path) == alone


@pytest.mark.parametrize("words", [("-v",), ("--format", "jsonl")], ids=" ".join)
def test_all_logs_together(decode: Decode, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    cut(monkeypatch, 8192)
    assert decode(*words, "--jobs", "3", *LOGS) == decode(*words, *LOGS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "words",
    [
        ("--start-position", "1000"), ("--stop-position", "2000"), ("--database", "d"), ("--table", "nope"),
        ("--start-datetime", "2026-11-20 00:00:00"), ("--stop-datetime", "2020-01-01"),
        ("--include-gtids", "6d31aba5-e4a6-11f1-9d7e-02fc00000001:3-5"),
        ("--exclude-gtids", "6d31aba5-e4a6-11f1-9d7e-02fc00000001:1-4"), ("--max-uncompressed", "1"),
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_options_that_leave_events_out(decode: Decode, workers: Workers, form: str, words: tuple[str, ...]) -> None:
    files = (NAMED["06-partial-ten-json-columns"], NAMED["12-compressed-payload"], NAMED["13-statement-format"])
    assert decode("--format", form, *words, "--jobs", "2", *files) == decode("--format", form, *words, *files)
    assert workers.started > len(files) or words[0].startswith("--stop")


def test_a_position_without_the_table_map_of_its_rows(decode: Decode, workers: Workers) -> None:
    data = PARTIAL.read_bytes()
    rows = next(position for position, event in events(data) if isinstance(event.body, LazyRows))
    for form in ("text", "csv"):
        words = ("--format", form, "--start-position", str(rows))
        assert decode(*words, "--jobs", "3", PARTIAL) == decode(*words, PARTIAL)
    assert workers.started > 4


def test_a_transaction_is_never_cut(decode: Decode, workers: Workers) -> None:
    """Half of its events are in the first part by size: it is in one part all the same."""
    data = PARTIAL.read_bytes()
    begins = [place for place, event in events(data) if event.header.type == EventType.GTID]
    found = list(decode_jobs.stretches([str(PARTIAL)], 4))
    assert found[0].piece.start is None
    assert {each.piece.start for each in found[1:]} < set(begins)
    assert [each.piece.stop for each in found] == [each.piece.start for each in found[1:]] + [None]
    assert decode("--jobs", "3", PARTIAL) == decode(PARTIAL)
    assert workers.started >= len(found) > 3


# --- what one part needs of another -----------------------------------------------------------------------------------


def test_rows_whose_table_map_is_in_an_earlier_part(decode: Decode, workers: Workers, tmp_path: Path) -> None:
    data = PARTIAL.read_bytes()
    maps = [(place, event) for place, event in events(data) if event.header.type == EventType.TABLE_MAP]
    bodies = [event.body for _, event in maps]
    for number in reversed(range(len(maps))):
        if bodies[number] in bodies[:number]:
            data = without(data, maps[number][0])
    log = tmp_path / "without"
    log.write_bytes(data)
    alone = decode("-vv", log)
    assert alone.code == 0
    assert decode("-vv", "--jobs", "3", log) == alone
    assert workers.anew == 1


def test_a_statement_that_no_event_ends(decode: Decode, workers: Workers, tmp_path: Path) -> None:
    """Its rows wait for the next one's, in another part."""
    data = bytearray(WITHOUT_CHECKSUMS.read_bytes())
    rows = [place for place, event in events(bytes(data)) if isinstance(event.body, LazyRows)]
    data[rows[0] + 19 + 6] &= 0xFE
    log = tmp_path / "open"
    log.write_bytes(data)
    alone = decode("-v", log)
    assert decode("-v", "--jobs", "3", log) == alone
    assert workers.anew == 1
    assert decode("--format", "jsonl", "--jobs", "3", log) == decode("--format", "jsonl", log)
    assert workers.anew == 1


def guess_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part knows how others ended."""
    guess = decode_jobs._Guess

    def made(state: Any, *, certain: bool = False, first: bool = False) -> Any:
        return guess(state if certain else None, certain, first)

    monkeypatch.setattr(decode_jobs, "_Guess", made)


def test_a_wrong_guess_is_read_again(decode: Decode, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of statements that change on the way: whoever begins behind them cannot know."""
    guess_from_the_beginning(monkeypatch)
    files = (NAMED["11-no-gtid"], NAMED["17-xa-savepoint-rowsquery"])
    assert decode("--jobs", "3", *files) == decode(*files)
    assert workers.again > 0
    assert workers.anew == 0


class Anything:
    """Equal to every state."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@pytest.mark.planted
@pytest.mark.parametrize("fault", ["guess-is-believed", "cut-inside-transactions", "part-is-left-out", "counts-stay"])
def test_what_the_comparison_finds(
    decode: Decode, workers: Workers, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    files = (NAMED["11-no-gtid"], NAMED["17-xa-savepoint-rowsquery"])
    alone = decode(*files)
    read, stretches = decode_jobs._read, decode_jobs.stretches

    def every_event(log: Any, _: int) -> Iterator[int]:
        return (place for place, _ in events(log.read())[2:])

    match fault:
        case "guess-is-believed":
            guess_from_the_beginning(monkeypatch)
            monkeypatch.setattr(decode_jobs, "_read", lambda *given: read(*given)._replace(begin=Anything()))
        case "cut-inside-transactions":
            monkeypatch.setattr(parts, "_cuts", every_event)
            monkeypatch.setattr(decode_jobs, "_read", lambda *given: read(*given)._replace(begin=Anything()))
        case "part-is-left-out":
            monkeypatch.setattr(decode_jobs, "stretches", lambda *given: iter(list(stretches(*given))[:-1]))
        case _:
            monkeypatch.setattr(Tally, "add", lambda *_: None)
    assert decode("--jobs", "3", *files) != alone
    assert workers.started > 3


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_damage_in_each_part(decode: Decode, workers: Workers, tmp_path: Path, form: str) -> None:
    data = PARTIAL.read_bytes()
    found = list(decode_jobs.stretches([str(PARTIAL)], 4))
    codes = []
    for each in found:
        at = next(place for place, event in events(data) if place >= (each.piece.start or 0) and event.header.type == 2)
        changed = bytearray(data)
        changed[at + 25] ^= 1
        log = tmp_path / "damaged"
        log.write_bytes(changed)
        alone = decode("--format", form, log, PARTIAL)
        assert decode("--format", form, "--jobs", "3", log, PARTIAL) == alone
        codes.append(alone.code)
    assert codes == [1] * len(found)
    assert workers.started > len(found) > 3


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [2, 40, 130, 2000, 4440])
def test_a_log_that_is_cut_off(decode: Decode, workers: Workers, tmp_path: Path, size: int) -> None:
    for number, flags in enumerate((0, 1)):  # closed, in use
        data = bytearray(WITHOUT_CHECKSUMS.read_bytes() if flags else PARTIAL.read_bytes())
        data[21] |= flags
        log = tmp_path / str(number)
        log.write_bytes(data[:size])
        assert decode("--jobs", "3", log) == decode(log)
    assert workers.started > 1


def test_a_file_that_is_no_log_behind_one(decode: Decode, workers: Workers, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"no log at all")
    alone = decode(PARTIAL, other, PARTIAL)
    assert alone.code == 2
    assert decode("--jobs", "3", PARTIAL, other, PARTIAL) == alone
    assert workers.started > 2


# --- ways to end ------------------------------------------------------------------------------------------------------


def test_a_worker_that_dies(decode: Decode, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, 600)
    alone, read, parent = decode(PARTIAL), decode_jobs._read, os.getpid()

    def dying(make: Any, before: Any, pieces: Any, guess: Any) -> Any:
        if pieces[0].start is not None and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return read(make, before, pieces, guess)

    monkeypatch.setattr(decode_jobs, "_read", dying)
    done = decode("--jobs", "2", PARTIAL)
    assert done.code == 3
    assert b"a worker process was ended by SIGKILL" in done.err
    assert alone.out.startswith(done.out)
    assert active_children() == []


def test_ctrl_c_ends_the_workers(decode: Decode, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Children) -> None:
        assert active_children()
        raise KeyboardInterrupt

    cut(monkeypatch, 600)
    monkeypatch.setattr(Children, "wait", interrupted)
    done = decode("--jobs", "2", PARTIAL)
    assert (done.code, done.out) == (130, b"")
    assert done.err.endswith(b"binlog-lab: interrupted\n")
    assert active_children() == []


def test_a_closed_pipe_ends_quietly() -> None:
    words = [*PROGRAM, "decode", "--format", "jsonl", "--jobs", "2", *map(str, [NAMED["02-partial-off-same-sql"]] * 8)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=ROOT) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        assert ran.stdout.readline().startswith(b'{"file"')
        ran.stdout.close()
        assert ran.wait(600) == 141
        assert b"error" not in ran.stderr.read()


# --- what cannot be shared out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-",), b"standard input can be read once only"),
        (("--format", "jsonl", "--resolve", PARTIAL), b"--resolve needs all rows before a diff"),
    ],
)
def test_input_that_one_reader_needs(decode: Decode, words: tuple[str | Path, ...], why: bytes) -> None:
    done = decode("--jobs", "2", *words)
    assert done.code == 2
    assert why in done.err


def test_logs_that_come_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    remote = RemoteName.of("binlog.000001", None, waits=True)  # type: ignore[arg-type]  # nobody connects
    for path, why in ((str(pipe), "can be read once only"), (remote, "a server sends binlog.000001 once")):
        require_files([path], 1)
        with pytest.raises(Usage, match=why):
            require_files([path], 2)


def test_all_cores(decode: Decode, workers: Workers) -> None:
    assert jobs.cores() >= 1
    assert decode("--jobs", "0", PARTIAL) == decode(PARTIAL)
    assert (workers.started > 0) == (jobs.cores() > 1)
