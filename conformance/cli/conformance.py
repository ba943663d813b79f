"""``binlog-lab conformance``: the main job. Runs the checks through pytest and writes the report."""

from __future__ import annotations

import os
import secrets
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from conformance.cli.ordered_servers import ORDER, OrderedServers
from conformance.cli.verbosity import verbosity
from conformance.console import error, narrate, progress
from conformance.runs.columns import column_names, named_subjects, server_pairs
from conformance.runs.on_spark import campaigns, require_private
from conformance.runs.run_plan import (
    command_line,
    described,
    judged_kinds,
    judged_recording,
    nothing_selected,
    replay_command,
    with_recordings,
)
from conformance.user_errors import CouldNotRun, Usage, unknown

if TYPE_CHECKING:
    from conformance.harness.settings import Settings
    from conformance.report.terminal import Detail
    from conformance.runs.check_runs.lab_run import LabRun
    from conformance.runs.check_runs.limit import Limit

_OF_PYTEST = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")
_HAZARDS = ("none", "stops-replica", "corrupts-row", "may-crash")


@click.command(name="conformance", cls=OrderedServers)
@click.option(
    "-s",
    "--server",
    "servers",
    multiple=True,
    metavar="SPEC",
    help="auto (default), process[:PATH], docker[:IMAGE], mysql://…, recorded:DIR, none.",
)
@click.option(
    "--replica", "replicas", multiple=True, metavar="SPEC", help="Replica of the --server before this option."
)
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="SUBJECT",
    help="Judge a decoder: 'cmd:PROGRAM … {file}', 'jsonl:PROGRAM …', py:MODULE:OBJECT, 'wire:PROGRAM …', a built-in"
    " name, or all built-ins; repeatable. Without --server, no server is judged.",
)
@click.option(
    "-r",
    "--requirement",
    "requirements",
    multiple=True,
    metavar="REQ",
    help="Only the checks of this requirement; repeatable.",
)
@click.option(
    "-n", "--updates", type=click.IntRange(min=1), metavar="N", help="Generated updates (default: by profile)."
)
@click.option("--seed", metavar="N", help="Seed of all generators (default: a new one, printed).")
@click.option("--profile", type=click.Choice(["quick", "full", "soak"]), default="quick", show_default=True,
              help="How much each check does.")  # fmt: skip
