"""The check on damaged members without a server: what is listed is matched, what only resembles it is a failure."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.files import load_any_case, validate
from conformance.checks.diverged_documents import check_object_entries
from conformance.harness import injections
from conformance.servers.run.process import ProcessServer
from conformance.stream import Block, CaseVerdict, Finding
from tests.checks.diverged_documents.faults_of_crashes import CRASH_FAULTS, TWICE_FAULTS, as_released, perfect
from tests.faults.runner import Faulty, each
from tests.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.cases.by_hand.injection import Injection, InjectionOutcome
    from tests.faults.fault import Fault

ITEM = check_object_entries.test_damaged_object_entries
LISTED = ["abort-at-member-in-diff", "read-crash-at-member", "crash-at-member-twice-in-diff"]


class FakeServer(ProcessServer):
    """Says who it is, and has the log and the data of a dead one."""

    def __init__(self, directory: Path, number: tuple[int, int, int]) -> None:
        self.directory = directory
        self.data_directory = directory / "data"
        self.data_directory.mkdir()
        (self.data_directory / "ibdata1").write_bytes(b"x")
        self.number = number
        self.version = ".".join(map(str, number))
        self.id = "fake"
        self.keep = self.in_memory = False

    @property
    def provenance(self) -> str:
        return "a fake"

    def error_log(self) -> str:
        return "2026-01-01T00:00:00Z UTC - mysqld got signal 6 ;\n"


class FakeInjector:
    """Answers as a function says."""

    def __init__(self, server: FakeServer, answer: Callable[[Injection], InjectionOutcome]) -> None:
        self.server = server
        self.answer = answer
        self.asked: list[Injection] = []

    def load(self, _: object) -> dict[Any, Any]:
        return {}

    def inject(self, injection: Injection, _: object) -> InjectionOutcome:
        self.asked.append(injection)
        return self.answer(injection)


def on_fake(tmp_path: Path, number: tuple[int, int, int], **settings: Any) -> tuple[Recorded, FakeServer]:
    """A session on a fake server, which stores its Cases in ``cases``."""
    (tmp_path / "run").mkdir()
    (tmp_path / "cases").mkdir()
    server = FakeServer(tmp_path / "run", number)
    found = Recorded.of_settings(cases=tmp_path / "cases", **settings)
    found.lab._server, found.lab._resolved = server, True
    return found, server


def check(
    tmp_path: Path,
    answer: Callable[[Injection], InjectionOutcome],
    *,
    number: tuple[int, int, int] = (9, 7, 4),
    deviations: bool = True,
) -> tuple[Recorded, FakeInjector]:
    """A session, and the injector that answers so."""
    found, server = on_fake(tmp_path, number, deviations=deviations)
    injector = FakeInjector(server, answer)
    found.lab._injector = injector  # type: ignore[assignment]
    return found, injector


@pytest.fixture(autouse=True)
def _no_fresh_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(injections, "tried_again", lambda _lab, _server, item, _again: item)
    monkeypatch.setattr(injections, "_dies_alone", lambda *_: True)


def test_a_server_that_shows_what_is_listed_passes_and_is_killed_a_few_times_only(tmp_path: Path) -> None:
    found, injector = check(tmp_path, as_released)
    assert found.passes(ITEM)
    (block,) = found.of(Block)
    assert block.deviations.keys() == {*LISTED, "full-values-unread"}
    assert {block.deviations[name] for name in LISTED} == {2}
    assert block.cases == len(injector.asked) >= 50
    assert found.of(Finding) == []
    assert found.exit_code == 0
    assert [path.suffix for path in (tmp_path / "cases").glob("crash-*")] == [".log"] * 3  # and no data
    for path in (tmp_path / "cases").glob("*.json"):
        data = json.loads(path.read_text("utf-8"))
        validate(data)
        case = load_any_case(data)
        assert isinstance(case, EventCase)
        assert case.hazard == "may-crash"
        assert case.seed.startswith("members 1 ")


def test_a_server_without_the_deviations_is_an_unexpected_pass(tmp_path: Path) -> None:
    found, injector = check(tmp_path, perfect)
    assert not found.passes(ITEM)
    failing = [verdict.case for verdict in found.of(CaseVerdict)]
    assert failing == LISTED
    assert len(injector.asked) == 78  # nothing is left out where nothing dies
    assert found.exit_code == 1


def test_without_the_list_crashes_are_findings_with_their_data(tmp_path: Path) -> None:
    found, _ = check(tmp_path, as_released, deviations=False)
    assert not found.passes(ITEM)
    crashes = [item for item in found.of(Finding) if ":crash:" in item.signature]
    assert len(crashes) == len(LISTED)
    assert all((item.size_after or 0) < (item.size_before or 0) and item.replay for item in crashes)
    assert len(list((tmp_path / "cases").glob("crash-*.data"))) == len(LISTED)
    assert found.exit_code == 1


def test_on_a_version_that_was_not_observed_a_crash_is_a_failure(tmp_path: Path) -> None:
    found, _ = check(tmp_path, as_released, number=(10, 1, 0))
    assert not found.passes(ITEM)
    assert "crash" in {str(verdict.verdict) for verdict in found.unexplained}


def test_on_a_build_that_is_not_listed_a_crash_is_known_by_its_signature_and_its_place_unconfirmed(
    tmp_path: Path,
) -> None:
    def rebuilt(injection: Injection) -> InjectionOutcome:
        outcome = as_released(injection)
        death = outcome.death.replace("cc8a18826385", "0123456789ab").replace("unpack_row", "unpack_row_fast")
        return replace(outcome, death=death)

    found, _ = check(tmp_path, rebuilt)
    assert found.passes(ITEM)
    assert found.exit_code == 0
    crashes = [item for item in found.of(CaseVerdict) if item.deviation in LISTED]
    assert {item.deviation for item in crashes} == set(LISTED)
    for item in crashes:
        place = f"its place is unconfirmed: {item.deviation} lists no stack of build 0123456789ab"
        assert item.message.endswith(place)


def test_a_listed_crash_in_its_place_is_not_called_unconfirmed(tmp_path: Path) -> None:
    found, _ = check(tmp_path, as_released)
    assert found.passes(ITEM)
    assert not [item for item in found.of(CaseVerdict) if "place" in item.message]


@pytest.mark.planted("FR5")
def test_a_crash_in_another_place_is_a_new_finding_that_says_which_it_resembles(tmp_path: Path) -> None:
    def elsewhere(injection: Injection) -> InjectionOutcome:
        outcome = as_released(injection)
        return replace(outcome, death=outcome.death.replace("read_json_diff <", "read_json_patch <"))

    found, _ = check(tmp_path, elsewhere)
    assert not found.passes(ITEM)
    assert found.exit_code == 1
    findings = [item for item in found.of(Finding) if ":crash:" in item.signature]
    assert len(findings) == 2  # of an abort, and of a key that comes twice
    failing = [item for item in found.unexplained if str(item.verdict) == "crash"]
    assert failing
    assert all("this is not the place of " in item.message for item in failing)


def test_data_directories_do_not_pile_up(tmp_path: Path) -> None:
    count = iter(range(1000))

    def ever_new(injection: Injection) -> InjectionOutcome:
        outcome = as_released(injection)
        if not outcome.death:
            return outcome
        return type(outcome)(before=outcome.before, death=f"signal 6: {next(count):03x}", reading=not outcome.reading)

    found, _ = check(tmp_path, ever_new, deviations=False)
    assert not found.passes(ITEM)
    assert len(list((tmp_path / "cases").glob("crash-*.data"))) == injections._KEPT


@each(CRASH_FAULTS + TWICE_FAULTS)
def test_a_fault_is_called_what_it_is(tmp_path: Path, fault: Fault) -> None:
    faulty = Faulty(fault, as_released)
    found, _ = check(tmp_path, faulty)
    found.catches(fault, ITEM)
    assert faulty.shown
