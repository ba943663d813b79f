"""The signature of a crash: when it came, which damage the input had, and the signal.

This is what a listed crash is known by, as no model can show it (design, section 1). Frames of the stack are left out:
they are those of one build.
"""

from __future__ import annotations

from typing import Final, NamedTuple

APPLYING, READING, PRINTING = "applying", "reading", "printing"  # when a server takes an event, reads a row; a client
RELAYING: Final = "relaying"  # when a replica reads a relay log of any events
MOMENTS: Final = (APPLYING, READING, PRINTING, RELAYING)
# A key entry of an object points outside of it, or into its header.
MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT = "member-in-diff", "member-in-document"
TWICE_IN_DIFF: Final = "member-twice-in-diff"  # an object has a key again whose earlier value is a container
VECTOR_LENGTH: Final = "vector-length"  # not the four bytes of each number of a VECTOR, or none
VARIABLE_LENGTH: Final = "user-variable-length"  # a DECIMAL in a USER_VAR event that is longer than the event
DAMAGES: Final = (MEMBER_IN_DIFF, MEMBER_IN_DOCUMENT, TWICE_IN_DIFF, VECTOR_LENGTH, VARIABLE_LENGTH)


_ENDS: Final = {APPLYING: "the server", READING: "the server", PRINTING: "mysqlbinlog", RELAYING: "a replica"}


class Crash(NamedTuple):
    """``damage`` is empty where the input has none of the damages that are known to kill."""

    during: str
    damage: str
    signal: int

    @property
    def ends(self) -> str:
        """The program that dies of it."""
        return _ENDS[self.during]

    def __str__(self) -> str:
        return f"signal {self.signal} while {self.during}, damage: {self.damage or 'none that is listed'}"
