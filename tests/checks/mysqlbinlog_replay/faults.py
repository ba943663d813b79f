"""Faults of a replay, as (text rows, stored rows): written down from requirements FR3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Callable


def _rows(change: Callable[[list[Any]], None], stored: bool) -> Callable[[Any], Any]:
    def doctored(state: Any) -> Any:
        texts, rows = list(state[0]), list(state[1])
        change(rows if stored else texts)
        return texts, rows

    return doctored


def _last_byte(rows: list[Any]) -> None:
    row, changed = list(rows[-1]), False
    for place, value in enumerate(row):
        if isinstance(value, bytes) and value and not changed:
            row[place] = value[:-1] + bytes((value[-1] ^ 1,))
            changed = True
    assert changed
    rows[-1] = tuple(row)


REPLAY_FAULTS: Final = [
    Fault("replay/lost-row", "FR3", "All rows are there after the replay.",
          _rows(lambda rows: rows.pop(), stored=False)),
    Fault("replay/stored-byte", "FR3", "Stored bytes of all rows are identical.", _rows(_last_byte, stored=True)),
    Fault("replay/text", "FR3", "The text of all rows is equal.", _rows(_last_byte, stored=False)),
]  # fmt: skip
