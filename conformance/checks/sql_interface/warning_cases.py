"""Cases for warnings 1 and 3 at run time: every state of the variables involved, and every SET from it.

The expected warnings follow from the triggers of the worklog's warnings 1 and 3 (requirements 1), the numbers from its
table. Setting the option gives one warning at most: warning 1 comes first. A SET that must warn appears in every
spelling that the grammar has for its scope and value. It also judges the warning's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement, WarningText
from conformance.cases.system_variables import slug
from conformance.checks.sql_interface.variable_cases import OPTION
from conformance.checks.sql_interface.warning_texts import (
    CLOSED,
    DISABLED,
    IGNORED,
    IGNORED_AT_START,
    ONLY_AFTER,
    STATEMENT,
    ignored_texts,
    ignored_texts_at_start,
    only_after_texts,
    v1_ignored_texts,
)
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORMATS: Final = ("ROW", "MIXED", "STATEMENT")
IMAGES: Final = ("FULL", "NOBLOB", "MINIMAL")
VALUES: Final = ("PARTIAL_JSON", "")
DEPRECATED: Final = 1287
NO_WARNING: Final = "sql-log-bin-without-warning"  # the deviation's id
_GLOBALS: Final = (OPTION, "binlog_format", "binlog_row_image")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningState:
    """The state that decides about the warnings of a SET in a scope. ``log``: the log is open, and on for the session;
    where it is not, ``closed`` says that the server has none."""

    format: str
    image: str
    option: str
    log: bool = True
    closed: bool = False

    @property
    def slug(self) -> str:
        return slug(self.format, self.image, "on" if self.option else "off", "log" if self.log else "nolog")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The requirement (W0: no trigger), the numbers of the warnings, and their texts with the texts' requirement."""

    requirement: str
    warnings: tuple[int, ...] = ()
    judges_texts: str = ""
    texts: tuple[WarningText, ...] = ()


def _warning_1(requirement: str, texts: tuple[WarningText, ...]) -> Expected:
    return Expected(requirement=requirement, warnings=(IGNORED,), judges_texts="W1.text", texts=texts)


def _warning_3(requirement: str) -> Expected:
    return Expected(requirement=requirement, warnings=(ONLY_AFTER,), judges_texts="W3.text", texts=only_after_texts())


def after_option(state: WarningState, value: str, *, session: bool) -> Expected:
    """Triggers 1a, 1c, 3a and 3c: a SET of the option."""
    if not value:
        return Expected(requirement="W0")
    statement = (STATEMENT,) if state.format == "STATEMENT" else ()
    if not state.log:
        texts = ignored_texts(DISABLED, *statement, observed=CLOSED if state.closed else DISABLED)
        return _warning_1("W1a" if session else "W1c", texts)
    if statement:
        return _warning_1("W1a" if session else "W1c", ignored_texts(STATEMENT, observed=STATEMENT))
    if state.image == "FULL":
        return _warning_3("W3a" if session else "W3c")
    return Expected(requirement="W0")


def after_format(state: WarningState, value: str, *, session: bool) -> Expected:
    """Triggers 1b and 1d: a SET of the format."""
    if value == "STATEMENT" and state.option:
        disabled = () if state.log else (DISABLED,)
        return _warning_1("W1b" if session else "W1d", ignored_texts(STATEMENT, *disabled, observed=STATEMENT))
    return Expected(requirement="W0")


def after_image(state: WarningState, value: str, *, session: bool) -> Expected:
    """Triggers 3b and 3d: a SET of the image."""
    if value == "FULL" and state.option:
        return _warning_3("W3b" if session else "W3d")
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


def settings_of(scope: str, variable: str, value: str, state: WarningState) -> list[SqlStatement]:
    """The SET statements of one of the three variables, in all spellings if it must warn, with their warnings."""
    rules = {OPTION: after_option, "binlog_format": after_format, "binlog_row_image": after_image}
    expected = rules[variable](state, value, session=scope == "SESSION")
    if scope == "PERSIST_ONLY":
        expected = Expected(requirement="W0")  # no trigger: no live value changes
    outcomes = [Outcome(warnings=expected.warnings)]
    if variable == "binlog_format":  # deprecated from 8.0.34 on
        outcomes.insert(0, Outcome(warnings=(DEPRECATED, *expected.warnings)))
    spellings = list(product(_SCOPES[scope], _SPELLINGS[variable, value]))
    if not expected.warnings:
        spellings = spellings[:1]
    return [
        SqlStatement(
            sql=f"SET {prefix}{variable}={text}",
            judges=expected.requirement,
            outcomes=tuple(outcomes),
            judges_texts=expected.judges_texts,
            texts=expected.texts,
            note=state.slug,
        )
        for prefix, text in spellings
    ]


