"""Numbers of JSON texts: their types, and those that are longer than people write them."""

from __future__ import annotations

from math import inf

import pytest

from conformance.reference.dialect import JsonForms
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.fast_double import parse_fast
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.values import UInt, same
from tests.reference.refusals import refused, where

LONG = "1" * 800  # more digits than the server looks at
FAST = JsonForms(text_double="fast")


@pytest.mark.parametrize("zeros", [0, 1, 11, 12, 19, 20, 30])
def test_zeros_in_front_of_an_exponent_do_not_count(zeros: int) -> None:
    """As 9.7.4 reads them (observed with CAST AS JSON, 30 zeros and 800 digits)."""
    exponent = "0" * zeros
    assert parse_text(f"1e{exponent}1") == parse_fast(f"1e{exponent}1") == 10.0
    assert parse_text(f"1e+{exponent}12") == parse_fast(f"1e+{exponent}12") == 1e12
    assert parse_text(f"12e-{exponent}1") == parse_fast(f"12e-{exponent}1") == 1.2
    assert parse_text(f"{LONG}e-{exponent}790") == 1111111111.1111112
    assert parse_text(f"{LONG}.5e-{exponent}790") == 1111111111.1111112


def test_an_exponent_beyond_all_doubles() -> None:
    for exponent in ("9" * 13, "1" + "0" * 40):
        assert parse_fast(f"1e-{exponent}") == parse_text(f"1e-{exponent}") == parse_text(f"{LONG}e-{exponent}") == 0.0
        assert parse_fast(f"1e{exponent}") == float("inf")
        for text in (f"1e{exponent}", f"{LONG}e{exponent}"):
            with pytest.raises(MysqlError, match="too big"):
                parse_text(text)


INTEGERS = [
    ("0", 0),
    ("-0", 0),
    ("999999999", 999999999),
    ("4294967295", 2**32 - 1),
    ("4294967296", UInt(2**32)),
    ("-4294967296", -(2**32)),
    ("9223372036854775808", UInt(2**63)),
    ("18446744073709551615", UInt(2**64 - 1)),
    ("18446744073709551616", 2.0**64),
    ("-9223372036854775808", -(2**63)),
    ("-9223372036854775809", -(2.0**63)),
    ("-18446744073709551615", -(2.0**64)),
    ("100000000000000000000", 1e20),
    ("1000000000000000000000", 1e21),
    ("10000000000000000000000", 1e22),
]


@pytest.mark.parametrize(("text", "value"), INTEGERS)
def test_integers_have_three_types_in_every_version(text: str, value: float) -> None:
    for forms in (None, JsonForms(), FAST):
        assert same(parse_text(text, forms), value)
        assert same(parse_text(f"[{text}]", forms), [value])


EIGHTEEN = "12345678901234567890"  # fits into 64 bits without a sign
ACCUMULATED = [
    # --- digits into an integer, then one division or multiplication
    ("1.5", 15.0 / 10.0),
    ("-1.5", -15.0 / 10.0),
    ("1.25e2", 125.0),
    ("1.25E-3", 125.0 / 1e5),
    ("5E-0", 5.0),
    ("1e+5", 1e5),
    ("0.000", 0.0),
    ("1e308", 1e308),
    ("-1.1030161663305387", -float(11030161663305387) / 1e16),  # -1.103016166330539, and exactly ...0539 is not nearest
    # --- up to 64 bits without a sign, 63 with one; later digits multiply a double by ten, and are lost in it
    (EIGHTEEN, float(12345678901234567890)),
    ("-10144643489883551321", -(float(1014464348988355132) * 10.0)),
    ("-144330948066848404996.631218066350805e10", -(float(1443309480668484049) * 10.0 * 10.0 * 1e10)),
    # --- behind the point digits go into the integer while it is below 2^53, later ones into the double
    ("9007199254740990.5", 90071992547409905.0 / 10.0),
    ("9007199254740991.5", 90071992547409915.0 / 10.0),
    ("9007199254740992.5", (9007199254740992.0 * 10.0 + 5.0) / 10.0),
    ("9294805825125445.55", ((9294805825125445.0 * 10.0 + 5.0) * 10.0 + 5.0) / 100.0),
    # --- 17 digits count, zeros before the first one do not
    ("0.000009554729992989840941e30", (9554729992989840.0 * 10.0 + 9.0) * 1e8),
    ("8450874769898300.0000056275873277178309e-323", 84508747698983000.0 * 10.0 / 1e308 / 1e17),
    # --- below 1e-308 the division is done in two steps
    ("1e-308", 1.0 / 1e308),
    ("1e-309", 1.0 / 1e308 / 10.0),
    ("123e-310", 123.0 / 1e308 / 100.0),
    ("5e-324", 5.0 / 1e308 / 1e16),
    ("12345678901234567e-330", 12345678901234567.0 / 1e308 / 1e22),
    ("1e-617", 0.0),
    ("123456789012345678901234567890e-617", 0.0),
]


