"""The forecast for logs of a user: what they have is surveyed, and what is found is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.checks.decoders.forecast.forecast import forecast
from conformance.checks.decoders.forecast.limits import DEFAULTS, limits_of
from conformance.checks.decoders.forecast.outcomes import load_outcomes
from conformance.checks.decoders.forecast.survey import Survey
from conformance.checks.decoders.forecast.text import as_object, as_text
from conformance.console import Output, error
from conformance.keyring_file import read_keyring
from conformance.logs.events import give_events, log_reader
from conformance.logs.inputs import check_files, with_following
from conformance.logs.refusals import tell_unread
from conformance.logs.remote import RemoteName, ending_well, numbers_of
from conformance.user_errors import InputCorrupt, Usage, unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.decoders.forecast.forecast import Statement
    from conformance.checks.decoders.forecast.limits import Limit
    from conformance.reference.encryption.keyring import Keyring


def print_forecast(
    files: Sequence[str], form: str, tools: Sequence[str], top: int, limits: Sequence[str], *,
    limit: int | None, keyring: Path | None,
) -> bool:  # fmt: skip
    """Print what the logs will do to their readers. Whether there is nothing of that, and no log is damaged.

    Raises :class:`InputCorrupt` behind the output for events that nobody reads.
    """
    known = load_outcomes()
    if wrong := [name for name in tools if name not in known]:
        raise unknown("tool", wrong, known)
    check_files(files)
    survey = Survey(top=top, limits=_limits(limits, files))
    _read(survey, files, limit, read_keyring(keyring))
    asked = tools or tuple(known)
    statements = forecast(survey.features, [known[name] for name in asked])
    output = Output()
    output.write(_shown(survey, statements, len(asked), form).encode("utf-8", "backslashreplace"))
    output.flush()
    damaged = any(file.error for file in survey.files)
    beyond = any(near.is_beyond and near.limit in dict(map(_limit, limits)) for near in survey.near)
    tell_unread(survey.unread)
    return not (statements or survey.statements or survey.incidents or damaged or beyond)


def _limit(word: str) -> tuple[str, int]:
    """One ``--limit``; a server prints its own as such a number too."""
    name, _, size = word.partition("=")
    known = [limit.name for limit in DEFAULTS]
    if name not in known:
        raise unknown("limit", [name], known)
    if not size.isdecimal():
        raise Usage(f"--limit {word}: NAME=BYTES, with a whole number")
    return name, int(size)


def _limits(words: Sequence[str], files: Sequence[str]) -> tuple[Limit, ...]:
    """The limits as given, else as the server of the logs has them, else the defaults."""
    given = dict(map(_limit, words))
    server = next((file for file in files if isinstance(file, RemoteName)), None)
    there = {} if server is None else numbers_of(server, [limit.name for limit in DEFAULTS])
    return limits_of({**there, **given})


def _read(survey: Survey, files: Sequence[str], limit: int | None, keyring: Keyring | None) -> None:
    """Read all files; a damaged one is told, and the next one read."""
    with ending_well(files):
        for path in with_following(files):
            survey.start_file(Path(path).name)
            try:
                give_events(path, survey.event, reader=log_reader(limit=limit, unread=survey.unread), keyring=keyring)
            except InputCorrupt as problem:
                error(str(problem))
                survey.files[-1].error = str(problem).removeprefix(f"{path}: ")
    survey.finish()


def _shown(survey: Survey, statements: Sequence[Statement], tools: int, form: str) -> str:
    if form == "json":
        found: dict[str, Any] = as_object(survey, statements, tools)
        return json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    return as_text(survey, statements, tools, markdown=form == "markdown")