def _settings(scope: str, state: WarningState) -> list[SqlStatement]:
    return [item for variable, value in _SPELLINGS for item in settings_of(scope, variable, value, state)]


def _log_bin(state: WarningState) -> Iterator[SqlStatement]:
    """Trigger 1b, second part. 9.7.4 does not warn here; a warning would have the text of its other warnings."""
    causes = (STATEMENT,) if state.format == "STATEMENT" else ()
    for prefix, value in product(_SCOPES["SESSION"], ("0", "1", "OFF", "ON")):
        trigger = value in ("0", "OFF") and bool(state.option)
        wanted = Outcome(warnings=(IGNORED,)) if trigger else Outcome(warnings=())
        known = (Outcome(warnings=(), verdict=Verdict.FAIL, deviation=NO_WARNING),) if trigger else ()
        yield SqlStatement(
            sql=f"SET {prefix}sql_log_bin={value}",
            judges="W1b" if trigger else "W0",
            outcomes=(wanted, *known),
            judges_texts="W1.text" if trigger else "",
            texts=ignored_texts(DISABLED, *causes, observed=DISABLED) if trigger else (),
            note=state.slug,
        )


def judged_by(statements: Iterable[SqlStatement]) -> tuple[str, ...]:
    """All requirements that the statements are evidence for."""
    return tuple(sorted({name for item in statements for name in item.requirements}))


def _each_from(state: WarningState, restore: str, settings: list[SqlStatement]) -> tuple[SqlStatement, ...]:
    return tuple(
        statement for item in settings for statement in (SqlStatement(sql=restore, fresh=True, note=state.slug), item)
    )


def session_cases() -> Iterator[SqlCase]:
    """Every state of a session, and every SET of a session variable from it."""
    for form, image, option, log in product(FORMATS, IMAGES, VALUES, (True, False)):
        state = WarningState(format=form, image=image, option=option, log=log)
        settings = [*_settings("SESSION", state), *_log_bin(state)]
        restore = (
            f"SET SESSION binlog_format='{form}', SESSION binlog_row_image='{image}',"
            f" SESSION sql_log_bin={int(log)}, SESSION {OPTION}='{option}'"
        )
        yield SqlCase(
            id=slug("warnings", "session", state.slug),
            rev=2,
            requirements=judged_by(settings),
            statements=_each_from(state, restore, settings),
        )


def global_cases() -> Iterator[SqlCase]:
    """Every state of the global values, and every SET of them from it; the session's own values play no part."""
    for scope, form, image, option in product(("GLOBAL", "PERSIST", "PERSIST_ONLY"), FORMATS, IMAGES, VALUES):
        state = WarningState(format=form, image=image, option=option)
        settings = _settings(scope, state)
        restore = f"SET GLOBAL binlog_format='{form}', GLOBAL binlog_row_image='{image}', GLOBAL {OPTION}='{option}'"
        own = "SET SESSION binlog_format='STATEMENT', SESSION sql_log_bin=0" if image == "MINIMAL" else "DO 0"
        yield SqlCase(
            id=slug("warnings", scope, state.slug),
            rev=2,
            requirements=judged_by(settings),
            globals=_GLOBALS,
            statements=(SqlStatement(sql=own), *_each_from(state, restore, settings)),
        )


