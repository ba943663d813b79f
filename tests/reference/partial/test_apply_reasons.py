"""A diff that does not fit says what it wanted, where, and what is in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.apply import apply_diffs
from conformance.reference.partial.diffs import Diff, Operation
from conformance.reference.partial.paths import parse_path
from tests.reference.refusals import refused

if TYPE_CHECKING:
    from conformance.reference.jsonb.values import JsonValue

INSERT, REPLACE, REMOVE = Operation.INSERT, Operation.REPLACE, Operation.REMOVE
OBJECT: JsonValue = {"a": 1, "b": [1, 2]}


@pytest.mark.parametrize(
    ("document", "operation", "path", "reason"),
    [
        (OBJECT, REPLACE, "$", "the root cannot be changed by a diff"),
        (OBJECT, REPLACE, "$.*", "a path with wildcards or ranges names no place"),
        (OBJECT, REMOVE, "$.c.d", "the parent does not exist"),
        ([1], INSERT, "$.a", "the parent is an array"),
        (OBJECT, INSERT, "$[0]", "the parent is not an array"),
        (OBJECT, INSERT, "$.a", "the member exists"),
        (OBJECT, INSERT, "$.a.b", "the parent is a scalar"),
        (OBJECT, REPLACE, "$.c", "the path does not exist"),
        (OBJECT, REMOVE, "$.b[2]", "the path does not exist"),
        (OBJECT, REPLACE, "$.a", "the value is there already"),
    ],
)
def test_the_reason_is_said(document: JsonValue, operation: Operation, path: str, reason: str) -> None:
    diff = Diff(operation, parse_path(path), None if operation is REMOVE else 1)
    error = refused(apply_diffs, encode(document), [diff])
    assert (error.code, error.message) == ("mysql-3648", f"{operation.name} {path}: {reason}")
    assert error.path == ("diffs[0]",)


def test_the_reason_is_the_same_on_the_tree() -> None:
    diffs = [Diff(INSERT, parse_path("$.c"), 1), Diff(REPLACE, parse_path("$.d"), 1)]
    error = refused(apply_diffs, encode(OBJECT), diffs)
    assert (error.code, error.message) == ("mysql-3648", "REPLACE $.d: the path does not exist")
    assert error.path == ("diffs[1]",)
