"""The values of a recording: what goes in comes out, and no bytes do anything but fail."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.servers.recording.values import CHUNK, LONG, DamagedValue, Value, decode, encode

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=64),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(), parts, max_size=4),
    max_leaves=12,
)
WHOLE: Value = {"a": [1, -2.5, "text", b"\0\xff", None, True, False], "b": {}}


@given(VALUES)
def test_a_value_comes_back(value: Value) -> None:
    assert decode(encode(value), ()) == value


def test_long_bytes_are_kept_once_for_each_page_that_differs() -> None:
    pieces: list[bytes] = []

    def put(piece: bytes) -> int:
        if piece not in pieces:
            pieces.append(piece)
        return pieces.index(piece)

    page, other = b"a" * CHUNK, b"b" * CHUNK
    value = [page * 3 + b"end", page + other + page]
    data = encode(value, put)
    assert pieces == [page, b"end", other]
    assert len(data) < 64
    assert decode(data, pieces) == value
    assert encode(b"x" * (LONG - 1), put) == b"b" + struct.pack("<I", LONG - 1) + b"x" * (LONG - 1)


def test_every_truncation_is_an_error() -> None:
    data = encode(WHOLE)
    for end in range(len(data)):
        with pytest.raises(DamagedValue):
            decode(data[:end], ())


def test_every_changed_byte_is_an_error_or_another_value() -> None:
    data = encode(WHOLE)
    for place in range(len(data)):
        for change in (1, 0x80, 0xFF):
            changed = data[:place] + bytes((data[place] ^ change,)) + data[place + 1 :]
            try:
                assert decode(changed, ()) != WHOLE, (place, change)
            except DamagedValue:
                continue


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "expected 1 bytes at byte 0, got 0"),
        (b"nn", "expected the end of the value at byte 1, got 2 bytes"),
        (b"z", "expected the letter of a value at byte 0, got b'z'"),
        (b"s\xff\xff\xff\xff", "expected 4294967295 parts at byte 5, got 0 bytes"),
        (b"l\xff\xff\xff\xffn", "expected 4294967295 parts at byte 5, got 1 bytes"),
        (b"l\1\0\0\0" * 20 + b"n", "expected at most 16 levels, got more"),
        (b"p\1\0\0\0\7\0\0\0", "expected a piece before 0, got number 7"),
        (b"i\2\0\0\0xx", "invalid literal for int"),
        (b"s\1\0\0\0\xff", "can't decode byte 0xff"),
    ],
)
def test_a_damaged_value_is_told_by_place(data: bytes, words: str) -> None:
    with pytest.raises(DamagedValue, match=words.replace("(", r"\(")):
        decode(data, ())


def test_pieces_named_again_and_again_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.servers.recording.values.MOST", 3 * CHUNK)
    with pytest.raises(DamagedValue, match="expected at most 49152 bytes in a value, got more"):
        decode(b"p" + struct.pack("<5I", 4, 0, 0, 0, 0), [b"x" * CHUNK])