@pytest.mark.parametrize(("text", "value"), ACCUMULATED)
def test_older_versions_read_digits_into_an_integer_and_then_into_a_double(text: str, value: float) -> None:
    """As servers before the exact parser read them (versions 6.1)."""
    assert same(parse_fast(text), value)
    assert same(parse_text(text, FAST), value) or "." not in text


def test_only_older_versions_are_off_by_a_little() -> None:
    """From a report of the library (versions 6.1)."""
    text = "-1.1030161663305387"
    assert repr(parse_text(text, FAST)) == "-1.103016166330539"
    assert repr(parse_text(text)) == repr(parse_text(text, JsonForms())) == text
    assert repr(parse_text(f'[{{"a": {text}}}]', FAST)) == "[{'a': -1.103016166330539}]"


def test_the_sign_of_zero_is_kept_where_it_has_a_fraction() -> None:
    for forms in (None, FAST):
        assert repr(parse_text("-0.0", forms)) == "-0.0"
        assert repr(parse_text("0.0", forms)) == "0.0"
        assert repr(parse_text("-0e5", forms)) == "-0.0"


def test_what_is_too_big_is_refused_by_every_version() -> None:
    for forms in (None, FAST):
        for text in ("1e309", "-1e309", "1" + "0" * 309, "0e309", "-0e309", "0.0e310", "0E+309", "0.00e311"):
            error = refused(parse_text, text, forms)
            assert (where(error), error.got) == (("mysql-3140", 0, ""), text[:40])
            assert isinstance(error, MysqlError)
    assert parse_fast("1e309") == inf
    assert parse_fast("-1e309") == -inf
    assert parse_fast("0e309") == 0.0
    assert parse_text("0.1e309") == parse_text("0.1e309", FAST) == 1e308
    largest = "1.7976931348623158e308"  # the old way rounds it up
    assert repr(parse_text(largest)) == "1.7976931348623157e+308"
    error = refused(parse_text, largest, FAST)
    assert (error.code, error.got) == ("mysql-3140", largest)


@pytest.mark.parametrize(
    "text",
    ["0e308", "-0e308", "0.0e309", "0.000e311", "0E+308", "0e+0000308", "0e-309", "0e-999999999999", "0e0", "0e000"],
)
def test_a_zero_may_have_an_exponent_of_308_and_its_digits_behind_the_point(text: str) -> None:
    """Observed on 9.7.4."""
    assert parse_text(text) == 0.0
    assert parse_text(text, FAST) == 0.0


@pytest.mark.parametrize("digits", [11, 12, 13, 14, 40])
def test_the_exponent_of_a_zero_may_be_long(digits: int) -> None:
    for text in (f"0e{'9' * digits}", f"0.0e1{'0' * digits}"):
        assert refused(parse_text, text).code == "mysql-3140"
    assert parse_text(f"0e{'0' * digits}308") == 0.0
    assert parse_text(f"0e-{'9' * digits}") == 0.0


HALF = "9007199254740993"  # between two doubles: which one it is, later digits say


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("before", "between", "behind"),
    [
        (HALF + ".", 751, ""),
        (HALF, 751, "e-752"),
        (HALF, 751, "E-0752"),
        (HALF[0] + "." + HALF[1:], 751, "e15"),
        (HALF[0] + "." + HALF[1:], 751, "e+15"),
        ("0." + HALF, 751, "e16"),
        ("0.000" + HALF, 751, "e19"),
    ],
)
def test_768_significant_digits_count(sign: str, before: str, between: int, behind: str) -> None:
    """Observed on 9.7.4."""
    for zeros in (0, 100, between - 1, between):
        if "." in before or zeros == between:
            assert parse_text(f"{sign}{before}{'0' * zeros}1{behind}") == float(f"{sign}9007199254740994")
    longer = behind.replace("752", "753")
    for more in ("", "1", "9" * 100):
        if "." in before or not more:
            assert parse_text(f"{sign}{before}{'0' * (between + 1)}1{more}{longer}") == float(f"{sign}9007199254740992")
    # Zeros at the end change nothing.
    if "." in before:
        assert parse_text(f"{sign}{before}{'0' * between}1{'0' * 900}{behind}") == float(f"{sign}9007199254740994")
        assert parse_text(f"{sign}{before}{'0' * 900}{behind}") == float(f"{sign}9007199254740992")


def test_long_zeros_are_zero() -> None:
    zero = f"0.{'0' * 1000}"
    for text in (zero, f"-{zero}", f"{zero}e5", f"{zero}e-5", f"{zero}e1000", f"{zero}e1308"):
        assert repr(parse_text(text)) == ("-0.0" if text[0] == "-" else "0.0")
    assert refused(parse_text, f"{zero}e1309").code == "mysql-3140"
