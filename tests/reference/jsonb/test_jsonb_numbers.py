"""Numbers of JSON texts that are longer than people write them."""

from __future__ import annotations

import pytest

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.fast_double import parse_fast
from conformance.reference.jsonb.parse import parse_text

LONG = "1" * 800  # more digits than the server looks at


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