def closed_log_case() -> SqlCase:
    """A server without a binary log: a cause of 1a, 1c and 1e; setting the image still gives warning 3."""
    statements = [
        SqlStatement(
            start=(("skip-log-bin", None), (OPTION.replace("_", "-"), "PARTIAL_JSON")),
            judges="W1e",
            outcomes=(Outcome(warnings=(IGNORED_AT_START,)),),
            judges_texts="W1.text",
            texts=ignored_texts_at_start(DISABLED),
            about="row_value_options",
            note="no binary log",
        )
    ]
    for scope, form, image, option in product(("SESSION", "GLOBAL", "PERSIST"), FORMATS, IMAGES, VALUES):
        state = WarningState(format=form, image=image, option=option, log=False, closed=True)
        live = "SESSION" if scope == "SESSION" else "GLOBAL"
        restore = f"SET {live} binlog_format='{form}', {live} binlog_row_image='{image}', {live} {OPTION}='{option}'"
        statements += _each_from(state, restore, _settings(scope, state))
    return SqlCase(
        id="warnings-log-closed",
        rev=2,
        requirements=judged_by(statements),
        statements=tuple(statements),
    )


_V1: Final = "log_bin_use_v1_row_events"
_V1_IGNORED: Final = "log_bin_use_v1_row_events=1 will be ignored"


_NEEDS_V1: Final = f"needs the system variable {_V1}"


def v1_cases(*, present: bool) -> Iterator[SqlCase]:
    """Warning 2, on servers that still have the variable; on others, the absence of the variable and the warning."""
    if present:
        yield from _v1_warning_cases()
        return
    gone = (Outcome(error=1193, verdict=Verdict.NOT_APPLICABLE),)
    for requirement, scope in (("W2a", "GLOBAL"), ("W2b", "PERSIST"), ("W2.text", "SESSION")):
        yield SqlCase(
            id=slug("warning-2-gone", scope),
            requirements=(requirement,),
            statements=(SqlStatement(sql=f"SET {scope} {_V1} = 1", judges=requirement, outcomes=gone, note=_NEEDS_V1),),
        )
    # Without the validation it would end as well, only later.
    option, validate = (_V1.replace("_", "-"), "1"), ("validate-config", None)
    yield SqlCase(
        id="warning-2-gone-start",
        requirements=("W2c",),
        statements=(
            SqlStatement(
                start=(validate, option),
                judges="W2c",
                outcomes=(Outcome(error=67, verdict=Verdict.NOT_APPLICABLE),),
                note=_NEEDS_V1,
            ),
        ),
    )


_NOT_PERSISTENT: Final = 1238


def _v1_warning_cases() -> Iterator[SqlCase]:
    ignored = (Outcome(text=_V1_IGNORED),)
    texts = v1_ignored_texts()
    for scope in ("SESSION", "GLOBAL", "PERSIST"):
        yield SqlCase(
            id=slug("warning-2-option", scope),
            rev=2,
            requirements=("W2.text", "W2a"),
            globals=(*_GLOBALS, _V1),
            statements=(
                SqlStatement(sql=f"SET GLOBAL {_V1} = 1"),
                SqlStatement(
                    sql=f"SET {scope} {OPTION} = 'PARTIAL_JSON'",
                    judges="W2a",
                    outcomes=ignored,
                    judges_texts="W2.text",
                    texts=texts,
                ),
            ),
        )
    for scope in ("GLOBAL", "PERSIST"):
        yield SqlCase(
            id=slug("warning-2-v1", scope),
            rev=2 if scope == "GLOBAL" else 3,
            requirements=("W2.text", "W2b") if scope == "GLOBAL" else ("W2b",),
            globals=(*_GLOBALS, _V1),
            statements=(
                SqlStatement(sql=f"SET GLOBAL {OPTION} = 'PARTIAL_JSON'"),
                SqlStatement(
                    sql=f"SET {scope} {_V1} = 1",
                    judges="W2b",
                    # No version lets this variable be persisted (observed on 8.0.45).
                    outcomes=ignored if scope == "GLOBAL" else (Outcome(error=_NOT_PERSISTENT),),
                    judges_texts="W2.text" if scope == "GLOBAL" else "",
                    texts=texts if scope == "GLOBAL" else (),
                ),
            ),
        )
    options = ((_V1.replace("_", "-"), "1"), (OPTION.replace("_", "-"), "PARTIAL_JSON"))
    yield SqlCase(
        id="warning-2-start",
        rev=2,
        requirements=("W2.text", "W2c"),
        statements=(SqlStatement(start=options, judges="W2c", outcomes=ignored, judges_texts="W2.text", texts=texts),),
    )
