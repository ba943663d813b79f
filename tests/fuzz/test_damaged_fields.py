"""The damaged event and field that a finding names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cases.by_hand.applier_transaction import ApplierTransaction
from conformance.cases.by_hand.injection import Injection, full_image, partial_image
from conformance.reference.binlog.control_events import Xid
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.header import FOOTER_SIZE, MAGIC
from conformance.reference.binlog.query import Query
from conformance.reference.jsonb.encode import encode
from fuzz.campaigns import inputs
from fuzz.campaigns.damaged_fields import damaged_fields
from fuzz.campaigns.inputs import MALFORMED, NO_EVENT, RelayLog
from fuzz.events import PLAIN
from fuzz.mutators.framing import reframed
from generators.damaged_events import diff

if TYPE_CHECKING:
    from conformance.cases.bytes_case import BytesCase

ROW = "PARTIAL_UPDATE_ROWS_EVENT"
XID, QUERY, MAP = (encode_event(body) for body in (Xid(xid=1), Query(text=b"BEGIN"), PLAIN))


def log(*events: bytes) -> RelayLog:
    return RelayLog("made", MAGIC + b"".join(events))


def short(event: bytes, left_out: int) -> bytes:
    """An event without the last bytes of its body, in a correct frame."""
    return reframed(event[: -FOOTER_SIZE - left_out])


def row(image: bytes) -> Injection:
    return Injection(name="made", stored=encode({"n": 1}), image=image)


def test_sound_events_are_named_in_their_order() -> None:
    (line,) = damaged_fields(log(QUERY, MAP, XID))
    assert line == "every event can be read by itself; their order: QUERY_EVENT, TABLE_MAP_EVENT, XID_EVENT"
    assert damaged_fields(log(QUERY, MAP, XID, NO_EVENT)) == [line]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (short(XID, 3), "XID_EVENT: xid at position"),
        (short(MAP, 8), "TABLE_MAP_EVENT: "),
        (short(QUERY, 30), "QUERY_EVENT: "),
        (XID[:-1] + bytes((XID[-1] ^ 1,)), "XID_EVENT: "),
    ],
)
def test_a_damaged_event_is_named_with_its_field(event: bytes, words: str) -> None:
    (line,) = damaged_fields(log(QUERY, event, XID))
    assert line.startswith(f"event 2, {words}")
    place = int(line.partition("at position ")[2].partition(":")[0])
    assert len(MAGIC) + len(QUERY) <= place <= len(MAGIC) + len(QUERY) + len(event)


def test_every_damaged_event_is_named() -> None:
    lines = damaged_fields(log(short(XID, 1), QUERY, short(XID, 2)))
    assert [line.split(":")[0] for line in lines] == ["event 1, XID_EVENT", "event 3, XID_EVENT"]


@pytest.mark.parametrize(
    ("image", "field"),
    [
        (partial_image(diff(data=b"\x0c\x05abc")), "rows[0].after.@2.diffs[0].data"),
        (partial_image(diff() + diff(7)), "rows[0].after.@2.diffs[1].operation"),
        (full_image(b"\x02\x60\x00\x07\x00\x05\x02\x00"), "rows[0].after.@2.json"),
        (partial_image(diff())[:-1], "diffs"),
    ],
)
def test_the_damaged_field_of_a_row_is_named(image: bytes, field: str) -> None:
    (line,) = damaged_fields(row(image))
    assert line.startswith(f"{ROW}: {field}")
    two = ApplierTransaction(rows=(row(partial_image(diff())), row(image)), repaired=None)
    assert damaged_fields(two)[-1] == f"row 1: {line}"


def test_every_input_of_a_campaign_can_be_described() -> None:
    for batch in range(3):
        made: list[Injection | ApplierTransaction | BytesCase | RelayLog] = [
            *inputs.statements(MALFORMED, "3", batch), *inputs.transactions(MALFORMED, "3", batch),
            *inputs.files("3", batch), *inputs.logs("3", batch),
        ]  # fmt: skip
        for case in made:
            lines = damaged_fields(case)
            assert lines
            assert all("_EVENT" in line for line in lines)
