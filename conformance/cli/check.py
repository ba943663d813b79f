"""``binlog-lab check``: what binary logs will do to their readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.encryption import keyring_option
from conformance.cli.log_options import MAX_UNCOMPRESSED, remote_options
from conformance.console import Output, error
from conformance.keyring_file import read_keyring
from conformance.logs.events import read_log
from conformance.logs.inputs import check_files, with_following
from conformance.logs.refusals import refused
from conformance.logs.remote import RemoteName, ending_well, numbers_of
from conformance.user_errors import InputCorrupt, Usage, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.decoders.forecast.forecast import Statement
    from conformance.checks.decoders.forecast.limits import Limit
    from conformance.checks.decoders.forecast.survey import Survey
    from conformance.reference.encryption.keyring import Keyring


@click.command(name="check")
@click.argument("files", metavar="LOG...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True)
@click.option("--tool", "tools", multiple=True, metavar="NAME",
              help="Speak of this tool only (binlog-lab subjects list has the names); may be repeated.")  # fmt: skip
@click.option("--top", type=click.IntRange(min=0), metavar="N", default=5, show_default=True,
              help="How many of the largest transactions and busiest tables to name.")  # fmt: skip
@click.option("--limit", "limits", multiple=True, metavar="NAME=BYTES",
              help="The value of group_replication_transaction_size_limit, max_binlog_cache_size or payload: exit code"
                   " 1 if a transaction is larger. Of a server, its own values are asked for.")  # fmt: skip
@remote_options
@keyring_option
@MAX_UNCOMPRESSED
def command(
    files: tuple[str, ...],
    form: str,
    tools: tuple[str, ...],
    top: int,
    limits: tuple[str, ...],
    keyring: Path | None,
    limit: int | None,
) -> None:
    """Say what binary logs have that readers stumble over, and which tools lose, alter or refuse it.

    The command reads the logs themselves, because each session chooses partial JSON, images and compression. What a
    tool does was measured on logs with the same feature, with the version that is named; the settings that avoid it
    are named too. LOG may be - for standard input, mysql://USER@HOST:PORT for all logs of a server, or
    mysql://USER@HOST:PORT/NAME for one of them. Nothing is said of features that a tool reads, and of those that
    were not measured.

    Exit code 0: nothing of this was found. Exit code 1: a tool loses, alters or refuses events; rows are in statements
    only; a transaction is beyond a --limit; or a log is damaged, cut off, or encrypted without its key. Exit code 2: a
    file is missing, or is no binary log. Exit code 3: a server could not be asked.
    """
    from conformance.checks.decoders.forecast.forecast import forecast
    from conformance.checks.decoders.forecast.outcomes import load_outcomes
    from conformance.checks.decoders.forecast.survey import Survey

    known = load_outcomes()
    if wrong := [name for name in tools if name not in known]:
        raise unknown("tool", wrong, known)
    check_files(files)
    survey = Survey(top=top, limits=_limits(limits, files))
    _read(survey, files, limit, read_keyring(keyring))
    statements = forecast(survey.features, [known[name] for name in tools or known])
    output = Output()
    output.write(_shown(survey, statements, form).encode("utf-8", "backslashreplace"))
    output.flush()
    damaged = any(file.error for file in survey.files)
    beyond = any(near.is_beyond and near.limit in dict(map(_limit, limits)) for near in survey.near)
    if statements or survey.statements or survey.incidents or damaged or beyond:
        raise click.exceptions.Exit(1)


def _limit(word: str) -> tuple[str, int]:
    """One ``--limit``; a server prints its own as such a number too."""
    from conformance.checks.decoders.forecast.limits import DEFAULTS

    name, _, size = word.partition("=")
    known = [limit.name for limit in DEFAULTS]
    if name not in known:
        raise unknown("limit", [name], known)
    if not size.isdecimal():
        raise Usage(f"--limit {word}: NAME=BYTES, with a whole number")
    return name, int(size)


def _limits(words: Sequence[str], files: Sequence[str]) -> tuple[Limit, ...]:
    """The limits as given, else as the server of the logs has them, else the defaults."""
    from conformance.checks.decoders.forecast.limits import DEFAULTS, limits_of

    given = dict(map(_limit, words))
    server = next((file for file in files if isinstance(file, RemoteName)), None)
    there = {} if server is None else numbers_of(server, [limit.name for limit in DEFAULTS])
    return limits_of({**there, **given})


def _read(survey: Survey, files: Sequence[str], limit: int | None, keyring: Keyring | None) -> None:
    """Read all files; a damaged one is told, and the next one read."""
    from conformance.reference.errors import CodecError

    with ending_well(files):
        for path in with_following(files):
            survey.start_file(Path(path).name)
            try:
                for event in read_log(path, limit=limit, keyring=keyring):
                    try:
                        survey.event(event)
                    except CodecError as problem:
                        raise refused(path, event.located(problem)) from problem
            except InputCorrupt as problem:
                error(str(problem))
                survey.files[-1].error = str(problem).removeprefix(f"{path}: ")
    survey.finish()


def _shown(survey: Survey, statements: Sequence[Statement], form: str) -> str:
    from conformance.cli.check_text import as_object, as_text

    if form == "json":
        found: dict[str, Any] = as_object(survey, statements)
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    return as_text(survey, statements, markdown=form == "markdown")
