"""The form of a change says what changed, and neither the names of variables nor lines around it matter."""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutation.form import form

SOUND: Final = """def read(self, data, pos=0):
    for item in data:
        pos += item
    if pos < LIMIT and not self.strict:
        raise Error("short", offset=pos)
    size = pos + 1
    return size, [item for item in data]
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("<", "<=", "v1 < LIMIT => v1 <= LIMIT"),
        ("and not", "or not", "v1 < LIMIT and (not self.strict) => v1 < LIMIT or not self.strict"),
        ("not self.strict", "self.strict", "v1 < LIMIT and (not self.strict) => v1 < LIMIT and self.strict"),
        ("offset=pos", "offset=None", "Error('short', offset=v1) => Error('short', offset=None)"),
        (", offset=pos", "", "Error('short', offset=v1) => Error('short')"),
        ("pos + 1", "pos - 1", "v1 = v2 + 1 => v1 = v2 - 1"),
        ("pos + 1", "None", "v1 = v2 + 1 => v1 = None"),
        ("pos += item", "pos = item", "v1 += v2 => v1 = v2"),
        ("in data:", "in None:", "for v1 in v2 => for v1 in None"),
        ("pos=0", "pos=1", "def read(self, v1, v2=0) => def read(self, v1, v2=1)"),
    ],
)
def test_a_change_is_shown_with_what_tells_it_apart(old: str, new: str, expected: str) -> None:
    assert SOUND.count(old) == 1
    changed = SOUND.replace(old, new)
    assert form(SOUND, changed) == expected
    assert form(renamed(SOUND), renamed(changed)) == expected


def renamed(text: str) -> str:
    for name, other in (("data", "source"), ("pos", "place"), ("item", "part"), ("size", "end")):
        text = text.replace(name, other)
    return text
