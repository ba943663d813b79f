"""Any decoder as a target: a sound one shows nothing, a fault is one finding, and damage is an error or a finding."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from hashlib import shake_128
from itertools import repeat
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.decoder_case import Allowed
from conformance.subjects.answers import Answer, Failure
from conformance.subjects.place import Place
from conformance.subjects.specs import open_in_process
from fuzz.peers.subjects.defects import READ_DAMAGE, SILENT, defects_of
from fuzz.peers.subjects.inputs import input_of
from fuzz.peers.subjects.target import SubjectTarget, packages_of
from fuzz.runner.signature import findings_in, signature_of
from fuzz.runner.targets import find, own_target, subject_target
from fuzz.sound.byte_draw import ByteDraw
from fuzz.sound.logs import log
from fuzz.violation import PeerDefect
from tests.subjects.faulty.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fuzz.peers.subjects.inputs import Input

SOUND, GENERATED, DAMAGED = b"\x00", b"\xc0", b"\xe0"


def decisions(number: int, kind: bytes = b"", size: int = 120) -> bytes:
    return kind + shake_128(b"subject %d" % number).digest(size)


@cache
def given(number: int, kind: bytes) -> Input:
    return input_of(decisions(number, kind), damages=True, most=1)


class Silent(Reader):
    """Ends a damaged log without a word."""

    def decode(self, path: str) -> Iterator[dict[str, Any]]:
        try:
            yield from super().decode(path)
        except Exception:  # noqa: BLE001 - the fault
            return


class DropsDelete(Reader):
    def keep(self, event: Any) -> bool:
        return not event.name.startswith("DELETE_ROWS")


class Refuses(Reader):
    def keep(self, event: Any) -> bool:
        raise KeyError(event.position)


def findings(decoder: type[Reader], kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The findings of a decoder in this process, over some inputs of a kind."""
    monkeypatch.chdir(tmp_path)
    target = SubjectTarget(f"py:{decoder.__module__}:{decoder.__name__}", Place(), damages=True)
    target.begin()
    found: set[str] = set()
    for number in range(12 if kind == GENERATED else 60):
        try:
            target.check(decisions(number, kind))
        except PeerDefect as defect:
            found.update(map(signature_of, findings_in(defect)))
    assert not list(tmp_path.iterdir())
    return found


