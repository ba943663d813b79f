"""``expand`` as a command: what it writes, says and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.reference.binlog.files import decode_file
from tests.in_process import lab_here

CORPUS = Path(__file__).parents[1] / "data" / "binlogs"
FIRST, SECOND = CORPUS / "14-rotate-a.binlog", CORPUS / "14-rotate-b.binlog"


def lab(*words: str | Path) -> tuple[int, str, str]:
    """Exit code, output and messages of ``binlog-lab WORDS``."""
    done = lab_here(*words)
    return done.code, done.out, done.err


def test_the_new_log_applies_to_the_same_tables(tmp_path: Path) -> None:
    source, target = CORPUS / "12-compressed-payload.binlog", tmp_path / "out"
    code, out, err = lab("expand", source, "-o", target)
    assert (code, out) == (0, ""), err
    assert "rewrote 2 PARTIAL_UPDATE_ROWS events (2 rows, 2 documents) and 2 TRANSACTION_PAYLOAD events" in err
    names = {event.name for event in decode_file(target.read_bytes())}
    assert not names & {"PARTIAL_UPDATE_ROWS_EVENT", "TRANSACTION_PAYLOAD_EVENT"}
    assert lab("apply", target)[1] == lab("apply", source)[1] != ""


def test_documents_come_from_earlier_logs_or_nothing_is_written(tmp_path: Path) -> None:
    target = tmp_path / "out"
    code, _, err = lab("expand", SECOND, "-o", target)
    assert code == 1
    assert "event@405.PARTIAL_UPDATE_ROWS_EVENT.rows[0].d.t.@2" in err
    assert "expected the document in the before image or in an earlier event, got a before image of @1=1" in err
    assert list(tmp_path.iterdir()) == []
    code, _, err = lab("expand", SECOND, "-o", target, "--earlier", FIRST)
    assert code == 0, err
    assert lab("apply", FIRST, target)[1] == lab("apply", FIRST, SECOND)[1] != ""


def test_an_open_log_keeps_its_flag_and_loses_its_half_event(tmp_path: Path) -> None:
    source = tmp_path / "half"
    source.write_bytes((CORPUS / "18-not-closed.binlog").read_bytes()[:-10])
    code, _, err = lab("expand", source, "-o", tmp_path / "out")
    assert code == 0, err
    assert "truncated event" in err
    assert (tmp_path / "out").read_bytes()[:127] == source.read_bytes()[:127]


@pytest.mark.parametrize(
    ("damage", "words"), [(lambda data: data[:-10], "cut off"), (lambda data: data[:-1] + b"?", "checksum")]
)
def test_a_damaged_log_writes_nothing(tmp_path: Path, damage: object, words: str) -> None:
    assert callable(damage)
    source = tmp_path / "in"
    source.write_bytes(damage((CORPUS / "01-partial-minimal.binlog").read_bytes()))
    code, _, err = lab("expand", source, "-o", tmp_path / "out")
    assert (code, words in err) == (1, True), err
    assert list(tmp_path.iterdir()) == [source]


def test_a_relay_log_is_refused(tmp_path: Path) -> None:
    code, _, err = lab("expand", CORPUS / "20-relay-log.binlog", "-o", tmp_path / "out")
    assert (code, "relay log" in err) == (1, True), err


def test_wrong_words_and_places_have_their_exit_codes(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.write_bytes(FIRST.read_bytes())
    assert lab("expand", source, "-o", source)[0] == 2
    assert lab("expand", "-", "-o", tmp_path / "out")[0] == 2
    assert lab("expand", source)[0] == 2
    code, _, err = lab("expand", source, "-o", tmp_path / "no" / "out")
    assert (code, "No such file" in err) == (3, True), err
    assert source.read_bytes() == FIRST.read_bytes()
