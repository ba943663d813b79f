"""The manifests of the experiments: each fact once, a wrong one said in words, and the ids of the time before them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.cli.conformance import _pytest
from conformance.harness.experiments import manifests
from conformance.harness.experiments.former_ids import former_ids, former_room, present
from conformance.harness.experiments.manifests import (
    CHECKS,
    CheckFacts,
    ManifestError,
    all_facts,
    experiments,
    facts_of,
    judging,
    read_manifest,
)
from conformance.harness.settings import Settings
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.requirements.volume import UPDATES, least_cases
from conformance.runs.check_runs.lab_run import LabRun

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
lane = "replica"
needs = ["program mysql"]

[check.rows]
requirements = ["FR1", "D2"]
needs = ["tagged-gtids"]
size = { quick = 1, full = 2, soak = 3, counts = "rows" }
sizes.tables = { quick = 4, full = 5, soak = 6, counts = "tables" }

[check.two-words]
file = "check_more.py"
profiles = ["soak"]
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """The manifest of a room with two files of checks."""
    for name in ("check.py", "check_more.py"):
        (tmp_path / name).touch()
    return tmp_path / "experiment.toml"


def test_a_manifest_has_the_facts_of_its_checks(manifest: Path) -> None:
    manifest.write_text(GOOD, "utf-8")
    found = read_manifest(manifest)
    room = manifest.parent.name
    assert (found.room, found.lane, list(found.checks)) == (room, "replica", ["rows", "two-words"])
    rows, more = found.checks.values()
    assert rows == CheckFacts(
        room=room,
        name="rows",
        requirements=("FR1", "D2"),
        needs=("program mysql", "tagged-gtids"),
        sizes={"": {"quick": 1, "full": 2, "soak": 3}, "tables": {"quick": 4, "full": 5, "soak": 6}},
    )
    assert (more.id, more.file, more.profiles, more.needs) == (
        f"{room}/two-words", "check_more.py", ("soak",), ("program mysql",),
    )  # fmt: skip
    assert found.of_file("check_more.py") == [more]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[check.rows]", "[check.rows", "experiment.toml: not TOML"),
        ('lane = "replica"', "lane = 1", "lane is a word"),
        ('lane = "replica"', 'lain = "replica"', "unknown keys lain, expected some of check, lane"),
        ("check.two-words", "check.Two", "check Two: a name has small letters"),
        ("check_more.py", "check_less.py", "there is no file check_less.py"),
        ("check_more.py", "run.py", "there is no file run.py"),
        ('["soak"]', '["slow"]', "profiles are some of quick, full, soak"),
        ('["FR1", "D2"]', '"FR1"', "check rows: requirements is no list of texts"),
        ("quick = 4, ", "", "check rows: size tables: expected quick, full, soak, and what it counts"),
        (', counts = "rows"', "", "check rows: size: expected quick"),
        ("quick = 4", 'quick = "4"', "check rows: size tables: expected numbers"),
        (GOOD, "", "it lists no check"),
    ],
)
def test_a_manifest_that_cannot_be_meant_is_refused(manifest: Path, old: str, new: str, message: str) -> None:
    manifest.write_text(GOOD.replace(old, new), "utf-8")
    with pytest.raises(ManifestError, match=message):
        read_manifest(manifest)


def test_every_folder_of_checks_has_a_manifest_and_every_requirement_is_one_of_the_catalogue() -> None:
    rooms = {path.parent.name for path in CHECKS.glob("*/check*.py")}
    assert set(experiments()) == rooms
    assert {name for facts in all_facts() for name in facts.requirements} <= set(REQUIREMENTS)


def test_the_requirements_of_a_file_are_known_without_importing_it() -> None:
    assert judging(CHECKS / "sdi_design" / "check.py") == frozenset({"SDI24", "SDI42", "SDI34", "SDI62"})
    assert judging(CHECKS / "sdi" / "check_crashes.py") == frozenset({"SDI27", "SDI64"})
    assert judging(CHECKS / "decoders" / "check.py") is None  # its items have those of the suite's Cases
    assert judging(CHECKS / "sdi" / "check_new.py") is None


def test_parts_and_parameters_have_the_facts_of_their_check() -> None:
    facts = facts_of("replicas/rows")
    assert facts is not None
    assert facts is facts_of("replicas/rows/gtid/own-log") is facts_of("replicas/rows[gtid]")
    assert facts_of("replicas") is facts_of("replicas/other") is facts_of("other/rows") is None


def test_each_condition_has_statements() -> None:
    facts = facts_of("diff_conditions/statements")
    assert facts is not None
    assert sorted(facts.requirements) == sorted(CONDITIONS)


def test_the_catalogue_of_expected_experiments_names_checks_of_the_manifests() -> None:
    """It is a file of its own, so that a run misses what is gone together with its manifest."""
    known = {facts.id for facts in all_facts()} | {UPDATES}
    assert {name.partition("[")[0] for name in least_cases()} <= known


# --- what is collected, and what is not -------------------------------------------------------------------------------


def collected(*requirements: str) -> LabRun:
    run = LabRun(lambda _: Settings(), requirements=frozenset(requirements))
    _pytest(run, "--collect-only")
    return run


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ghost": CheckFacts(room="type_codes", name="ghost", requirements=("F1",))},
         "type_codes/check.py: no function is marked as the check 'ghost', which experiment.toml lists"),
        ({"events": None}, "test_updates_without_documents is the check 'events', which experiment.toml does not list"),
        ({"events": {"file": "check_more.py"}}, "is the check 'events', which experiment.toml has in check_more.py"),
    ],
)  # fmt: skip
def test_a_difference_between_manifest_and_functions_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], message: str
) -> None:
    known = experiments()["type_codes"]
    checks = dict(known.checks)
    for name, change in changes.items():
        if change is None:
            del checks[name]
        else:
            checks[name] = change if isinstance(change, CheckFacts) else replace(checks[name], **change)  # type: ignore[arg-type]
    monkeypatch.setitem(experiments(), "type_codes", replace(known, checks=checks))
    assert message in str(collected("F1").could_not_run)


def test_an_item_judges_a_requirement_of_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    known = experiments()["promoted_cases"]
    cases = replace(known.checks["cases"], requirements=("FR5", "FR6"))
    monkeypatch.setitem(experiments(), "promoted_cases", replace(known, checks={"cases": cases}))
    assert "the items of 'cases' and experiment.toml differ about FR6" in str(collected("FR5").could_not_run)


def test_a_folder_without_a_manifest_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(experiments(), "type_codes")
    assert "type_codes/check.py: its folder has no experiment.toml" in str(collected("F1").could_not_run)


def test_a_manifest_that_cannot_be_read_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ManifestError("room/experiment.toml: it lists no check")

    monkeypatch.setattr("conformance.harness.experiments.items.experiments", broken)
    monkeypatch.setattr(manifests, "experiments", broken)
    assert str(collected("F1").could_not_run).endswith("room/experiment.toml: it lists no check")


def test_only_the_files_that_are_asked_for_are_imported() -> None:
    run = collected("SDI34")
    assert {item.path.parent.name for item in run.selected} == {"sdi_design"}


# --- former ids -------------------------------------------------------------------------------------------------------


def test_every_former_id_has_a_check_of_today_and_is_none() -> None:
    assert [old for old, new in former_ids().items() if facts_of(new) is None or facts_of(old) is not None] == []


@pytest.mark.parametrize(
    ("former", "today"),
    [
        ("printing/text", "mysqlbinlog_output/text"),
        ("printing/text:a line that differs", "mysqlbinlog_output/text:a line that differs"),
        ("replicas/gtid/own-log:event", "replicas/rows/gtid/own-log:event"),
        ("conditions/D1:event", "diff_conditions/statements/D1:event"),
        ("diff_conditions/images:event", "diff_conditions/images:event"),
        ("triggers/off-page-log:event:3", "triggers/off-page/log:event:3"),
        ("triggers/off-page/log:event:3", "triggers/off-page/log:event:3"),
        ("updates/event-bytes:event:rows[#]", "updates/event-bytes:event:rows[#]"),
        ("somebody's own", "somebody's own"),
        ("", ""),
    ],
)
def test_a_text_with_a_former_id_gets_the_id_of_today(former: str, today: str) -> None:
    assert present(former) == today
    assert present(today) == today


def test_the_former_name_of_a_room_is_one_that_no_room_has() -> None:
    former = {room: former_room(room) for room in experiments() if former_room(room) != room}
    assert former["option_off"] == "unchanged"
    assert len(former) == 5
    assert set(former.values()).isdisjoint(experiments())