@pytest.mark.parametrize("kind", [SOUND, GENERATED, DAMAGED])
def test_a_sound_decoder_shows_nothing(kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(Reader, kind, tmp_path, monkeypatch) == set()


@pytest.mark.parametrize(
    ("decoder", "kind", "finding"),
    [
        (DropsDelete, SOUND, "missing change: DELETE_ROWS_EVENT"),
        (Silent, DAMAGED, "no error for a damaged log"),
        (Refuses, GENERATED, f"KeyError in {__name__}:Refuses.keep"),
    ],
)
def test_a_fault_is_one_finding(
    decoder: type[Reader], kind: bytes, finding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings(decoder, kind, tmp_path, monkeypatch) == {finding}


def test_bytes_stand_for_sound_generated_and_damaged_logs() -> None:
    assert log(ByteDraw(decisions(1))) == input_of(SOUND + decisions(1), damages=True, most=1).case.log
    assert all(given(number, SOUND).case.allowed is Allowed.CHANGES for number in range(20))
    assert any(given(number, GENERATED).case.resolved for number in range(5))
    damaged = [given(number, DAMAGED) for number in range(60)]
    kinds = {(one.edited, one.case.allowed) for one in damaged}
    assert kinds == {(True, Allowed.CHANGES), (True, Allowed.ERROR), (False, Allowed.ERROR)}
    assert not any(input_of(decisions(number, DAMAGED), damages=False, most=1).edited for number in range(9))


def test_each_transaction_of_a_log_has_an_input_of_its_own() -> None:
    whole = input_of(SOUND + decisions(3, size=400), damages=True, most=24)
    assert len(whole.parts) > 2
    alone = [input_of(part, damages=True, most=24) for part in whole.parts]
    assert not any(one.parts for one in alone)

    def told(given: Input) -> list[Any]:
        facts = ("schema", "table", "operation", "before", "after")
        return [[change[fact] for fact in facts] for change in given.case.expected]

    assert told(whole) == [change for one in alone for change in told(one)]


def test_what_each_transaction_shows_alone_is_the_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = SubjectTarget(f"py:{__name__}:DropsDelete", Place(), damages=True)
    target._most = 24
    target.begin()
    data = next(
        data
        for data in (SOUND + decisions(number, size=400) for number in range(40))
        if {change["operation"] for change in target._input(data).case.expected} >= {"delete", "insert"}
    )
    with pytest.raises(PeerDefect, match="missing change: DELETE_ROWS_EVENT") as caught:
        target.check(data)
    assert caught.value.data in target._input(data).parts
    assert caught.value.others == ()
    target.check(data)  # its rules are explained


class Leftover(Reader):
    """Gives the last change of the log before first, and loses every DELETE."""

    def __init__(self) -> None:
        self._last: list[Any] = []

    def decode(self, path: str) -> Iterator[dict[str, Any]]:
        changes = [change for change in super().decode(path) if change["operation"] != "delete"]
        yield from (*self._last, *changes)
        self._last = changes[-1:]


def test_what_comes_of_an_earlier_log_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fuzz.peers.subjects.target.open_subject", open_in_process)
    target = SubjectTarget(f"py:{__name__}:Leftover", Place(), damages=False)
    target.APART = True
    target.begin()
    found: set[str] = set()
    for number in range(40):
        try:
            target.check(decisions(number, SOUND))
        except PeerDefect as defect:
            found.update(map(signature_of, findings_in(defect)))
    assert found == {"missing change: DELETE_ROWS_EVENT"}


def test_an_answer_that_did_not_come_is_a_finding_whatever_the_log_is() -> None:
    for kind in (SOUND, DAMAGED):
        answer = Answer(failure=Failure.CRASHED, detail="signal 11")
        (defect,) = defects_of(replace(given(0, kind), edited=True), ("file",), answer, None, ())
        assert defect.rule == "crashed: signal N"


def test_changes_made_of_damage_are_one_finding() -> None:
    damaged = [given(number, DAMAGED) for number in range(60)]
    cut = next(one for one in damaged if not one.edited and not one.case.expected)
    invented = next(one for one in map(given, range(60), repeat(SOUND)) if len(one.case.expected) == 1).case.expected
    (defect,) = defects_of(cut, ("file",), Answer(changes=invented, error="cut"), None, ())
    assert defect.rule == READ_DAMAGE
    assert defects_of(cut, ("file",), Answer(error="cut"), None, ()) == []
    edited = next(one for one in damaged if one.edited and one.case.allowed is Allowed.ERROR)
    assert defects_of(edited, ("file",), Answer(changes=invented, error="damage"), None, ()) == []
    (defect,) = defects_of(edited, ("file",), Answer(changes=invented), None, ())
    assert defect.rule == SILENT


def test_the_packages_that_a_module_works_with_are_those_that_it_names() -> None:
    assert packages_of(sys.modules[__name__])[0] == __name__
    assert {"pytest", "tests"} <= set(packages_of(sys.modules[__name__])) - {"conformance", "fuzz", "json"}


def test_a_subject_is_found_again_by_its_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    target = subject_target(f"py:{__name__}:DropsDelete", damages=True, software="mine 1")
    assert (target.name, target.folder, target.peer) == ("py-tests-fuzz-test-subjects-dropsdelete", str(tmp_path), True)
    assert target.module() is replace(target, software="mine 2").module()
    assert find(["empty"])[0].words.subject == ""
    assert own_target(f"{__name__}:decisions").function == "decisions"
