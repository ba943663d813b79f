"""Documents that a user makes: a part that cannot be one is named by its path."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from conformance import CodecError, encode
from conformance.reference.jsonb.encode import encode as encode_any


@pytest.mark.parametrize(
    ("value", "place", "code"),
    [
        (nan, "$", "not-a-json-value"),
        ({"a": [1.5, {"b c": -inf}]}, '$.a[1]."b c"', "not-a-json-value"),
        ({"a": [0, {1, 2}]}, "$.a[1]", "not-a-json-value"),
        ([{"k": {7: "seven"}}], "$[0].k", "not-a-json-value"),
        ([1, [1 << 64]], "$[1][0]", "integer-range"),
        ([{"k" * 65536: 1}], "$[0]", "mysql-3151"),
    ],
)
def test_a_part_that_cannot_be_stored_is_named(value: Any, place: str, code: str) -> None:
    with pytest.raises(CodecError) as caught:
        encode(value)
    assert (caught.value.path, caught.value.code) == ((place,), code)


def test_what_is_too_deep_stays_so_beside_a_bad_part() -> None:
    deep: Any = nan
    for _ in range(3000):
        deep = [deep]
    with pytest.raises(CodecError) as caught:
        encode(deep)
    assert (caught.value.path, caught.value.code) == ((), "mysql-3157")


def test_sound_documents_have_the_bytes_of_the_reference() -> None:
    value: Any = {"a": [1, 2.5, None, True, "x", {"b": []}]}
    assert encode(value) == encode_any(value)
    assert encode_any(nan)  # which 9.7.4 stores where a diff has it
