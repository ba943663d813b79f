"""The needs of each check, and whether the server under test meets them: its manifest, asked before the check.

A check that lacks something is not applicable, and its reason begins with :data:`NEEDS`. The kind of server (one that
the lab started, a process, an old one beside it) stands in the check, which uses that server. A check leaves out of
what it generates whatever it can do without, such as a type of column. No check needs tables of time zones (sessions
have offsets), TLS, or another authentication than the server's default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.case_sql import trigger_statement
from conformance.cases.sql_case import SqlCase
from conformance.cases.update_case import UpdateCase
from conformance.harness.experiments.manifests import facts_of
from conformance.harness.needs.questions import KINDS
from conformance.servers.settings.rights_of_statements import needs_of_statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.cases.files import AnyCase
from conformance.harness.needs.questions import Questions

NEEDS: Final = "needs "
"""How the reason of a check that is not applicable begins."""


def needs_of(check: str) -> tuple[str, ...]:
    """The needs of a check by its name, with or without parameters."""
    facts = facts_of(check)
    return () if facts is None else facts.needs


def rights_of(case: AnyCase) -> tuple[str, ...]:
    """The rights that the statements of a Case need of a guest's account, as needs."""
    if isinstance(case, SqlCase):
        return needs_of_statements(statement.sql for statement in case.statements)
    if isinstance(case, UpdateCase) and case.trigger:
        return needs_of_statements([trigger_statement(case.table, case.trigger)])
    return ()


def lacking(questions: Questions, needs: Iterable[str]) -> str:
    """Why needs are not met, as the reason of a check; empty: the server has everything. A need that is no question,
    such as the number of servers of a Case, is for others to judge."""
    asked = [need for need in dict.fromkeys(needs) if need.partition(" ")[0] in KINDS]
    missing = list(filter(None, map(questions.lacking, asked)))
    return NEEDS + "; ".join(missing) if missing else ""
