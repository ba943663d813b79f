"""How values print: the notation of a double, the form of 5.7, and what cannot be printed at all."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import nextafter
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.reference.dialect import JsonForms
from conformance.reference.jsonb.text import format_double, format_pretty, format_text
from conformance.reference.jsonb.values import BLOB, DECIMAL, Opaque, UInt
from tests.reference.refusals import refused, where

if TYPE_CHECKING:
    from conformance.reference.errors import MysqlError

OF_5_7 = JsonForms(double_text="1")
NEWEST = JsonForms()

DOUBLES = [
    # --- whatever has a point before its digits, down to 1e-15
    (0.0, "0.0"),
    (1.0, "1.0"),
    (0.1, "0.1"),
    (0.0001, "0.0001"),
    (0.00001, "0.00001"),
    (0.00012345, "0.00012345"),
    (1.5e-10, "0.00000000015"),
    (1e-15, "0.000000000000001"),
    (1.2345678901234568e-15, "0.0000000000000012345678901234568"),
    (nextafter(1e-15, 0), "9.999999999999999e-16"),
    (1e-16, "1e-16"),
    (1.5e-16, "1.5e-16"),
    (1.5e-100, "1.5e-100"),
    (5e-324, "5e-324"),
    # --- no fraction: up to fifteen digits
    (1e14, "100000000000000.0"),
    (999999999999999.0, "999999999999999.0"),
    (1e15, "1e15"),
    (1000000000000001.0, "1.000000000000001e15"),
    (1500000000000000.0, "1.5e15"),
    (1e16, "1e16"),
    (12345678901234568.0, "1.2345678901234568e16"),
    (1e22, "1e22"),
    (1.7976931348623157e308, "1.7976931348623157e308"),
    # --- with a fraction: as many digits as there are
    (999999999999999.9, "999999999999999.9"),
    (1000000000000000.1, "1000000000000000.1"),
    (1234567890123456.8, "1234567890123456.8"),
]


@pytest.mark.parametrize(("value", "text"), DOUBLES)
def test_small_numbers_and_fractions_have_a_point_and_others_an_exponent(value: float, text: str) -> None:
    assert format_double(value) == text
    assert format_double(-value) == f"-{text}"


def by_the_rule(value: float) -> str:
    """Section 6.2, with its limit of 34 characters, which no double comes to."""
    sign, numbers, power = Decimal(repr(value)).as_tuple()
    assert isinstance(power, int)
    digits = "".join(map(str, numbers)).rstrip("0")
    p, n, minus = len(numbers) + power, len(digits), "-" * sign
    width = n - p + 2 if p <= 0 else n + 1 if p < n else p
    if width <= 34 - sign and p >= -14 and (p <= 15 or n > p):
        if p <= 0:
            return f"{minus}0.{'0' * -p}{digits}"
        return f"{minus}{digits[:p].ljust(p, '0')}.{digits[p:] or '0'}"
    rest = f".{digits[1:]}" if n > 1 else ""
    return f"{minus}{digits[0]}{rest}e{p - 1}"


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-1e-12, 1e-12),
        st.floats(1e14, 1e17),
        st.integers(10**14, 10**17).map(float),
    ).filter(bool)
)
@example(-1.2345678901234568e-15)
def test_the_notation_of_a_double_is_the_written_rule(value: float) -> None:
    assert format_double(value) == by_the_rule(value)


def test_the_text_of_a_double_does_not_depend_on_the_callers_decimals() -> None:
    with localcontext() as context:
        context.prec = 3
        assert format_double(1.2345678901234568e16) == "1.2345678901234568e16"
        assert format_double(1.2345678901234568e-10) == "0.00000000012345678901234568"


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        (1.0, "1", "1.0"),
        (100.0, "100", "100.0"),
        (0.05, "0.05", "0.05"),
        (1e15, "1e15", "1e15"),
        ([1.0, {"a": 2.0}, 1, True], '[1, {"a": 2}, 1, true]', '[1.0, {"a": 2.0}, 1, true]'),
        ({"a": {"b": 2.0}}, '{"a": {"b": 2}}', '{"a": {"b": 2.0}}'),
    ],
)
def test_5_7_prints_a_double_without_a_fraction_as_an_integer(value: Any, old: str, new: str) -> None:
    assert format_text(value, OF_5_7) == old
    assert format_text(value, NEWEST) == format_text(value) == new


def test_every_scalar_prints_alike_alone_and_inside_of_others() -> None:
    scalars: list[tuple[Any, str]] = [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (UInt(5), "5"),
        (1.5, "1.5"),
        ('a"', '"a\\""'),
        (Opaque(BLOB, b"a"), '"base64:type252:YQ=="'),
        (Opaque(DECIMAL, bytes.fromhex("0201 8105")), "1.5"),
    ]
    for value, text in scalars:
        assert format_text(value) == format_pretty(value) == format_text(value, OF_5_7) == text
        assert format_text([value, value]) == f"[{text}, {text}]"
        assert format_text({"a": value, "b": [value]}) == f'{{"a": {text}, "b": [{text}]}}'
        assert format_pretty([value, {"b": value}]) == f'[\n  {text},\n  {{\n    "b": {text}\n  }}\n]'


@pytest.mark.parametrize(("value", "name"), [(b"x", "bytes"), ((1,), "tuple"), (object(), "object"), ({1}, "set")])
def test_what_is_no_json_value_says_its_type_and_its_place(value: Any, name: str) -> None:
    for printer in (format_text, format_pretty):
        error = refused(printer, value)
        assert (where(error), error.got) == (("not-a-json-value", None, ""), name)
    assert where(refused(format_text, [1, {"k": [value]}])) == ("not-a-json-value", None, "[1].k.[0]")
    assert where(refused(format_pretty, [1, {"k": [value]}])) == ("not-a-json-value", None, "")
    for printer in (format_text, format_pretty):
        error = refused(printer, nested(100, value))
        assert (error.code, error.got) == ("not-a-json-value", name)


def nested(levels: int, value: Any) -> Any:
    for level in range(levels):
        value = {"k": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize("inner", [{}, [], [1], {"k": 1}])
def test_the_101st_container_is_refused_whatever_it_is(inner: Any) -> None:
    for printer in (format_text, format_pretty):
        assert printer(nested(99, inner)).count("[") + printer(nested(99, inner)).count("{") == 100
        error = cast("MysqlError", refused(printer, nested(100, inner)))
        assert error.number == 3157
