"""Cases for warnings 1 and 3 at run time: every state of the variables involved, and every SET out of it.

The expected warnings follow from the triggers of the worklog's warnings 1 and 3 (requirements sheet, section 1), the
numbers from its table. Setting the option gives one warning at most: warning 1 comes first. A SET that must warn stands
there in every spelling that the grammar has for its scope and its value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.checks.variable_cases import OPTION, slug

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS: Final = ("ROW", "MIXED", "STATEMENT")
IMAGES: Final = ("FULL", "NOBLOB", "MINIMAL")
VALUES: Final = ("PARTIAL_JSON", "")
IGNORED, ONLY_AFTER, DEPRECATED, IGNORED_AT_START = 3645, 3647, 1287, 13101
NO_WARNING: Final = "sql-log-bin-without-warning"  # the deviation's id
_LOG_CLOSED: Final = "When the binary log is "
_STATEMENT: Final = "When binlog_format=STATEMENT, "
_GLOBALS: Final = (OPTION, "binlog_format", "binlog_row_image")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What decides about the warnings of a SET in a scope. ``log``: the log is open, and on for the session."""

    format: str
    image: str
    option: str
    log: bool = True

    @property
    def slug(self) -> str:
        return slug(self.format, self.image, "on" if self.option else "off", "log" if self.log else "nolog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The requirement (W0: no trigger), the numbers of the warnings, and a part of a text."""

    requirement: str
    warnings: tuple[int, ...] = ()
    text: str = ""


def after_option(state: State, value: str, *, session: bool) -> Expected:
    """Triggers 1a and 1c, 3a and 3c: the option is set."""
    if not value:
        return Expected(requirement="W0")
    if not state.log:
        return Expected(requirement="W1a" if session else "W1c", warnings=(IGNORED,), text=_LOG_CLOSED)
    if state.format == "STATEMENT":
        return Expected(requirement="W1a" if session else "W1c", warnings=(IGNORED,), text=_STATEMENT)
    if state.image == "FULL":
        return Expected(requirement="W3a" if session else "W3c", warnings=(ONLY_AFTER,))
    return Expected(requirement="W0")


def after_format(state: State, value: str, *, session: bool) -> Expected:
    """Triggers 1b and 1d: the format is set."""
    if value == "STATEMENT" and state.option:
        return Expected(requirement="W1b" if session else "W1d", warnings=(IGNORED,), text=_STATEMENT)
    return Expected(requirement="W0")


def after_image(state: State, value: str, *, session: bool) -> Expected:
    """Triggers 3b and 3d: the image is set."""
    if value == "FULL" and state.option:
        return Expected(requirement="W3b" if session else "W3d", warnings=(ONLY_AFTER,))
    return Expected(requirement="W0")


# Values as they can be written. Numbers are a bitmap for the option, and a place in the list of values for the others.
_SPELLINGS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    (OPTION, "PARTIAL_JSON"): ("'PARTIAL_JSON'", "partial_json", "1", "TRUE"),
    (OPTION, ""): ("''", "0", "FALSE"),
    ("binlog_format", "MIXED"): ("'MIXED'", "mixed", "0"),
    ("binlog_format", "STATEMENT"): ("'STATEMENT'", "statement", "1"),
    ("binlog_format", "ROW"): ("'ROW'", "row", "2"),
    ("binlog_row_image", "MINIMAL"): ("'MINIMAL'", "minimal", "0"),
    ("binlog_row_image", "NOBLOB"): ("'NOBLOB'", "noblob", "1"),
    ("binlog_row_image", "FULL"): ("'FULL'", "full", "2"),
}
_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    "SESSION": ("SESSION ", "@@SESSION.", "LOCAL ", ""),
    "GLOBAL": ("GLOBAL ", "@@GLOBAL."),
    "PERSIST": ("PERSIST ", "@@PERSIST."),
    "PERSIST_ONLY": ("PERSIST_ONLY ", "@@PERSIST_ONLY."),
}


def settings_of(scope: str, variable: str, value: str, state: State) -> list[SqlStatement]:
    """SET of one of the three variables, in all its spellings if it must warn, with what it must give."""
    rules = {OPTION: after_option, "binlog_format": after_format, "binlog_row_image": after_image}
    expected = rules[variable](state, value, session=scope == "SESSION")
    if scope == "PERSIST_ONLY":
        expected = Expected(requirement="W0")  # no trigger: no live value changes
    outcomes = [Outcome(warnings=expected.warnings, text=expected.text)]
    if variable == "binlog_format":  # deprecated from 8.0.34 on
        outcomes.insert(0, Outcome(warnings=(DEPRECATED, *expected.warnings), text=expected.text))
    spellings = list(product(_SCOPES[scope], _SPELLINGS[variable, value]))
    if not expected.warnings:
        spellings = spellings[:1]
    return [
        SqlStatement(
            sql=f"SET {prefix}{variable}={text}", judges=expected.requirement, outcomes=tuple(outcomes), note=state.slug
        )
        for prefix, text in spellings
    ]


def _settings(scope: str, state: State) -> list[SqlStatement]:
    return [item for variable, value in _SPELLINGS for item in settings_of(scope, variable, value, state)]


def _log_bin(state: State) -> Iterator[SqlStatement]:
    """Trigger 1b, second part."""
    for prefix, value in product(_SCOPES["SESSION"], ("0", "1", "OFF", "ON")):
        trigger = value in ("0", "OFF") and bool(state.option)
        wanted = Outcome(warnings=(IGNORED,), text=_LOG_CLOSED) if trigger else Outcome(warnings=())
        known = (Outcome(warnings=(), verdict="fail", deviation=NO_WARNING),) if trigger else ()
        yield SqlStatement(
            sql=f"SET {prefix}sql_log_bin={value}",
            judges="W1b" if trigger else "W0",
            outcomes=(wanted, *known),
            note=state.slug,
        )


