"""A campaign of generated events against real servers, and what is printed of it."""

from __future__ import annotations

import os
import secrets
import shlex
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from conformance.console import narrate, progress
from conformance.exit_code import ExitCode
from conformance.server_use import server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from pathlib import Path

    from fuzz.campaigns.campaign import Campaign


def run_server_campaign(
    *,
    name: str,
    seconds: float | None,
    runs: int | None,
    seed: str | None,
    server: str,
    channels: tuple[str, ...],
    only: str | None,
    equal: int,
    jobs: int | None,
    shrink_seconds: float | None,
    findings: Path | None,
    no_deviations: bool,
) -> int:
    """Run a campaign, or one of its inputs; return the exit code."""
    from conformance.servers.specs import parse_spec

    if seconds is not None and runs is not None:
        raise Usage("--seconds and --runs exclude each other")
    with server_errors():
        narrate(f"campaign {name}, server {parse_spec(server)}")  # Printed first: loading the campaign takes a second.
    from conformance.harness.scripts.of_case import script_of
    from conformance.requirements.deviations import load_deviations
    from fuzz.campaigns.buckets import Buckets
    from fuzz.campaigns.campaign import Budget, Campaign
    from fuzz.campaigns.findings import About, Findings
    from fuzz.campaigns.inputs import CHANNELS, Place
    from fuzz.campaigns.journal import Journal, broken
    from fuzz.campaigns.known import read_known
    from fuzz.campaigns.subjects import find_programs, openers
    from fuzz.campaigns.trial import Bench
    from fuzz.runner.findings import findings_directory

    try:
        place = None if only is None else Place.parse(only)
    except ValueError as problem:
        raise Usage(f"--only: {problem}") from problem
    chosen = channels or CHANNELS[name]
    if place is not None:
        chosen = (place.channel,)
    if seconds is None and runs is None:
        seconds = 60.0
    if shrink_seconds is None:
        shrink_seconds = 60.0 if seconds is None or place is not None else min(60.0, seconds / 4)
    impossible = [channel for channel in chosen if channel not in CHANNELS[name]]
    if impossible:
        raise Usage(f"the campaign {name} has no channel {impossible[0]} (it has: {', '.join(CHANNELS[name])})")
    seed = seed if seed is not None else str(secrets.randbelow(1 << 31))
    asked = shlex.join(["binlog-lab", "fuzz", "server", "--campaign", name, "--seed", seed, "--server", server])
    root = (findings or findings_directory()) / "server"
    with server_errors(), ExitStack() as stack, progress() as show:
        maker = find_programs(server, narrate=narrate)
        bench = Bench(campaign=name, version=maker.number, deviations=() if no_deviations else tuple(load_deviations()))
        for earlier in broken(root):
            narrate(f"an earlier campaign was broken off: {earlier.command}")
            narrate("  it was at " + (", ".join(map(str, earlier.places[-3:])) or "no input"))
        about = About(campaign=name, seed=seed, subject=f"MySQL {maker.version}", command=asked)
        campaign = Campaign(
            name=name,
            seed=seed,
            channels=openers(maker, bench, tuple(chosen), stack, narrate, jobs=jobs or 2 * (os.cpu_count() or 1)),
            buckets=Buckets(bench, equal, earlier=read_known(root / name)),
            findings=Findings(root=root / name, about=about, as_script=script_of),
            journal=stack.enter_context(Journal(root, asked)),
            narrate=narrate,
            progress=show,
            shrink_seconds=shrink_seconds,
        )
        narrate(f"campaign {name}, seed {seed}, MySQL {maker.version}: {', '.join(chosen)}")
        try:
            if place is None:
                campaign.run(Budget(runs=runs, seconds=seconds))
            else:
                campaign.run_one(place)
        except IndexError as problem:
            raise Usage(f"--only {only}: {problem}") from problem
        finally:
            _print(campaign)
            campaign.findings.close(campaign.buckets)
    return int(ExitCode.NONCONFORMANT if campaign.buckets.findings else ExitCode.OK)


def _print(campaign: Campaign) -> None:
    """The table of outcomes, also for an interrupted campaign."""
    from fuzz.campaigns.table import bucket_lines, outcome_lines

    buckets = campaign.buckets
    for line in (*outcome_lines(buckets), *bucket_lines(buckets)):
        click.echo(line)
    skipped = f", {buckets.skipped:,} skipped as known" if buckets.skipped else ""
    narrate(f"{buckets.inputs:,} inputs in {campaign.seconds:.0f} s, {campaign.words}{skipped}")
