"""Fuzz targets, each in a process of its own, with a display, findings and a report."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.console import narrate
from conformance.messages import counted
from conformance.runs.fuzz_inputs import chosen
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fuzz.runner.campaign import Campaign
    from fuzz.runner.findings import Store


def run_targets(
    *,
    names: tuple[str, ...],
    everything: bool,
    peers: bool,
    subjects: tuple[str, ...],
    seconds: float | None,
    runs: int | None,
    seed: int | None,
    jobs: int | None,
    timeout: int,
    corpora: Path | None,
    findings: Path | None,
    report: Path | None,
) -> int:
    """Fuzz targets and print what came of it; return the exit code."""
    import secrets

    from fuzz.runner.campaign import run as run_campaign
    from fuzz.runner.corpora import COMMITTED, too_long
    from fuzz.runner.display import display, print_table, total
    from fuzz.runner.findings import Store, findings_directory
    from fuzz.runner.launch import require_atheris
    from fuzz.runner.run import Budget

    if seconds is not None and runs is not None:
        raise Usage("--seconds and --runs exclude each other")
    targets = chosen(names, everything=everything, peers=peers, subjects=subjects)
    if seed is None:
        seed = 1 if runs is not None else secrets.randbelow(1 << 31)
    budget = Budget(
        seconds=None if runs is not None else seconds or 60.0,
        runs=runs,
        seed=seed,
        timeout=timeout,
        corpora=None if corpora is None else corpora.absolute(),
        lines=report is not None,
    )
    with _errors(), _report_directory(report) as write:
        require_atheris()
        store = Store(findings or findings_directory())
        amount = f"{runs:,} executions" if runs is not None else f"{budget.seconds:g} s"
        narrate(f"{counted(len(targets), 'target')}, {amount} each, seed {seed}")
        for target in targets:
            if long := too_long(target, budget.corpora):
                narrate(
                    f"{target.name}: {counted(long, 'stored input')} longer than MAX_LEN ({target.max_len:,} bytes):"
                    " the fuzzer takes their first bytes alone"
                )
        if not COMMITTED.is_dir() and any(target.is_ours for target in targets):
            narrate(
                "the committed corpora are not installed: targets begin with their seeds and your own inputs; run in a"
                " checkout or in the unpacked source distribution to begin with the committed ones too"
            )
        with display(sys.stderr) as show:
            campaign = run_campaign(
                targets, budget, store, jobs=jobs or os.cpu_count() or 1, show=show, split=jobs is not None
            )
        print_table(campaign, sys.stdout)
        narrate(total(campaign))
        write(campaign, store)
    return int(campaign.exit_code)


@contextmanager
def _report_directory(path: Path | None) -> Iterator[Callable[[Campaign, Store], None]]:
    """The directory for ``results.json`` and the page. It is checked before the run: a run whose report cannot be
    written is in vain.
    """
    from conformance.report.directory import INDEX, RESULTS, DirectoryInUseError, ReportError, taken
    from conformance.runs.fuzz_page import page
    from fuzz.runner.display import total
    from fuzz.runner.results import results

    if path is None:
        yield lambda *_: None
        return

    def write(campaign: Campaign, store: Store) -> None:
        command_line = shlex.join(["binlog-lab", *sys.argv[1:]])
        (path / RESULTS).write_text(json.dumps(results(campaign, command_line), indent=1) + "\n", "utf-8")
        (path / INDEX).write_text(page(campaign, store, total(campaign)), "utf-8")
        narrate(f"report: {path / INDEX}; results: {path / RESULTS}")

    try:
        with taken(path):
            yield write
    except DirectoryInUseError as problem:
        raise Usage(str(problem)) from problem
    except ReportError as problem:
        raise CouldNotRun(str(problem)) from problem


@contextmanager
def _errors() -> Iterator[None]:
    from fuzz.runner.errors import Unfit

    try:
        yield
    except Unfit as problem:
        raise CouldNotRun(str(problem)) from problem