@click.option("--no-deviations", is_flag=True, help="Count known deviations as failures.")
@click.option(
    "--deviations",
    "deviations_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Another list of deviations.",
)
@click.option("--allow", multiple=True, type=click.Choice(_HAZARDS), help="Hazards allowed on a server at an address.")
@click.option(
    "--server-option", "server_options", multiple=True, metavar="K=V", help="Option of a server the lab starts."
)
@click.option("--wrapper", default="", metavar="CMD", help="Command in front of the server program.")
@click.option("--keep", is_flag=True, help="Keep the server's run directory.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Checks side by side, on servers of their own (default: cores and two more; with --master: 1).",
)
@click.option("--master", metavar="URL", help="Run the updates on Spark: local[N], spark://… (needs the extra spark).")
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write down there what the server answers; --server recorded:DIR judges it again.",
)
@click.option("-x", "--exitfirst", is_flag=True, help="Begin no further check when a Case has failed.")
@click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Begin no further check after so many seconds; those that run go on to their end.",
)
@click.option("--list", "list_only", is_flag=True, help="List the checks and stop.")
@click.option(
    "-o",
    "--report",
    "report",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    metavar="DIR",
    help="Directory for the page and the results.",
)
@verbosity
def command(
    servers: tuple[str, ...],
    replicas: tuple[str, ...],
    subjects: tuple[str, ...],
    requirements: tuple[str, ...],
    updates: int | None,
    seed: str | None,
    profile: str,
    no_deviations: bool,
    deviations_file: Path | None,
    allow: tuple[str, ...],
    server_options: tuple[str, ...],
    wrapper: str,
    keep: bool,
    jobs: int | None,
    master: str | None,
    record: Path | None,
    exitfirst: bool,
    max_time: float | None,
    list_only: bool,
    report: Path,
    quiet: bool,
    verbose: bool,
) -> int:
    """Judge servers and decoders against the requirements, and write a report.

    Starts the servers it needs, generates documents and updates, and runs them. Compares every byte the server wrote
    with what the reference predicts. A subject, which is a decoder, gets the logs of the suite, and its row changes are
    compared with the expected ones. DIR gets index.html, results.json, run.jsonl, junit.xml and summary.md.
    """
    from conformance.harness.experiments.manifests import ManifestError

    try:
        from conformance.harness.profiles import PROFILES
    except ManifestError as problem:
        raise CouldNotRun(f"the checks cannot be collected: {problem}") from problem
    from conformance.requirements.catalogue import REQUIREMENTS
    from conformance.requirements.deviations import DeviationError, load_deviations
    from conformance.servers.auto import parse_server_option
    from conformance.servers.errors import SpecError
    from conformance.servers.specs import SpecKind, parse_spec

    order = click.get_current_context().meta.get(ORDER, ())
    decoders = named_subjects(subjects)
    pairs = server_pairs(servers, replicas, order, default="" if subjects else "auto")
    if wrong := sorted(set(requirements) - set(REQUIREMENTS)):
        raise unknown("requirement", wrong, REQUIREMENTS, hint="--list shows which check judges which")
    try:
        parsed = [(parse_spec(server), str(parse_spec(replica)) if replica else "") for server, replica in pairs]
        options = tuple(parse_server_option(text) for text in server_options)
        listed = load_deviations(deviations_file)
    except (SpecError, DeviationError) as problem:
        raise Usage(str(problem)) from problem
    if (options or wrapper) and any(spec.kind is SpecKind.NONE for spec, _ in parsed):
        raise Usage("--server-option and --wrapper are for servers that the lab starts; --server none starts none")
    judged = judged_recording(
        [spec for spec, _ in parsed],
        {
            "--replica": replicas, "--server-option": server_options, "--wrapper": wrapper, "--keep": keep,
            "--allow": allow, "--record": record, "--subject": subjects, "--master": master,
        },
        {"--requirement": requirements, "--updates": updates, "--seed": seed},
    )  # fmt: skip
    if judged is not None:
        requirements, updates, seed, profile = judged.requirements, judged.updates, judged.seed, judged.profile
    elif record is not None:
        from conformance.runs.check_runs.recorded_runs import refuse_with_recording

        several = len(parsed) > 1 or any(spec.kind is SpecKind.NONE for spec, _ in parsed)
        refuse_with_recording(
            {"--subject": subjects, "--master": master, "several servers, and none,": several}, judging=False
        )
    if master is not None:
        require_private([spec for spec, _ in parsed])
    if list_only:
        kinds = frozenset({False, True} if bool(servers) == bool(subjects) else {bool(subjects)})
        return _list(frozenset(requirements), profile, kinds)
    if requirements:
        for_servers, for_subjects = judged_kinds(requirements, bool(pairs), bool(decoders))
        pairs, parsed = (pairs, parsed) if for_servers else ([], [])
        decoders = decoders if for_subjects else []
    seed = seed or str(secrets.randbelow(1 << 32))
    narrate(described(seed, updates or PROFILES[profile], [str(spec) for spec, _ in parsed], list(map(str, decoders))))
    # Loading the checks takes a second: the run has already said what it is.
    from conformance.harness.settings import Settings
    from conformance.harness.witnesses import check_witnesses
    from conformance.report.terminal import Detail
    from conformance.requirements.versions import OBSERVED
    from conformance.runs.check_runs.limit import Limit

    try:
        check_witnesses(listed)
    except DeviationError as problem:
        raise Usage(str(problem)) from problem
    parsed, pairs, recordings = with_recordings(parsed, pairs)
    columns = [
        *(
            f"captures {version}" if version else str(spec)
            for (spec, _), version in zip(parsed, recordings, strict=True)
        ),
        *map(str, decoders),
    ]
    # A single server's column is called by the server's own id.
    names = column_names(columns) if decoders or len(columns) > 1 else [""]
    settings = [
        Settings(
            server=given,
            recorded=recorded or OBSERVED,
            replica=given_replica,
            column=name,
            updates=updates or PROFILES[profile],
            profile=profile,
            requirements=frozenset(requirements),
            seed=seed,
            deviations=not no_deviations,
            deviations_file=deviations_file,
            server_options=options,
            wrapper=wrapper,
            allow=frozenset(allow),
            keep=keep,
            record=record,
            replay=replay_command(
                str(spec) if servers and judged is None else "", replica, server_options, deviations_file, no_deviations
            ),
        )
        for name, (given, given_replica), (spec, replica), recorded in zip(
            names, pairs, parsed, recordings, strict=False
        )
    ]
    settings += [
        Settings(
            server="none",
            subject=subject,
            column=name,
            profile=profile,
            requirements=frozenset(requirements),
            seed=seed,
            deviations=not no_deviations,
            deviations_file=deviations_file,
        )
        for name, subject in zip(names[len(parsed) :], (decoder.given for decoder in decoders), strict=True)
    ]
    jobs = jobs or (os.cpu_count() or 1) + 2
    asked = _Asked(
        report,
        frozenset(requirements),
        profile,
        Detail.asked(quiet=quiet, verbose=verbose),
        Limit(at_failure=exitfirst, seconds=max_time),
    )
    if master is None or not parsed:
        return _run(settings, asked, jobs)
    with campaigns(master, str(parsed[0][0]), wrapper, report) as make:
        settings = [replace(column, campaign=None if column.subject else make) for column in settings]
        # One after another: a forked worker cannot speak to the Spark driver of this process.
        return _run(settings, asked, 1)


