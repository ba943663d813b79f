"""The output is that of ibd2sdi, byte for byte."""

from __future__ import annotations

import json

import pytest

from conformance.reference.innodb.ibd2sdi_output import pretty, printed
from conformance.reference.innodb.sdi import sdi_objects
from tests.reference.innodb.fixture_files import DATA, FIXTURES, fixture


@pytest.mark.parametrize("name", FIXTURES)
def test_recorded_output(name: str) -> None:
    assert b"".join(printed(sdi_objects(fixture(name)))) == (DATA / FIXTURES[name]["ibd2sdi_file"]).read_bytes()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "{}"),
        ("[]", "[]"),
        ('{"a":{},"b":[]}', '{\n    "a": {},\n    "b": []\n}'),
        ('[1,-2.50,null,"a,b:[{}]\\"\\\\"]', '[\n    1,\n    -2.50,\n    null,\n    "a,b:[{}]\\"\\\\"\n]'),
        ('[[""]]', '[\n    [\n        ""\n    ]\n]'),
    ],
)
def test_pretty_keeps_tokens(text: str, expected: str) -> None:
    assert pretty(text.encode()).decode() == expected
    assert json.loads(expected) == json.loads(text)
