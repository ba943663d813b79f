"""Lists of diffs with damage in the frame of the last one: its operation, or one of its two lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, encode_diff
from conformance.reference.partial.paths import parse_path

if TYPE_CHECKING:
    from generators.draw import Stream

_PATHS: Final = ("$.a", "$.b[1]", "$.c.d", "$[0]")


def damaged(draw: Stream) -> tuple[str, bytes]:
    """The name of a damage, and a list of diffs with that damage in its last diff."""
    good = b"".join(_diff(draw) for _ in range(draw.below(3)))
    last = _diff(draw)
    path_length = last[1]
    match draw.below(4):
        case 0:
            code = draw.choice((3, 4, 127, 255))
            return f"operation {code}", good + bytes((code,)) + last[1:]
        case 1:
            length = draw.integer(len(last), 250)
            return f"path length {length}", good + last[:1] + bytes((length,)) + last[2:]
        case 2:
            end = 2 + draw.below(path_length)
            return f"cut off in the path, after {end} bytes", good + last[:end]
        case _:
            place = 2 + path_length
            data = last[place + 1 :]
            length = draw.integer(len(data) + 1, 250)
            return f"data length {length}", good + last[:place] + bytes((length,)) + data


def _diff(draw: Stream) -> bytes:
    value = draw.choice((1, "text", True, None, 2.5))
    operation = draw.choice((Operation.REPLACE, Operation.INSERT))
    return encode_diff(operation, parse_path(draw.choice(_PATHS)), encode(value))
