"""Stored Cases again: on a server, on the reference or by a decoder; or printed."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from conformance.checks.decoders.replay import PREFIX, is_finding, print_decoders, replay_decoders
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import counted
from conformance.runs.earlier_run import earlier_run
from conformance.server_use import fetch_progress, server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from conformance.cases.by_hand.scripted import Script
    from conformance.cases.files import AnyCase
    from conformance.harness.replay import ReplayOutcome
    from conformance.requirements.deviations import Deviation
    from conformance.runs.earlier_run import EarlierRun
    from conformance.servers.auto import Wishes
    from conformance.servers.base import Server

_DEVIATION: Final = "deviation:"
_TRIES: Final = 10  # of a Case that ended a server or a program before


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where Cases run: specs of servers, hazards allowed there, options, or a subject. ``given``: whether the user
    named the server.
    """

    server: str
    given: bool
    subject: str
    replica: str
    allow: Sequence[str]
    options: Sequence[str]


def replay_cases(
    cases: Sequence[Path], form: str | None, on: Target, *, listed: bool, deviations_file: Path | None
) -> int:
    """Run Cases, or print them in a ``form``; return the exit code. ``listed``: allow known deviations."""
    decoders = [str(path) for path in cases if str(path).startswith(PREFIX) or is_finding(str(path))]
    if decoders or on.subject:
        if not decoders:
            raise Usage("--subject reads Cases of the decoder suite: decoder:GROUP/NAME, or decoder:GROUP/*")
        if len(decoders) < len(cases):
            raise Usage("decoder Cases need a command of their own: subjects read them, and servers run the others")
        if form is None:
            return replay_decoders(decoders, on.subject)
        print_decoders(decoders, form)
        return int(ExitCode.OK)
    on_server = form is not None or on.given
    scenarios = () if on_server else tuple(path for path in cases if _is_scenario(path))
    if len(scenarios) == len(cases) and (on.replica or on.allow or on.options):
        raise Usage("--replica, --allow and --server-option need --server: a scenario runs on the reference alone else")
    if form is None:
        _say_what_runs(len(scenarios), len(cases) - len(scenarios), on.server)
    code = _replay_scenarios(scenarios)
    if form == "sql":
        from conformance.cases.by_hand.scripted import Script
        from conformance.harness.scripts.of_case import script_of

        for path in cases:
            if str(path).startswith(_DEVIATION):
                click.echo(_deviation_script(path, deviations_file), nl=False)
            else:
                case = _load(path, deviations_file)
                click.echo(case.text if isinstance(case, Script) else script_of(case), nl=False)
        return code
    loaded = [(path, _load(path, deviations_file)) for path in cases if path not in scenarios]
    if not loaded:
        return code
    if form is not None:
        for path, case in loaded:
            click.echo(_as_json(case, path), nl=False)
        return int(ExitCode.OK)
    from conformance.requirements.deviations import DeviationError, load_deviations
    from conformance.servers.auto import Wishes, parse_server_option
    from conformance.servers.errors import SpecError

    try:
        entries = load_deviations(deviations_file) if listed else ()
        options = dict(parse_server_option(text) for text in on.options)
    except (SpecError, DeviationError) as problem:
        raise Usage(str(problem)) from problem
    wishes = Wishes(allow=frozenset(on.allow), options=options)
    return max(code, _replay(loaded, on, wishes, entries, deviations_file))


def _say_what_runs(scenarios: int, cases: int, server: str) -> None:
    """Print which Cases run, before loading the modules, which takes a second."""
    from conformance.servers.specs import parse_spec

    if scenarios:
        narrate(f"{counted(scenarios, 'scenario')} on the reference")
    if cases:
        with server_errors():
            narrate(f"{counted(cases, 'Case')}, server {parse_spec(server)}")


def _is_scenario(path: Path) -> bool:
    return str(path).startswith("matrix:")


def _replay_scenarios(paths: Iterable[Path]) -> int:
    """Run scenarios of matrices again in the worker; they need no server."""
    from scenarios.matrix import MatrixError
    from scenarios.replay import parse, replay_scenario

    code = ExitCode.OK
    for path in paths:
        try:
            again = replay_scenario(*parse(str(path)))
        except MatrixError as problem:
            raise Usage(str(problem)) from problem
        click.echo(f"{again.word}  {path}")
        for line in again.lines:
            click.echo(f"  {line}")
        code = max(code, again.word.code)
    return int(code)


def _scenario_case(path: Path) -> AnyCase:
    from scenarios.matrix import MatrixError
    from scenarios.replay import as_case, parse

    try:
        return as_case(*parse(str(path)))
    except MatrixError as problem:
        raise Usage(str(problem)) from problem


