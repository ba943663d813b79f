"""The check on printed values: what is listed is matched by its signature, what only resembles it is a failure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.bytes_case import BytesCase
from conformance.cases.files import dump_case, load_any_case, validate
from conformance.checks.mysqlbinlog_damage import check_values as room
from conformance.checks.mysqlbinlog_damage import records as records_of_files
from conformance.harness.profiles import SIZES
from conformance.judge.damage.crashes import damage_of_log
from conformance.judge.damage.mysqlbinlog import PrintedLog, judge_print
from conformance.reference.errors import DecodeError
from conformance.servers.programs import LocalProgram
from conformance.stream import Block, CaseVerdict, Finding
from generators.damaged_values import PLACES, file_with_damage
from generators.draw import Stream
from tests.checks.diverged_documents.faults_of_crashes import PRINT_FAULTS, prints_as_released
from tests.faults.runner import Faulty, each
from tests.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from tests.faults.fault import Fault

ITEM = room.test_damaged_values_are_printed
LISTED = {
    "printer-crash-at-member-in-diff",
    "printer-crash-at-member-in-document",
    "printer-crash-at-user-variable",
    "printer-crash-at-vector",
}


class FakeServer:
    """Has a client, which only says its version."""

    id = "fake"
    version = "9.7.4"
    number = (9, 7, 4)

    def client_program(self, _: str) -> LocalProgram:
        return LocalProgram(["/bin/echo", "mysqlbinlog  Ver 9.7.4 for Linux"])

    def close(self) -> None:
        """Nothing to do."""


def lab(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[str], tuple[int, bytes]],
    *,
    deviations: bool = True,
) -> Recorded:
    """A session with a client that answers so."""
    found = Recorded.of_settings(cases=tmp_path, deviations=deviations)
    found.lab._server, found.lab._resolved = FakeServer(), True  # type: ignore[assignment]

    def print_file(_: object, case: BytesCase) -> PrintedLog:
        return judge_print(case, *answer(damage_of_log(case.data)))

    monkeypatch.setattr(records_of_files, "print_file", print_file)
    monkeypatch.setattr(room, "print_file", print_file)
    return found


def test_a_client_that_shows_what_is_listed_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(tmp_path, monkeypatch, prints_as_released)
    assert found.passes(ITEM)
    (block,) = found.of(Block)
    assert block.deviations.keys() == LISTED
    assert block.cases >= 50
    assert found.of(Finding) == []
    assert found.exit_code == 0
    for path in tmp_path.glob("*.json"):
        data = json.loads(path.read_text("utf-8"))
        validate(data)
        case = load_any_case(data)
        assert isinstance(case, BytesCase)
        assert json.loads(json.dumps(dump_case(case))) == data
        assert (case.hazard, case.seed[:10]) == ("may-crash", "printed 1 ")


def test_a_client_that_lives_is_an_unexpected_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(tmp_path, monkeypatch, lambda _: prints_as_released(""))
    assert not found.passes(ITEM)
    assert {verdict.case for verdict in found.of(CaseVerdict)} == LISTED
    assert found.exit_code == 1


def test_without_the_list_they_are_findings_with_smaller_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = lab(tmp_path, monkeypatch, prints_as_released, deviations=False)
    assert not found.passes(ITEM)
    assert len(found.of(Finding)) == len(LISTED)
    assert all(
        (item.size_after or 0) < (item.size_before or 0) and "replay" in item.replay for item in found.of(Finding)
    )
    assert {str(item.verdict) for item in found.of(CaseVerdict)} == {"crash"}


@each(PRINT_FAULTS)
def test_a_fault_is_called_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    faulty = Faulty(fault, prints_as_released)
    lab(tmp_path, monkeypatch, faulty).catches(fault, ITEM)
    assert faulty.shown


@pytest.mark.parametrize("place", PLACES)
def test_files_are_repeatable_and_their_damage_is_seen_in_their_bytes(place: str) -> None:
    first, again = ([file_with_damage(Stream("f", n), place) for n in range(60)] for _ in range(2))
    assert first == again
    damages = {damage_of_log(case.data) for case in first}
    assert damages - {""} == {
        {
            "diff": "member-in-diff",
            "full": "member-in-document",
            "vector": "vector-length",
            "variable": "user-variable-length",
        }[place]
    }


@pytest.mark.parametrize("change", [{"data": "0"}, {"subject": "mysql"}, {"extra": 1}, {"hazard": "fatal"}])
def test_what_is_no_case_is_refused(change: dict[str, Any]) -> None:
    data = dump_case(file_with_damage(Stream("f", 1), "vector"))
    with pytest.raises(DecodeError, match=r"malformed|no such subject|unknown keys"):
        load_any_case({**data, **change})


@pytest.mark.live
def test_the_real_client_shows_what_is_listed_and_nothing_else(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SIZES["mysqlbinlog_damage/values"], "quick", 12)
    found = Recorded.of_settings(cases=tmp_path)
    found.lab._server, found.lab._resolved = server, True
    assert found.passes(ITEM)
    (block,) = found.of(Block)
    assert block.deviations.keys() == LISTED
