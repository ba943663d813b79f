"""How much of the catalogue is judged: the figures are counted, the site has them, and every row has its document."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from conformance.requirements.catalogue import REQUIREMENTS, parse_rows
from conformance.requirements.coverage import CoverageState, by_document, counts, lines, sentences, state_of

ROOT = Path(__file__).parents[2]
# Counted in the texts of the worklogs and of the article, one for each sentence that can hold or not.
SENTENCES = {"WL#7053": 68, "LOB article": 34, "WL#4162": 30}


def test_the_page_about_coverage_has_the_figures_of_the_catalogue() -> None:
    figures = "\n".join(sentences())
    assert figures in (ROOT / "docs/coverage.md").read_text("utf-8"), f"the page has to say:\n{figures}"


def test_every_row_is_counted_once_and_under_its_document() -> None:
    assert sum(counts().values()) == len(REQUIREMENTS)
    assert sum(sum(found.values()) for found in by_document().values()) == len(REQUIREMENTS)
    assert {name: sum(by_document()[name].values()) for name in SENTENCES} == SENTENCES


def test_rows_about_old_servers_and_about_the_model_are_no_verdicts_about_the_server() -> None:
    assert {name for name, row in REQUIREMENTS.items() if state_of(row) is CoverageState.UNRELEASED} == {"TF1"}
    for name in ("TL1", "TN1", "TN2", "TM1", "TF2", "TD3", "TI1"):
        assert state_of(REQUIREMENTS[name]) is CoverageState.MODEL, name
    for name in ("FR10", "X2", "W2a", "W2.text", "D4", "TMX1"):
        assert state_of(REQUIREMENTS[name]) is CoverageState.OLD, name
    for name, row in REQUIREMENTS.items():
        if row.needs == ("OLD",) and name != "X1":  # X1: rows of old events are generated as well
            assert state_of(row) in (CoverageState.OLD, CoverageState.NOT_JUDGED), name


def test_a_row_goes_with_the_one_that_it_is_part_of() -> None:
    text = (
        'title = "t"\n[documents]\nd = "1"\n[defaults]\ndocument = "d"\nsection = "1"\nallowed = "a"\n'
        '[[requirement]]\nid = "A"\nstatement = "s"\njudged_on = "model"\n'
        '[[requirement]]\nid = "B"\nstatement = "s"\nwithin = "A"\n'
        '[[requirement]]\nid = "C"\nstatement = "s"\n'
        '[[requirement]]\nid = "D"\nstatement = "s"\nwithin = "C"\n'
        '[[requirement]]\nid = "E"\nstatement = "s"\nreason = "r"\n'
    )
    found = [state_of(row) for row in parse_rows({"0.toml": text}).values()]
    assert found == [
        CoverageState.MODEL,
        CoverageState.MODEL,
        CoverageState.JUDGED,
        CoverageState.WITHIN,
        CoverageState.NOT_JUDGED,
    ]


def test_the_command_prints_each_row_that_is_not_judged_with_its_reason() -> None:
    command = [sys.executable, "-m", "conformance.requirements.coverage"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == lines()
    said = re.findall(r"^(\S+) +not judged: \S", done.stdout, re.MULTILINE)
    assert said == [name for name, row in REQUIREMENTS.items() if row.reason is not None]
    assert len(said) == counts()[CoverageState.NOT_JUDGED]
