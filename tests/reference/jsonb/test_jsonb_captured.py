"""Texts, numbers, DECIMALs and comparisons as MySQL 9.7.4 answered them (``tests/data/jsonb-values-9.7.4.json``)."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.reference.errors import MysqlError
from conformance.reference.jsonb.compare import compare, equal_stored
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.opaque import decimal_from_text
from conformance.reference.jsonb.parse import parse_text
from conformance.reference.jsonb.text import format_double, format_pretty, format_text
from conformance.reference.jsonb.values import UInt, same

DATA = Path(__file__).parents[2] / "data" / "jsonb-values-9.7.4.json"
TYPES = {"INTEGER": int, "UNSIGNED INTEGER": UInt, "DOUBLE": float}


@cache
def captured() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(DATA.read_text())
    return loaded


def test_documents_print_as_the_server_prints_them() -> None:
    for document in captured()["documents"]:
        value = decode(bytes.fromhex(document["jsonb_hex"]))
        assert format_text(value) == document["text"]
        assert format_pretty(value) == document["pretty"]


def test_doubles_print_as_the_server_prints_them() -> None:
    for stored, text in captured()["doubles"]:
        assert format_double(struct.unpack("<d", bytes.fromhex(stored))[0]) == text


def test_numbers_in_text_get_the_type_and_value_of_the_server() -> None:
    for text, printed, kind in captured()["numbers"]:
        value = parse_text(text)
        assert type(value) is TYPES[kind], text
        assert format_text(value) == printed, text


def test_text_that_the_server_refuses_is_refused_with_its_number() -> None:
    for text, number in captured()["refused_texts"]:
        if not number:
            parse_text(text)
            continue
        with pytest.raises(MysqlError) as caught:
            parse_text(text)
        assert caught.value.number == number, text


def test_texts_print_as_the_server_prints_them() -> None:
    for text, printed in captured()["texts"]:
        value = parse_text(text)
        assert format_text(value) == printed
        assert same(decode(encode(value)), value)
        assert repr(parse_text(printed)) == repr(value)


def test_decimal_literals_get_the_precision_and_bytes_of_the_server() -> None:
    for literal, stored, printed in captured()["decimals"]:
        value = decimal_from_text(literal)
        assert encode(value).hex() == stored, literal
        assert format_text(value) == printed


def test_temporal_values_print_as_the_server_prints_them() -> None:
    for _sql, stored, printed in captured()["temporals"]:
        value = decode(bytes.fromhex(stored))
        assert format_text(value) == printed
        assert encode(value).hex() == stored


def test_damaged_values_read_as_the_server_reads_them() -> None:
    # Brought in by BINLOG statements: digits too many, minus zero, years of five digits, fractions of eight, ...
    for name, stored, answer in captured()["damaged"]:
        value = decode(bytes.fromhex(stored))
        if isinstance(answer, str):
            assert format_text(value) == answer, name
            continue
        with pytest.raises(MysqlError) as caught:
            format_text(value)
        assert caught.value.number == answer, name


def test_every_pair_compares_as_on_the_server() -> None:
    values = captured()["comparison"]["values"]
    stored = [bytes.fromhex(entry["jsonb_hex"]) for entry in values]
    decoded = [decode(data) for data in stored]
    for entry, value in zip(values, decoded, strict=True):
        assert format_text(value) == entry["text"]
    for a, row in enumerate(captured()["comparison"]["matrix"]):
        for b, expected in enumerate(row):
            assert "=><"[compare(decoded[a], decoded[b])] == expected, (values[a], values[b])
            assert equal_stored(stored[a], stored[b]) is (expected == "="), (values[a], values[b])
