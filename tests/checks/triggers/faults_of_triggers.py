"""Faults of servers with BEFORE UPDATE triggers, written down from requirements FR2, both deviations, before the check
that must find them.

Each fault changes what a server leaves of a generated Case. With the faultless server, the log holds the trigger's
change, and so does the row; with the known server, neither does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.jsonb.encode import encode
from conformance.reference.tables.columns import PartialJson
from tests.judge.perfect_server import is_update

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.cases.observation import ReadBackRow, StatementOutcome
    from tests.judge.perfect_server import Groups


@dataclass(frozen=True, slots=True)
class TriggerFault:
    """``off_page``: of a document outside its row. ``known``: done to what the known server leaves."""

    name: str
    requirement: str
    sentence: str
    off_page: bool = False
    known: bool = False
    doctor: Callable[[Groups], None] = lambda _: None
    client: Callable[[list[StatementOutcome], list[list[ReadBackRow]]], None] = lambda _outcomes, _rows: None


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


FAULTS: Final = (
    TriggerFault(
        "the whole document without the trigger's change",
        "D13",
        "correct when the trigger assigns an unrelated document (full format)",
        doctor=_after(lambda _: encode({"a": 2, "n": 5, "pad": "p" * 40})),
    ),
    TriggerFault(
        "diffs that are neither the SET clause's nor the trigger's",
        "D13",
        "the event carries only the SET clause's diffs",
        known=True,
        doctor=_after(_cut),
    ),
    TriggerFault(
        "nothing logged of the column",
        "D13",
        "an empty diff only where the bytes are the old ones",
        known=True,
        doctor=_after(lambda _: PartialJson(b"")),
    ),
    TriggerFault(
        "the trigger's change lost inside the row",
        "D15",
        "wrong data on the source only with an off-page document",
        client=_text(b'{"a": 2, "n": 5, "pad": "' + b"p" * 40 + b'"}'),
    ),
    TriggerFault(
        "another loss than that of the ranges",
        "D15",
        "n stays 5, a is 2: the SET clause's ranges are stored",
        off_page=True,
        known=True,
        client=_text(b'{"a": 1, "n": 5}'),
    ),
    TriggerFault(
        "a readable document cannot be read",
        "D15",
        "an error only where the trigger changes the size",
        off_page=True,
        known=True,
        client=_unread,
    ),
)
