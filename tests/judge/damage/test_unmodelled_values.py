"""Values that a judge finds in the bytes of an event, and the listed deviations that they explain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.cases.by_hand.injection import (
    Demand,
    Injection,
    InjectionOutcome,
    RowState,
    full_image,
    partial_image,
    predict,
    state_of,
)
from conformance.judge.damage.diverged import judge_injection
from conformance.judge.damage.document_bytes import values_of_diffs, whole_values
from conformance.judge.damage.unmodelled_values import has_invalid_text, reads_beyond_decimal, with_empty_keys
from conformance.reference.dialect import MYSQL, flipped
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import BLOB, DECIMAL, VAR_STRING, JsonValue, Opaque
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path
from conformance.verdict import Verdict

BEYOND = Opaque(DECIMAL, bytes.fromhex("010a 80"))  # DECIMAL(1,10), in the one byte that -9 and 10 digits take
STORED = encode({})


def image(data: bytes) -> bytes:
    return partial_image(encode_diff(Operation.INSERT, parse_path("$.b"), data))


def shared(text: bytes, count: int) -> bytes:
    """An array whose elements are all the same string."""
    head = 4 + 3 * count
    entries = (b"\x0c" + head.to_bytes(2, "little")) * count
    body = bytes((len(text) & 0x7F | 0x80, len(text) >> 7)) + text
    return b"\x02" + count.to_bytes(2, "little") + (head + len(body)).to_bytes(2, "little") + entries + body


def event(data: bytes) -> Injection:
    return Injection(name="", stored=STORED, image=image(data))


def applied(after: RowState | None) -> InjectionOutcome:
    return InjectionOutcome(before=state_of(STORED), after=after)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("plain", False),
        ("\udcff", True),
        ([1, {"k": "\udcff"}], True),
        ({"\udcff": 1}, True),
        ([{"k": [Opaque(VAR_STRING, b"\xc3")]}], True),
        (Opaque(VAR_STRING, "ä".encode()), False),
        (Opaque(BLOB, b"\xff"), False),
        ([1.5, None, {"k": True}], False),
    ],
)
def test_text_that_is_not_utf8_is_found_wherever_it_stands(value: JsonValue, *, found: bool) -> None:
    assert has_invalid_text([encode(1), encode(value)]) is found


def test_damage_is_passed_over() -> None:
    for data in (shared(b"\xff" * 200, 3)[:-1], encode(["\udcff"])[:-1], b"\x0d", b""):
        assert not has_invalid_text([data])
        assert not reads_beyond_decimal(image(data))


@pytest.mark.parametrize("value", [BEYOND, [1, {"k": BEYOND}]])
def test_a_decimal_that_is_read_beyond_its_end_is_found(value: JsonValue) -> None:
    assert reads_beyond_decimal(image(encode(value)))
    assert not reads_beyond_decimal(full_image(encode(value)))


@pytest.mark.parametrize(
    "payload", ["", "01", "0109 80 000000", "010b 80 00000000", "0a01 80 00000000", "010a 80 00000000"]
)
def test_other_decimals_are_not(payload: str) -> None:
    assert not reads_beyond_decimal(image(encode(Opaque(DECIMAL, bytes.fromhex(payload)))))


def test_a_text_that_is_null_is_explained_where_the_reference_refuses_the_value() -> None:
    item = event(shared(b"a" * 200 + b"\xff", 40))
    assert predict(item).error  # strings share more bytes than the value has
    outcome = applied(RowState(valid=True, size=200, free=0))
    assert judge_injection(item, outcome)[0::4] == (Verdict.FAIL, "stores_invalid_text")
    assert judge_injection(item, outcome, flipped(MYSQL, "stores_invalid_text")).deviation is None


def name_again(first: JsonValue, second: JsonValue) -> bytes:
    """An object of two members with the same name."""
    document = bytearray(encode({"k": first, "l": second}))
    document[document.index(b"kl") + 1] = ord("k")
    return bytes(document)


def test_a_member_whose_name_comes_again_is_in_the_text_of_a_whole_document() -> None:
    item = Injection(name="", stored=STORED, image=full_image(name_again("a\udcff", 1)))
    predicted = predict(item).state
    assert predicted is not None
    assert predicted.text == b'{"k": 1}'
    outcome = applied(replace(predicted, text=None))
    assert judge_injection(item, outcome)[0::4] == (Verdict.FAIL, "copies_full_values")
    assert judge_injection(item, outcome, flipped(MYSQL, "copies_full_values")).deviation is None
    sound = Injection(name="", stored=STORED, image=full_image(name_again("a", 1)))
    assert judge_injection(sound, applied(replace(predicted, text=None)))[0::4] == (Verdict.FAIL, None)


def test_where_the_value_of_an_image_is() -> None:
    document = encode({"k": [1, 2]})
    assert whole_values(full_image(document)) == [document]
    assert whole_values(b"\x01\x00" + full_image(document)[1:]) == [document]
    assert values_of_diffs(image(document)) == [document]
    for nothing in (b"", b"\x02\x01", b"\x01", b"\x01\x01"):
        assert values_of_diffs(nothing) == []
    assert whole_values(image(document)) == []
    assert values_of_diffs(full_image(document)) == []


def test_nothing_else_is_explained_by_it() -> None:
    item = event(shared(b"a" * 200 + b"\xff", 40))
    outcome = applied(RowState(valid=True, size=200, free=0))
    sound = event(shared(b"a" * 201, 40))
    assert judge_injection(sound, outcome)[0::4] == (Verdict.FAIL, None)
    for after in (RowState(valid=False), RowState(error=3142), RowState(valid=True, text=b"[]", size=1, free=0), None):
        assert judge_injection(item, applied(after)).deviation is None
    assert judge_injection(item, replace(outcome, error=1062, after=outcome.before))[0::4] == (Verdict.FAIL, None)
    assert judge_injection(item, replace(outcome, death="signal 11: 0a1"))[0::4] == (Verdict.CRASH, None)


def lost_key(value: JsonValue, index: int, length: int) -> bytes:
    """A small object with another length in the entry of a key."""
    document = bytearray(encode(value))
    place = 1 + 4 + 4 * index + 2
    document[place : place + 2] = length.to_bytes(2, "little")
    return bytes(document)


def test_a_key_that_is_not_found_may_be_read_as_empty() -> None:
    """As a release build of 8.0.45 did it once; another time, and on another build, that event ends the server."""
    item = event(lost_key({"abcde": "%", "jclfoa": [1]}, 0, 24))
    item = replace(item, demand=Demand.ERROR)
    got = state_of(encode({"b": {"": "%", "jclfoa": [1]}}))
    assert judge_injection(item, applied(got))[0::4] == (Verdict.FAIL, "empties_damaged_keys")
    assert judge_injection(item, applied(got), flipped(MYSQL, "empties_damaged_keys")).deviation is None
    others: list[JsonValue] = [{"b": {"abcde": "%", "jclfoa": [1]}}, {"b": {"": "%"}}, {}]
    for other in others:
        assert judge_injection(item, applied(state_of(encode(other)))).deviation is None
    assert judge_injection(item, InjectionOutcome(before=state_of(STORED), death="signal 6")).deviation is None


@pytest.mark.parametrize("value", [{"a": 1, "bb": 2}, {}, [1]])
def test_sound_keys_are_left_alone(value: JsonValue) -> None:
    assert with_empty_keys(image(encode(value))) is None
    assert with_empty_keys(full_image(encode(value))) is None


def test_keys_are_emptied_wherever_they_stand_and_other_damage_is_no_value() -> None:
    inner = lost_key({"abcde": "%", "jclfoa": 1}, 1, 200)
    assert with_empty_keys(image(inner)) == image(encode({"abcde": "%", "": 1}))
    assert with_empty_keys(image(inner)[:-1]) is None
    cut = bytearray(inner)
    cut[1 + 4 + 8] = 0x0F  # an opaque value where the text stood
    assert with_empty_keys(image(bytes(cut))) is None
