"""Annotated hex of JSON documents and diffs: every byte has one meaning, or is a hole (jsonb 1, jsonb 2)."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

import pytest

from conformance.reference.event_types import EventType
from tests.reference.refusals import where
from tests.reference.text.explained_events import HEADER, Parts, body_of, compact, document_spans, explained
from tests.reference.text.made_logs import INT_AND_JSON, table_of

if TYPE_CHECKING:
    from conformance.reference.errors import CodecError


def document_parts(data: bytes) -> tuple[Parts, CodecError | None]:
    """The spans of a document, which are the document, and what is wrong with it."""
    spans, damage = document_spans(data)
    position = 0
    for span in spans:
        assert span.start == position
        position = span.end
    assert position == len(data)
    return [(data[span.start : span.end].hex(), span.field, span.meaning) for span in spans], damage


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [("04", "type", "literal"), ("02", "value", "false")],
        [("05", "type", "int16"), ("ffff", "value", "-1")],
        [("06", "type", "uint16"), ("ffff", "value", "65535")],
        [("07", "type", "int32"), ("000000ff", "value", "-16777216")],
        [("08", "type", "uint32"), ("000000ff", "value", "4278190080")],
        [("09", "type", "int64"), ("00000000000000ff", "value", "-72057594037927936")],
        [("0a", "type", "uint64"), ("00000000000000ff", "value", "18374686479671623680")],
        [("0b", "type", "double"), ("000000000000f83f", "value", "1.5")],
        [("0c", "type", "string"), ("00", "value.length", "0 bytes")],
        [("0c", "type", "string"), ("8100", "value.length", "1 bytes"), ("61", "value", '"a"')],
        [("0c", "type", "string"), ("3b", "value.length", "59 bytes"), ("78" * 59, "value", '"' + "x" * 56 + "...")],
        [("0f", "type", "opaque value"), ("f6", "value.field_type", "246"), ("04", "value.length", "4 bytes"),
         ("03028119", "value", "1.25")],
        [("02", "type", "small array"), ("0000", "count", "0 elements"), ("0400", "size", "4 bytes")],
        # [1, "a", {"k": [true]}], as in jsonb 2.2
        [("02", "type", "small array"), ("0300", "count", "3 elements"), ("2200", "size", "34 bytes"),
         ("050100", "value_entry[0]", "int16 1, inlined"), ("0c0d00", "value_entry[1]", "string at 13"),
         ("000f00", "value_entry[2]", "small object at 15"), ("01", "value[1].length", "1 bytes"),
         ("61", "value[1]", '"a"'), ("0100", "value[2].count", "1 elements"), ("1300", "value[2].size", "19 bytes"),
         ("0b000100", "value[2].key_entry[0]", "'k', at 11, 1 bytes"),
         ("020c00", "value[2].value_entry[0]", "small array at 12 (of 'k')"), ("6b", "value[2].key[0]", "'k'"),
         ("0100", "value[2].value[0].count", "1 elements"), ("0700", "value[2].value[0].size", "7 bytes"),
         ("040100", "value[2].value[0].value_entry[0]", "literal true, inlined")],
        [("01", "type", "large object"), ("02000000", "count", "2 elements"), ("24000000", "size", "36 bytes"),
         ("1e000000 0100", "key_entry[0]", "'a', at 30, 1 bytes"),
         ("1f000000 0200", "key_entry[1]", "'bb', at 31, 2 bytes"),
         ("07 70110100", "value_entry[0]", "int32 70000, inlined (of 'a')"),
         ("0c 21000000", "value_entry[1]", "string at 33 (of 'bb')"),
         ("61", "key[0]", "'a'"), ("6262", "key[1]", "'bb'"), ("02", "value[1].length", "2 bytes"),
         ("6363", "value[1]", '"cc"')],
        [("03", "type", "large array"), ("01000000", "count", "1 elements"), ("11000000", "size", "17 bytes"),
         ("02 0d000000", "value_entry[0]", "small array at 13"), ("0000", "value[0].count", "0 elements"),
         ("0400", "value[0].size", "4 bytes")],
        # Two entries at the same string, which is shown once; bytes in front of it, behind it and behind the root.
        [("02", "type", "small array"), ("0200", "count", "2 elements"), ("0f00", "size", "15 bytes"),
         ("0c0c00", "value_entry[0]", "string at 12"), ("0c0c00", "value_entry[1]", "string at 12"),
         ("ffff", "hole", "bytes that nothing points to"), ("01", "value[0].length", "1 bytes"),
         ("61", "value[0]", '"a"'), ("ffffff", "hole", "bytes that nothing points to")],
        # Of entries at the same bytes the first one has them, in the order of their numbers.
        [("02", "type", "small array"), ("0b00", "count", "11 elements"), ("2700", "size", "39 bytes"),
         *[("040000", f"value_entry[{place}]", "literal null, inlined") for place in range(9)],
         ("0c2500", "value_entry[9]", "string at 37"), ("0c2500", "value_entry[10]", "string at 37"),
         ("01", "value[9].length", "1 bytes"), ("61", "value[9]", '"a"')],
        # An entry into the middle of another's string: the bytes that both have are the shorter one's.
        [("02", "type", "small array"), ("0200", "count", "2 elements"), ("0d00", "size", "13 bytes"),
         ("0c0a00", "value_entry[0]", "string at 10"), ("0c0b00", "value_entry[1]", "string at 11"),
         ("02", "value[0].length", "2 bytes"), ("01", "value[1].length", "1 bytes"), ("61", "value[1]", '"a"')],
    ],
)  # fmt: skip
def test_every_byte_of_a_document_has_one_meaning(parts: Parts) -> None:
    assert document_parts(body_of(parts)) == (compact(parts), None)


HOLE = "bytes that nothing points to"


@pytest.mark.parametrize(
    ("parts", "code", "offset"),
    [
        ([("0d", "type", "no type (0x0d)"), ("00", "hole", HOLE)], "bad-type", 0),
        ([("05", "type", "int16"), ("ff", "hole", HOLE)], "truncated", 1),
        ([("0f", "type", "opaque value"), ("f604030281", "hole", HOLE)], "truncated", 3),
        ([("02", "type", "small array"), ("0200", "count", "2 elements"), ("0c00", "size", "12 bytes"),
          ("0c0a00", "value_entry[0]", "string at 10"), ("0cff00", "hole", HOLE),
          ("01", "value[0].length", "1 bytes"), ("61", "value[0]", '"a"')], "bad-value-offset", 8),
    ],
)  # fmt: skip
def test_damage_is_told_behind_what_could_be_read(parts: Parts, code: str, offset: int) -> None:
    spans, error = document_parts(body_of(parts))
    assert error is not None
    assert spans[:-1] == parts
    assert spans[-1][:2] == ("", "damage")
    assert spans[-1][2].endswith(f"[{code}]")
    assert f"at offset {offset}" in spans[-1][2]
    assert where(error) == (code, offset, "")


def test_damage_in_the_document_of_a_row_has_its_place_in_the_event() -> None:
    document = bytes.fromhex("02 0200 0c00 0c0a00 0cff00 0161")
    front = bytes.fromhex("640000000000 0000 0200 01 01 00") + len(document).to_bytes(4, "little")
    spans, error = explained(EventType.WRITE_ROWS, front + document, table_of(*INT_AND_JSON[1:]))
    assert error is not None
    assert where(error) == ("bad-value-offset", HEADER + len(front) + 8, "json")
    assert spans[-1][:2] == ("", "rows[0].after.@1.json.damage")


# --- what several entries share ---------------------------------------------------------------------------------------


def array(*entries: tuple[int, int], behind: bytes = b"") -> bytes:
    """A small array without its type byte: types and offsets of its entries, and the bytes behind them."""
    parts = b"".join(pack("<BH", kind, offset) for kind, offset in entries)
    return pack("<HH", len(entries), 4 + len(parts) + len(behind)) + parts + behind


def sharing(count: int, kind: int, child: bytes) -> bytes:
    """An array whose entries are all the same child."""
    return b"\2" + array(*[(kind, 4 + 3 * count)] * count, behind=child)


def literals(count: int) -> bytes:
    return array(*[(4, 0)] * count)


def text(size: int) -> bytes:
    return bytes((size,)) + b"x" * size


def one_key_for_two(size: int) -> bytes:
    """An object with the bytes of one key for both members."""
    entries = pack("<HH", 18, size) * 2 + pack("<BH", 4, 0) * 2
    return b"\0" + pack("<HH", 2, 18 + size) + entries + b"k" * size


def empty_keys(count: int) -> bytes:
    """An object without its type byte, of members without a name."""
    end = 4 + 7 * count
    return pack("<HH", count, end) + pack("<HH", end, 0) * count + pack("<BH", 4, 0) * count


@pytest.mark.parametrize(
    ("document", "offset"),
    [
        # As many elements as could stand in so many bytes, at three bytes each, and one more.
        (sharing(2, 2, literals(4)), None),
        (sharing(2, 2, literals(5)), 11),
        (sharing(5, 2, literals(1)), None),
        (sharing(6, 2, literals(1)), 23),
        (b"\2" + literals(9), None),
        # Shared ones take what a third array would need.
        (b"\2" + array((2, 13), (2, 13), (2, 32), behind=literals(5) + literals(1)), None),
        (b"\2" + array((2, 13), (2, 13), (2, 35), behind=literals(6) + literals(1)), 36),
        (sharing(3, 0, empty_keys(6)), None),
        (sharing(3, 0, empty_keys(7)), 14),
        (sharing(9, 12, text(0)), None),  # a text is no element beside its entry
        # As many bytes of texts and keys as the document has, and one or two more.
        (sharing(2, 12, text(10)), None),
        (sharing(2, 12, text(11)), 11),
        (sharing(4, 12, text(4)), None),
        (sharing(4, 12, text(5)), 17),
        (sharing(2, 2, array((12, 7), behind=text(17))), None),
        (sharing(2, 2, array((12, 7), behind=text(18))), 11),
        (one_key_for_two(19), None),
        (one_key_for_two(20), 19),
    ],
)  # fmt: skip
def test_entries_share_no_more_than_a_document_of_its_size_could_have(document: bytes, offset: int | None) -> None:
    _, error = document_parts(document)
    assert (error and where(error)) == (None if offset is None else ("shared-children", offset, ""))


@pytest.mark.parametrize(("levels", "number"), [(201, None), (202, 3157)])
def test_two_hundred_levels_below_the_root_are_explained(levels: int, number: int | None) -> None:
    body = array()
    for _ in range(levels - 1):
        body = array((2, 7), behind=body)
    _, error = document_parts(b"\2" + body)
    assert getattr(error, "number", None) == number


@pytest.mark.parametrize("inner", [array(), array((12, 7), behind=text(1))], ids=["empty", "text"])
@pytest.mark.parametrize(("levels", "number"), [(200, None), (201, 3157)])
def test_a_shared_child_has_the_levels_of_its_containers(inner: bytes, levels: int, number: int | None) -> None:
    """The root's first entry is the innermost array of its second one."""
    body = inner
    for _ in range(levels - 1):
        body = array((2, 7), behind=body)
    _, error = document_parts(b"\2" + array((2, 10 + 7 * (levels - 1)), (2, 10), behind=body))
    assert getattr(error, "number", None) == number


