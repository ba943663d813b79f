"""The targets against other people's decoders: their shape, and that they can fail."""

from __future__ import annotations

from datetime import time as clock
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_from_text, time
from conformance.reference.jsonb.values import JsonValue, Opaque, UInt
from fuzz.peers import mysql_replication_json
from fuzz.violation import Violation

NAMES = sorted(path.stem for path in (Path(__file__).parents[2] / "fuzz" / "peers").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_peer_says_what_holds_and_what_is_needed(name: str) -> None:
    target = import_module(f"fuzz.peers.{name}")
    assert target.INVARIANT.endswith(".")
    assert target.PACKAGE
    assert target.INSTRUMENT
    assert max(len(data) for _, data in target.seeds()) <= target.MAX_LEN


@pytest.mark.parametrize(
    ("value", "other"),
    [(1, True), (True, 1), (None, False), ("a", b"b"), ([1], [2]), ([1], []), ({"a": 1}, {}),
     ({"a": "x"}, {b"a": b"y"}),
     (time(1, 2, 3, 0, negative=True), clock(1, 2, 3)), (decimal_from_text("0.10"), 0.11),
     (Opaque(252, b"\0\xff"), "\0"),
     (1.5, "1.5"), (UInt(1), 2), ({"a": [None]}, {"a": [0]})],
)  # fmt: skip
def test_another_value_is_told(value: JsonValue, other: object) -> None:
    assert mysql_replication_json.difference(value, other)


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("a", b"a"),
        ("é", "é"),
        (UInt(1), 1),
        ({"a": [1.5, None]}, {b"a": [1.5, None]}),
        (1.0, 1),
        (time(1, 2, 3, 0, negative=False), clock(1, 2, 3)),
        (decimal_from_text("0.10"), 0.1),
        (Opaque(252, b"\0\xff"), b"\0\xff"),
    ],
)
def test_a_form_of_the_same_value_is_no_difference(value: JsonValue, other: object) -> None:
    assert mysql_replication_json.difference(value, other) is None


def test_a_peer_that_refuses_a_sound_document_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise IndexError

    monkeypatch.setattr(mysql_replication_json, "_reader", lambda: refuse)
    with pytest.raises(Violation, match="a document is read, not refused"):
        mysql_replication_json.check(encode([1]))
    mysql_replication_json.check(b"\x0d")  # damage is its own matter
