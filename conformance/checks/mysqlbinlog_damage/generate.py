"""Lists of diffs with damage in the frame of the last one: its operation, or one of its two lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path

if TYPE_CHECKING:
    from generators.draw import Stream

_PATHS: Final = ("$.a", "$.b[1]", "$.c.d", "$[0]")
_OPERATION: Final = "Error reading operation type (invalid operation code) while printing JSON diff"
_PATH: Final = "Error skipping path while printing JSON diff"
_VALUE: Final = "Error skipping value while printing JSON diff"


class Damaged(NamedTuple):
    """A list of diffs whose last one is damaged. ``printed``: what mysqlbinlog says in place of all of them."""

    name: str
    diffs: bytes
    printed: str


def damaged(draw: Stream) -> Damaged:
    """A list of diffs with damage in its last diff (texts observed on 8.0.45 and 9.7.4)."""
    good = b"".join(_diff(draw) for _ in range(draw.below(3)))
    last = _diff(draw)
    path_length = last[1]
    match draw.below(4):
        case 0:
            code = draw.choice((3, 4, 127, 255))
            return Damaged(f"operation {code}", good + bytes((code,)) + last[1:], _OPERATION)
        case 1:
            length = draw.integer(len(last), 250)
            return Damaged(f"path length {length}", good + last[:1] + bytes((length,)) + last[2:], _PATH)
        case 2:
            end = 2 + draw.below(path_length)
            return Damaged(f"cut off in the path, after {end} bytes", good + last[:end], _PATH)
        case _:
            place = 2 + path_length
            data = last[place + 1 :]
            length = draw.integer(len(data) + 1, 250)
            return Damaged(f"data length {length}", good + last[:place] + bytes((length,)) + data, _VALUE)


def _diff(draw: Stream) -> bytes:
    value = draw.choice((1, "text", True, None, 2.5))
    operation = draw.choice((Operation.REPLACE, Operation.INSERT))
    return encode_diff(operation, parse_path(draw.choice(_PATHS)), encode(value))
