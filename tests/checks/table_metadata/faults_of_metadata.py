"""Faults around binlog_row_metadata: the variable, servers from before it, and replicas with other tables. Written down
from the worklog's interface I1, NF1, NF2 and scenarios, and from table-map-metadata 1.1, table-map-metadata 7, before
their checks.
"""

from __future__ import annotations

from typing import Any, Final

from tests.faults.fault import Fault
from tests.judge.faults_of_sql import answered

_FULL: Final = (("FULL",),)
_MINIMAL: Final = (("MINIMAL",),)

# Answers to statements about the variable.
VARIABLE_FAULTS: Final = (
    answered("metadata-word-refused", "TMS1", r"SET .*= 'full'$", error=1231),
    answered("metadata-unknown-taken", "TMS1", r"SET .*= 'NONE'$", error=None),
    answered("metadata-default-full", "TMS1", r"the default", rows=_FULL),
    answered("metadata-changed", "TMS1", r"^SELECT @@GLOBAL", rows=(("NONE",),)),
    answered("metadata-session-set", "TMS2", r"^SET SESSION", error=None),
    answered("metadata-session-read", "TMS2", r"SELECT @@SESSION", error=None),
    answered("metadata-bare-set", "TMS2", r"^SET binlog_row_metadata", error=None),
    answered("metadata-persist-only", "TMS2", r"stays with PERSIST_ONLY", rows=_FULL),
    answered("metadata-anybody", "TMS4", r"^SET GLOBAL", error=None),
    answered("metadata-not-admin", "TMS4", r"SYSTEM_VARIABLES_ADMIN", error=1227),
    answered("metadata-bad-start", "TMS5", r"=BAD", error=None),
    answered("metadata-option-forgotten", "TMS5", r"given as FULL", rows=_MINIMAL),
)  # fmt: skip

# Answers of a replica whose table is another one.
OTHER_TABLE_FAULTS: Final = (
    answered("charset-other-text", "TMR1", r"^SELECT", rows=(("1", "3F"),)),
    answered("charset-other-error", "TMR1", r"^SELECT", error=1032),
    answered("sign-other-number", "TMR2", r"^SELECT", rows=(("1", "-1"),)),
    answered("sign-lost-row", "TMR2", r"^SELECT", rows=()),
    answered("shape-other-value", "TMR4", r"^SELECT", rows=(("1", "9", "9"),)),
    answered("shape-lost-row", "TMR4", r"^SELECT", rows=()),
)  # fmt: skip

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
