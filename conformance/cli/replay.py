"""``binlog-lab replay``: run stored Cases again, or print one as a SQL script or as JSON."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from conformance.cli.fetch_progress import fetch_progress
from conformance.cli.replay_decoders import PREFIX, is_finding, print_decoders, replay_decoders
from conformance.console import narrate
from conformance.exit_code import ExitCode
from conformance.messages import counted
from conformance.server_errors import server_errors
from conformance.user_errors import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.files import AnyCase
    from conformance.requirements.deviations import Deviation
    from conformance.servers.auto import Wishes


_DEVIATION: Final = "deviation:"


@click.command(name="replay")
@click.argument(
    "cases",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="(CASE|matrix:NAME/CELL/INDEX|decoder:GROUP/NAME)…",
)
@click.option("--as", "form", type=click.Choice(["sql", "json"]), help="Print the Case instead of running it.")
@click.option("--server", default="auto", show_default=True, metavar="SPEC", help="The server to run the Case on.")
@click.option("--subject", default="", metavar="SUBJECT", help="The subject that reads the log of a decoder Case.")
@click.option(
    "--replica", default="", metavar="SPEC", help="The replica of a Case that needs one (default: like SPEC)."
)
@click.option("--allow", multiple=True, metavar="HAZARD", help="Hazards allowed on a server at an address.")
@click.option(
    "--server-option", "server_options", multiple=True, metavar="K=V", help="Option of a server the lab starts."
)
@click.option("--no-deviations", is_flag=True, help="Count known deviations as failures.")
@click.option(
    "--deviations",
    "deviations_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Another list of deviations.",
)
@click.pass_context
def command(
    context: click.Context,
    cases: tuple[Path, ...],
    form: str | None,
    server: str,
    subject: str,
    replica: str,
    allow: tuple[str, ...],
    server_options: tuple[str, ...],
    no_deviations: bool,
    deviations_file: Path | None,
) -> int:
    """Run stored Cases again: FIXED (nothing differs), FAILED (still differs) or ERROR (could not run).

    CASE is a file of a report's cases/ directory, or deviation:ID, the Case that shows a listed deviation. --as sql
    prints a script for a bug report. The script's output says what is expected, what came, and FAULT where they differ.
    It is SQL for the mysql program, or a shell script (it begins with #!) for Cases that need several servers or
    programs. An event that may end a server goes only to a server that the lab started. A file for mysqlbinlog goes to
    the mysqlbinlog of the server's installation.

    matrix:NAME/CELL/INDEX is a scenario of a matrix ('binlog-lab matrix list'): the number of its cell, and its number
    in the cell. It runs on the reference alone, as in 'matrix run', and its budgets are judged. With --server it runs
    as a Case.

    decoder:GROUP/NAME is a Case of the decoder suite, or several (decoder:diffs/*). The subject reads its log again. So
    it does with the directory of a finding about a decoder, which names its subject.
    """
    decoders = [str(path) for path in cases if str(path).startswith(PREFIX) or is_finding(str(path))]
    if decoders or subject:
        if not decoders:
            raise Usage("--subject reads Cases of the decoder suite: decoder:GROUP/NAME, or decoder:GROUP/*")
        if len(decoders) < len(cases):
            raise Usage("decoder Cases need a command of their own: subjects read them, and servers run the others")
        if form is None:
            return replay_decoders(decoders, subject)
        print_decoders(decoders, form)
        return int(ExitCode.OK)
    on_server = form is not None or context.get_parameter_source("server") is not ParameterSource.DEFAULT
    scenarios = () if on_server else tuple(path for path in cases if _is_scenario(path))
    if len(scenarios) == len(cases) and (replica or allow or server_options):
        raise Usage("--replica, --allow and --server-option need --server: a scenario runs on the reference alone else")
    if form is None:
        _say_what_runs(len(scenarios), len(cases) - len(scenarios), server)
    code = _replay_scenarios(scenarios)
    if form == "sql":
        for path in cases:
            if str(path).startswith(_DEVIATION):
                click.echo(_deviation_script(path, deviations_file), nl=False)
            else:
                click.echo(as_sql(_load(path, deviations_file)), nl=False)
        return code
    loaded = [(path, _load(path, deviations_file)) for path in cases if path not in scenarios]
    if not loaded:
        return code
    if form is not None:
        for _, case in loaded:
            click.echo(_as_json(case), nl=False)
        return int(ExitCode.OK)
    from conformance.requirements.deviations import DeviationError, load_deviations
    from conformance.servers.auto import Wishes, parse_server_option
    from conformance.servers.errors import SpecError

    try:
        listed = () if no_deviations else load_deviations(deviations_file)
        options = dict(parse_server_option(text) for text in server_options)
    except (SpecError, DeviationError) as problem:
        raise Usage(str(problem)) from problem
    return max(code, _replay(loaded, server, replica, Wishes(allow=frozenset(allow), options=options), listed))


def _say_what_runs(scenarios: int, cases: int, server: str) -> None:
    """Print which Cases run, before loading the modules, which takes a second."""
    from conformance.servers.specs import parse_spec

    if scenarios:
        narrate(f"{counted(scenarios, 'scenario')} on the reference")
    if cases:
        with server_errors():
            narrate(f"{counted(cases, 'Case')}, server {parse_spec(server)}")


def check_witnesses(deviations: Iterable[Deviation]) -> None:
    """Raise if a witness is no Case that can run, or cannot recognise its deviation, which has no dialect switch."""
    from conformance.cases.bytes_case import BytesCase
    from conformance.cases.files import load_any_case
    from conformance.cases.sql_case import SqlCase
    from conformance.reference.errors import CodecError
    from conformance.requirements.deviations import DeviationError

    for deviation in deviations:
        try:
            if deviation.witness is None:
                continue
            case = load_any_case(json.loads(deviation.witness))
            known = isinstance(case, SqlCase) and any(
                deviation.id in statement.deviations for statement in case.statements
            )
        except (ValueError, TypeError, RecursionError, CodecError) as problem:
            raise DeviationError(f"deviation {deviation.id!r}: the witness is not a Case: {problem}") from problem
        if known == (deviation.switch is not None) or isinstance(case, BytesCase):
            expected = (
                "an update or events Case" if deviation.switch else f"a sql Case with an outcome of {deviation.id!r}"
            )
            raise DeviationError(f"deviation {deviation.id!r}: the witness is not {expected}")


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
        if again.word == "ERROR":
            code = ExitCode.COULD_NOT_RUN
        elif again.word == "FAILED":
            code = max(code, ExitCode.NONCONFORMANT)
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


def _deviation_case(path: Path, deviations: Path | None) -> AnyCase:
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


def _load(path: Path, deviations: Path | None) -> AnyCase:
    if _is_scenario(path):
        return _scenario_case(path)
    if str(path).startswith(_DEVIATION):
        return _deviation_case(path, deviations)
    from conformance.harness.promoted import PromotionError, read_case

    if not path.exists():
        raise Usage(f"{path}: no such Case file", hint="expected a file, or matrix:NAME/CELL/INDEX for a scenario")
    try:
        return read_case(path)
    except PromotionError as problem:
        raise Usage(str(problem)) from problem


def _replay(
    cases: list[tuple[Path, AnyCase]],
    spec: str,
    replica: str,
    wishes: Wishes,
    deviations: Iterable[Deviation],
) -> int:
    from conformance.harness.replay import replay_case
    from conformance.harness.topology import Pairs
    from conformance.requirements.versions import applies
    from conformance.servers.auto import fit, resolve

    found: list[str]
    code = ExitCode.OK
    with server_errors(), fetch_progress() as fetching:
        server = fit(resolve(spec, wishes, narrate=narrate, progress=fetching))
    if server is None:
        raise Usage(
            "a Case needs a server to run on: --server none only prints (--as sql, --as json)",
            hint="a scenario of a matrix runs on the reference when --server is left out",
        )
    entries = [entry for entry in deviations if applies(entry.versions, server.number)]
    with server, closing(Pairs(server, narrate, replica=replica)) as pairs:
        for path, case in cases:
            if str(case.hazard) not in server.hazards() and str(case.hazard) != "none":
                narrate(f"{path}: the Case has hazard {case.hazard}; allow it with --allow {case.hazard}")
                word, found = "ERROR", []
            else:
                again = replay_case(server, case, entries, pairs=pairs)
                word, found = str(again.word), [*again.lines]
            click.echo(f"{word}  {case.id}  {path}")
            for line in found:
                click.echo(f"  {line}")
            if word == "ERROR":
                code = max(code, ExitCode.COULD_NOT_RUN)
            elif word == "FAILED" and code == ExitCode.OK:
                code = ExitCode.NONCONFORMANT
    return int(code)


def _as_json(case: AnyCase) -> str:
    from conformance.cases.files import dump_case

    return json.dumps(dump_case(case), indent=1, ensure_ascii=False) + "\n"


def as_sql(case: AnyCase) -> str:
    """A script that shows a Case to people: SQL, or a shell script (``#!``) where several programs are needed."""
    from conformance.harness.scripts.of_case import script_of

    return script_of(case)
