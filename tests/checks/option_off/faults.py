"""Faults of the log with the option off, and of lists of members: written down from requirements FR8 and FR9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.checks.fault import Fault
from tests.judge.doctoring import sealed

if TYPE_CHECKING:
    from collections.abc import Callable


def _first(kind: int, change: Callable[[bytes], bytes]) -> Callable[[tuple[bytes, ...]], tuple[bytes, ...]]:
    def doctored(events: tuple[bytes, ...]) -> tuple[bytes, ...]:
        out = list(events)
        place = next(number for number, event in enumerate(out) if event[4] == kind)
        out[place] = sealed(change(out[place]))
        return tuple(out)

    return doctored


_UPDATE_ROWS, _PARTIAL_UPDATE_ROWS, _TABLE_MAP, _WRITE_ROWS = 31, 39, 19, 30

OFF_FAULTS: Final = [
    Fault(
        id="off/type",
        requirement="FR8",
        sentence="With the session's option off there is no event of type 39.",
        change=_first(_UPDATE_ROWS, lambda event: event[:4] + bytes((_PARTIAL_UPDATE_ROWS,)) + event[5:]),
    ),
    Fault(
        id="off/flag",
        requirement="FR8",
        sentence="Two runs with the option off are identical but for what no model can know.",
        change=_first(_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:]),
    ),
    Fault(
        id="off/lost-event",
        requirement="FR8",
        sentence="All events of the one run are in the other.",
        change=lambda events: events[:-1],
    ),
]
ON_FAULTS: Final = [
    Fault(
        id="on/insert",
        requirement="FR8",
        sentence="With the option on, all events that are not updates are identical.",
        change=_first(_WRITE_ROWS, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]),
    ),
    Fault(
        id="on/table-map",
        requirement="FR8",
        sentence="With the option on, all events that are not updates are identical.",
        change=_first(_TABLE_MAP, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:]),
    ),
    Fault(
        id="on/flag-of-update",
        requirement="FR8",
        sentence="With the option on, updates differ only in type, value_options and the diffs.",
        change=_first(_PARTIAL_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:]),
    ),
]

# --- FR9: answers to SET with a member that the server does not know, as (error, value read back) --------------------

OPTION_FAULTS: Final = [
    Fault(
        id="option/accepted",
        requirement="FR9",
        sentence="An unknown member is refused with 1231.",
        change=lambda _: (None, "PARTIAL_JSON"),
    ),
    Fault(
        id="option/changed",
        requirement="FR9",
        sentence="After the refusal the value is unchanged.",
        change=lambda answer: (answer[0], "PARTIAL_JSON" if answer[1] == "" else ""),
    ),
]
