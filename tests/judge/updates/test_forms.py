"""The words for the form of a logged update, for events that no reader takes too."""

from __future__ import annotations

import pytest

from conformance.judge.updates.forms import form_of
from conformance.reference.binlog.control_events import Xid
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


XID = encode_event(Xid(xid=25))
# What 8.0.45 wrote with log_bin_use_v1_row_events=1: TABLE_MAP, PARTIAL_UPDATE_ROWS, and the rest of an XID.
_TABLE = """
45f30a6b1301000000470000009e05000000006a000000000001001762696e6c6f675f6c61625f36663236363933613235656200017400040303f5f5
0204040e0101002713e6d4"""
_ROWS = """
45f30a6b2701000000820000002006000000006a0000000000010004010400010000000000530000000003005200190001001a0001001b0001000502
000c1c00024500616263286262626262626262626262626262626262626262626262626262626262626262626262626262626203000d000501000502
0005030045f3984a066b"""
_REST = "0a6b10010000001b0004000000240600001900000000000000"
OF_8_0_45 = [bytes.fromhex(text) for text in (_TABLE, _ROWS, _REST)]


def headless(event: bytes) -> list[bytes]:
    """The event without its length of extra data, which its own length counts; and what it leaves of the next."""
    out = event[: HEADER_SIZE + 8] + event[HEADER_SIZE + 10 : -FOOTER_SIZE] + XID[:2]
    return [out + checksum_of(out).to_bytes(FOOTER_SIZE, "little"), XID[2:]]


@pytest.mark.parametrize(
    ("value", "options", "form"), [(DIFFS, (1, 1), "partial"), (WHOLE, (0, None), "whole"), (WHOLE, (1, 0), "whole")]
)
def test_an_event_without_its_head_has_a_form(value: object, options: tuple[int, int | None], form: str) -> None:
    table, rows = events(value, options)
    assert form_of([table, rows]) == form
    assert form_of([table, *headless(rows)]) == f"headless {form}"


def test_an_event_of_8_0_45_takes_two_bytes_of_the_next_one() -> None:
    assert form_of(OF_8_0_45) == "headless whole"


def test_other_damage_stays_unreadable() -> None:
    table, rows = events(WHOLE, (0, None))
    cut = rows[: HEADER_SIZE + 9]
    assert form_of([table, cut]).startswith("unreadable: ")
    assert form_of([rows[:40]]).startswith("unreadable: ")
