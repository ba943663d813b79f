"""Faults of the log with the option off, and of lists of members: written down from requirements FR8 and FR9."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.faults.fault import Fault
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
    Fault("off/type", "FR8", "With the session's option off there is no event of type 39.",
          _first(_UPDATE_ROWS, lambda event: event[:4] + bytes((_PARTIAL_UPDATE_ROWS,)) + event[5:])),
    Fault("off/flag", "FR8", "Two runs with the option off are identical but for what no model can know.",
          _first(_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:])),
    Fault("off/lost-event", "FR8", "All events of the one run are in the other.", lambda events: events[:-1]),
]  # fmt: skip
ON_FAULTS: Final = [
    Fault("on/insert", "FR8", "With the option on, all events that are not updates are identical.",
          _first(_WRITE_ROWS, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:])),
    Fault("on/table-map", "FR8", "With the option on, all events that are not updates are identical.",
          _first(_TABLE_MAP, lambda event: event[:-5] + bytes((event[-5] ^ 1,)) + event[-4:])),
    Fault("on/flag-of-update", "FR8", "With the option on, updates differ only in type, value_options and the diffs.",
          _first(_PARTIAL_UPDATE_ROWS, lambda event: event[:25] + bytes((event[25] ^ 2,)) + event[26:])),
]  # fmt: skip

# --- FR9: answers to SET with a member that the server does not know, as (error, value read back) --------------------

OPTION_FAULTS: Final = [
    Fault("option/accepted", "FR9", "An unknown member is refused with 1231.", lambda _: (None, "PARTIAL_JSON")),
    Fault("option/changed", "FR9", "After the refusal the value is unchanged.",
          lambda answer: (answer[0], "PARTIAL_JSON" if answer[1] == "" else "")),
]  # fmt: skip
