"""Everything that MySQL refuses too is refused with its number and the name of that number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from conformance.reference.dialect import MYSQL
from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_to_text
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.values import DECIMAL, Opaque
from conformance.reference.partial.apply import apply_field
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.expression import Assignment, Call, Column, Columns, Function, Literal
from conformance.reference.partial.paths import parse_path
from conformance.reference.partial.update import update_row
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable


def update(function: Function, *paths: str) -> None:
    pairs = tuple((path, None if function is Function.JSON_REMOVE else Literal(1)) for path in paths)
    assignment = Assignment("j", Call(function, Column("j"), pairs))
    update_row({"j": encode({"a": [1]})}, [assignment], Columns(("j",)), log_diffs=True)


def apply(*diffs: tuple[Operation, str, Any]) -> None:
    field = encode_diffs([Diff(operation, parse_path(path), value) for operation, path, value in diffs])
    apply_field(encode({"a": [1]}), field)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


CALLS: list[tuple[Callable[[], object], int, str, int | None, str]] = [
    (lambda: parse_path("$.a["), 3143, "ER_INVALID_JSON_PATH", 4, ""),
    (lambda: parse_path("a"), 3143, "ER_INVALID_JSON_PATH", 0, ""),
    (lambda: parse_text("[1,]"), 3140, "ER_INVALID_JSON_TEXT", 3, ""),
    (lambda: parse_text("NaN"), 3140, "ER_INVALID_JSON_TEXT", 0, ""),
    (lambda: parse_text("[1, 1e999]"), 3140, "ER_INVALID_JSON_TEXT", 4, ""),
    (lambda: parse_text('"\\ud800"'), 3140, "ER_INVALID_JSON_TEXT", 1, ""),
    (lambda: parse_text("[" * 101 + "]" * 101), 3157, "ER_JSON_DOCUMENT_TOO_DEEP", None, ""),
    (lambda: encode(nested(101)), 3157, "ER_JSON_DOCUMENT_TOO_DEEP", None, ""),
    (lambda: encode({"k" * 65536: 1}), 3151, "ER_JSON_KEY_TOO_BIG", None, ""),
    (lambda: decimal_to_text(b"\x01"), 3142, "ER_INVALID_JSON_BINARY_DATA", None, ""),
    (lambda: update(Function.JSON_SET, "$.a[*]"), 3149, "ER_INVALID_JSON_PATH_WILDCARD", None, ""),
    (lambda: update(Function.JSON_REMOVE, "$.a", "$"), 3153, "ER_JSON_VACUOUS_PATH", None, ""),
    (lambda: update(Function.JSON_ARRAY_INSERT, "$.a"), 3165, "ER_INVALID_JSON_PATH_ARRAY_CELL", None, ""),
    (lambda: update(Function.JSON_ARRAY_INSERT, "$"), 3165, "ER_INVALID_JSON_PATH_ARRAY_CELL", None, ""),
    (lambda: apply_field(b"", b"\x03"), 3649, "ER_CORRUPTED_JSON_DIFF", 0, ""),
    (lambda: apply_field(b"", bytes.fromhex("02 03 242e61 02 05")), 3649, "ER_CORRUPTED_JSON_DIFF", 7, ""),
    (lambda: apply((Operation.REMOVE, "$", None)), 3648, "ER_COULD_NOT_APPLY_JSON_DIFF", None, "diffs[0]"),
    (
        lambda: apply((Operation.REMOVE, "$.a[0]", None), (Operation.REMOVE, "$.b", None)),
        3648, "ER_COULD_NOT_APPLY_JSON_DIFF", None, "diffs[1]",
    ),
    (lambda: apply((Operation.REPLACE, "$.a[*]", 1)), 3648, "ER_COULD_NOT_APPLY_JSON_DIFF", None, "diffs[0]"),
]  # fmt: skip


def test_a_refusal_has_the_number_of_the_server() -> None:
    for call, number, symbol, offset, path in CALLS:
        error = cast("MysqlError", refused(call))
        assert isinstance(error, MysqlError)
        assert (error.number, error.symbol, error.code) == (number, symbol, f"mysql-{number}")
        assert (error.offset, ".".join(error.path)) == (offset, path), str(error)


def test_decimals_are_looked_at_wherever_they_are_and_leniently() -> None:
    lenient = Opaque(DECIMAL, b"\0\0")  # precision 0 without any bytes, which reads as 0
    damaged = Opaque(DECIMAL, b"\1")
    for value in (lenient, [lenient], {"k": [lenient]}):
        apply((Operation.REPLACE, "$.a", value))
    for value in (damaged, [damaged], {"k": [damaged]}):
        assert refused(apply, (Operation.REPLACE, "$.a", value)).code == "mysql-3142"


def test_text_that_is_not_utf8_is_refused_where_nothing_can_store_it() -> None:
    strict = replace(MYSQL, behaviour=replace(MYSQL.behaviour, stores_invalid_text=False))
    field = encode_diffs(
        [Diff(Operation.REMOVE, parse_path("$.a")), Diff(Operation.INSERT, parse_path("$.b"), ["\udcff"])]
    )
    stored = encode({"a": 1})
    assert apply_field(stored, field) == encode({"b": ["\udcff"]})
    error = refused(apply_field, stored, field, strict)
    assert (error.code, error.path) == ("mysql-3649", ("diffs[1]",))


def test_a_decimal_with_a_digit_too_many_is_read_and_cannot_be_written() -> None:
    wide = Opaque(DECIMAL, b"\1\0\x8a")  # 10 in the room of one digit
    field = encode_diffs([Diff(Operation.REPLACE, parse_path("$.a"), [wide])])
    reader = replace(MYSQL, behaviour=replace(MYSQL.behaviour, reads_wide_decimals=False))
    for dialect, number, symbol in (
        (MYSQL, 1032, "ER_KEY_NOT_FOUND"),
        (reader, 3142, "ER_INVALID_JSON_BINARY_DATA"),
    ):
        error = cast("MysqlError", refused(apply_field, encode({"a": [1]}), field, dialect))
        assert (error.number, error.symbol) == (number, symbol)
