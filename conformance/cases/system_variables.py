"""SET statements of system variables as parts of sql Cases: ids, refusals, and the privileges that they need."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

from conformance.cases.sql_case import Outcome, SqlStatement
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

_ADMIN: Final = "SYSTEM_VARIABLES_ADMIN"
_SESSION_ADMIN: Final = "SESSION_VARIABLES_ADMIN"
_PERSIST_ADMIN: Final = "PERSIST_RO_VARIABLES_ADMIN"
ACCOUNT: Final = "binlog_lab_account"


def refused(number: int, text: str = "") -> tuple[Outcome, ...]:
    """The observed error as expected outcome; another error only differs, as the worklog gives no numbers."""
    return Outcome(error=number, text=text), Outcome(error="any", verdict=Verdict.DIFFERS)


def slug(*parts: str) -> str:
    """An id from readable parts."""
    text = "-".join(parts).lower()
    return "-".join(filter(None, "".join(char if char.isalnum() or char == "_" else "-" for char in text).split("-")))


def may_set(scope: str, privileges: set[str]) -> bool:
    """Whether these privileges are enough to set a variable of the binary log in this scope."""
    if scope == "PERSIST_ONLY":
        return privileges >= {_ADMIN, _PERSIST_ADMIN}
    return bool(privileges & ({"SUPER", _ADMIN} | ({_SESSION_ADMIN} if scope == "SESSION" else set())))


def privilege_sets() -> list[set[str]]:
    """Every set of the four privileges that matter, and the two that do not help."""
    matter = ("SUPER", _ADMIN, _SESSION_ADMIN, _PERSIST_ADMIN)
    sets = [set(some) for count in range(len(matter) + 1) for some in combinations(matter, count)]
    return [*sets, {"BINLOG_ADMIN"}, {"REPLICATION_APPLIER"}, {"BINLOG_ADMIN", "REPLICATION_APPLIER"}]


def settings_by_account(privileges: set[str], settings: Mapping[str, str], *, judges: str) -> tuple[SqlStatement, ...]:
    """An account with just these privileges, and its SET statements (scope: text), allowed or refused."""
    grants = sorted(privileges)
    return (
        SqlStatement(sql=f"CREATE USER {ACCOUNT}@localhost"),
        *(SqlStatement(sql=f"GRANT {name} ON *.* TO {ACCOUNT}@localhost") for name in grants),
        *(
            SqlStatement(
                sql=text,
                session="account",
                judges=judges,
                outcomes=(Outcome(),)
                if may_set(scope, privileges)
                else refused(3630 if scope == "PERSIST_ONLY" else 1227),
                note=f"with {', '.join(grants) or 'no privilege'}",
            )
            for scope, text in settings.items()
        ),
    )
