"""How a whole document may be written: with holes in other places (NR3), never in a way that no writer has.

Every planted document has the value of the update; only its bytes are others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.row_images import RowImage
from conformance.cases.script import Script, build_script
from conformance.cases.session import Session
from conformance.cases.update_case import Step, UpdateCase
from conformance.judge.updates.compare import judge
from conformance.judge.updates.permitted_variation import SMALL
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import encode_diffs
from conformance.reference.partial.expression import Assignment, Call, Column, Function, Literal
from conformance.reference.tables.columns import PartialJson
from tests.faults.fault import Fault
from tests.faults.runner import each
from tests.judge.doctoring import TABLE, sealed
from tests.judge.perfect_server import is_update, observe
from tests.judge.updates.variations import with_hole

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

_OLD: Final[JsonValue] = {"zz": [True, False, None, 1.5]}
_TWO: Final[JsonValue] = {"a": "xx", "b": "yy"}
_SAME: Final[JsonValue] = {"a": "xx", "b": "xx"}


def _object(entries: str, data: str, *, large: bool = False) -> bytes:
    """An object of two members: entries of keys and values, then its bytes (hex)."""
    body = bytes.fromhex(entries) + bytes.fromhex(data)
    width = 4 if large else 2
    head = (2).to_bytes(width, "little") + (len(body) + 2 * width).to_bytes(width, "little")
    return (b"\x01" if large else b"\x00") + head + body


def _holed(value: JsonValue, size: int) -> bytes:
    document = with_hole(encode(value), size)
    assert document is not None
    return document


_NR3: Final = "A whole document may have holes in other places."
# A small object of two: head 4, key entries of 4 at 4 and 8, value entries of 3 at 12 and 15, keys from 18 (0x12).
PLANTED: Final = (
    Fault("a hole at the end", "NR3", _NR3, _holed(_TWO, 3), "NR3", at=_TWO),
    Fault("a hole between two values", "NR3", _NR3,
          _object("12000100 13000100 0c1400 0c1800", "61 62 027878 ff 027979"), "NR3", at=_TWO),
    Fault("a hole between keys and values", "NR3", _NR3,
          _object("12000100 13000100 0c1600 0c1900", "61 62 ffff 027878 027979"), "NR3", at=_TWO),
    Fault("as large a hole as may be", "NR3", _NR3, _holed(_TWO, SMALL), "NR3", at=_TWO),
    Fault("a larger hole", "NR3", _NR3, _holed(_TWO, SMALL + 1), at=_TWO),
    Fault("bytes behind the end", "NR3", _NR3, encode(_TWO) + b"\0", at=_TWO),
    Fault("keys out of order", "NR3", _NR3, _object("12000100 13000100 0c1400 0c1700", "62 61 027979 027878"), at=_TWO),
    Fault("a key twice", "NR3", _NR3, _object("12000100 13000100 0c1400 0c1700", "61 61 027878 027979"),
          at={"a": "yy"}),
    Fault("values out of order", "NR3", _NR3, _object("12000100 13000100 0c1700 0c1400", "61 62 027979 027878"),
          at=_TWO),
    Fault("values over each other", "NR3", _NR3, _object("12000100 13000100 0c1400 0c1400", "61 62 027878"), at=_SAME),
    Fault("a length longer than needed", "NR3", _NR3,
          _object("12000100 13000100 0c1400 0c1800", "61 62 82007878 027979"), at=_TWO),
    Fault("the large format where the small one fits", "NR3", _NR3,
          _object("1e0000000100 1f0000000100 0c20000000 0c23000000", "61 62 027878 027979", large=True), at=_TWO),
    Fault("a large one in a small one", "NR3", _NR3,
          bytes.fromhex("02 0100 1400 03 0700 01000000 0d000000 05 01000000"), at=[[1]]),
    Fault("a wide integer", "NR3", _NR3, _object("12000100 13000100 071400 050200", "61 62 01000000"),
          at={"a": 1, "b": 2}),
    Fault("a literal not extended", "NR3", _NR3, _object("12000100 13000100 040001 050200", "61 62"),
          at={"a": None, "b": 2}),
)  # fmt: skip


def _made(value: JsonValue) -> Script:
    """An update that assigns the whole value, so that it is logged whole, of a document as large."""
    case = UpdateCase(
        id="planted",
        table=TABLE,
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=((1, 0, encode(_OLD), None, None),),
        steps=(Step((Assignment("j", Literal(value)),), (0,)),),
    )
    return build_script(case)


def _logged(script: Script, value: object) -> str | None:
    """The permitted variation of the first mismatch, where the server logged this value."""

    def doctor(groups: list[list[object]]) -> None:
        group = groups[1]
        place = next(place for place, body in enumerate(group) if is_update(body))
        body = group[place]
        row = body.rows[0]  # type: ignore[attr-defined]
        new = row._replace(after=(value,), value_options=None, partial_columns=None)
        group[place] = replace(body, rows=(new,))  # type: ignore[type-var]

    mismatches = judge(script, observe(script, doctor=doctor)).mismatches
    assert mismatches
    assert mismatches[0].kind == "event"
    assert mismatches[0].step == 0
    return mismatches[0].variation


@each(PLANTED)
def test_a_whole_document_written_otherwise(fault: Fault) -> None:
    assert decode(fault.change) == fault.at or fault.id == "bytes behind the end"
    assert fault.change != encode(fault.at)
    assert (_logged(_made(fault.at), fault.change) or "fail") == fault.verdict


# ["kkkk", ""] with its first element set: diffs and document are as long, so that the choice is free (NR5).
_PAIR: Final[JsonValue] = ["kkkk", ""]


def _bordering() -> Script:
    call = Call(Function.JSON_SET, Column("k"), (("$[0]", Literal("xxxx")),))
    case = UpdateCase(
        id="planted",
        table=TABLE,
        selector="id",
        session=Session(row_image=RowImage.MINIMAL),
        rows=((1, 0, None, encode(_PAIR), None),),
        steps=(Step((Assignment("k", call),), (0,)),),
    )
    return build_script(case)


@pytest.mark.planted("NR5")
@pytest.mark.parametrize(("wide", "variation"), [(False, "NR5"), (True, None)])
def test_diffs_where_the_document_was_due_are_those_of_the_update_byte_for_byte(
    wide: bool, variation: str | None
) -> None:
    script = _bordering()
    change = script.predictions[0].rows[0].change.columns["k"]
    assert change.diffs is not None
    data = encode_diffs(change.diffs)
    assert data == change.encoded
    if wide:  # the length of the string in two bytes, and the value a byte longer
        data = data.replace(b"\x06\x0c\x04xxxx", b"\x07\x0c\x84\x00xxxx")
        assert data != change.encoded
    assert _logged(script, PartialJson(data)) == variation


@pytest.mark.planted("NR2")
@pytest.mark.parametrize(("options", "bits", "variation"), [(1, 0, "NR2"), (1, 0x80, None), (1, 4, None), (3, 0, None)])
def test_an_empty_bitmap_is_free_and_bits_of_no_column_are_not(options: int, bits: int, variation: str | None) -> None:
    script = _bordering()

    def patch(events: list[bytes]) -> None:
        place = max(place for place, event in enumerate(events) if event[4] == EventType.PARTIAL_UPDATE_ROWS)
        event = events[place]
        at = 19 + 10 + 1 + 1 + 1 + 1 + 4  # header, head, bitmaps, null byte, key
        assert event[at] == 0
        events[place] = sealed(event[:at] + bytes((options, bits)) + event[at + 1 :])

    mismatches = [item for item in judge(script, observe(script, patch=patch)).mismatches if item.step == 0]
    assert mismatches[0].variation == variation
