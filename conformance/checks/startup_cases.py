"""Cases of a server's start: the option on the command line; warnings 1 and 3 from there, a file and persisted values.

Finite because a server is started for each (requirements sheet, section 1: command line, 1e, startup of warning 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Options, Outcome, SqlCase, SqlStatement
from conformance.checks.variable_cases import OPTION, read, refused

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = "binlog-row-value-options"
_ABOUT: Final = "row_value_options"  # in the texts of all messages that concern the option
_IGNORED, _ONLY_AFTER, _WRAPPED = 13101, 13103, 13140


def _start(
    judges: str, *options: tuple[str, str | None], outcomes: tuple[Outcome, ...], file: Options = ()
) -> SqlStatement:
    return SqlStatement(start=options, file=file, judges=judges, about=_ABOUT, outcomes=outcomes)


def _case(name: str, requirement: str, *statements: SqlStatement) -> SqlCase:
    return SqlCase(id=f"start-{name}", requirements=(requirement,), statements=statements)


def command_line_cases() -> Iterator[SqlCase]:
    """What the command line takes, and what ends the start."""
    outcome = Outcome(warnings=(_ONLY_AFTER,))  # FULL is only the default here
    yield SqlCase(
        id="start-number",
        requirements=("S6", "W3e"),
        statements=(_start("W3e", (_NAME, "1"), outcomes=(outcome,)), read("GLOBAL", "PARTIAL_JSON", "S6")),
    )
    for name, option in (("empty", (_NAME, "")), ("skip", (f"skip-{_NAME}", None))):
        yield _case(name, "S6", _start("S6", option, outcomes=(Outcome(warnings=()),)), read("GLOBAL", "", "S6"))
    for name, argument, number in (("bad", "BAD", 77), ("two", "2", 77), ("no-argument", None, 71)):
        yield _case(name, "S6", _start("S6", (_NAME, argument), outcomes=refused(number)))


def startup_warning_cases() -> Iterator[SqlCase]:
    """Triggers 1e and 3e from the command line, from a file, and from values persisted by the run before.

    The start without a log is that of ``warning_cases.closed_log_case``.
    """
    option = (_NAME, "PARTIAL_JSON")
    form, image = ("binlog-format", "STATEMENT"), ("binlog-row-image", "FULL")
    statement = Outcome(warnings=(_IGNORED,), text="When binlog_format=STATEMENT, ")
    full = Outcome(warnings=(_ONLY_AFTER,))
    yield _case("statement", "W1e", _start("W1e", form, option, outcomes=(statement,)))
    yield _case("image-full", "W3e", _start("W3e", image, option, outcomes=(full,)))
    yield SqlCase(
        id="start-persisted",
        requirements=("W0", "W1e", "W3e"),
        statements=(
            _start("W1e", outcomes=(statement,), file=(form, option)),
            *_persist(("binlog_format", "STATEMENT")),
            _start("W1e", outcomes=_wrapped(_IGNORED, "MY-003645")),
            *_persist(("binlog_format", "ROW"), ("binlog_row_image", "FULL")),
            _start("W3e", outcomes=_wrapped(_ONLY_AFTER, "MY-003647")),
            *_persist(("binlog_row_image", "MINIMAL")),
            _start("W1e", ("skip-log-bin", None), outcomes=_wrapped(_IGNORED, "MY-003645")),
            _start("W0", outcomes=(Outcome(warnings=()),)),
            read("GLOBAL", "PARTIAL_JSON", "W0", note="it was read from the persisted values"),
        ),
    )


def _persist(*values: tuple[str, str]) -> list[SqlStatement]:
    """Values, and the option behind them: the next start sets them one by one in this order, each with its warnings."""
    return [
        SqlStatement(sql=f"RESET PERSIST IF EXISTS {OPTION}"),
        *(SqlStatement(sql=f"SET PERSIST {variable}='{value}'") for variable, value in values),
        SqlStatement(sql=f"SET PERSIST {OPTION}='PARTIAL_JSON'"),
    ]


def _wrapped(number: int, text: str) -> tuple[Outcome, ...]:
    """Observed on 9.7.4: the session warning comes wrapped, not in its own message for the error log."""
    return Outcome(warnings=(number,)), Outcome(warnings=(_WRAPPED,), text=text)
