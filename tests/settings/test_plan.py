"""The plan of runs covers the list, and the page is the list's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.servers.settings.listed import SESSION, SETTINGS, of
from tests.settings.page import PAGE, page
from tests.settings.plan import ADDRESS, NO_OPTIONS, OWN, PERSISTED, REFUSED_IN_WORDS, accounts, runs
from tests.settings.runs import judged

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_is_made_of_the_lists() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.settings --page"


def test_each_tried_value_is_in_a_run() -> None:
    tried = {(setting.name, value) for setting in SETTINGS for value in setting.tried}
    assert {item for run in runs() for item in run.settings.items()} >= tried


def test_session_settings_are_tried_as_options_globally_and_persisted() -> None:
    names = {setting.name for setting in of(SESSION) if setting.tried}
    by_place = {run.place: set(run.settings) for run in runs() if run.name.startswith("session settings")}
    assert by_place == {ADDRESS: names, PERSISTED: names, OWN: names - NO_OPTIONS}


def test_at_least_eight_accounts_have_fewer_rights_and_each_refusal_has_words() -> None:
    found = list(accounts())
    assert len(found) >= 8
    for run in found:
        assert bool(run.words) is (run.code == REFUSED_IN_WORDS), run.name


def test_red_rows_are_those_that_fail_whatever_words_other_rows_have(tmp_path: Path) -> None:
    words = ("pass", "within", "deviates", "not-run", "not-applicable", "fail", "differs")
    rows = {f"R{place}": {"verdict": word} for place, word in enumerate(words)}
    results = {"requirements": rows, "totals": {"cases": 7, "updates_compared": 5}}
    (tmp_path / "results.json").write_text(json.dumps(results), "utf-8")
    assert judged(tmp_path) == {"red": ["R5", "R6"], "passed": 1, "cases": 7, "updates": 5}
    assert judged(tmp_path / "elsewhere") == {}


@pytest.mark.parametrize("run", tuple(runs()), ids=lambda run: run.name)
def test_a_refusal_names_its_setting_or_grant(run: object) -> None:
    if run.code:  # type: ignore[attr-defined]
        assert run.words  # type: ignore[attr-defined]
