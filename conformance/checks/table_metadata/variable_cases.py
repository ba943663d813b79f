"""Cases for binlog_row_metadata: values, scope, privileges, and the option at a start (WL#4618 I1;
table-map-metadata 1.1).

All tables are finite; the Cases are their products with scopes and start values.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Options, Outcome, SqlCase, SqlStatement
from conformance.cases.system_variables import ACCOUNT, privilege_sets, refused, settings_by_account, slug

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLE: Final = "binlog_row_metadata"
MINIMAL, FULL = "MINIMAL", "FULL"
_NAME: Final = "binlog-row-metadata"
_SCOPES: Final = ("GLOBAL", "PERSIST", "PERSIST_ONLY")

# Input, and the value it gives.
ACCEPTED: Final = {
    "FULL": FULL,
    "'FULL'": FULL,
    "'full'": FULL,
    "full": FULL,
    "1": FULL,
    "TRUE": FULL,
    "'MINIMAL'": MINIMAL,
    "'minimal'": MINIMAL,
    "MINIMAL": MINIMAL,
    "0": MINIMAL,
    "FALSE": MINIMAL,
    "DEFAULT": MINIMAL,
}
# Input, and the error's number.
REFUSED: Final = {
    "2": 1231,
    "-1": 1231,
    "'1'": 1231,
    "''": 1231,
    "'NONE'": 1231,
    "'FULL,MINIMAL'": 1231,
    "' FULL'": 1231,
    "NULL": 1231,
    "ON": 1231,
    "OFF": 1231,
    "1.0": 1232,
}


def _set(scope: str, value: str) -> str:
    return f"SET {scope} {VARIABLE} = {value}".replace("  ", " ")


def _read(value: str, judges: str, note: str = "") -> SqlStatement:
    return SqlStatement(
        sql=f"SELECT @@GLOBAL.{VARIABLE}", judges=judges, outcomes=(Outcome(rows=((value,),)),), note=note
    )


def value_cases() -> Iterator[SqlCase]:
    """Every input of the table, in both scopes with a live value, from both start values."""
    inputs: list[tuple[str, int | None, str]] = [(text, None, value) for text, value in ACCEPTED.items()]
    inputs += [(text, error, "") for text, error in REFUSED.items()]
    for scope, (number, (text, error, value)) in product(_SCOPES[:2], enumerate(inputs)):
        statements: list[SqlStatement] = []
        for start in (FULL, MINIMAL):
            statements += [
                SqlStatement(sql=_set("GLOBAL", start)),
                SqlStatement(
                    sql=_set(scope, text),
                    judges="TMS1",
                    outcomes=refused(error) if error is not None else (Outcome(),),
                ),
                _read(value or start, "TMS1", "the default" if text == "DEFAULT" else ""),
            ]
        yield SqlCase(
            id=slug("metadata-value", scope, f"{number:02}", text.replace("'", "q")),
            requirements=("TMS1",),
            globals=(VARIABLE,),
            statements=tuple(statements),
        )


def scope_cases() -> Iterator[SqlCase]:
    """Sessions have no value of their own; statements change the global value, the persisted value, or both."""
    for old, new in product((MINIMAL, FULL), repeat=2):
        yield SqlCase(
            id=slug("metadata-scope", old, new),
            requirements=("TMS2",),
            globals=(VARIABLE,),
            statements=(
                SqlStatement(sql=_set("GLOBAL", old), session="admin"),
                SqlStatement(sql=_set("SESSION", new), judges="TMS2", outcomes=refused(1229)),
                SqlStatement(sql=_set("", new), judges="TMS2", outcomes=refused(1229)),
                SqlStatement(sql=f"SELECT @@SESSION.{VARIABLE}", judges="TMS2", outcomes=refused(1238)),
                _read(old, "TMS2", "after what was refused"),
                SqlStatement(sql=_set("PERSIST_ONLY", new), judges="TMS2"),
                _read(old, "TMS2", "stays with PERSIST_ONLY"),
                SqlStatement(sql=_set("PERSIST", new), judges="TMS2"),
                _read(new, "TMS2", "follows PERSIST"),
                SqlStatement(sql=f"RESET PERSIST {VARIABLE}", judges="TMS2"),
                _read(new, "TMS2", "stays with RESET PERSIST"),
                SqlStatement(
                    sql=f"SELECT @@{VARIABLE}",
                    session="late",
                    judges="TMS2",
                    outcomes=(Outcome(rows=((new,),)),),
                    note="without a scope the global value is read",
                ),
            ),
        )


def privilege_cases() -> Iterator[SqlCase]:
    """Every set of privileges against every scope."""
    for privileges, value in product(privilege_sets(), (FULL, MINIMAL)):
        grants = sorted(privileges)
        yield SqlCase(
            id=slug("metadata-privilege", *(name.replace("_", "") for name in grants or ["none"]), value),
            requirements=("TMS4",),
            globals=(VARIABLE,),
            accounts=(("account", ACCOUNT),),
            statements=settings_by_account(privileges, {scope: _set(scope, value) for scope in _SCOPES}, judges="TMS4"),
        )


def start_cases() -> Iterator[SqlCase]:
    """Values that a start takes, from the command line and from a file, and values that end it: a few, as each is a
    start."""
    for argument, from_file in (("FULL", False), ("full", True)):
        yield _start(argument, argument, _read(FULL, "TMS5", f"given as {argument}"), from_file=from_file)
    yield SqlCase(
        id="metadata-start-none",
        requirements=("TMS5",),
        statements=(SqlStatement(start=(), judges="TMS5"), _read(MINIMAL, "TMS5", "not given")),
    )
    yield _start("bad", "BAD", error=77)


def _start(
    name: str, argument: str, *after: SqlStatement, from_file: bool = False, error: int | None = None
) -> SqlCase:
    option: Options = ((_NAME, argument),)
    outcomes = (Outcome(),) if error is None else refused(error)
    start = SqlStatement(
        start=() if from_file else option, file=option if from_file else (), judges="TMS5", outcomes=outcomes
    )
    return SqlCase(
        id=slug("metadata-start", "file" if from_file else "line", name),
        requirements=("TMS5",),
        statements=(start, *after),
    )
