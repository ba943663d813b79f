"""The page of a run: what is new, known and fixed, and how far the edges came."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.runs.fuzz_page import curve, page
from fuzz.runner.alone.sandbox import InputOutcome
from fuzz.runner.campaign import Campaign
from fuzz.runner.findings import note_replay, read
from fuzz.runner.run import Budget, TargetState
from fuzz.runner.targets import find

if TYPE_CHECKING:
    from fuzz.runner.findings import Finding, Store

(TARGET,) = find(["jsonb-decode"])


def outcome(name: str) -> InputOutcome:
    return InputOutcome("error", f"{name} in <f>", "text", "")


def stored(store: Store, name: str, *started: str) -> Finding:
    return [store.add(TARGET, name.encode(), outcome(name), seed=1, started=time) for time in started][-1]


def test_findings_are_new_known_and_fixed(store: Store) -> None:
    new, known = stored(store, "New", "2026-02"), stored(store, "Known", "2026-01", "2026-02")
    stored(store, "Unseen", "2026-01")
    fixed = stored(store, "Fixed", "2026-01")
    note_replay(fixed.path, fixed=True)
    state = TargetState(TARGET, executions=70, seconds=9.5, edges=30, findings=[new, known])
    state.history = [(0.5, 3, 10), (4.0, 50, 30)]
    text = page(Campaign([state], Budget(seconds=10)), store, "one run")
    sections = dict(re.findall(r"<section><h2>([^<]*)</h2>(.*?)</section>", text, re.DOTALL))
    shown = {title: re.findall(r"(\w+) in &lt;f&gt;", part) for title, part in sections.items()}
    assert shown == {
        "New": ["New"], "Known, seen again": ["Known"], "Known, not seen in this run": ["Unseen"], "Fixed": ["Fixed"],
        "Edges over time": [],
    }  # fmt: skip
    assert "<polyline " in sections["Edges over time"]


def test_a_finding_is_fixed_until_it_is_seen_again(store: Store) -> None:
    finding = stored(store, "One", "2026-01")
    note_replay(finding.path, fixed=True)
    again = read(finding.path)
    assert again is not None
    assert again.fixed
    note_replay(finding.path, fixed=False)
    assert read(finding.path) == finding
    note_replay(finding.path, fixed=True)
    assert not stored(store, "One", "2026-03").fixed


def test_a_curve_goes_on_to_the_end_and_has_few_points() -> None:
    assert curve([], 5) == ""
    assert curve([(1, 5), (2, 10)], 4) == "50.0,20.0 100.0,1.0 100.0,1.0 200.0,1.0"
    assert len(curve([(number / 10, number) for number in range(1, 2001)], 200).split()) < 110


def test_edges_are_noted_where_they_grow() -> None:
    state = TargetState(TARGET)
    for seconds, edges in ((0.1, None), (0.2, 5), (0.3, 5), (0.4, 7)):
        state.seconds, state.edges = seconds, edges
        state.sample()
    assert state.history == [(0.2, 0, 5), (0.4, 0, 7)]
