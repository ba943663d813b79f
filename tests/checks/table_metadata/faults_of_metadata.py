"""Faults around binlog_row_metadata: the variable, servers from before it, and replicas with other tables. Written down
from the worklog's interface I1, NF1, NF2 and scenarios, and from table-map-metadata 1.1, table-map-metadata 7, before
their checks.
"""

from __future__ import annotations

from typing import Any, Final

from tests.checks.fault import Fault
from tests.judge.faults_of_sql import SqlFault

_FULL: Final = (("FULL",),)
_MINIMAL: Final = (("MINIMAL",),)

# Answers to statements about the variable.
VARIABLE_FAULTS: Final[tuple[SqlFault, ...]] = (
    SqlFault(id="metadata-word-refused", requirement="TMS1", statement=r"SET .*= 'full'$", change={"error": 1231}),
    SqlFault(id="metadata-unknown-taken", requirement="TMS1", statement=r"SET .*= 'NONE'$", change={"error": None}),
    SqlFault(id="metadata-default-full", requirement="TMS1", statement=r"the default", change={"rows": _FULL}),
    SqlFault(id="metadata-changed", requirement="TMS1", statement=r"^SELECT @@GLOBAL", change={"rows": (("NONE",),)}),
    SqlFault(id="metadata-session-set", requirement="TMS2", statement=r"^SET SESSION", change={"error": None}),
    SqlFault(id="metadata-session-read", requirement="TMS2", statement=r"SELECT @@SESSION", change={"error": None}),
    SqlFault(id="metadata-bare-set", requirement="TMS2", statement=r"^SET binlog_row_metadata", change={"error": None}),
    SqlFault(
        id="metadata-persist-only", requirement="TMS2", statement=r"stays with PERSIST_ONLY", change={"rows": _FULL}
    ),
    SqlFault(id="metadata-anybody", requirement="TMS4", statement=r"^SET GLOBAL", change={"error": None}),
    SqlFault(id="metadata-not-admin", requirement="TMS4", statement=r"SYSTEM_VARIABLES_ADMIN", change={"error": 1227}),
    SqlFault(id="metadata-bad-start", requirement="TMS5", statement=r"=BAD", change={"error": None}),
    SqlFault(id="metadata-option-forgotten", requirement="TMS5", statement=r"given as FULL", change={"rows": _MINIMAL}),
)

# Answers of a replica whose table is another one.
OTHER_TABLE_FAULTS: Final[tuple[SqlFault, ...]] = (
    SqlFault(id="charset-other-text", requirement="TMR1", statement=r"^SELECT", change={"rows": (("1", "3F"),)}),
    SqlFault(id="charset-other-error", requirement="TMR1", statement=r"^SELECT", change={"error": 1032}),
    SqlFault(id="sign-other-number", requirement="TMR2", statement=r"^SELECT", change={"rows": (("1", "-1"),)}),
    SqlFault(id="sign-lost-row", requirement="TMR2", statement=r"^SELECT", change={"rows": ()}),
    SqlFault(id="shape-other-value", requirement="TMR4", statement=r"^SELECT", change={"rows": (("1", "9", "9"),)}),
    SqlFault(id="shape-lost-row", requirement="TMR4", statement=r"^SELECT", change={"rows": ()}),
)

# What each TABLE_MAP of some sessions had, as a list of "MINIMAL" and "FULL".
EFFECT_FAULTS: Final = [
    Fault(
        id="effect/late",
        requirement="TMS3",
        sentence="The next TABLE_MAP follows the new value.",
        change=lambda seen: [seen[0], *seen[:-1]],
    ),
    Fault(
        id="effect/never",
        requirement="TMS3",
        sentence="Open sessions follow a change.",
        change=lambda seen: ["MINIMAL"] * len(seen),
    ),
    Fault(
        id="effect/lost",
        requirement="TMS3",
        sentence="Every change of a table has its TABLE_MAP.",
        change=lambda seen: seen[:-1],
    ),
]

# Rows that a server has after the log of the other one, as text.
FROM_OLD_FAULTS: Final = [
    Fault(
        id="from-old/lost",
        requirement="TMX1",
        sentence="All rows of the old server are on the new one.",
        change=lambda rows: rows[:-1],
    ),
    Fault(
        id="from-old/sign",
        requirement="TMX1",
        sentence="Values are the same, of unsigned columns too, though the log tells no signs.",
        change=lambda rows: [*rows[:-1], (*rows[-1][:-1], b"-1")],
    ),
]


def _other_value(answer: Any) -> Any:
    rows = answer.rows
    return answer._replace(rows=[*rows[:-1], (rows[-1][0], b"?", *rows[-1][2:])])


TO_OLD_FAULTS: Final = [
    Fault(
        id="to-old/refused",
        requirement="TMX2",
        sentence="An old server takes a TABLE_MAP with metadata.",
        change=lambda answer: answer._replace(error=1610),
    ),
    Fault(
        id="to-old/value",
        requirement="TMX2",
        sentence="The old server has the values of the new one.",
        change=_other_value,
    ),
]
