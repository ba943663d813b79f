"""The signature of a crash: when it came, which damage the input had, the signal, and the place in the program.

A listed crash is known by its signature, as no model can show it. The place is the names of the upper stack frames, and
holds for one build: another compiler inlines other functions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

APPLYING, READING, PRINTING = "applying", "reading", "printing"  # when a server takes an event, reads a row; a client
RELAYING: Final = "relaying"  # when a replica reads a relay log of any events
IMPORTING: Final = "importing"  # when a server takes a data file by IMPORT TABLESPACE
MOMENTS: Final = (APPLYING, READING, PRINTING, RELAYING, IMPORTING)
# A key entry of an object points outside of it, or into its header.
MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT = "member-in-diff", "member-in-document"
TWICE_IN_DIFF: Final = "member-twice-in-diff"  # an object has a key again whose earlier value is a container
VALUE_OPTIONS: Final = "value-options"  # a bit that no version has given a meaning
ROW_CUT: Final = "row-cut"  # the row goes beyond its event
VECTOR_LENGTH: Final = "vector-length"  # not the four bytes of each number of a VECTOR, or none
VARIABLE_LENGTH: Final = "user-variable-length"  # a DECIMAL in a USER_VAR event that is longer than the event
# Of relay logs: sound events where no source writes them.
PAYLOAD_UNDESCRIBED: Final = (
    "payload-undescribed"  # TRANSACTION_PAYLOAD with no FORMAT_DESCRIPTION in front, outside of transactions
)
GTID_IN_TRANSACTION: Final = "gtid-in-transaction"  # GTID or GTID_TAGGED inside of another transaction
GTID_TWICE: Final = "gtid-twice"  # a GTID behind another one, then a statement that is a transaction by itself
ROWS_QUERY_OUTSIDE: Final = "rows-query-outside"  # ROWS_QUERY behind a transaction, with no other one begun
TRANSACTION_CONTEXT: Final = "transaction-context"  # an event that Group Replication keeps to itself
# Of data files, which are sound: rows in several versions (INSTANT), beside SDI of more than one page.
ROW_VERSIONS: Final = "row-versions"
DAMAGES: Final = (
    MEMBER_IN_DIFF,
    MEMBER_IN_DOCUMENT,
    TWICE_IN_DIFF,
    VALUE_OPTIONS,
    ROW_CUT,
    VECTOR_LENGTH,
    VARIABLE_LENGTH,
    PAYLOAD_UNDESCRIBED,
    GTID_IN_TRANSACTION,
    GTID_TWICE,
    ROWS_QUERY_OUTSIDE,
    TRANSACTION_CONTEXT,
    ROW_VERSIONS,
)


_ENDS: Final = {
    APPLYING: "the server",
    READING: "the server",
    PRINTING: "mysqlbinlog",
    RELAYING: "a replica",
    IMPORTING: "the server",
}


class Crash(NamedTuple):
    """``damage``: empty where the input has none of the damages that are known to kill. ``frames``: names of functions,
    innermost first; ``build``: the program build of those names. Both are empty where unknown."""

    during: str
    damage: str
    signal: int
    frames: tuple[str, ...] = ()
    build: str = ""

    @property
    def ends(self) -> str:
        """The program that dies of the crash."""
        return _ENDS[self.during]

    def __str__(self) -> str:
        place = f", in {' < '.join(self.frames)}" if self.frames else ""
        return f"signal {self.signal} while {self.during}, damage: {self.damage or 'none that is listed'}{place}"

    @property
    def kind(self) -> tuple[str, str, int]:
        """The signature without the place."""
        return self.during, self.damage, self.signal
