"""Faults of servers with BEFORE UPDATE triggers, written down from requirements FR2, both deviations, before the check
that must find them.

Each fault changes what a server leaves of a generated Case. With the faultless server, the log holds the trigger's
change, and so does the row; with the known server, neither does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import PartialJson
from tests.faults.fault import Fault
from tests.judge.perfect_server import is_update

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import ReadBackRow, StatementOutcome
    from tests.judge.perfect_server import Groups


def _after(change: Callable[[Any], Any]) -> Callable[[Groups], None]:
    """Another after-image value of the column j, the only one in a MINIMAL image, in every update."""

    def doctor(groups: Groups) -> None:
        for group in groups:
            for place, body in enumerate(group):
                if is_update(body):
                    rows = tuple(row._replace(after=(change(row.after[0]),)) for row in body.rows)
                    group[place] = replace(body, rows=rows)

    return doctor


def _cut(value: Any) -> Any:
    return PartialJson(b"\x02\x03$.a") if isinstance(value, PartialJson) else value


def _text(text: bytes | None) -> Callable[[list[StatementOutcome], list[list[ReadBackRow]]], None]:
    def client(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
        for found in rows:
            found[:] = [(*row[:2], text, *row[3:]) for row in found]

    return client


def _unread(_: list[StatementOutcome], rows: list[list[ReadBackRow]]) -> None:
    for found in rows:
        found.clear()


_IN_ROW, _OFF_PAGE = "diffs-miss-triggers", "storage-misses-triggers"
KNOWN: Final = {"known": True}
FAULTS: Final = (
    Fault("the whole document without the trigger's change", "D13",
          "correct when the trigger assigns an unrelated document (full format)",
          {"doctor": _after(lambda _: encode({"a": 2, "n": 5, "pad": "p" * 40}))}, at=_IN_ROW),
    Fault("diffs that are neither the SET clause's nor the trigger's", "D13",
          "the event carries only the SET clause's diffs", {"doctor": _after(_cut)}, at=_IN_ROW, run=KNOWN),
    Fault("nothing logged of the column", "D13", "an empty diff only where the bytes are the old ones",
          {"doctor": _after(lambda _: PartialJson(b""))}, at=_IN_ROW, run=KNOWN),
    Fault("the trigger's change lost inside the row", "D15", "wrong data on the source only with an off-page document",
          {"client": _text(b'{"a": 2, "n": 5, "pad": "' + b"p" * 40 + b'"}')}, at=_IN_ROW),
    Fault("another loss than that of the ranges", "D15", "n stays 5, a is 2: the SET clause's ranges are stored",
          {"client": _text(b'{"a": 1, "n": 5}')}, at=_OFF_PAGE, run=KNOWN),
    Fault("a readable document cannot be read", "D15", "an error only where the trigger changes the size",
          {"client": _unread}, at=_OFF_PAGE, run=KNOWN),
)  # fmt: skip
"""``at``: the witness whose documents are inside or outside their rows; ``known``: done to what the known server
leaves."""