class _Asked(NamedTuple):
    """Options of a run that all its columns share."""

    report: Path
    requirements: frozenset[str]
    profile: str
    detail: Detail
    limit: Limit


def _run(columns: list[Settings], asked: _Asked, jobs: int) -> int:
    from conformance.report.directory import ReportError
    from conformance.report.terminal import print_summary
    from conformance.runs.check_runs.lab_run import LabRun

    names = tuple(column.column for column in columns if column.column)
    run: LabRun | None = None
    with progress() as display:
        for number, column in enumerate(columns, 1):
            if names:
                narrate(f"column {number} of {len(columns)}: {column.column}")
            run = LabRun(
                partial(_with_cases, column),
                report=asked.report,
                requirements=asked.requirements,
                profile=asked.profile,
                command=command_line(),
                progress=display,
                narrate=narrate,
                before=run,
                last=number == len(columns),
                columns=names,
                kinds=frozenset({bool(column.subject)}),
                subjects=sum(bool(each.subject) for each in columns),
                jobs=jobs if len(columns) == 1 else 1,
                whole=True,
                limit=asked.limit,
            )
            try:
                _pytest(run)
            except ReportError as problem:
                raise CouldNotRun(str(problem)) from problem
            if run.stops or run.report is None:
                break
    assert run is not None
    if run.usage_error:
        raise Usage(run.usage_error)
    if run.report is None or run.end is None:
        if run.could_not_run:
            raise CouldNotRun(run.could_not_run)
        if run.incomplete:
            raise KeyboardInterrupt
        raise nothing_selected(asked.requirements)
    print_summary(run.report.summary, sys.stdout, directory=asked.report, detail=asked.detail)
    for message in (run.could_not_run, *run.column_errors):
        if message:
            error(message)
    return run.end.exit_code


def _with_cases(column: Settings, cases: Path | None) -> Settings:
    return replace(column, cases=cases)


def _pytest(run: LabRun, *more: str) -> None:
    """Run the checks in this process; pytest itself stays silent, the stream speaks.

    The user's own pytest setup has no effect: no configuration, ``conftest.py`` above the checks, plugin or variable.
    ``pytest.ini`` beside the checks has the options.
    """
    import pytest

    from conformance.cli import plugin
    from conformance.runs.check_runs.check_items import CHECKS

    arguments = [str(CHECKS), "-c", str(CHECKS / "pytest.ini"), *more]
    hidden = {name: os.environ.pop(name) for name in _OF_PYTEST if name in os.environ}
    try:
        pytest.main(arguments, plugins=[plugin, run])
    finally:
        os.environ.update(hidden)


def _list(requirements: frozenset[str], profile: str, kinds: frozenset[bool]) -> int:
    """Print the checks that would run, one a line: id, requirements, needs, file and sentence."""
    from conformance.harness.settings import Settings
    from conformance.runs.check_runs.check_items import check_name, needs_of, requirements_of
    from conformance.runs.check_runs.lab_run import LabRun

    run = LabRun(lambda _: Settings(), requirements=requirements, profile=profile, kinds=kinds)
    _pytest(run, "--collect-only")
    if run.could_not_run:
        raise CouldNotRun(run.could_not_run)
    if not run.selected:
        raise nothing_selected(requirements)
    for item in run.selected:
        function = getattr(item, "function", None)
        sentence = (function.__doc__ or "").strip().splitlines()[0] if function is not None else ""
        names = ", ".join(sorted(requirements_of(item)))
        file = f"{item.path.parent.name}/{item.path.name}"
        click.echo(f"{check_name(item)}  [{names}]  needs [{', '.join(needs_of(item))}]  {file}  {sentence}")
    return 0
