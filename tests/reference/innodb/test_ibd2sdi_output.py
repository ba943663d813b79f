"""The output is that of ibd2sdi, byte for byte."""

from __future__ import annotations

import json
import random

import pytest

from conformance.reference.innodb.sdi import sdi_objects
from conformance.reference.innodb.sdi_views.ibd2sdi_output import pretty, printed
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


def value(draw: random.Random, depth: int = 0) -> object:
    """JSON with punctuation, brackets, quotes and blanks in names and strings."""
    if depth > 4 or draw.randrange(7) < 3:
        return draw.choice([1, -2.5e9, "a", "a,b:c", 'x[{]}"\\', None, True, "", "é\n \t ", " s p "])
    if draw.randrange(2):
        return [value(draw, depth + 1) for _ in range(draw.randrange(4))]
    return {f"{draw.choice('k,:[ ')}{number}": value(draw, depth + 1) for number in range(draw.randrange(4))}


@pytest.mark.parametrize("seed", range(40))
def test_lines_and_indents_are_those_of_json(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(25):
        document = value(draw)
        stored = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
        assert pretty(stored) == json.dumps(document, indent=4, ensure_ascii=False).encode()
