from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.explore.explorer import Explorer, Plan
from conformance.explore.findings import Finding
from conformance.explore.oracles.problem import Problem
from conformance.explore.results import OUTCOMES, as_json, lines, shapes, write
from conformance.explore.steps import Step
from tests.docs.test_reference_pages import listed

if TYPE_CHECKING:
    from pathlib import Path

UPDATE = Step("UPDATE t0 SET j = ⟦JSON_SET(j, '$.a', 1)⟧", "update")

FOUND = Finding(
    Problem("index", "rows of a <b>plain</b> index", "table t0: 3 & 2"), (UPDATE,),
    "single", 5, 2, text="SELECT '<script>';\n", shown=4, tries=5, hits=3, name="index-1",
)  # fmt: skip
LISTED = Finding(
    Problem("twin", "warnings", ""), (Step("DO 1", "do"),), "single", 5, 3, known="an-entry", name="twin-2"
)


def explorer(*findings: Finding) -> Explorer:
    maker: Any = SimpleNamespace(version="9.7.4")
    made = Explorer(maker, Plan(topology="single", seed=5, steps=100), lambda _: None)
    made.findings.extend(findings)
    made.answers.update({"update: ok": 7, "update: 1062": 2, "select: 3141": 1})
    made.tried.update({"index": 4})
    made.features.update({"view": 1, "check": 2})
    made.pairs.update([("check", "view")])
    made.vanished["twin: warnings"] = 1
    made.steps, made.episodes, made.exploring = 1234, 3, 2.0
    return made


@pytest.mark.parametrize("code", OUTCOMES)
@pytest.mark.parametrize("findings", [(), (FOUND,), (FOUND, LISTED)], ids=["nothing", "one", "two"])
def test_a_report_is_written_for_every_outcome(findings: tuple[Finding, ...], code: int, tmp_path: Path) -> None:
    write(explorer(*findings), tmp_path, code, "interrupted" if code == 4 else "")
    page = (tmp_path / "index.html").read_text("utf-8")
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert OUTCOMES[code][0] in page
    assert "1,234" in page
    assert len(results["findings"]) == len(findings)
    assert results["run"]["exit_code"] == code
    assert results["run"]["complete"] is (code != 4)
    assert all(finding.name in page for finding in findings)
    assert ("No oracle saw a difference" in page) is (not findings)


def test_a_page_escapes_what_the_server_and_the_script_say(tmp_path: Path) -> None:
    write(explorer(FOUND), tmp_path, 1, "")
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "<script>" not in page
    assert "rows of a &lt;b&gt;plain" in page
    assert "3 &amp; 2" in page


def test_the_terminal_tells_each_finding_and_the_headline() -> None:
    first, second, headline = lines(explorer(FOUND, LISTED))
    assert first == "index-1: rows of a <b>plain</b> index: 1 statement, shown on 4 of 5 fresh servers, met 3 times"
    assert second.endswith(", listed as an-entry")
    assert headline == "1,234 statements in 3 episodes on MySQL 9.7.4: 1 new finding, 1 listed."


def test_shapes_count_what_was_done_and_name_refusals() -> None:
    answers = Counter({"update: ok": 7, "update: 1062": 2, "update: 3141": 1, "select: 1146": 3})
    assert shapes(answers) == [("select", 0, "1146 (3)"), ("update", 7, "1062 (2), 3141 (1)")]


def test_the_reference_page_lists_the_keys() -> None:
    content = as_json(explorer(FOUND), 1, "")
    assert listed("`explore`: `results.json`") == list(content)
