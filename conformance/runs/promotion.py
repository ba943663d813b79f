"""Findings that are kept for good: as a Case of the suite, or as a regression of a fuzz target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cases.bytes_case import BytesCase, bytes_id
from conformance.harness.promoted import PromotionError, content_hash, in_checkout, promote, read_case
from conformance.reference.binlog.header import MAGIC
from conformance.runs.suite_export import suite_cases
from conformance.user_errors import Usage
from fuzz.runner.errors import Unfit
from fuzz.runner.regressions import keep

if TYPE_CHECKING:
    from collections.abc import Sequence


def keep_finding(finding: str, identity: str, requirements: Sequence[str], note: str, report: Path) -> Path:
    """Keep a Case by its file or its id in a report, or the input of a fuzz run; return the file that keeps it."""
    if finding.endswith(".bin"):
        return _keep_input(Path(finding), identity, requirements, note)
    path = Path(finding) if finding.endswith(".json") else report / "cases" / f"{finding}.json"
    if not path.is_file():
        raise Usage(
            f"{path}: no such Case",
            hint="give a file of a report's cases/ directory, or an id together with --report DIR",
        )
    try:
        case = read_case(path)
        name = identity or "-".join([*(text.lower() for text in case.requirements[:1]), content_hash(case)[:8]])
        return promote(
            case,
            identity=name.replace(".", "-"),
            requirements=requirements,
            note=note or f"promoted from {case.id}",
            suite=[item.case for item in suite_cases()],
        )
    except PromotionError as problem:
        raise Usage(str(problem)) from problem


def _keep_input(path: Path, identity: str, requirements: Sequence[str], note: str) -> Path:
    """Keep the input of a fuzz finding."""
    if not path.is_file():
        raise Usage(f"{path}: no such finding")
    try:
        if requirements:
            data = path.read_bytes()
            if not data.startswith(MAGIC):
                raise Usage(f"{path}: not a binary log, so no Case of {', '.join(requirements)}: leave -r out")
            case = BytesCase(id=bytes_id("mysqlbinlog", data), name=path.stem, data=data)
            known = [item.case for item in suite_cases()]
            return promote(case, identity=identity or path.stem, requirements=requirements, note=note, suite=known)
        if in_checkout():
            return keep(path, name=identity, note=note)
        raise Usage("a regression is a file of the repository: run this in a checkout of binlog-lab")
    except (PromotionError, Unfit) as problem:
        raise Usage(str(problem)) from problem
