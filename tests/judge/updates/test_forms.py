"""The words for the form of a logged update, for events that no reader takes too."""

from __future__ import annotations

import pytest

from conformance.judge.updates.forms import form_of
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import FOOTER_SIZE, HEADER_SIZE, checksum_of
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.rows import rows_body
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.table_map import TableMap

TABLE = TableMap(
    table_id=7,
    schema="d",
    table="t",
    columns=(ColumnType(types.LONG), ColumnType(types.JSON, 4)),
    nullable=(False, True),
    metadata=(),
)
DIFFS = PartialJson(encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), 2)]))
WHOLE = encode({"a": 2})


def events(value: object, options: tuple[int, int | None]) -> list[bytes]:
    row = Row((1,), (value,), *options)  # type: ignore[arg-type]
    body = rows_body(TABLE, EventType.PARTIAL_UPDATE_ROWS, [row], before=(0,), after=(1,))
    return [encode_event(TABLE), encode_event(body)]


def headless(event: bytes) -> bytes:
    """The event without its length of extra data, in the layout of version 1."""
    body = event[HEADER_SIZE : HEADER_SIZE + 8] + event[HEADER_SIZE + 10 : -FOOTER_SIZE]
    length = (HEADER_SIZE + len(body) + FOOTER_SIZE).to_bytes(4, "little")
    out = event[:9] + length + event[13:HEADER_SIZE] + body
    return out + checksum_of(out).to_bytes(FOOTER_SIZE, "little")


@pytest.mark.parametrize(
    ("value", "options", "form"), [(DIFFS, (1, 1), "partial"), (WHOLE, (0, None), "whole"), (WHOLE, (1, 0), "whole")]
)
def test_an_event_without_its_head_has_a_form(value: object, options: tuple[int, int | None], form: str) -> None:
    table, rows = events(value, options)
    assert form_of([table, rows]) == form
    assert form_of([table, headless(rows)]) == f"headless {form}"


def test_other_damage_stays_unreadable() -> None:
    table, rows = events(WHOLE, (0, None))
    cut = rows[: HEADER_SIZE + 9]
    assert form_of([table, cut]).startswith("unreadable: ")
    assert form_of([rows[:40]]).startswith("unreadable: ")
