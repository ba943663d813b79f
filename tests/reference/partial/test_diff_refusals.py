"""Damaged diffs: the code of the error, the byte that it names, and the diffs that were read before it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from conformance.reference.errors import EncodeError
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import (
    Diff,
    Operation,
    RawDiff,
    decode_diffs,
    encode_diffs,
    split_diffs,
    typed_diff,
)
from conformance.reference.partial.paths import Member, Path, parse_path
from tests.reference.refusals import refused, where

REMOVE_A = "02 03 242e61"  # $.a

FIELDS = [
    ("03", "bad-operation", 0, "diffs[0]"),
    ("ff 03 242e61", "bad-operation", 0, "diffs[0]"),
    (REMOVE_A + "03 03 242e61", "bad-operation", 5, "diffs[1]"),
    ("02", "truncated", 1, "diffs[0].path"),
    ("02 03 242e", "truncated", 2, "diffs[0].path"),
    (REMOVE_A + "02 03 242e", "truncated", 7, "diffs[1].path"),
    ("02 fb", "bad-packed-integer", 1, "diffs[0].path"),
    ("02 ff", "bad-packed-integer", 1, "diffs[0].path"),
    ("02 fc03", "truncated", 1, "diffs[0].path"),
    ("02 fb" + "24" * 251, "bad-packed-integer", 1, "diffs[0].path"),  # 251 is no length of one byte
    ("01 fb" + "24" * 251 + "01 04", "bad-packed-integer", 1, "diffs[0].path"),
    ("01 03 242e61 fb" + "04" * 251, "bad-packed-integer", 5, "diffs[0].data"),
    ("00 03 242e61", "truncated", 5, "diffs[0].data"),
    ("01 03 242e61 02 04", "truncated", 6, "diffs[0].data"),
    ("00 03 242e61 fb", "bad-packed-integer", 5, "diffs[0].data"),
    ("00 03 242e61 fd0200", "truncated", 5, "diffs[0].data"),
]


@pytest.mark.parametrize(("field", "code", "offset", "path"), FIELDS)
def test_a_damaged_diff_says_which_byte_is_wrong(field: str, code: str, offset: int, path: str) -> None:
    for read in (split_diffs, decode_diffs):
        error = refused(read, bytes.fromhex(field))
        assert where(error) == (code, offset, path)
        assert len(error.decoded) == int(path[6])  # what was read before it


def test_long_lengths_of_paths_and_values_are_read_too() -> None:
    name = "n" * 300
    diffs = (
        Diff(Operation.REPLACE, parse_path(f"$.{name}"), "v" * 300),
        Diff(Operation.INSERT, parse_path("$.a"), "v" * 247),  # 251 bytes with type and length
        Diff(Operation.REMOVE, parse_path(f"$.{name}")),
        Diff(Operation.REMOVE, parse_path("$." + "n" * 249)),
        Diff(Operation.REMOVE, parse_path("$." + "n" * 248)),
    )
    assert decode_diffs(encode_diffs(diffs)) == diffs
    packed_in_three = bytes.fromhex("01 fc0300 242e61 fc0300 050100")
    assert decode_diffs(packed_in_three) == (Diff(Operation.INSERT, parse_path("$.a"), 1),)


@pytest.mark.parametrize(
    ("field", "code", "offset", "path"),
    [
        (REMOVE_A + "02 03 242eff", "bad-utf8", 2, "diffs[1]"),
        ("02 04 245b2a5d", "inexact-path", None, "diffs[0]"),
        ("02 05 242e226122", "path-not-canonical", None, "diffs[0]"),
        ("02 02 242e", "bad-path", 2, "diffs[0].path"),
        ("00 03 242e61 00", "truncated", None, "diffs[0].data"),
        ("00 03 242e61 02 0403", "bad-literal", 1, "diffs[0].data"),
    ],
)
def test_a_strict_reading_refuses_what_no_server_writes(field: str, code: str, offset: int | None, path: str) -> None:
    error = refused(decode_diffs, bytes.fromhex(field), strict=True)
    assert where(error) == (code, offset, path)
    assert len(error.decoded) == int(path[6])


def test_readings_are_lenient_unless_asked() -> None:
    quoted = bytes.fromhex("02 05 242e226122")
    assert [str(diff.path) for diff in decode_diffs(quoted)] == ["$.a"]
    assert typed_diff(RawDiff(Operation.REMOVE, quoted[2:], None)).path == parse_path("$.a")


def test_bytes_of_a_name_that_are_not_utf8_are_written_as_they_were() -> None:
    diff = Diff(Operation.REMOVE, Path((Member("\udcff"),)))
    assert encode_diffs((diff,)) == b'\x02\x05$."\xff"'


GOOD: Final[Any] = Diff(Operation.REMOVE, parse_path("$.a"))


@pytest.mark.parametrize(
    ("diffs", "path", "expected", "got"),
    [
        ([GOOD, GOOD._replace(operation="REMOVE")], "diffs[1]", "an Operation", "str 'REMOVE'"),
        ([GOOD._replace(operation=2)], "diffs[0]", "an Operation", "int 2"),
        ([GOOD, GOOD, GOOD._replace(path="$.a")], "diffs[2]", "a Path, as parse_path gives", "str '$.a'"),
        (GOOD, "diffs[0]", "a Diff", "Operation <Operation.REMOVE: 2>"),
        (b"\2", "diffs[0]", "a Diff", "int 2"),
    ],
)
def test_only_diffs_of_operations_and_paths_are_written_and_applied(
    diffs: Any, path: str, expected: str, got: str
) -> None:
    for error in (refused(encode_diffs, diffs), refused(apply_diffs, encode({"a": 1}), diffs)):
        assert where(error) == ("not-a-diff", None, path)
        assert (type(error), error.expected, error.got) == (EncodeError, expected, got)


def test_diffs_are_written_from_any_iterable() -> None:
    assert encode_diffs(iter([GOOD, GOOD])) == 2 * encode_diffs([GOOD])
