"""The first line of a forecast, and one line for each tool."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.forecast.features import FEATURES
from conformance.checks.decoders.forecast.forecast import PLURAL
from conformance.checks.decoders.forecast.outcomes import ALTERS, LOSES, REFUSES
from conformance.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.decoders.forecast.forecast import Statement
    from conformance.checks.decoders.forecast.survey import Survey

_OBJECT: Final = {LOSES: "rows", ALTERS: "rows", REFUSES: "events"}


def verdict(survey: Survey, statements: Sequence[Statement], tools: int) -> str:
    """Say how many of the tools fail on the logs, what to do, and what else is wrong with the logs."""
    log = "this log" if len(survey.files) == 1 else "these logs"
    parts = [_of_tools(statements, tools, log)] if statements else [_none(survey, tools, log)]
    parts += [counted(len(survey.statements), "change") + " of rows in statements only"] * bool(survey.statements)
    parts += [counted(survey.incidents, "incident") + ": changes are lost"] * bool(survey.incidents)
    damaged = sum(bool(file.error) for file in survey.files)
    parts += [counted(damaged, "log") + " not read to the end"] * bool(damaged)
    unknown = sum(kind.events for kind in survey.unread.kinds(ignorable=False))
    parts += [counted(unknown, "event") + " of unknown types"] * bool(unknown)
    beyond = sum(near.is_beyond for near in survey.near)
    parts += [counted(beyond, "transaction") + " beyond a limit"] * bool(beyond)
    return "; ".join(parts)


def tool_lines(statements: Sequence[Statement]) -> Iterator[str]:
    """One line a tool: what it loses, alters or refuses."""
    for (tool, version), found in groupby(statements, attrgetter("tool", "version")):
        parts = []
        for verb, same in groupby(sorted(found, key=_rank), attrgetter("verb")):
            these = ", ".join(f"{FEATURES[each.feature].counted(each.events)} {each.measured}" for each in same)
            parts.append(f"{verb} {these}")
        yield f"{tool} {version} {'; '.join(parts)}"


def _rank(statement: Statement) -> tuple[int, bool]:
    return [*PLURAL].index(statement.outcome), not statement.is_certain


def _none(survey: Survey, tools: int, log: str) -> str:
    if any(file.mariadb for file in survey.files):
        return "a log of MariaDB: what is known of its readers stands below"
    who = "the tool loses, alters or refuses nothing" if tools == 1 else f"none of {tools} tools fails on anything"
    return f"{who} of {log} that was measured"


def _of_tools(statements: Sequence[Statement], tools: int, log: str) -> str:
    worst = [min(found, key=_rank) for _, found in groupby(statements, attrgetter("tool"))]
    words: list[str] = []
    for (rank, certain), number in sorted(Counter((_rank(each)[0], each.is_certain) for each in worst).items(),
                                          key=lambda item: (item[0][0], not item[0][1])):  # fmt: skip
        outcome = [*PLURAL][rank]
        verb = f"may {PLURAL[outcome]}" if not certain else outcome if number == 1 else PLURAL[outcome]
        who = f"{number} of {counted(tools, 'tool')}" if not words else str(number)
        words.append(f"{who} {verb} {_OBJECT[outcome]} of {'it' if words else log}")
    return f"{', '.join(words)}; {_advice(statements)}"


def _advice(statements: Sequence[Statement]) -> str:
    """The settings that avoid the events, each once."""
    about = [FEATURES[name] for name in FEATURES if any(each.feature == name for each in statements)]
    changes = {each.change: each.expands for each in about if each.avoid}
    settings = {change: expands for change, expands in changes.items() if "=" in change}
    words = [change if len(changes) > 1 or not expands else f"{change}, or run binlog-lab expand"
             for change, expands in settings.items()]  # fmt: skip
    if len(changes) > 1:
        words = [f"{change} (or run binlog-lab expand)" if expands else change for change, expands in settings.items()]
    parts = ["set " + ", ".join(words)] if words else []
    parts += ["use " + ", ".join(change for change in changes if change not in settings)] * (changes != settings)
    rest = not all(each.avoid for each in about)
    return "; ".join(parts + ["no setting avoids the rest"] * rest) if parts else "no setting avoids it"
