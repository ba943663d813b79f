"""Rules of text, parser, opaque payloads and comparison that no capture shows."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from conformance.reference.errors import DecodeError, EncodeError, MysqlError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.compare import compare, equal, equal_stored
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_double, format_pretty, format_text, quote
from conformance.reference.jsonb.values import BLOB, DATE, DECIMAL, TIME, VAR_STRING, JsonValue, Opaque, UInt, depth


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


# --- text


def test_only_quotes_backslashes_and_control_characters_are_escaped() -> None:
    assert quote('"\\/\b\t\n\r\f\0\x1f\x7f\u2028é') == '"\\"\\\\/\\b\\t\\n\\r\\f\\u0000\\u001f\x7f\u2028é"'


def test_members_print_in_stored_order_whatever_the_dict_order() -> None:
    assert format_text({"b": 1, "aa": 2, "é": 3, "": 4}) == '{"": 4, "b": 1, "aa": 2, "é": 3}'
    assert format_pretty({"bb": [], "a": {}}) == '{\n  "a": {},\n  "bb": []\n}'


def test_one_hundred_containers_print_and_one_more_is_error_3157() -> None:
    assert format_text(nested(100)) == "[" * 100 + "1" + "]" * 100
    assert format_pretty(nested(100)).count("\n") == 200
    for printer in (format_text, format_pretty):
        with pytest.raises(MysqlError) as caught:
            printer(nested(101))
        assert caught.value.number == 3157
        with pytest.raises(MysqlError):
            printer([{"a": nested(99)}])


def test_strings_of_invalid_utf8_keep_their_bytes_in_the_text() -> None:
    text = format_text(["\udcff", Opaque(VAR_STRING, b"\xfe")])
    assert text.encode("utf-8", "surrogateescape") == b'["\xff", "\xfe"]'


def test_doubles_that_are_no_numbers_print_as_zero() -> None:
    assert [format_double(float(text)) for text in ("nan", "inf", "-inf")] == ["0.0"] * 3


def test_damaged_decimal_is_error_3142_with_the_path_to_it() -> None:
    with pytest.raises(MysqlError) as caught:
        format_text({"a": [1, Opaque(DECIMAL, b"\x02\x01\x81")]})
    assert caught.value.number == 3142
    assert caught.value.path == ("a", "[1]")


@pytest.mark.parametrize("payload", [b"", b"\x02", b"\x02\x03\x81\x05", b"\x52\x00" + b"\x80" * 40, b"\x01\x00\xff"])
def test_every_kind_of_damaged_decimal_is_refused(payload: bytes) -> None:
    with pytest.raises(MysqlError) as caught:
        opaque.decimal_to_text(payload)
    assert caught.value.symbol == "ER_INVALID_JSON_BINARY_DATA"


def test_values_that_are_no_json_are_refused() -> None:
    for value in (b"x", (1,), object()):
        with pytest.raises(EncodeError):
            format_text([value])  # type: ignore[list-item]
        with pytest.raises(EncodeError):
            format_pretty(value)  # type: ignore[arg-type]


def test_varchar_opaques_print_as_strings_and_others_as_base64_lines() -> None:
    assert format_text(Opaque(VAR_STRING, b'a"b')) == '"a\\"b"'
    assert opaque.opaque_text(Opaque(BLOB, b"\0" * 57)).count("\n") == 0
    assert opaque.opaque_text(Opaque(BLOB, b"\0" * 58)).endswith("A\nAA==")
    assert format_text(Opaque(252, b"\0" * 58)).endswith('\\nAA=="')
    assert opaque.opaque_text(Opaque(16, b"")) == "base64:type16:"


# --- parser


def test_members_come_in_stored_order_and_the_last_duplicate_counts() -> None:
    value = parse_text('{"zz": 1, "é": 2, "a": 3, "": 4, "a": {"c": 1, "b": 2}}')
    assert isinstance(value, dict)
    assert list(value.items()) == [("", 4), ("a", {"b": 2, "c": 1}), ("zz", 1), ("é", 2)]
    assert list(value["a"]) == ["b", "c"]  # type: ignore[arg-type]


def test_error_offsets_count_bytes() -> None:
    with pytest.raises(MysqlError) as caught:
        parse_text('["éé", x]')
    assert caught.value.offset == 9


def test_a_hundred_levels_are_read_whatever_stands_beside_them() -> None:
    inside = "[" * 99 + "]" * 99
    assert depth(parse_text(f"[{inside}, [], {{}}]")) == 100
    with pytest.raises(MysqlError) as refused:
        parse_text(f"[[{inside}], [], {{}}]")
    assert refused.value.number == 3157


def test_deep_nesting_is_refused_where_it_opens_and_never_by_recursion() -> None:
    for text in ("[" * 200_000, '{"a":' * 5000, "[" * 101 + "x", '["[",' * 101):
        with pytest.raises(MysqlError) as caught:
            parse_text(text)
        assert caught.value.number == 3157
    assert parse_text('["' + "[" * 200 + '"]') == ["[" * 200]
    assert parse_text("[" + "[]," * 150 + "[]]") == [[]] * 151


def test_bytes_that_are_not_utf8_are_no_json_text() -> None:
    with pytest.raises(MysqlError) as caught:
        parse_text('"é\udc80"')
    assert (caught.value.number, caught.value.offset) == (3140, 3)


def test_an_over_long_key_parses_and_is_refused_by_the_encoder() -> None:
    value = parse_text('{"' + "k" * 65536 + '": 1}')
    with pytest.raises(MysqlError) as caught:
        encode(value)
    assert caught.value.number == 3151


def test_random_values_survive_text() -> None:
    draw = random.Random(4)

    def make(level: int) -> Any:
        kind = draw.randrange(8 if level else 6)
        if kind < 2:
            return draw.choice([None, True, False, 0, -1, 4294967295, UInt(4294967296), -(2**63), UInt(2**64 - 1)])
        if kind == 2:
            return draw.uniform(-1, 1) * 10.0 ** draw.randint(-300, 300)
        if kind < 6:
            return "".join(draw.choice('ab"\\\n\0é中😀/') for _ in range(draw.randrange(6)))
        if kind == 6:
            return [make(level - 1) for _ in range(draw.randrange(5))]
        return stored_order({str(make(0)): make(level - 1) for _ in range(draw.randrange(5))})

    for _ in range(300):
        value = make(4)
        again = parse_text(format_text(value))
        assert repr(again) == repr(value)
        assert repr(parse_text(format_pretty(value))) == repr(value)


# --- DECIMAL and temporal payloads


def test_worked_packed_decimals() -> None:
    assert encode(opaque.decimal_from_text("1.5")).hex() == "0ff60402018105"
    assert encode(opaque.decimal_from_text("-0.5")).hex() == "0ff60402017ffa"
    assert encode(opaque.decimal_from_text(".5")).hex() == "0ff603010185"
    assert opaque.pack_decimal(False, "110", 3, 2).hex() == "810a"


def test_packed_decimals_keep_their_scale_and_have_no_minus_zero() -> None:
    for precision, scale, digits in ((10, 3, "1234567890"), (5, 0, "7"), (65, 30, "9" * 65), (18, 9, "0"), (1, 1, "5")):
        for negative in (False, True):
            data = opaque.pack_decimal(negative, digits, precision, scale)
            assert len(data) == opaque.decimal_size(precision, scale)
            number = opaque.unpack_decimal(data, precision, scale)
            assert number == Decimal((negative, tuple(map(int, digits)), -scale))
            assert number.as_tuple().exponent == -scale
            assert not number.is_signed() or number
    assert opaque.pack_decimal(True, "000", 3, 1) == opaque.pack_decimal(False, "0", 3, 1)


def test_only_the_lenient_reading_takes_decimals_that_no_server_writes() -> None:
    for payload, text in ((b"\x02\x01\x8a\x05", "10.5"), (b"\x02\x01\x7f\xff", "-0.0"), (b"\0\0", "0")):
        assert opaque.decimal_to_text(payload, lenient=True) == text
        assert opaque.decimal_number(payload) == Decimal(text)
        assert not opaque.decimal_number(payload).is_signed()
        assert format_text(Opaque(DECIMAL, payload)) == text
        with pytest.raises(MysqlError):
            opaque.decimal_to_text(payload)
    assert not opaque.unpack_decimal(b"\x7f\xff", 2, 1).is_signed()


def test_packed_decimals_refuse_what_does_not_fit() -> None:
    with pytest.raises(EncodeError):
        opaque.pack_decimal(False, "1000", 3, 0)
    for precision, scale in ((0, 0), (3, 4), (82, 0), (80, 40)):
        with pytest.raises(EncodeError):
            opaque.pack_decimal(False, "1", precision, scale)
        with pytest.raises(DecodeError):
            opaque.unpack_decimal(b"\x80" * 37, precision, scale)
    for length in (0, 1, 3):
        with pytest.raises(DecodeError):
            opaque.unpack_decimal(b"\x80\x00\x00"[:length], 3, 2)
    for text in ("", ".", "1e5", "1 ", "+", "٣.0"):
        with pytest.raises(EncodeError):
            opaque.decimal_from_text(text)


def test_temporal_numbers_go_both_ways() -> None:
    for moment in (
        opaque.DateTime(2024, 2, 29, 12, 34, 56, 123456),
        opaque.DateTime(0, 0, 0),
        opaque.DateTime(9999, 12, 31, 23, 59, 59, 999999),
    ):
        assert opaque.unpack_datetime(opaque.pack_datetime(moment)) == moment
    for clock in (opaque.Time(True, 838, 59, 59, 0), opaque.Time(False, 0, 0, 0, 1), opaque.Time(True, 0, 0, 0, 1)):
        assert opaque.unpack_time(opaque.pack_time(clock)) == clock
    assert opaque.unpack_date(opaque.pack_date(opaque.Date(2024, 0, 31))) == (2024, 0, 31)
    assert opaque.timestamp(2024, 1, 2).payload == opaque.datetime(2024, 1, 2).payload


def test_temporal_parts_out_of_range_and_short_payloads_are_refused() -> None:
    with pytest.raises(EncodeError):
        opaque.date(10000, 1, 1)
    with pytest.raises(EncodeError):
        opaque.time(839)
    for parts in ((2024, 13, 1), (2024, 1, 1, 24)):
        with pytest.raises(EncodeError):
            opaque.datetime(*parts)
    for field_type in (DATE, TIME):
        for length in (0, 1, 7, 9):
            with pytest.raises(DecodeError):
                format_text(Opaque(field_type, b"\0" * length))


# --- comparison


def test_types_are_ordered_and_never_equal_across_classes() -> None:
    ladder: list[JsonValue] = [
        None,
        1,
        "1",
        {"a": 1},
        [1],
        True,
        opaque.date(2024, 1, 1),
        opaque.time(10),
        opaque.datetime(2024, 1, 1),
        Opaque(BLOB, b"1"),
    ]
    for i, low in enumerate(ladder):
        for j, high in enumerate(ladder):
            assert compare(low, high) == (i > j) - (i < j)


def test_objects_ignore_the_order_of_their_members() -> None:
    assert equal({"a": 1, "bb": [1.0]}, {"bb": [UInt(1)], "a": 1})


def test_numbers_that_are_none_have_a_place() -> None:
    assert compare(float("inf"), opaque.decimal_from_text("9" * 65)) == 1
    assert compare(float("-inf"), -(2**63)) == -1
    assert compare(float("nan"), opaque.decimal_from_text("1.0")) == -1


def test_stored_documents_compare_like_their_values() -> None:
    draw = random.Random(9)

    def scalar() -> Any:
        return draw.choice(
            [None, True, 1, 1.0, UInt(1), opaque.decimal_from_text("1.0"), 70000, UInt(70000), "x", "y" * 200, -5]
        )

    def make(level: int) -> Any:
        kind = draw.randrange(4)
        if kind < 2 or not level:
            return scalar()
        if kind == 2:
            return [make(level - 1) for _ in range(draw.randrange(6))]
        return {draw.choice("abcdefgh") * draw.randrange(3): make(level - 1) for _ in range(draw.randrange(6))}

    def change(value: Any) -> Any:
        if isinstance(value, list) and value:
            place = draw.randrange(len(value))
            return [change(item) if i == place else item for i, item in enumerate(value)]
        if isinstance(value, dict) and value:
            place = draw.choice(list(value))
            return {key: change(item) if key == place else item for key, item in value.items()}
        return scalar()

    seen = {True: 0, False: 0}
    for _ in range(3000):
        value = make(4)
        other = change(value) if draw.random() < 0.8 else change(change(value))
        expected = equal(value, other)
        seen[expected and encode(value) != encode(other)] += 1
        assert equal_stored(encode(value), encode(other)) is expected
    assert seen[True] > 50


def test_stored_documents_of_both_formats_compare_by_value() -> None:
    pad = ["p" * 300] * 250
    small = encode([1, 70000, -1, None])
    assert equal_stored(encode([*pad, 1, 70000]), encode([*pad, 1.0, UInt(70000)]))
    assert not equal_stored(encode([*pad, 1, 70000]), encode([*pad, 1.0, UInt(70001)]))
    large_form = bytes.fromhex("03 04000000 1c000000 0501000000 0770110100 05ffffffff 0400000000".replace(" ", ""))
    assert large_form != small
    assert equal_stored(small, large_form)
    assert equal_stored(b"", encode(None))


def test_stored_documents_deeper_than_any_server_makes_are_refused() -> None:
    def deep(levels: int, leaf: int) -> bytes:
        data = leaf.to_bytes(2, "little")
        out = b"\x02\x01\x00" + (7).to_bytes(2, "little") + b"\x05" + data
        for _ in range(levels):
            inner = out[1:]
            out = b"\x02\x01\x00" + (7 + len(inner)).to_bytes(2, "little") + b"\x02\x07\x00" + inner
        return out

    assert not equal_stored(deep(150, 1), deep(150, 2))
    with pytest.raises(MysqlError):
        equal_stored(deep(3000, 1), deep(3000, 2))


def test_empty_containers_are_equal_whatever_holes_they_have() -> None:
    emptied = bytes.fromhex("00 0000 0e00 05000100 0c0c00 61 0178".replace(" ", ""))
    assert equal_stored(emptied, encode({}))
    assert not equal_stored(emptied, encode([]))
