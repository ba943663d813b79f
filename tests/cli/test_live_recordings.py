"""``--record`` and ``--server recorded:DIR``: the same verdicts without the server, red where an answer was changed."""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from conformance.servers.recording.directory import MANIFEST, read_manifest
from tests.cli.written_reports import assert_whole, ended, results
from tests.live import Ended, lab, nothing_left, started, until
from tests.servers.recording.altered import alter, packets, with_packets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.servers.install.installation import Installation
    from conformance.servers.recording.files import Entry

pytestmark = pytest.mark.live

UPDATES = 250


@pytest.fixture(scope="module")
def recorded(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A run of the update campaign and of the variable's values, recorded."""
    place = tmp_path_factory.mktemp("recorded")
    words = ("-r", "FR1", "-r", "IP1", "-r", "IP2", "-r", "S1", "--updates", str(UPDATES), "--seed", "7")
    end = lab("conformance", *words, "--jobs", "1", "--record", "recording", cwd=place)
    assert end.code == 0, end.text
    return place, end


def judged(place: Path, recording: Path) -> Ended:
    return lab("conformance", "--server", f"recorded:{recording}", "--jobs", "1", cwd=place)


def rows(report: Path) -> dict[str, tuple[str, int, int]]:
    found = results(report)["requirements"]
    return {name: (row["verdict"], row["cases"], row["failed"]) for name, row in found.items()}


def test_a_recording_gives_the_same_verdicts_without_a_server(recorded: tuple[Path, Ended], tmp_path: Path) -> None:
    place, first = recorded
    end = judged(tmp_path, place / "recording")
    assert end.code == 0, end.text
    assert_whole(tmp_path / "report", 0)
    assert rows(tmp_path / "report") == rows(place / "report")
    both = [results(folder / "report") for folder in (place, tmp_path)]
    assert both[0]["digest"] == both[1]["digest"] == read_manifest(place / "recording").digest
    assert both[0]["digest"] in first.out
    assert both[1]["digest"] in end.out
    for name in ("updates_compared", "bytes_compared", "texts_compared", "sizes_compared"):
        assert both[0]["totals"][name] == both[1]["totals"][name] > 0
    assert rows(place / "report")["FR1"] == ("pass", UPDATES, 0)


def _another_event(entry: Entry) -> Entry | None:
    """The last byte of a partial update's rows is another one."""
    found = packets(entry)
    for number, packet in enumerate(found):
        if packet[:1] == b"\0" and packet[5:6] == b"\x27" and len(packet) > 60:
            found[number] = packet[:-5] + bytes((packet[-5] ^ 1,)) + packet[-4:]
            return with_packets(entry, found)
    return None


def _read_back(entry: Entry) -> tuple[list[bytes], int]:
    """The packets of an answer, and which of them is the first row of size, free space and text; 0: there is none."""
    found = packets(entry)
    for number, packet in enumerate(found):
        if b"JSON_STORAGE_SIZE" in packet and len(found[number - 1]) == 1:  # the number of columns
            row = number + found[number - 1][0] + 1
            return (found, row) if found[row][:1] in (b"\2", b"\3") else (found, 0)
    return found, 0


def _another_size(entry: Entry) -> Entry | None:
    """A document takes other bytes than it does: the last digit of a size."""
    found, place = _read_back(entry)
    if not place:
        return None
    row = found[place]
    found[place] = row[: row[0]] + bytes((row[row[0]] ^ 1,)) + row[row[0] + 1 :]
    return with_packets(entry, found)


def _another_text(entry: Entry) -> Entry | None:
    """A letter or digit of a document's text is another one."""
    found, place = _read_back(entry)
    row = found[place] if place else b""
    letters = [index for index, letter in enumerate(row) if index > 8 and chr(letter) in "0123456789abcdefgh"]
    if not letters:
        return None
    found[place] = row[: letters[-1]] + bytes((row[letters[-1]] ^ 1,)) + row[letters[-1] + 1 :]
    return with_packets(entry, found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fault", "red"),
    [
        pytest.param(_another_event, "F3", marks=pytest.mark.planted("F3")),
        pytest.param(_another_size, "IP1", marks=pytest.mark.planted("IP1")),
        pytest.param(_another_text, "IP2", marks=pytest.mark.planted("IP2")),
    ],
)
def test_a_changed_answer_is_red_where_it_is_due(
    recorded: tuple[Path, Ended], tmp_path: Path, fault: object, red: str
) -> None:
    recording = tmp_path / "recording"
    shutil.copytree(recorded[0] / "recording", recording)
    left = [fault]

    def change(entries: list[Entry]) -> Iterator[Entry]:
        for entry in entries:
            changed = left[0](entry) if left else None  # type: ignore[operator]
            if changed is not None:
                left.clear()
            yield changed or entry

    alter(recording, change, tapes="updates.check")  # other checks judge updates too, under other requirements
    assert not left, "nothing was changed"
    end = judged(tmp_path, recording)
    found = rows(tmp_path / "report")
    assert found[red][0] in ("fail", "differs"), end.text
    assert found[red][2] == (2 if red == "F3" else 1)  # the bytes, and what is decoded of them
    assert found["S1"][0] == "pass"
    assert results(tmp_path / "report")["digest"] != results(recorded[0] / "report")["digest"]


def test_a_missing_answer_is_no_pass(recorded: tuple[Path, Ended], tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    shutil.copytree(recorded[0] / "recording", recording)
    alter(recording, lambda entries: entries[: len(entries) // 2])
    end = judged(tmp_path, recording)
    assert end.code == 3, end.text
    assert "the recording has no answer to" in end.err
    assert rows(tmp_path / "report")["FR1"][0] == "not-run"
    assert results(tmp_path / "report")["run"]["complete"] is False


@pytest.mark.parametrize(
    "words",
    [("--replica", "process"), ("--server-option", "a=b"), ("--wrapper", "x"), ("--keep",), ("--allow", "none"),
     ("--record", "other"), ("-r", "FR1"), ("--seed", "1"), ("--updates", "5"), ("--server", "none")],
    ids=lambda words: words[0],
)  # fmt: skip
def test_options_that_a_recording_decides_are_refused(recorded: tuple[Path, Ended], words: tuple[str, ...]) -> None:
    place, _ = recorded
    end = lab("conformance", "--server", "recorded:recording", *words, cwd=place)
    assert (end.code, end.out) == (2, "")
    assert "a recording is judged" in end.err


@pytest.mark.nightly
def test_a_recording_that_was_interrupted_says_so(installation: Installation, tmp_path: Path) -> None:
    words = ("-r", "FR1", "--updates", "100000", "--jobs", "1", "--record", "recording")
    program = started("conformance", *words, cwd=tmp_path)
    tape = tmp_path / "recording" / "tapes" / "updates.check.tape"
    assert until(lambda: tape.exists() and tape.stat().st_size > 100, program=program)
    program.send_signal(signal.SIGINT)
    assert ended(program, tmp_path).code == 4
    assert nothing_left(program)
    manifest = read_manifest(tmp_path / "recording")
    assert (manifest.complete, manifest.reason) == (False, "interrupted")
    end = judged(tmp_path, tmp_path / "recording")
    assert end.code in (3, 4)
    assert results(tmp_path / "report")["run"]["complete"] is False


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text("{}")
    end = lab("conformance", "-r", "FR1", "--record", str(tmp_path), cwd=tmp_path)
    assert end.code == 2
    assert "holds no earlier recording: it is left alone" in end.err
