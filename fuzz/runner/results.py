"""``results.json`` of a fuzzing run: the common frame of the lab's runs, with the targets' figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.verdict import Verdict
from conformance.version import __version__
from fuzz.runner.source_lines import modules_of

if TYPE_CHECKING:
    from fuzz.runner.campaign import Campaign
    from fuzz.runner.findings import Finding
    from fuzz.runner.run import TargetState
    from fuzz.runner.source_lines import ModuleLines

SUBJECT: Final = "reference"


def results(campaign: Campaign, command: str) -> dict[str, Any]:
    """The object of the file. A case is one execution."""
    code = campaign.exit_code
    reasons = ["interrupted"] if campaign.interrupted else []
    reasons += [f"{state.target.name}: {text}" for state in campaign.states if (text := state.trouble or state.note)]
    executions = sum(state.executions for state in campaign.states)
    findings = [finding for state in campaign.states for finding in state.findings]
    return {
        "schema": 1,
        "kit": __version__,
        "run": {
            "seed": campaign.budget.seed,
            "profile": None,
            "started": campaign.started,
            "seconds": round(campaign.seconds, 3),
            "complete": not reasons,
            "incomplete_reason": "; ".join(reasons) or None,
            "exit_code": int(code),
            "selected": len(campaign.states),
            "command": command,
        },
        "subjects": [_subject(state) for state in campaign.states],
        "requirements": {},
        "totals": {
            "cases": executions,
            "verdicts": {Verdict.PASS: executions - len(findings), Verdict.FAIL: len(findings)},
            "updates_compared": 0,
            "bytes_compared": 0,
            "texts_compared": 0,
            "sizes_compared": 0,
            "mismatches": len(findings),
            "deviating": 0,
        },
        "census": {},
        "failures": [_failure(finding) for finding in findings],
        "findings": [],
        "deviations": [],
        "targets": [_target(campaign, state) for state in campaign.states],
        "code": [_coverage(module) for module in modules_of(campaign)],
    }


def _subject(state: TargetState) -> dict[str, Any]:
    target = state.target
    return {
        "id": target.name,
        "role": "peer" if target.peer else "target",
        "version": (target.software or target.package) if target.peer else __version__,
        "dialect": None,
        "capabilities": [],
    }


def _target(campaign: Campaign, state: TargetState) -> dict[str, Any]:
    scale = campaign.scale
    return {
        "target": state.target.name,
        "peer": state.target.peer,
        "result": str(campaign.result(state)),
        "trouble": state.trouble or state.note or None,
        "executions": state.executions,
        "seconds": round(state.seconds, 3),
        "processor_seconds": round(state.processor, 2),
        "executions_per_second": round(state.rate, 1),
        "of_empty": round(state.rate / scale, 5) if scale else None,
        "edges": state.edges,
        "features": state.features,
        "corpus": state.corpus,
        "findings": len(state.findings),
        "history": [list(point) for point in state.history],
    }


def _coverage(module: ModuleLines) -> dict[str, Any]:
    return {
        "module": module.name,
        "lines": module.lines,
        "lines_reached": module.reached,
        "new": list(module.new),
        "missing": list(module.never),
    }


def _failure(finding: Finding) -> dict[str, Any]:
    return {
        "case": finding.path.stem,
        "requirement": finding.target,  # its sentence is the broken invariant
        "check": finding.target,
        "verdict": Verdict.FAIL,
        "subject": finding.target,
        "signature": finding.signature,
        "message": finding.message,
        "new": finding.is_new,
        "confirmed": finding.reproduced,
        "shrunk": finding.shrunk,
        "size": finding.size,
        "replay": finding.replay,
        "case_file": str(finding.path),
    }
