"""The results of a run: as JSON values, as a page, and as lines for a terminal."""

from __future__ import annotations

import json
from collections import defaultdict
from importlib import resources
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from conformance.messages import counted
from conformance.report.html import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.explore.explorer import Explorer
    from conformance.explore.findings import Finding

OUTCOMES: Final = {
    0: ("Nothing new", "✓", "good"), 1: ("New findings", "✗", "bad"), 4: ("Incomplete", "…", "warn"),
}  # fmt: skip


def as_json(explorer: Explorer, exit_code: int, problem: str) -> dict[str, Any]:
    """The content of ``results.json``."""
    plan = explorer.plan
    return {
        "schema": 1,
        "kit": version("binlog-lab"),
        "run": {
            "command": "explore", "topology": plan.topology, "seed": plan.seed, "version": explorer.maker.version,
            "steps": explorer.steps, "episodes": explorer.episodes, "seconds": round(explorer.seconds, 1),
            "rate": explorer.rate, "complete": not problem, "incomplete_reason": problem, "exit_code": exit_code,
        },
        "findings": [finding.as_json() for finding in explorer.findings],
        "not_counted": dict(explorer.vanished),
        "census": {
            "oracles": dict(explorer.tried), "answers": dict(explorer.answers), "features": dict(explorer.features),
            "pairs": len(explorer.pairs), "beside": dict(explorer.beside),
        },
    }  # fmt: skip


def write(explorer: Explorer, folder: Path, exit_code: int, problem: str) -> None:
    """Write ``results.json`` and ``index.html``."""
    content = as_json(explorer, exit_code, problem)
    (folder / "results.json").write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")
    (folder / "index.html").write_text(page(explorer, content), "utf-8")


def shapes(answers: dict[str, int]) -> list[tuple[str, int, str]]:
    """Each shape of statement: how many were done, and the errors of the others."""
    done: dict[str, int] = defaultdict(int)
    refused: dict[str, dict[str, int]] = defaultdict(dict)
    for key, count in answers.items():
        shape, _, outcome = key.rpartition(": ")
        done[shape] += count if outcome == "ok" else 0
        if outcome != "ok":
            refused[shape][outcome] = count
    return [
        (shape, done[shape], ", ".join(f"{number} ({count})" for number, count in sorted(refused[shape].items())))
        for shape in sorted(done)
    ]


def headline(explorer: Explorer) -> str:
    """The run in a sentence."""
    found = explorer.findings
    new = [finding for finding in found if not finding.known]
    return (
        f"{explorer.steps:,} statements in {explorer.episodes:,} episodes on MySQL {explorer.maker.version}: "
        f"{len(new)} new {'finding' if len(new) == 1 else 'findings'}, {len(found) - len(new)} listed."
    )


def page(explorer: Explorer, content: dict[str, Any]) -> str:
    """The page for people."""
    outcome, glyph, tone = OUTCOMES[content["run"]["exit_code"]]
    style = resources.files("conformance.report").joinpath("templates/report.css").read_text("utf-8")
    findings = [{**finding.as_json(), "text": finding.text, "words": _words(finding)} for finding in explorer.findings]
    features = sorted(explorer.features.items())
    return render(
        "conformance.explore", "explore.html.j2", style, outcome=outcome, glyph=glyph, tone=tone, run=content["run"],
        headline=headline(explorer), findings=findings, new=[one for one in findings if not one["known"]],
        vanished=sorted(explorer.vanished.items()), tried=sorted(explorer.tried.items()),
        beside=sorted(explorer.beside.items()),
        shapes=shapes(content["census"]["answers"]), features=features, pairs_seen=len(explorer.pairs),
        pairs_possible=len(features) * (len(features) - 1) // 2,
    )  # fmt: skip


def lines(explorer: Explorer) -> Iterator[str]:
    """The findings, a line each, and the headline."""
    for finding in explorer.findings:
        listed = f", listed as {finding.known}" if finding.known else ""
        yield f"{finding.name}: {finding.problem.kind}: {_words(finding)}{listed}"
    yield headline(explorer)


def _words(finding: Finding) -> str:
    """The length of the script, its proof, and how often the fault was met."""
    shown = f"shown on {finding.shown} of {finding.tries} fresh servers"
    return f"{counted(len(finding.script), 'statement')}, {shown}, met {counted(finding.hits, 'time')}"
