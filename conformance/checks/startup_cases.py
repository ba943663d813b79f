"""Cases of a server's start: the option on the command line, and warnings 1 and 3 from there and from persisted values.

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
_QUIET: Final = ("binlog-row-image", "MINIMAL")


def _start(judges: str, *options: tuple[str, str | None], outcomes: tuple[Outcome, ...]) -> SqlStatement:
    return SqlStatement(start=options, judges=judges, about=_ABOUT, outcomes=outcomes)


def _case(name: str, requirement: str, *statements: SqlStatement) -> SqlCase:
    return SqlCase(id=f"start-{name}", requirements=(requirement,), statements=statements)


def command_line_cases() -> Iterator[SqlCase]:
    """What the command line takes, and what ends the start."""
    taken: dict[str, tuple[tuple[str, str | None], str]] = {
        "number": ((_NAME, "1"), "PARTIAL_JSON"),
        "empty": ((_NAME, ""), ""),
        "skip": ((f"skip-{_NAME}", None), ""),
    }
    for name, (option, value) in taken.items():
        yield _case(
            name, "S6", _start("S6", _QUIET, option, outcomes=(Outcome(warnings=()),)), read("GLOBAL", value, "S6")
        )
    for name, argument, number in (("bad", "BAD", 77), ("two", "2", 77), ("no-argument", None, 71)):
        yield _case(name, "S6", _start("S6", (_NAME, argument), outcomes=refused(number)))


def startup_warning_cases() -> Iterator[SqlCase]:
    """Triggers 1e and 3e from the command line, and from values persisted by the run before."""
    option = (_NAME, "PARTIAL_JSON")
    causes: dict[str, tuple[str, Options, int, str]] = {
        "statement": ("W1e", (("binlog-format", "STATEMENT"),), _IGNORED, "When binlog_format=STATEMENT, "),
        "log-off": ("W1e", (("skip-log-bin", None),), _IGNORED, "When the binary log is "),
        "image-full": ("W3e", (("binlog-row-image", "FULL"),), _ONLY_AFTER, ""),
        "image-default": ("W3e", (), _ONLY_AFTER, ""),
    }
    for name, (requirement, options, number, text) in causes.items():
        outcome = Outcome(warnings=(number,), text=text)
        yield _case(name, requirement, _start(requirement, *options, option, outcomes=(outcome,)))
    wrapped = {
        "persisted-statement": ("W1e", "binlog_format='STATEMENT'", (), _IGNORED, "MY-003645"),
        "persisted-log-off": ("W1e", "binlog_row_image='MINIMAL'", (("skip-log-bin", None),), _IGNORED, "MY-003645"),
        "persisted-image": ("W3e", "binlog_row_image='FULL'", (), _ONLY_AFTER, "MY-003647"),
        "persisted-quiet": ("W0", "binlog_row_image='MINIMAL'", (), 0, ""),
    }
    for name, (requirement, other, options, number, text) in wrapped.items():
        # Observed on 9.7.4: the session warning comes wrapped, not in its own message for the error log.
        outcomes = (Outcome(warnings=(number,)), Outcome(warnings=(_WRAPPED,), text=text))
        yield _case(
            name,
            requirement,
            SqlStatement(start=()),
            SqlStatement(sql=f"SET PERSIST {other}"),
            SqlStatement(sql=f"SET PERSIST {OPTION}='PARTIAL_JSON'"),
            _start(requirement, *options, outcomes=outcomes if number else (Outcome(warnings=()),)),
            read("GLOBAL", "PARTIAL_JSON", requirement),
        )
