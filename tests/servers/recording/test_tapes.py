"""Tapes: requests are answered in their order, passwords stay out, and damage is told by place."""

from __future__ import annotations

import lzma
import threading
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import CaptureError, ConnectionLost, ServerDied, SqlError
from conformance.servers.recording.error_values import dump_error, load_error
from conformance.servers.recording.files import HEAD, DamagedTape, TapeWriter, read_tape
from conformance.servers.recording.tape import NoAnswer, RecordingTape, ReplayTape
from conformance.servers.recording.values import DamagedValue, Value

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD = "kX9_secret-word"


def fails(error: Exception) -> Value:
    raise error


def never() -> Value:
    raise AssertionError("a judging run asked the world")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tape of two checks."""
    path = tmp_path / "room.check.tape"
    tape = RecordingTape(TapeWriter(path))
    tape.begin("room/first")
    session = tape.channel("session")
    tape.call(session, "login", None, lambda: [7, "9.7.4"])
    word = tape.hide(PASSWORD)
    assert word == "<secret 0>"
    tape.call(session, "packets", f"CREATE USER u IDENTIFIED BY '{PASSWORD}'", lambda: PASSWORD.encode() * 2)
    tape.call(session, "packets", "SELECT 1", lambda: b"\1" * 40_000)
    tape.begin("room/second")
    with pytest.raises(ServerDied):
        tape.call("server", "stop", True, lambda: fails(ServerDied("it died", status=-9, reason="signal 9")))
    tape.end(whole=True)
    return path


def test_a_judging_run_gets_what_the_recorded_one_got(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    tape.begin("room/first")
    session = tape.channel("session")
    assert tape.call(session, "login", None, never) == [7, "9.7.4"]
    tape.call(session, "packets", "CREATE USER u IDENTIFIED BY '<secret 0>'", never)
    assert tape.call(session, "packets", "SELECT 1", never) == b"\1" * 40_000
    tape.begin("room/second")
    with pytest.raises(ServerDied, match="it died") as caught:
        tape.call("server", "stop", True, never)
    assert (caught.value.status, caught.value.reason) == (-9, "signal 9")
    assert tape.problem is None


def test_no_password_is_in_a_recording(file: Path) -> None:
    data = lzma.decompress(file.read_bytes()[len(HEAD) :])
    assert PASSWORD.encode() not in data
    assert b"*" * 2 * len(PASSWORD) in data  # in the answer, where it stood twice


def test_another_request_has_no_answer_and_takes_none(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    tape.begin("room/first")
    session = tape.channel("session")
    with pytest.raises(NoAnswer, match="no answer to packets 'SELECT 2' on 0/session 1: it answers another request"):
        tape.call(session, "packets", "SELECT 2", never)
    assert tape.problem is not None  # stays, whatever the check does with the error
    assert tape.call(session, "login", None, never) == [7, "9.7.4"]
    for request in ("CREATE USER u IDENTIFIED BY '<secret 0>'", "SELECT 1"):
        tape.call(session, "packets", request, never)
    with pytest.raises(NoAnswer, match="its answers end before"):
        tape.call(session, "packets", "SELECT 1", never)


def test_a_check_that_asks_less_does_not_disturb_the_next_one(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    tape.begin("room/first")
    with pytest.raises(NoAnswer):
        tape.call("server", "stop", True, never)  # an answer of the second check is not the first one's
    tape.begin("room/second")
    assert tape.problem is None
    with pytest.raises(ServerDied):
        tape.call("server", "stop", True, never)


def test_a_recording_may_have_the_former_name_of_a_check(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    tape.begin("room/one", "room/first")
    assert tape.problem is None
    assert tape.call(tape.channel("session"), "login", None, never) == [7, "9.7.4"]


def test_a_check_that_the_recording_lacks_is_named(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    tape.begin("room/other")
    assert tape.problem == "the recording has no answer to the check room/other: there it has room/first"


def test_threads_have_channels_by_their_names(file: Path) -> None:
    tape = ReplayTape(read_tape(file))
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(tape.channel("session")), name="session 2")
    thread.start()
    thread.join()
    assert [*found, tape.channel("session")] == ["-1/session 2/session 1", "-1/session 1"]


@pytest.mark.parametrize(
    "error",
    [
        SqlError(1064, "42000", "near 'x'", statement="SELEC", position=2),
        ServerDied("gone", status=None, reason="signal 11", log_tail="the end"),
        CaptureError("purged"),
    ],
)
def test_an_error_comes_back(error: CaptureError) -> None:
    again = load_error(dump_error(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_lost_connection_tells_again_that_it_waited_too_long() -> None:
    error = ConnectionLost("no answer from the server")
    error.__cause__ = TimeoutError()
    assert isinstance(load_error(dump_error(error)).__cause__, TimeoutError)


@pytest.mark.parametrize(
    "value", [None, {}, {"class": "SystemExit", "text": "", "fields": {}, "timeout": False}, {"class": "SqlError"}]
)
def test_only_errors_of_the_family_come_out_of_a_recording(value: Value) -> None:
    with pytest.raises(DamagedValue, match="expected"):
        load_error(value)


# --- damaged files ---------------------------------------------------------------------------------------------------


def test_a_foreign_file_is_refused(file: Path) -> None:
    file.write_bytes(b"PK\3\4 something else")
    with pytest.raises(DamagedTape, match=r"room.check.tape: byte 0: expected b'binlog-lab tape 1\\n', got b'PK"):
        read_tape(file)
    file.write_bytes(HEAD + b"no xz here, and some more of it")
    with pytest.raises(DamagedTape, match="expected xz data, got something else"):
        read_tape(file)


def test_a_torn_tape_has_what_came_before(file: Path) -> None:
    """At each place: fewer answers, or an error; never an answer that was not recorded, never a whole tape."""
    data = file.read_bytes()
    entries = read_tape(file).entries
    for end in range(len(HEAD), len(data) - 40, 7):
        file.write_bytes(data[:end])
        try:
            torn = read_tape(file)
        except DamagedTape:
            continue
        assert torn.entries == entries[: len(torn.entries)]
        assert not torn.whole


def test_a_changed_byte_is_an_error_or_is_not_whole(file: Path) -> None:
    data = file.read_bytes()
    whole = read_tape(file)
    for place in range(0, len(data) - 1, 3):
        file.write_bytes(data[:place] + bytes((data[place] ^ 0x41,)) + data[place + 1 :])
        try:
            found = read_tape(file)
        except DamagedTape:
            continue
        assert found == whole or not found.whole, place


def rewritten(file: Path, change: bytes) -> None:
    data = lzma.decompress(file.read_bytes()[len(HEAD) :])
    file.write_bytes(HEAD + lzma.compress(data + change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (b"\0\0\0\0I", "expected nothing behind the end, got b'I'"),
        (b"\4\0\0\0E\4\0\0\0", "expected nothing behind the end"),
    ],
)
def test_records_behind_the_end_are_refused(file: Path, change: bytes, words: str) -> None:
    rewritten(file, change)
    with pytest.raises(DamagedTape, match=words):
        read_tape(file)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\0\0\0\0Z", "record 0: expected C, I, A or E, got b'Z'"),
        (b"\1\0\0\0An", "record 0: expected check, channel, kind, request and answer"),
        (b"\1\0\0\0Az", "an answer cannot be read: expected the letter of a value at byte 0"),
        (b"\4\0\0\0E\2\0\0\0", "record 0: expected 2 answers, got 0"),
    ],
)
def test_wrong_records_are_told_by_number(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "room.check.tape"
    file.write_bytes(HEAD + lzma.compress(data))
    with pytest.raises(DamagedTape, match=words):
        read_tape(file)


def test_a_tape_that_grows_without_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.servers.recording.files.MOST_BYTES", 1 << 20)
    file = tmp_path / "room.check.tape"
    file.write_bytes(HEAD + lzma.compress(b"\xff\xff\xff\xffC" + bytes(4 << 20)))
    with pytest.raises(DamagedTape, match="expected at most 1048576 bytes, got more"):
        read_tape(file)
