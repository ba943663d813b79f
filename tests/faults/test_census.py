"""The count of planted faults: every one has one kind, and counts once in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import census
from tests.faults.__main__ import main
from tests.faults.catalogue import FAULTS, LIVE_FAULTS, ORACLE_FAULTS
from tests.faults.census import benches, by_kind, by_kinds, by_requirement, kind_of, table
from tests.faults.page import page, recorded
from tests.faults.servers.catalogue import SERVER_FAULTS
from tests.faults.spark.catalogue import FAULTS as BUDGET_FAULTS
from tests.planted import Planted


def test_the_first_kind_that_fits_has_a_test() -> None:
    assert kind_of("tests/requirements/test_parts.py::test_x[a]") == "parts"
    assert kind_of("tests/requirements/test_dialects.py::test_x[a]") == "versions"
    assert kind_of("tests/checks/costs/test_sizes.py::test_x") == "checks"
    assert kind_of("tests/test_new.py::test_x") == "others"


def test_what_two_tests_plant_counts_once_with_the_requirements_of_both() -> None:
    found = by_kinds(
        [("tests/checks/a.py", "f", ("FR1",)), ("tests/checks/b.py", "f", ("FR2",)), ("tests/fuzz/c.py", "f", ())]
    )
    assert found == [Planted("f", ("FR1", "FR2"), "checks"), Planted("f", (), "fuzzing")]
    assert by_kind(found) == {"checks": 1, "fuzzing": 1}
    assert {name: counts.total() for name, counts in by_requirement(found).items()} == {"FR1": 1, "FR2": 1}
    assert table(found)[-1].split() == ["together", "2"]


def test_every_catalogue_of_faults_is_a_kind() -> None:
    """A new catalogue beside the others has to be counted."""
    names = {path.stem for path in Path(census.__file__).parent.glob("*.toml")}
    assert names == {"catalogue", "oracles", "live"}
    assert by_kind(benches()) == {
        "reference": len(FAULTS), "oracles": len(ORACLE_FAULTS), "live": len(LIVE_FAULTS),
        "servers": len(SERVER_FAULTS), "spark": len(BUDGET_FAULTS),
    }  # fmt: skip


def test_tests_that_cannot_be_collected_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "_COLLECT", "import sys; sys.exit('pytest could not collect the tests: 2')")
    with pytest.raises(SystemExit, match="could not collect"):
        census.by_tests()


def test_recorded_runs_are_of_faults_that_are() -> None:
    assert set(recorded("oracles")) <= {fault.id for fault in ORACLE_FAULTS}
    assert set(recorded("servers")) <= {fault.id for fault in SERVER_FAULTS}
    assert "| `last-diff-is-lost` | F3 |" in page(benches())


def test_options_of_a_bench_need_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--first"])
    assert "--reference" in capsys.readouterr().err
