"""Faults of the parts of S1 to S4, of the warnings and of conditions 4 and 5: wrong answers to statements.

Each changes one answer of an otherwise perfect server, to the first statement that matches. The Cases are those of the
checks; the judge is theirs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.judge.sql import judge_sql
from conformance.requirements.catalogue import REQUIREMENTS
from tests.faults.fault import Fault
from tests.judge import planted_statements

if TYPE_CHECKING:
    from conformance.cases.sql_case import SqlAnswer, SqlCase, SqlStatement

_PARTIAL: Final = (("PARTIAL_JSON",),)
_EMPTY: Final = (("",),)


@dataclass(frozen=True, slots=True)
class Wrong:
    """``case``, ``statement`` and ``note``: patterns of the Case's id, of the statement's text and of its note."""

    statement: str
    change: dict[str, Any]
    case: str = ""
    note: str = ""


@cache
def _cases() -> tuple[SqlCase, ...]:
    return (*planted_statements.all_cases(), *CONDITIONS["D4"])


def _place(wrong: Wrong, whole: str) -> tuple[SqlCase, int]:
    """The first Case of the whole, and the statement in it, whose answer the change makes another."""
    for case in _cases():
        if whole not in case.requirements or not re.search(wrong.case, case.id):
            continue
        for index, statement in enumerate(case.statements):
            fits = re.search(wrong.statement, statement.text) and re.search(wrong.note, statement.note)
            if fits and _doctored(statement, wrong) != planted_statements.perfect(statement):
                return case, index
    raise AssertionError(f"no statement of {whole} for {wrong}")


def _doctored(statement: SqlStatement, wrong: Wrong) -> SqlAnswer:
    return planted_statements.doctored(planted_statements.perfect(statement), statement, wrong.change)


def _fault(name: str, requirement: str, sentence: str, wrong: Wrong) -> Fault:
    whole = REQUIREMENTS[requirement].within
    assert whole is not None, requirement

    def judged(err: bool) -> list[tuple[int, str]]:
        case, place = _place(wrong, whole)
        answers = [planted_statements.perfect(statement) for statement in case.statements]
        if err:
            answers[place] = _doctored(case.statements[place], wrong)
        found = [item for item in judge_sql(case, answers) if item.failing]
        assert all((item.index, item.requirement) == (place, whole) for item in found), found
        return [(item.index, item.requirement) for item in found]

    return Fault(name, requirement, sentence, judged)


_OPTION: Final = r"binlog_row_value_options"
_TAKES: Final = {"error": None}
_SILENT: Final = {"warnings": ()}
_ON: Final = r"value_options=('PARTIAL_JSON'|partial_json|1|TRUE)$"

VARIABLE: Final = [
    _fault("unknown-name", "SQL1", "The variable has this name.",
           Wrong(rf"SELECT @@SESSION\.{_OPTION}", {"error": 1193})),
    _fault("not-global", "SQL2", "It can be set globally.", Wrong("SET GLOBAL", {"error": 1228})),
    _fault("not-of-the-session", "SQL2", "It can be set for the session.", Wrong("SET SESSION", {"error": 1229})),
    _fault("repeated-member", "SQL3", "It is a set: a member may be repeated.",
           Wrong("= 'PARTIAL_JSON,PARTIAL_JSON'$", {"error": 1231})),
    _fault("enumeration", "SQL3", "Its type is a set.",
           Wrong("variables_metadata", {"rows": (("GLOBAL", "Enumeration"),)})),
    _fault("another-member", "SQL4", "There is no other member.", Wrong("= 'invalid'$", _TAKES)),
    _fault("on-by-default", "SQL5", "It is empty by default.",
           Wrong("SELECT @@GLOBAL", {"rows": _PARTIAL}, note="the default is empty")),
    _fault("read-only", "SQL6", "It changes while the server runs.", Wrong("SET GLOBAL", {"error": 1238})),
    _fault("change-without-effect", "SQL6", "What was set is there at once.",
           Wrong("SELECT @@GLOBAL", {"rows": _EMPTY}, note="^$")),
    _fault("free-for-all", "SQL7", "Without a privilege it is refused.",
           Wrong("SET SESSION", _TAKES, note="with no privilege")),
    _fault("super-is-not-enough", "SQL7", "SUPER is enough.",
           Wrong("SET GLOBAL", {"error": 1227}, note="^with SUPER$")),
    _fault("in-a-transaction", "SQL8", "Not inside a transaction.",
           Wrong("SET SESSION", _TAKES, note="in a transaction")),
    _fault("in-a-procedure", "SQL9", "Not inside a procedure.", Wrong("^CALL", _TAKES)),
    _fault("in-a-trigger", "SQL10", "Not inside a trigger.", Wrong("^INSERT", _TAKES, note="in a TRIGGER")),
    _fault("in-a-function", "SQL11", "Not inside a function.", Wrong("^SELECT f", _TAKES)),
    _fault("neither-reading", "SQL12", "One of the two readings: rows of version 1 without diffs, or diffs.",
           Wrong("^UPDATE", {"form": "none"})),
    _fault("partial-blob", "FX1", "There is no member for other large types yet.", Wrong("'PARTIAL_BLOB'", _TAKES)),
    _fault("attribute", "FX3", "There is no attribute before a member yet.", Wrong("'attribute:PARTIAL_JSON'", _TAKES)),
]  # fmt: skip
WARNINGS: Final = [
    _fault("statement-format", "W1a.1", "Warned under STATEMENT.",
           Wrong(f"SET SESSION.*{_ON}", _SILENT, case="session", note="^statement-.*-log$")),
    _fault("closed-log", "W1a.2", "Warned while the log is not open.",
           Wrong(f"SET SESSION.*{_ON}", _SILENT, case="log-closed", note="^row-")),
    _fault("log-off", "W1a.3", "Warned with sql_log_bin=0.",
           Wrong(f"SET SESSION.*{_ON}", _SILENT, case="session", note="^row-.*-nolog$")),
    _fault("format-set", "W1b.1", "Warned when STATEMENT is set.",
           Wrong("binlog_format='STATEMENT'", {"warnings": (1287,)}, case="session", note="-on-log$")),
    _fault("log-turned-off", "W1b.2", "Warned when sql_log_bin=0 is set.",
           Wrong("sql_log_bin=0", {"warnings": (3647,)}, case="session")),
    _fault("global-format", "W1c.1", "Warned while the global format is STATEMENT.",
           Wrong(f"SET GLOBAL.*{_ON}", _SILENT, case="global-statement", note="^statement-")),
    _fault("persisted-format", "W1c.1", "Warned when it is persisted while the global format is STATEMENT.",
           Wrong(f"SET PERSIST .*{_ON}", _SILENT, case="persist-statement", note="^statement-")),
    _fault("global-closed-log", "W1c.2", "Warned while the log is not open.",
           Wrong(f"SET GLOBAL.*{_ON}", _SILENT, case="log-closed", note="^row-")),
    _fault("start-with-format", "W1e.1", "Warned at a start with STATEMENT.",
           Wrong("binlog-format=STATEMENT", _SILENT, case="start-statement")),
    _fault("start-without-log", "W1e.2", "Warned at a start without a log.", Wrong("skip-log-bin", _SILENT)),
]  # fmt: skip

ARTICLE: Final = [
    _fault("partial-by-another-function", "LOB1", "No other function makes a partial update.",
           Wrong("JSON_INSERT", {"form": "partial"})),
]  # fmt: skip

FAULTS: Final = [*VARIABLE, *WARNINGS, *ARTICLE]
