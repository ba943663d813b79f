"""Cases of a server's start: the option on the command line; warnings 1 and 3 from there, a file and persisted values.

The Cases are few because each starts a server (requirements 1: command line, 1e, startup of warning 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Options, Outcome, SqlCase, SqlStatement, WarningText
from conformance.cases.system_variables import refused
from conformance.checks.sql_interface.variable_cases import OPTION, read
from conformance.checks.sql_interface.warning_texts import (
    CLOSED,
    DISABLED,
    IGNORED_AT_START,
    ONLY_AFTER_AT_START,
    STATEMENT,
    WRAPPED,
    ignored_texts_at_start,
    ignored_texts_of_persisted,
    only_after_texts_at_start,
    only_after_texts_of_persisted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = "binlog-row-value-options"
_ABOUT: Final = "row_value_options"  # in the texts of all messages that concern the option


def _start(
    judges: str,
    *options: tuple[str, str | None],
    outcomes: tuple[Outcome, ...],
    texts: tuple[WarningText, ...] = (),
    file: Options = (),
) -> SqlStatement:
    return SqlStatement(
        start=options,
        file=file,
        judges=judges,
        about=_ABOUT,
        outcomes=outcomes,
        judges_texts=f"{judges[:2]}.text" if texts else "",
        texts=texts,
    )


def _case(name: str, requirement: str, *statements: SqlStatement, rev: int = 1) -> SqlCase:
    requirements = {name for item in statements for name in item.requirements}
    return SqlCase(
        id=f"start-{name}", rev=rev, requirements=tuple(sorted({requirement, *requirements})), statements=statements
    )


def command_line_cases() -> Iterator[SqlCase]:
    """Values that the command line takes, and values that end the start."""
    outcome = Outcome(warnings=(ONLY_AFTER_AT_START,))  # FULL is only the default here
    started = _start("W3e", (_NAME, "1"), outcomes=(outcome,), texts=only_after_texts_at_start())
    yield _case("number", "S6", started, read("GLOBAL", "PARTIAL_JSON", "S6"), rev=2)
    for name, option in (("empty", (_NAME, "")), ("skip", (f"skip-{_NAME}", None))):
        yield _case(name, "S6", _start("S6", option, outcomes=(Outcome(warnings=()),)), read("GLOBAL", "", "S6"))
    for name, argument in (("bad", "BAD"), ("two", "2")):
        yield _case(name, "S6", _start("S6", (_NAME, argument), outcomes=refused(77)))
    # An entry point that puts options of its own behind the missing value hands the next one over as the value.
    missing = (Outcome(error=71), Outcome(error=77, text="Error while setting value '--"), *refused(71)[1:])
    yield _case("no-argument", "S6", _start("S6", (_NAME, None), outcomes=missing), rev=2)


def startup_warning_cases() -> Iterator[SqlCase]:
    """Triggers 1e and 3e from the command line, from a file, and from values persisted by the run before.

    The start without a log is that of ``warning_cases.closed_log_case``.
    """
    option = (_NAME, "PARTIAL_JSON")
    form, image = ("binlog-format", "STATEMENT"), ("binlog-row-image", "FULL")
    ignored = (Outcome(warnings=(IGNORED_AT_START,)),)
    full = (Outcome(warnings=(ONLY_AFTER_AT_START,)),)
    texts = ignored_texts_at_start(STATEMENT)
    yield _case("statement", "W1e", _start("W1e", form, option, outcomes=ignored, texts=texts), rev=2)
    yield _case(
        "image-full", "W3e", _start("W3e", image, option, outcomes=full, texts=only_after_texts_at_start()), rev=2
    )
    yield _case(
        "persisted",
        "W0",
        _start("W1e", outcomes=ignored, texts=texts, file=(form, option)),
        *_persist(("binlog_format", "STATEMENT")),
        _start(
            "W1e",
            outcomes=_wrapped(IGNORED_AT_START),
            texts=ignored_texts_of_persisted(STATEMENT, observed=STATEMENT),
        ),
        *_persist(("binlog_format", "ROW"), ("binlog_row_image", "FULL")),
        _start("W3e", outcomes=_wrapped(ONLY_AFTER_AT_START), texts=only_after_texts_of_persisted()),
        *_persist(("binlog_row_image", "MINIMAL")),
        _start(
            "W1e",
            ("skip-log-bin", None),
            outcomes=_wrapped(IGNORED_AT_START),
            texts=ignored_texts_of_persisted(DISABLED, observed=CLOSED),
        ),
        _start("W0", outcomes=(Outcome(warnings=()),)),
        read("GLOBAL", "PARTIAL_JSON", "W0", note="it was read from the persisted values"),
        rev=2,
    )


def _persist(*values: tuple[str, str]) -> list[SqlStatement]:
    """Values, and the option behind them: the next start sets them one by one in this order, each with its warnings."""
    return [
        SqlStatement(sql=f"RESET PERSIST IF EXISTS {OPTION}"),
        *(SqlStatement(sql=f"SET PERSIST {variable}='{value}'") for variable, value in values),
        SqlStatement(sql=f"SET PERSIST {OPTION}='PARTIAL_JSON'"),
    ]


def _wrapped(number: int) -> tuple[Outcome, ...]:
    """The session warning comes wrapped, not in its own message for the error log (observed on 9.7.4)."""
    return Outcome(warnings=(number,)), Outcome(warnings=(WRAPPED,))
