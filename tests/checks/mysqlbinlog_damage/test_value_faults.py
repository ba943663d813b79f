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
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.judge.damage.crashes import damage_of_log
from conformance.judge.damage.mysqlbinlog import PrintedLog, judge_print
from conformance.reference.errors import DecodeError
from conformance.report.results import Summary
from conformance.servers.programs import LocalProgram
from conformance.stream import Block, CaseVerdict, Finding, Run
from generators.damaged_values import PLACES, file_with_damage
from generators.draw import Stream
from tests.checks.diverged_documents.faults_of_crashes import PRINT_FAULTS, PrintFault, prints_as_released
from tests.running import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

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


def check(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[str], tuple[int, bytes]],
    *,
    deviations: bool = True,
) -> tuple[list[AnyRecord], bool]:
    """Records, and whether the check passed."""
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path, deviations=deviations), records.append)
    lab._server, lab._resolved = FakeServer(), True  # type: ignore[assignment]

    def print_file(_: object, case: BytesCase) -> PrintedLog:
        return judge_print(case, *answer(damage_of_log(case.data)))

    monkeypatch.setattr(records_of_files, "print_file", print_file)
    monkeypatch.setattr(room, "print_file", print_file)
    try:
        run(room.test_damaged_values_are_printed, lab)
    except pytest.fail.Exception:
        return records, False
    return records, True


def of(records: list[AnyRecord], kind: type[Any]) -> list[Any]:
    return [record for record in records if isinstance(record, kind)]


def exit_code(records: list[AnyRecord]) -> int:
    run = Run(kit="", seed="1", profile="quick", started="", command="", selected=1)
    return Summary([run, *records]).conclude(seconds=1.0).exit_code


def test_a_client_that_shows_what_is_listed_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, passed = check(tmp_path, monkeypatch, prints_as_released)
    assert passed
    (block,) = of(records, Block)
    assert block.deviations.keys() == LISTED
    assert block.cases >= 50
    assert of(records, Finding) == []
    assert exit_code(records) == 0
    for path in tmp_path.glob("*.json"):
        data = json.loads(path.read_text("utf-8"))
        validate(data)
        case = load_any_case(data)
        assert isinstance(case, BytesCase)
        assert json.loads(json.dumps(dump_case(case))) == data
        assert (case.hazard, case.seed[:10]) == ("may-crash", "printed 1 ")


def test_a_client_that_lives_is_an_unexpected_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, passed = check(tmp_path, monkeypatch, lambda _: prints_as_released(""))
    assert not passed
    assert {verdict.case for verdict in of(records, CaseVerdict)} == LISTED
    assert exit_code(records) == 1


def test_without_the_list_they_are_findings_with_smaller_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records, passed = check(tmp_path, monkeypatch, prints_as_released, deviations=False)
    assert not passed
    found = of(records, Finding)
    assert len(found) == len(LISTED)
    assert all(item.size_after < item.size_before and "replay" in item.replay for item in found)
    assert {str(item.verdict) for item in of(records, CaseVerdict)} == {"crash"}


@pytest.mark.planted("P9")
@pytest.mark.parametrize("fault", PRINT_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_called_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: PrintFault) -> None:
    shown = 0

    def doctored(damage: str) -> tuple[int, bytes]:
        nonlocal shown
        answer = prints_as_released(damage)
        changed = fault.change(damage, *answer)
        shown += changed is not None
        return answer if changed is None else changed

    records, passed = check(tmp_path, monkeypatch, doctored)
    assert shown
    assert not passed
    assert {str(item.verdict) for item in of(records, CaseVerdict) if item.deviation is None} == {fault.verdict}
    assert exit_code(records) == 1


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
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path), records.append)
    lab._server, lab._resolved = server, True
    run(room.test_damaged_values_are_printed, lab)
    (block,) = of(records, Block)
    assert block.deviations.keys() == LISTED