def _named_deviation(path: Path, deviations: Path | None) -> Deviation:
    from conformance.harness.scripts.of_deviation import named
    from conformance.requirements.deviations import DeviationError

    try:
        return named(str(path).removeprefix(_DEVIATION), deviations)
    except DeviationError as problem:
        raise Usage(str(problem)) from problem


def _deviation_case(path: Path, deviations: Path | None) -> AnyCase | Script:
    from conformance.harness.scripts.of_deviation import case_of
    from conformance.requirements.deviations import DeviationError

    try:
        return case_of(_named_deviation(path, deviations))
    except DeviationError as problem:
        raise Usage(str(problem)) from problem


def _deviation_script(path: Path, deviations: Path | None) -> str:
    from conformance.harness.scripts.of_deviation import script_of_deviation
    from conformance.requirements.deviations import DeviationError

    try:
        return script_of_deviation(_named_deviation(path, deviations))
    except DeviationError as problem:
        raise Usage(str(problem)) from problem


def _load(path: Path, deviations: Path | None) -> AnyCase | Script:
    if _is_scenario(path):
        return _scenario_case(path)
    if str(path).startswith(_DEVIATION):
        return _deviation_case(path, deviations)
    from conformance.harness.promoted import PromotionError, read_case

    if not path.exists():
        raise Usage(f"{path}: no such Case file", hint="expected a file, or matrix:NAME/CELL/INDEX for a scenario")
    if path.suffix == ".sql":
        return _script(path)
    try:
        return read_case(path)
    except PromotionError as problem:
        raise Usage(str(problem)) from problem


def _script(path: Path) -> Script:
    from conformance.cases.by_hand.scripted import read_script

    try:
        text = path.read_text("utf-8", "surrogateescape")
        if text.startswith("#!"):
            raise Usage(f"{path}: a script for the shell, expected SQL", hint="its own output tells what differs")
        return read_script(path.stem, text)
    except (OSError, ValueError) as problem:
        raise Usage(f"{path}: {getattr(problem, 'strerror', None) or problem}") from problem


def _replay(
    cases: list[tuple[Path, AnyCase | Script]],
    on: Target,
    wishes: Wishes,
    deviations: Iterable[Deviation],
    deviations_file: Path | None,
) -> int:
    from conformance.cases.by_hand.scripted import Script
    from conformance.harness.replay import ReplayOutcome, replay_case, replay_script
    from conformance.harness.topology import Pairs
    from conformance.replay_word import Word
    from conformance.requirements.versions import applies
    from conformance.servers.auto import fit, resolve

    code = ExitCode.OK
    with server_errors(), fetch_progress() as fetching:
        server = fit(resolve(on.server, wishes, narrate=narrate, progress=fetching))
    if server is None:
        raise Usage(
            "a Case needs a server to run on: --server none only prints (--as sql, --as json)",
            hint="a scenario of a matrix runs on the reference when --server is left out",
        )
    entries = [entry for entry in deviations if applies(entry.versions, server.number)]
    with server, closing(Pairs(server, narrate, replica=on.replica)) as pairs:
        for path, case in cases:
            before = earlier_run(path)
            if isinstance(case, Script):
                again = _tried(partial(replay_script, server, case, entries), before)
            elif str(case.hazard) not in server.hazards() and str(case.hazard) != "none":
                narrate(f"{path}: the Case has hazard {case.hazard}; allow it with --allow {case.hazard}")
                again = ReplayOutcome(Word.ERROR)
            else:
                again = _tried(partial(replay_case, server, case, entries, pairs=pairs), before)
            word = again.word.after(before.failed or _listed_for(path, server, deviations_file))
            click.echo(f"{word}  {case.id}  {path}")
            for line in again.lines:
                click.echo(f"  {line}")
            code = max(code, word.code)
    return int(code)


def _tried(run: Callable[[], ReplayOutcome], before: EarlierRun) -> ReplayOutcome:
    """The outcome of a Case. One that ended something before may do so by chance: if nothing ends, it runs again."""
    again, tries = run(), 1
    while before.died and again.word.holds and tries < _TRIES:
        again, tries = run(), tries + 1
    if tries == 1:
        return again
    told = f"nothing ended at {tries} tries" if again.word.holds else f"this was try {tries}"
    return replace(again, lines=(*again.lines, told))


def _listed_for(path: Path, server: Server, deviations: Path | None) -> bool:
    """Whether this is the Case of a deviation that the kit's list has for the server's version."""
    from conformance.requirements.versions import applies

    if not str(path).startswith(_DEVIATION):
        return False
    return applies(_named_deviation(path, deviations).versions, server.number)


def _as_json(case: AnyCase | Script, path: Path) -> str:
    from conformance.cases.by_hand.scripted import Script
    from conformance.cases.files import dump_case

    if isinstance(case, Script):
        raise Usage(f"{path}: a script has no other form: it is SQL already")
    return json.dumps(dump_case(case), indent=1, ensure_ascii=False) + "\n"
