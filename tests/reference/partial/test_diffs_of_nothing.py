"""Empty lists of diffs: what they make of a value that is not there, or has no bytes (observed on 9.7.4)."""

from __future__ import annotations

import pytest

from conformance.reference.dialect import MYSQL, WORKLOG
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.apply import apply_diffs, apply_field


def test_a_value_of_no_bytes_becomes_the_json_null_that_it_reads_as() -> None:
    assert format_text(decode(b"")) == "null"
    assert apply_diffs(b"", (), MYSQL) == apply_field(b"", b"") == encode(None) == b"\x04\x00"


def test_sql_null_becomes_json_null_by_one_switch_alone() -> None:
    assert apply_diffs(None, (), MYSQL) == encode(None)
    assert apply_diffs(None, (), WORKLOG) is None


def test_a_document_is_kept() -> None:
    assert apply_diffs(encode([1]), ()) == encode([1])


def test_no_diff_fits_a_value_of_no_bytes() -> None:
    with pytest.raises(MysqlError, match="3648"):
        apply_field(b"", b"\x02\x03$.a")
