"""Properties of JSON values: bytes, text and order, on generated documents, triples, truncations and damage."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.compare import compare, equal, equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode, encoded_size
from conformance.reference.jsonb.layout import decode_strict
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_pretty, format_text
from conformance.reference.jsonb.values import UInt, same
from generators.documents import Size
from generators.strategies.documents import documents, scalars, stored

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

SMALL = (Size.TINY, Size.SMALL)
MOST_CUTS = 300

# Numbers whose order depends on how a double meets an exact number.
numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(2**63 - 600, 2**63 - 1),
    st.integers(0, 2**64 - 1).map(UInt),
    st.integers(2**64 - 1200, 2**64 - 1).map(UInt),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(2**53 - 3, 2**64 + 5000).map(float),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**30), max_value=10**30).map(
        lambda number: decimal_from_text(format(number, "f"))
    ),
    st.integers(2**53 - 3, 2**64 + 5000).map(lambda number: decimal_from_text(f"{number}.0")),
)
comparable = st.one_of(numbers, scalars(), documents(sizes=SMALL))


@given(documents())
def test_decoding_gives_the_encoded_value_back(value: JsonValue) -> None:
    data = encode(value)
    assert encoded_size(value) == len(data)
    assert same(decode(data), value)
    assert same(decode_strict(data), value)


@given(documents())
def test_text_reads_back_to_a_value_that_prints_the_same(value: JsonValue) -> None:
    # Opaque values become strings and doubles in the first reading; from then on nothing changes.
    first = parse_text(format_text(value))
    assert same(parse_text(format_pretty(value)), first)
    assert same(parse_text(format_text(first)), first)
    assert repr(parse_text(format_text(first))) == repr(first)


@given(documents(sizes=SMALL))
def test_texts_are_json(value: JsonValue) -> None:
    json.loads(format_text(value))
    json.loads(format_pretty(value))


@given(comparable, comparable, comparable)
@example(2**53 + 1, 2.0**53, decimal_from_text("9007199254740992.5"))
@example(2**63 - 1, 9.223372036854775807e18, decimal_from_text("9223372036854775807.5"))
def test_comparison_is_an_order(a: JsonValue, b: JsonValue, c: JsonValue) -> None:
    for value in (a, b, c):
        assert compare(value, value) == 0
    for x, y in permutations((a, b, c), 2):
        assert compare(x, y) == -compare(y, x)
    for x, y, z in permutations((a, b, c)):
        if compare(x, y) <= 0 and compare(y, z) <= 0:
            assert compare(x, z) <= 0
            assert compare(x, z) < 0 or compare(x, y) == compare(y, z) == 0


@given(comparable, comparable)
def test_stored_bytes_compare_like_the_values(a: JsonValue, b: JsonValue) -> None:
    assert equal_stored(encode(a), encode(b)) is equal(a, b)
    assert equal_stored(encode([a, b]), encode([b, a])) is equal(a, b)


@given(stored(sizes=SMALL), st.data())
def test_every_truncation_is_a_declared_error_or_a_value(data: bytes, extra: st.DataObject) -> None:
    if len(data) <= MOST_CUTS:
        cuts = list(range(len(data)))
    else:
        cuts = extra.draw(st.lists(st.integers(0, len(data) - 1), min_size=20, max_size=50, unique=True))
    for cut in cuts:
        _exercise(data[:cut], data)


@given(stored(sizes=SMALL), st.data())
def test_every_damage_is_a_declared_error_or_a_value(data: bytes, extra: st.DataObject) -> None:
    damaged = bytearray(data)
    for _ in range(extra.draw(st.integers(1, 4))):
        position = extra.draw(st.integers(0, len(data) - 1))
        damaged[position] = extra.draw(st.one_of(st.integers(0, 255), st.sampled_from([0, 1, 0x7F, 0x80, 0xFF])))
    _exercise(bytes(damaged), data)


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_a_declared_error_or_a_value(data: bytes) -> None:
    _exercise(data, b"\x00\x00\x00\x04\x00")


def _exercise(data: bytes, other: bytes) -> None:
    for read in (decode, decode_strict):
        try:
            value = read(data)
            format_text(value)
            compare(value, value)
        except CodecError:
            continue
    try:
        equal_stored(data, other)
        equal_stored(other, data)
    except CodecError:
        pass


json_like = st.lists(
    st.sampled_from(
        [
            *'[]{}:,"\\ -+.eE0123456789',
            "true",
            "null",
            "\\u",
            "d83d",
            "\\ude00",
            '"a"',
            "\0",
            "\n",
            "1e",
            "é",
            "\x1f",
            "[[",
        ]
    ),
    max_size=30,
).map("".join)


@given(st.one_of(json_like, st.text(max_size=40)))
@example('0"\\ude00')
@example('{"\\ude00":1,"é":2}')
def test_arbitrary_text_is_an_error_of_mysql_or_a_value(text: str) -> None:
    try:
        value = parse_text(text)
    except MysqlError:
        return
    # The standard library is more lenient, never less, but for what may follow a NUL.
    json.loads(text.partition("\0")[0])
    assert same(decode(encode(value)), value)
