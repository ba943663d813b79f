"""Cases for the variable itself: values, scopes, restrictions, privileges, hint (requirements 1).

All tables are finite; the Cases are their products with scopes, start values and contexts.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlCase, SqlStatement
from conformance.cases.system_variables import ACCOUNT, privilege_sets, refused, settings_by_account, slug

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTION: Final = "binlog_row_value_options"
ON: Final = "'PARTIAL_JSON'"
OFF: Final = "''"
SCOPES: Final = ("SESSION", "GLOBAL", "PERSIST", "PERSIST_ONLY")
NO_SPACE_WARNING: Final = "SET SESSION binlog_row_image='MINIMAL'"
_GLOBALS: Final = (OPTION,)

# Input, and the value it gives.
ACCEPTED: Final = {
    "PARTIAL_JSON": "PARTIAL_JSON",
    "'PARTIAL_JSON'": "PARTIAL_JSON",
    "'partial_json'": "PARTIAL_JSON",
    "'PARTIAL_JSON,PARTIAL_JSON'": "PARTIAL_JSON",
    "'PARTIAL_JSON,'": "PARTIAL_JSON",
    "',PARTIAL_JSON'": "PARTIAL_JSON",
    "1": "PARTIAL_JSON",
    "TRUE": "PARTIAL_JSON",
    "''": "",
    "0": "",
    "FALSE": "",
}
# Input, the error's number, and the part of the message that names the input.
REFUSED: Final = {
    "2": (1231, "'2'"),
    "3": (1231, "'3'"),
    "-1": (1231, "'-1'"),
    "'1'": (1231, "'1'"),
    "'invalid'": (1231, "'invalid'"),
    "'PARTIAL_JSON,bad'": (1231, "'bad'"),
    "' PARTIAL_JSON'": (1231, "' PARTIAL_JSON'"),
    "NULL": (1231, "'NULL'"),
    "ON": (1231, "'ON'"),
    "OFF": (1231, "'OFF'"),
    "ALL": (1231, "'ALL'"),
    "'PARTIAL_BLOB'": (1231, "'PARTIAL_BLOB'"),
    "'attribute:PARTIAL_JSON'": (1231, "'attribute:PARTIAL_JSON'"),
    "1.0": (1232, ""),
    "1.5": (1232, ""),
    "PARTIAL_JSON,PARTIAL_JSON": (1064, ""),
}


def set_option(scope: str, value: str) -> str:
    """The SET statement."""
    return f"SET {scope} {OPTION} = {value}"


def read(scope: str, value: str, judges: str, *, session: str = "main", note: str = "") -> SqlStatement:
    """Reading the variable back."""
    return SqlStatement(
        sql=f"SELECT @@{scope}.{OPTION}",
        session=session,
        judges=judges,
        outcomes=(Outcome(rows=((value,),)),),
        note=note,
    )


def value_cases() -> Iterator[SqlCase]:
    """Every input of the table, in every scope with a live value, from both start values."""
    inputs = [*((text, None, value) for text, value in ACCEPTED.items())]
    refusals = [(text, error, None) for text, error in REFUSED.items()]
    for scope, (number, (text, error, value)) in product(SCOPES[:3], enumerate([*inputs, *refusals])):
        live = _live(scope)
        statements = [SqlStatement(sql=NO_SPACE_WARNING)]
        for before, start in ((ON, "PARTIAL_JSON"), (OFF, "")):
            statements += [
                SqlStatement(sql=set_option(live, before)),
                SqlStatement(
                    sql=set_option(scope, text),
                    judges="S1",
                    outcomes=refused(*error) if error else (Outcome(),),
                ),
                read(live, start if value is None else value, "S1"),
            ]
        yield SqlCase(
            id=slug("value", scope, f"{number:02}", text.replace("'", "q")),
            requirements=("S1",),
            globals=_GLOBALS if scope != "SESSION" else (),
            statements=tuple(statements),
        )
    yield SqlCase(
        id="value-metadata",
        requirements=("S1",),
        statements=(
            SqlStatement(
                sql="SELECT variable_scope, data_type FROM performance_schema.variables_metadata"
                f" WHERE variable_name = '{OPTION}'",
                judges="S1",
                # The table came after 8.0.
                outcomes=(Outcome(rows=(("GLOBAL", "Set"),)), Outcome(rows=(("SESSION", "Set"),)), Outcome(error=1146)),
            ),
        ),
    )


def scope_cases() -> Iterator[SqlCase]:
    """A change of the global value, for every old and new value and every value of an open session."""
    values = {ON: "PARTIAL_JSON", OFF: ""}
    for scope, old, own, new in product(SCOPES[1:], values, values, values):
        after = values[old] if scope == "PERSIST_ONLY" else values[new]
        yield SqlCase(
            id=slug("scope", scope, *("on" if value == ON else "off" for value in (old, own, new))),
            requirements=("S2",),
            globals=_GLOBALS,
            statements=(
                SqlStatement(sql=set_option("GLOBAL", old), session="admin"),
                SqlStatement(sql=set_option("SESSION", own)),
                SqlStatement(sql=set_option(scope, new), session="admin"),
                read("SESSION", values[own], "S2", note="an open session keeps its value"),
                read("GLOBAL", after, "S2"),
                read("SESSION", after, "S2", session="late", note="of a new session"),
                SqlStatement(sql=set_option("SESSION", "DEFAULT")),
                read("SESSION", after, "S2", note="copied by DEFAULT"),
                SqlStatement(sql=set_option("SESSION", new)),
                read("GLOBAL", after, "S2", note="a session's value is its own"),
                SqlStatement(sql=set_option("GLOBAL", "DEFAULT")),
                read("GLOBAL", "", "S2", note="the default is empty"),
            ),
        )


_CONTEXTS: Final = {
    "begin": ("START TRANSACTION",),
    "begin-read": ("START TRANSACTION", "SELECT COUNT(*) FROM t"),
    "begin-write": ("START TRANSACTION", "INSERT INTO t VALUES (2)"),
    "autocommit-off-read": ("SET SESSION autocommit=0", "SELECT COUNT(*) FROM t"),
    "autocommit-off-write": ("SET SESSION autocommit=0", "INSERT INTO t VALUES (2)"),
}


_PROGRAMS: Final = {
    "procedure": ("CREATE PROCEDURE p() {}", "CALL p()", 1838),
    "function": ("CREATE FUNCTION f() RETURNS INT NO SQL BEGIN {}; RETURN 1; END", "SELECT f()", 1765),
    "trigger": ("CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW {}", "INSERT INTO t VALUES (1)", 1765),
}


def restriction_cases() -> Iterator[SqlCase]:
    """The contexts that refuse to set the variable: transactions, procedures, functions and triggers."""
    for (name, begin), scope, value in product(_CONTEXTS.items(), SCOPES, (ON, OFF)):
        setting = set_option(scope, value)
        yield _restriction(
            (name, scope, value),
            *(SqlStatement(sql=sql) for sql in begin),
            _refused(scope, setting, 1766, "in a transaction"),
            _unchanged(scope, value),
            SqlStatement(sql="ROLLBACK"),
            SqlStatement(sql=setting, judges="S3", note="after it"),
            _changed(scope, value),
        )
    for scope, value in product(SCOPES, (ON, OFF)):
        setting = set_option(scope, value)
        for name, (create, use, number) in _PROGRAMS.items():
            yield _restriction(
                (name, scope, value),
                SqlStatement(sql=create.format(setting)),
                _refused(scope, use, number, f"in a {name.upper()}"),
                _unchanged(scope, value),
            )
        yield _restriction(
            ("prepared", scope, value),
            SqlStatement(sql=f'PREPARE s FROM "{setting}"'),
            SqlStatement(sql="EXECUTE s", judges="S3", note="a prepared statement is allowed"),
            _changed(scope, value),
            table=False,
        )


def _restriction(what: tuple[str, str, str], *statements: SqlStatement, table: bool = True) -> SqlCase:
    """``what``: context, scope and value; the variable has the other value first."""
    name, scope, value = what
    made = (SqlStatement(sql="CREATE TABLE t (id INT PRIMARY KEY)"),) if table else ()
    return SqlCase(
        id=slug("restriction", name, scope, "on" if value == ON else "off"),
        requirements=("S3",),
        schema=table,
        globals=_GLOBALS if scope != "SESSION" else (),
        statements=(*made, SqlStatement(sql=set_option(_live(scope), OFF if value == ON else ON)), *statements),
    )


def _live(scope: str) -> str:
    return "SESSION" if scope == "SESSION" else "GLOBAL"


def _refused(scope: str, sql: str, number: int, note: str) -> SqlStatement:
    outcomes = (Outcome(),) if scope == "PERSIST_ONLY" else refused(number)
    return SqlStatement(sql=sql, judges="S3", outcomes=outcomes, note=note)


def _unchanged(scope: str, value: str) -> SqlStatement:
    return read(_live(scope), "" if value == ON else "PARTIAL_JSON", "S3")


def _changed(scope: str, value: str) -> SqlStatement:
    """With PERSIST_ONLY the value of now stays."""
    return _unchanged(scope, OFF if value == ON else ON) if scope != "PERSIST_ONLY" else _unchanged(scope, value)


def privilege_cases() -> Iterator[SqlCase]:
    """Every set of privileges against every scope."""
    for privileges in privilege_sets():
        grants = sorted(privileges)
        for value in (ON, OFF):
            yield SqlCase(
                id=slug(
                    "privilege", *(name.replace("_", "") for name in grants or ["none"]), "on" if value == ON else "off"
                ),
                requirements=("S4",),
                globals=_GLOBALS,
                accounts=(("account", ACCOUNT),),
                statements=settings_by_account(
                    privileges, {scope: set_option(scope, value) for scope in SCOPES}, judges="S4"
                ),
            )


def hint_cases() -> Iterator[SqlCase]:
    """The server ignores the optimizer hint with a warning, whatever the value, the statement and the session's own
    value."""
    for (own, value), text, verb in product(
        ((ON, "PARTIAL_JSON"), (OFF, "")), ("PARTIAL_JSON", "'PARTIAL_JSON'", "0", "1"), ("SELECT", "UPDATE")
    ):
        hint = f"/*+ SET_VAR({OPTION}={text}) */"
        statement = (
            SqlStatement(
                sql=f"SELECT {hint} @@SESSION.{OPTION}",
                judges="S5",
                outcomes=(Outcome(warnings=(3637,), rows=((value,),)),),
            )
            if verb == "SELECT"
            else SqlStatement(
                sql=f"UPDATE {hint} t SET j = JSON_SET(j, '$.a', 2)",
                judges="S5",
                outcomes=(Outcome(warnings=(3637,), form="partial" if value else "full"),),
            )
        )
        yield SqlCase(
            id=slug("hint", verb, text.replace("'", "q"), "on" if own == ON else "off"),
            requirements=("S5",),
            schema=True,
            statements=(
                SqlStatement(sql="CREATE TABLE t (id INT PRIMARY KEY, j JSON)"),
                SqlStatement(sql='INSERT INTO t VALUES (1, \'{"a": 1, "b": "' + "b" * 40 + "\"}')"),
                SqlStatement(sql=NO_SPACE_WARNING),
                SqlStatement(sql="SET SESSION binlog_format='ROW'"),
                SqlStatement(sql=set_option("SESSION", own)),
                statement,
                read("SESSION", value, "S5", note="unchanged behind it"),
            ),
        )
