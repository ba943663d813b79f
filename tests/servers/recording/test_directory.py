"""The directory of a recording: taken only if it is ours, and read only if it is whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.servers.errors import SpecError
from conformance.servers.recording.directory import MANIFEST, TAPES, Manifest, RecordingRefused, open_tape
from conformance.servers.recording.recordings import finish_recording, open_recording, start_recording
from conformance.servers.specs import SpecKind, parse_spec

if TYPE_CHECKING:
    from pathlib import Path

MADE = Manifest(kit="1", seed="7", profile="quick", updates=500, requirements=("FR1",), servers=("9.7.4",))
TAPE = "room.check.tape"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of one module without questions."""
    path = tmp_path / "recording"
    made = start_recording(path, MADE)
    made.begin_module("room.check")
    made.begin("room/first")
    made.end_module()
    finish_recording(path, MADE)
    return path


def test_what_was_recorded_is_in_the_manifest(recording: Path) -> None:
    opened = open_recording(recording)
    assert opened.manifest is not None
    assert (opened.manifest.seed, opened.manifest.servers) == ("7", ("9.7.4",))
    assert list(opened.manifest.tapes) == [TAPE]
    assert open_tape(recording, opened.manifest, TAPE).items == ["room/first"]


def test_a_module_may_have_its_former_name_in_a_recording(recording: Path) -> None:
    for former, problem in (("room.check", None), ("other.check", "the recording has no answer to the check hall/one")):
        opened = open_recording(recording)
        opened.begin_module("hall.check", former)
        opened.begin("hall/one", "room/first")
        assert (opened.problem or "").startswith(problem or "")
        assert bool(opened.problem) is bool(problem)
        opened.end_module()


def test_an_earlier_recording_is_replaced_and_other_things_are_left_alone(recording: Path, tmp_path: Path) -> None:
    (recording / "notes").write_text("mine")
    start_recording(recording, MADE)
    assert sorted(item.name for item in recording.rglob("*")) == [MANIFEST, "notes", TAPES]
    other = tmp_path / "other"
    other.mkdir()
    (other / "photo").write_text("mine")
    with pytest.raises(RecordingRefused, match="it is not empty and holds no earlier recording"):
        start_recording(other, MADE)
    with pytest.raises(RecordingRefused, match="it is not a directory"):
        start_recording(other / "photo", MADE)
    assert [item.name for item in other.iterdir()] == ["photo"]


def test_a_run_that_was_broken_off_leaves_a_recording_that_says_so(tmp_path: Path) -> None:
    start_recording(tmp_path, MADE)
    data = json.loads((tmp_path / MANIFEST).read_text())
    assert data["complete"] is False
    with pytest.raises(RecordingRefused, match="it has no tapes"):
        open_recording(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "another"}, 'it is the file of something else; expected "format": "binlog-lab recording"'),
        ({"version": 2}, "got format version 2; expected 1, or a newer binlog-lab"),
        ({"seed": 7}, "seed: got 7; expected a value of type str"),
        ({"updates": True}, "updates: got True; expected a value of type int"),
        ({"requirements": [1]}, r"requirements: got \[1\]; expected a list of words"),
        ({"tapes": {"../../x.tape": [1, "a"]}}, "tapes: got '../../x.tape'"),
        ({"tapes": {TAPE: [-1, "a"]}}, "tapes: got 'room.check.tape'"),
        ({"tapes": {TAPE: [10, "a"]}}, f"{TAPE}': got [0-9]+ bytes; expected 10 bytes"),
        ({"tapes": {"room.gone.tape": [10, "a"]}}, "room.gone.tape': No such file"),
    ],
)
def test_a_wrong_manifest_is_refused(recording: Path, change: dict[str, Any], words: str) -> None:
    file = recording / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(RecordingRefused, match=words):
        open_recording(recording)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000])
def test_a_torn_manifest_is_refused(recording: Path, text: str) -> None:
    (recording / MANIFEST).write_text(text)
    with pytest.raises(RecordingRefused, match="expected"):
        open_recording(recording)


def test_a_changed_tape_is_refused_before_anything_is_judged(recording: Path) -> None:
    file = recording / TAPES / TAPE
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(RecordingRefused, match="got SHA-256"):
        open_recording(recording)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingRefused, match=r"manifest.json: No such file.*; expected a directory of --record"):
        open_recording(tmp_path)


def test_recorded_is_a_server_spec() -> None:
    spec = parse_spec("recorded:/tmp/x")
    assert (spec.kind, str(spec)) == (SpecKind.RECORDED, "recorded:/tmp/x")
    for wrong in ("recorded", "recorded:"):
        with pytest.raises(SpecError, match="the directory is missing; expected recorded:DIR"):
            parse_spec(wrong)
