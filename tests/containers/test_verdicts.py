"""The comparison of a container with a process finds every row that differs, and a reason that is not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.containers import verdicts

_LISTED = dict(verdicts.LISTED)
ROWS = {"FR1": "pass", "FR5": "deviates", "SDI1": "pass", "A1": "not-run"}


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    found: dict[str, str] = {}
    monkeypatch.setattr(verdicts, "LISTED", found)
    return found


def results(**changed: str) -> dict[str, Any]:
    rows = {name: {"verdict": verdict} for name, verdict in {**ROWS, **changed}.items()}
    return {"run": {"seed": "1"}, "requirements": rows}


def test_equal_reports_have_no_rows() -> None:
    text, good = verdicts.compare(results(), results())
    assert good
    assert text.splitlines()[0] == "process   1: 2 pass, 1 deviates"
    assert text.splitlines()[-1] == "3 judged rows with the same verdict, 0 with another"


@pytest.mark.parametrize(("row", "verdict"), [("FR1", "fail"), ("SDI1", "not-applicable"), ("A1", "pass")])
def test_a_row_without_a_reason_is_an_error(row: str, verdict: str) -> None:
    text, good = verdicts.compare(results(), results(**{row: verdict}))
    assert not good
    assert f"| {row} | {ROWS[row]} | {verdict} | **none listed** |" in text


def test_a_row_that_one_report_lacks_differs() -> None:
    fewer = results()
    del fewer["requirements"]["SDI1"]
    text, good = verdicts.compare(results(), fewer)
    assert not good
    assert "| SDI1 | pass | absent | **none listed** |" in text


def test_a_listed_row_is_shown_with_its_reason_and_only_while_it_differs(listed: dict[str, str]) -> None:
    listed["SDI1"] = "has no files"
    text, good = verdicts.compare(results(), results(SDI1="not-applicable"))
    assert good
    assert "| SDI1 | pass | not-applicable | has no files |" in text
    text, good = verdicts.compare(results(), results())
    assert not good
    assert text.endswith("listed, and the same today: SDI1")


def test_more_than_ten_rows_are_too_many(listed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    more = {f"R{number}": "pass" for number in range(11)}
    listed.update(dict.fromkeys(more, "a reason"))
    text, good = verdicts.compare(results(**more), results(**dict.fromkeys(more, "not-applicable")))
    assert "11 with another" in text
    assert not good


def test_the_page_names_every_row_that_is_listed() -> None:
    page = (Path(__file__).parents[2] / "docs/tasks/judge-a-server.md").read_text("utf-8")
    assert [name for name in _LISTED if name not in page] == []
