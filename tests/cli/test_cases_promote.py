"""``binlog-lab cases promote``: a finding becomes a Case of the suite, once, and not if it could crash something."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image
from conformance.cases.files import dump_case, load_any_case, validate
from conformance.checks.promoted_cases import check as test_promoted
from conformance.checks.suite import suite
from conformance.cli import main as frame
from conformance.harness import promoted
from conformance.harness.promoted import SHIPPED, VARIABLE, PromotionError, content_hash, may_crash
from conformance.harness.session import Lab
from conformance.harness.settings import Settings
from conformance.reference.jsonb.encode import encode
from conformance.report.results import Summary
from conformance.requirements.catalogue import REQUIREMENTS
from conformance.stream import Block, CaseVerdict, Run
from generators import damaged_events, object_entries
from generators.damaged_values import file_with_damage
from generators.draw import Stream
from tests.harness.planted import case as update_case
from tests.running import run as run_check

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cases.files import AnyCase
    from conformance.servers.run.process import ProcessServer
    from conformance.stream import AnyRecord

STORED = encode({"n": 1})
EVENT = EventCase(
    id="inject-1",
    requirements=("FR5",),
    seed="x 1",
    injection=Injection(name="good", stored=STORED, image=partial_image(damaged_events.diff())),
)
# The reference applies it, so a demand for an error fails on every server.
WRONG = replace(EVENT, injection=replace(EVENT.injection, demand=Demand.ERROR))
SPOILING = replace(
    EVENT,
    injection=Injection(
        name="x", stored=STORED, image=full_image(b"\x0d\x00\x00"), demand=Demand.ERROR, hazard="corrupts-row"
    ),
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "own"
    monkeypatch.setenv(VARIABLE, str(directory))
    return directory


def stored(case: AnyCase, tmp_path: Path) -> Path:
    path = tmp_path / "report" / "cases" / f"{case.id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dump_case(case)), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = frame.run(["cases", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_finding_is_in_the_suite_from_then_on(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stored(EVENT, tmp_path)
    code, out, _ = run(capsys, "promote", str(path), "--id", "replaces-n", "--note", "because")
    assert (code, out.strip()) == (0, str(own / "replaces-n.json"))
    data = json.loads((own / "replaces-n.json").read_text("utf-8"))
    validate(data)
    kept = load_any_case(data)
    assert kept == replace(EVENT, id="replaces-n", note="because")
    assert [item.origin for item in suite() if item.id == "replaces-n"] == ["promoted, your own"]
    code, out, _ = run(capsys, "show", "replaces-n", "--as", "sql")
    assert "BINLOG" in out


def test_an_id_of_a_report_and_names_from_requirement_and_content(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(EVENT, tmp_path)
    code, out, _ = run(capsys, "promote", EVENT.id, "--report", str(tmp_path / "report"), "-r", "FR5", "-r", "NR1")
    assert code == 0
    assert out.strip() == str(own / f"fr5-{content_hash(EVENT)[:8]}.json")
    kept = load_any_case(json.loads(next(own.iterdir()).read_text("utf-8")))
    assert (kept.requirements, kept.note) == (("FR5", "NR1"), "promoted from inject-1")


@pytest.mark.parametrize("case", [EVENT, update_case(), next(item.case for item in suite() if item.case.kind == "sql")])
def test_the_same_content_is_refused_under_any_name(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], case: AnyCase
) -> None:
    path = stored(replace(case, id="somewhere-else"), tmp_path)
    first = run(capsys, "promote", str(path), "--id", "first")
    again = replace(case, id="again", seed="other", rev=7, requirements=("FR2",))
    code, _, err = run(capsys, "promote", str(stored(again, tmp_path)), "--id", "second")
    assert code == 2
    assert "the suite has it already" in err
    assert first[0] == (2 if case.kind == "sql" else 0)  # what the kit itself brings along counts as well
    assert len(list(own.glob("*.json"))) == (first[0] == 0)


@pytest.mark.parametrize("place", ["diff", "full", "vector", "hazard hidden", "hazard only"])
def test_what_may_crash_other_software_is_refused(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    case: AnyCase
    if place == "vector":
        case = file_with_damage(Stream("promote", 1), place, "promote 1")
    elif place == "hazard only":
        case = replace(EVENT, injection=replace(EVENT.injection, hazard="may-crash"))
    else:
        item = object_entries.injection(Stream("promote", 1), "diff" if place == "hazard hidden" else place, keys=True)
        hazard = "none" if place == "hazard hidden" else item.hazard
        case = replace(EVENT, injection=replace(item, hazard=hazard))
    code, _, err = run(capsys, "promote", str(stored(case, tmp_path)), "--id", "killer")
    assert code == 2
    assert "may crash other people's software" in err
    assert "SECURITY.md" in err
    assert not own.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--id", "With Blanks"], "is no id"),
        (["--id", "../up"], "is no id"),
        (["--id", "x", "-r", "FR99"], "unknown requirement FR99"),
        (["--id", "d6-equal"], "another Case named d6-equal"),
    ],
)
def test_names_and_requirements_are_checked(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code, _, err = run(capsys, "promote", str(stored(EVENT, tmp_path)), *arguments)
    assert code == 2
    assert words in err
    assert not own.exists()


def test_what_is_no_case_is_said(own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "promote", str(tmp_path / "none.json"))[0] == 2
    for text in ("{}", "[]", "nonsense"):
        (tmp_path / "bad.json").write_text(text, encoding="utf-8")
        code, _, err = run(capsys, "promote", str(tmp_path / "bad.json"))
        assert code == 2
        assert "not a Case" in err
    own.mkdir()
    (own / "broken.json").write_text("{}", encoding="utf-8")
    code, _, err = run(capsys, "list")
    assert code == 2
    assert "broken.json" in err


def test_a_file_for_no_known_requirement_is_said(own: Path) -> None:
    own.mkdir()
    (own / "x.json").write_text(json.dumps(dump_case(replace(EVENT, requirements=("FR99",)))), encoding="utf-8")
    with pytest.raises(PromotionError, match="no known requirement"):
        list(promoted.promoted())


def test_where_promoted_cases_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(promoted, "in_checkout", lambda: True)
    assert promoted.target_directory() == SHIPPED
    monkeypatch.setattr(promoted, "in_checkout", lambda: False)
    assert promoted.target_directory() == tmp_path / "binlog-lab" / "cases"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    assert promoted.target_directory() == tmp_path / "mine"


def test_the_promoted_cases_of_the_kit_are_sound_and_harmless() -> None:
    paths = sorted(SHIPPED.glob("*.json"))
    assert paths
    for path in paths:
        data = json.loads(path.read_text("utf-8"))
        validate(data)
        case = load_any_case(data)
        assert case.id == path.stem
        assert case.note
        assert set(case.requirements) <= set(REQUIREMENTS)
        assert not may_crash(case)


def test_the_reader_refuses_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PromotionError, match="No such file"):
        promoted.read_case(tmp_path / "none.json")


# --- in a run --------------------------------------------------------------------------------------------------------


def of(records: list[AnyRecord], kind: type[Any]) -> list[Any]:
    return [record for record in records if isinstance(record, kind)]


@pytest.mark.live
@pytest.mark.planted("FR5")
def test_every_promoted_case_runs_and_one_that_fails_fails_the_run(
    server: ProcessServer, own: Path, tmp_path: Path
) -> None:
    records: list[AnyRecord] = []
    lab = Lab(Settings(cases=tmp_path), records.append)
    lab._server, lab._resolved = server, True
    own.mkdir()
    for identity, case in (("good", EVENT), ("an-update", update_case()), ("listed", SPOILING)):
        text = json.dumps(dump_case(replace(case, id=identity)))
        (own / f"{identity}.json").write_text(text, encoding="utf-8")
    try:
        run_check(test_promoted.test_promoted_cases, lab, requirement="FR1")
        assert [block.requirements for block in of(records, Block)] == [("FR1",)]
        run_check(test_promoted.test_promoted_cases, lab, requirement="FR5")
        blocks = of(records, Block)
        assert len(blocks) == 3 + len(list(SHIPPED.glob("*.json")))
        assert sum(block.deviations.get("full-values-unread", 0) for block in blocks) == 1
        assert not of(records, CaseVerdict)
        (own / "wrong.json").write_text(json.dumps(dump_case(replace(WRONG, id="wrong"))), encoding="utf-8")
        with pytest.raises(pytest.fail.Exception, match="1 failed: wrong does not end as it must"):
            run_check(test_promoted.test_promoted_cases, lab, requirement="FR5")
    finally:
        lab._server = None  # of the whole test session
        lab.close()
    (verdict,) = of(records, CaseVerdict)
    assert (verdict.case, str(verdict.verdict)) == ("wrong", "fail")
    first = Run(kit="", seed="1", profile="quick", started="", command="", selected=1)
    assert Summary([first, *records]).conclude(seconds=1.0).exit_code == 1
