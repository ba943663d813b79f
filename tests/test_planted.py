"""The command that plants all faults: every judged requirement has some, and none is called caught that was not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.requirements.catalogue import REQUIREMENTS
from tests.faults.catalogue import ROOT
from tests.faults.census import benches, by_kinds, by_requirement, by_tests
from tests.faults.page import PAGE, page
from tests.live import PATIENCE
from tests.planted import COLLECTED, LEAST, NO_REQUIREMENT, Planted, Tally, parts, planted_by, table

if TYPE_CHECKING:
    from pathlib import Path


def tally(**outcomes: str) -> Tally:
    found = Tally(faults={test: Planted(test[0], ("FR1", "FR2")) for test in outcomes})
    found.passed = {test for test, word in outcomes.items() if word == "passed"}
    found.failed = {test for test, word in outcomes.items() if word == "failed"}
    return found


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        ({"a1": "passed"}, "caught"),
        ({"a1": "passed", "a2": "passed"}, "caught"),
        ({"a1": "passed", "a2": "skipped"}, "caught"),
        ({"a1": "skipped"}, "not run"),
        ({"a1": "failed"}, "missed"),
        ({"a1": "failed", "a2": "passed"}, "missed"),
        ({"a1": "passed", "a2": "failed"}, "missed"),
        ({"a1": "skipped", "a2": "failed", "a3": "passed"}, "missed"),
    ],
)
def test_a_fault_is_caught_if_no_test_that_ran_missed_it(outcomes: dict[str, str], word: str) -> None:
    assert tally(**outcomes).by_requirement() == {"FR1": {"a": word}, "FR2": {"a": word}}


def test_the_table_counts_by_requirement_and_names_what_was_missed() -> None:
    lines, well = table({"FR1": {"a": "caught", "b": "missed", "c": "not run"}, "U1": {"a": "caught"}})
    assert not well
    assert "FR1       1/3 caught/planted, 1 not run" in lines
    assert "U1        1/1 caught/planted" in lines
    assert "FR2       0/0 caught/planted, fewer than 2 faults" in lines
    assert "missed: b" in lines
    assert lines[-1] == "1/3 caught/planted, 1 not run"
    assert not any(line.startswith("FR15") for line in lines)
    assert "FR4.1  part without a fault" in lines


def test_parts_are_counted_apart_and_each_has_a_fault() -> None:
    everything = {name: {"a": "caught"} for name, row in REQUIREMENTS.items() if row.within}
    lines, well = parts(everything)
    assert well
    assert lines == [f"{len(everything)}/{len(everything)} parts of requirements with a caught fault"]
    part = next(iter(everything))
    lines, well = parts({**everything, part: {"a": "missed"}})
    assert well  # a missed fault is told by the table
    assert lines[-1].startswith(f"{len(everything) - 1}/")
    lines, well = parts({**everything, part: {}})
    assert not well
    assert lines[0] == f"{part:<6} part without a fault"


def test_a_fault_may_break_no_requirement() -> None:
    found = Tally(faults={"t": Planted("f", ())})
    found.passed = {"t"}
    assert found.by_requirement() == {NO_REQUIREMENT: {"f": "caught"}}
    lines, _ = table(found.by_requirement())
    assert f"no requirement {NO_REQUIREMENT}" not in lines
    assert lines[-1] == "1/1 caught/planted, 0 not run"


SOUND = "import pytest\n@pytest.mark.planted('FR1')\ndef test_a(): pass\n"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"test_a.py": SOUND, "test_b.py": "import no_such_module"}, "No module named 'no_such_module'"),
        ({"test_a.py": SOUND, "conftest.py": "raise OSError('broken')"}, "pytest ended before the collection was over"),
        ({"test_a.py": SOUND, "conftest.py": "def pytest_collection(): raise OSError('broken')"}, "broken"),
        ({"test_a.py": "def test_a(): pass"}, "none of the 0 collected tests plants a fault"),
    ],
    ids=["a module", "the configuration", "a plugin", "no fault"],
)
def test_what_cannot_be_collected_is_told_with_its_reason(tmp_path: Path, files: dict[str, str], words: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = planted\n", encoding="utf-8")
    program = (
        "import pytest; from tests.planted import Tally; found = Tally(); "
        f"pytest.main(['-q', '-p', 'no:cacheprovider', {str(tmp_path)!r}], plugins=[found]); found.by_requirement()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 1
    assert "NotCollectedError: the tests could not be collected" in done.stderr
    assert words in done.stderr


def test_a_requirement_that_is_none_is_told() -> None:
    lines, well = table({"FR99": {"a": "caught"}})
    assert "no requirement FR99" in lines
    assert not well


@pytest.fixture(scope="module")
def collected(request: pytest.FixtureRequest) -> list[Planted]:
    """The faults that tests plant. Collecting takes long: where this run collected all tests, it is not repeated."""
    items = request.config.stash.get(COLLECTED, None)
    if items is None:
        return by_tests()
    found = ((item.nodeid, planted_by(item)) for item in items)
    return by_kinds((test, fault.name, fault.requirements) for test, fault in found if fault is not None)


def test_every_requirement_with_checks_of_its_own_has_faults(collected: list[Planted]) -> None:
    """Tests are counted as they are collected; whether each fault is caught is for those tests to say."""
    found = {name: counts.total() for name, counts in by_requirement(collected).items()}
    judged = [name for name, row in REQUIREMENTS.items() if row.explanation is None]
    assert {name: found.get(name, 0) for name in judged if found.get(name, 0) < LEAST} == {}
    assert set(found) <= set(REQUIREMENTS)


def test_every_part_has_a_fault_of_its_own(collected: list[Planted]) -> None:
    lines, well = parts({name: dict.fromkeys(counts, "caught") for name, counts in by_requirement(collected).items()})
    assert well, lines


def test_the_page_of_planted_faults_is_current(collected: list[Planted]) -> None:
    assert PAGE.read_text("utf-8") == page([*benches(), *collected]), "run: python -m tests.faults --page"
