"""Faults around binlog_row_metadata: the variable, servers from before it, and replicas with other tables. Written down
from the worklog's interface I1, NF1, NF2 and scenarios, and from table-map-metadata 1.1, table-map-metadata 7, before
their checks.
"""

from __future__ import annotations

from typing import Any, Final

from tests.faults.fault import Fault
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
    Fault("effect/late", "TMS3", "The next TABLE_MAP follows the new value.", lambda seen: [seen[0], *seen[:-1]]),
    Fault("effect/never", "TMS3", "Open sessions follow a change.", lambda seen: ["MINIMAL"] * len(seen)),
    Fault("effect/lost", "TMS3", "Every change of a table has its TABLE_MAP.", lambda seen: seen[:-1]),
]  # fmt: skip

# Rows that a server has after the log of the other one, as text.
FROM_OLD_FAULTS: Final = [
    Fault("from-old/lost", "TMX1", "All rows of the old server are on the new one.", lambda rows: rows[:-1]),
    Fault("from-old/sign", "TMX1", "Values are the same, of unsigned columns too, though the log tells no signs.",
          lambda rows: [*rows[:-1], (*rows[-1][:-1], b"-1")]),
]  # fmt: skip


def _other_value(answer: Any) -> Any:
    rows = answer.rows
    return answer._replace(rows=[*rows[:-1], (rows[-1][0], b"?", *rows[-1][2:])])


TO_OLD_FAULTS: Final = [
    Fault("to-old/refused", "TMX2", "An old server takes a TABLE_MAP with metadata.",
          lambda answer: answer._replace(error=1610)),
    Fault("to-old/value", "TMX2", "The old server has the values of the new one.", _other_value),
]  # fmt: skip