# --- diffs -----------------------------------------------------------------------------------------------------------


def diffs_parts(data: bytes) -> tuple[Parts, CodecError | None]:
    """The spans of diffs in a column of a row; offsets of the error count from the first diff."""
    table = table_of(*INT_AND_JSON[1:])
    front = bytes.fromhex("640000000000 0000 0200 01 00 01 01 01 00") + len(data).to_bytes(4, "little")
    spans, error = explained(EventType.PARTIAL_UPDATE_ROWS, front + data, table)
    if error is not None and error.offset is not None:
        error.offset -= HEADER + len(front)
    shown = [(part, field.removeprefix("rows[0].after.@1."), words) for part, field, words in spans]
    return shown[next(place for place, (_, field, _) in enumerate(shown) if field == "length") + 1 :], error


def test_every_byte_of_diffs_has_one_meaning() -> None:
    parts: Parts = [
        ("00", "diffs[0].operation", "REPLACE"), ("03", "diffs[0].path_length", "3"),
        ("242e61", "diffs[0].path", "'$.a'"),
        ("fc0200", "diffs[0].data_length", "2"), ("04", "diffs[0].data.type", "literal"),
        ("01", "diffs[0].data.value", "true"),
        ("01", "diffs[1].operation", "INSERT"), ("fc0400", "diffs[1].path_length", "4"),
        ("245b305d", "diffs[1].path", "'$[0]'"), ("00", "diffs[1].data_length", "0"),
        ("02", "diffs[2].operation", "REMOVE"), ("00", "diffs[2].path_length", "0"),
    ]  # fmt: skip
    assert diffs_parts(body_of(parts)) == (parts, None)


def test_an_unknown_operation_ends_the_diffs() -> None:
    spans, error = diffs_parts(bytes.fromhex("02 00 03 00"))
    assert error is not None
    assert (error.code, error.offset, error.got) == ("bad-operation", 2, 3)
    assert spans[2:] == [("03", "diffs[1].operation", "unknown (3)"), ("00", "rest", "not read")]


def test_a_value_longer_than_the_diffs_is_told_at_its_beginning() -> None:
    spans, error = diffs_parts(bytes.fromhex("00 01 24 03 04 01"))
    assert error is not None
    assert where(error) == ("truncated", 4, "data")
    assert spans[-1] == ("0401", "rest", "not read")