def _each_from(state: State, restore: str, settings: list[SqlStatement]) -> tuple[SqlStatement, ...]:
    return tuple(
        statement for item in settings for statement in (SqlStatement(sql=restore, fresh=True, note=state.slug), item)
    )


def session_cases() -> Iterator[SqlCase]:
    """Every state of a session, and every SET of a session variable out of it."""
    for form, image, option, log in product(FORMATS, IMAGES, VALUES, (True, False)):
        state = State(format=form, image=image, option=option, log=log)
        settings = [*_settings("SESSION", state), *_log_bin(state)]
        restore = (
            f"SET SESSION binlog_format='{form}', SESSION binlog_row_image='{image}',"
            f" SESSION sql_log_bin={int(log)}, SESSION {OPTION}='{option}'"
        )
        yield SqlCase(
            id=slug("warnings", "session", state.slug),
            requirements=tuple(sorted({item.judges for item in settings})),
            statements=_each_from(state, restore, settings),
        )


def global_cases() -> Iterator[SqlCase]:
    """Every state of the global values, and every SET of them out of it; the session's own values play no part."""
    for scope, form, image, option in product(("GLOBAL", "PERSIST", "PERSIST_ONLY"), FORMATS, IMAGES, VALUES):
        state = State(format=form, image=image, option=option)
        settings = _settings(scope, state)
        restore = f"SET GLOBAL binlog_format='{form}', GLOBAL binlog_row_image='{image}', GLOBAL {OPTION}='{option}'"
        own = "SET SESSION binlog_format='STATEMENT', SESSION sql_log_bin=0" if image == "MINIMAL" else "DO 0"
        yield SqlCase(
            id=slug("warnings", scope, state.slug),
            requirements=tuple(sorted({item.judges for item in settings})),
            globals=_GLOBALS,
            statements=(SqlStatement(sql=own), *_each_from(state, restore, settings)),
        )


def closed_log_case() -> SqlCase:
    """A server without a binary log: a cause of 1a, 1c and 1e; setting the image still gives warning 3."""
    statements = [
        SqlStatement(
            start=(("skip-log-bin", None), (OPTION.replace("_", "-"), "PARTIAL_JSON")),
            judges="W1e",
            outcomes=(Outcome(warnings=(IGNORED_AT_START,), text=_LOG_CLOSED),),
            about="row_value_options",
            note="no binary log",
        )
    ]
    for scope, form, image, option in product(("SESSION", "GLOBAL", "PERSIST"), FORMATS, IMAGES, VALUES):
        state = State(format=form, image=image, option=option, log=False)
        live = "SESSION" if scope == "SESSION" else "GLOBAL"
        restore = f"SET {live} binlog_format='{form}', {live} binlog_row_image='{image}', {live} {OPTION}='{option}'"
        statements += _each_from(state, restore, _settings(scope, state))
    return SqlCase(
        id="warnings-log-closed",
        requirements=tuple(sorted({item.judges for item in statements if item.judges})),
        statements=tuple(statements),
    )


_V1: Final = "log_bin_use_v1_row_events"
_V1_IGNORED: Final = "log_bin_use_v1_row_events=1 will be ignored"


def v1_cases(*, present: bool) -> Iterator[SqlCase]:
    """Warning 2, on servers that still have the variable; on others, that nothing of it is left."""
    if present:
        yield from _v1_warning_cases()
        return
    gone = (Outcome(error=1193, verdict="not-applicable"),)
    for requirement, scope in (("W2a", "GLOBAL"), ("W2b", "PERSIST")):
        yield SqlCase(
            id=slug("warning-2-gone", scope),
            requirements=(requirement,),
            statements=(SqlStatement(sql=f"SET {scope} {_V1} = 1", judges=requirement, outcomes=gone),),
        )
    # Without the validation it would end as well, only later.
    option, validate = (_V1.replace("_", "-"), "1"), ("validate-config", None)
    yield SqlCase(
        id="warning-2-gone-start",
        requirements=("W2c",),
        statements=(
            SqlStatement(
                start=(validate, option), judges="W2c", outcomes=(Outcome(error=67, verdict="not-applicable"),)
            ),
        ),
    )


def _v1_warning_cases() -> Iterator[SqlCase]:
    ignored = (Outcome(text=_V1_IGNORED),)
    for scope in ("SESSION", "GLOBAL", "PERSIST"):
        yield SqlCase(
            id=slug("warning-2-option", scope),
            requirements=("W2a",),
            globals=(*_GLOBALS, _V1),
            statements=(
                SqlStatement(sql=f"SET GLOBAL {_V1} = 1"),
                SqlStatement(sql=f"SET {scope} {OPTION} = 'PARTIAL_JSON'", judges="W2a", outcomes=ignored),
            ),
        )
    for scope in ("GLOBAL", "PERSIST"):
        yield SqlCase(
            id=slug("warning-2-v1", scope),
            requirements=("W2b",),
            globals=(*_GLOBALS, _V1),
            statements=(
                SqlStatement(sql=f"SET GLOBAL {OPTION} = 'PARTIAL_JSON'"),
                SqlStatement(sql=f"SET {scope} {_V1} = 1", judges="W2b", outcomes=ignored),
            ),
        )
    options = ((_V1.replace("_", "-"), "1"), (OPTION.replace("_", "-"), "PARTIAL_JSON"))
    yield SqlCase(
        id="warning-2-start",
        requirements=("W2c",),
        statements=(SqlStatement(start=options, judges="W2c", outcomes=ignored),),
    )
