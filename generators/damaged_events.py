"""Row events with one changed field: those of requirements FR5 and binlog-events 11.4, and generated ones.

Every value inside these events is a scalar, a string or an array. Objects with damaged entries are apart
(``object_entries``), as a released server ends itself at some of them. For the same reason nothing here turns a type
byte into that of an object.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.injection import Demand, Injection, full_image, partial_image
from conformance.reference.cursor import encode_packed
from conformance.reference.jsonb.encode import encode, encode_varlen
from conformance.reference.jsonb.values import DECIMAL
from conformance.reference.jsonb.view import open_document
from generators import path_targets, scalars
from generators.draw import mix
from generators.malformed import apply_edits, edits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.jsonb.values import JsonValue
    from generators.draw import Draw

STORED: Final = encode({"n": 1, "s": "abc", "o": {"x": 1}, "arr": [1, 2, 3, [4, 5]], "t": True, "pad": "p" * 120})
_TWO: Final = encode(2)


def diff(
    operation: int = 0,
    path: bytes = b"$.n",
    data: bytes | None = _TWO,
    *,
    path_length: bytes | None = None,
    data_length: bytes | None = None,
) -> bytes:
    """One diff from its parts, valid or not; ``data=None``: neither length nor value."""
    out = bytes((operation,)) + (encode_packed(len(path)) if path_length is None else path_length) + path
    if data is None:
        return out
    return out + (encode_packed(len(data)) if data_length is None else data_length) + data


def _value(data: bytes) -> bytes:
    return partial_image(diff(data=data))


def _path(text: str | bytes) -> bytes:
    return partial_image(diff(path=text.encode() if isinstance(text, str) else text))


def _nested(levels: int) -> bytes:
    """Arrays inside each other, as bytes: no encoder makes more than a hundred."""
    data = b"\x02\x00\x00\x04\x00"
    for _ in range(levels - 1):
        data = b"\x02\x01\x00" + struct.pack("<H", len(data) + 6) + b"\x02\x07\x00" + data[1:]
    return data


def _opaque(kind: int, payload: bytes) -> bytes:
    return b"\x0f" + bytes((kind,)) + encode_packed(len(payload)) + payload


_GOOD: Final = partial_image(diff())
_DIFFS: Final = diff()

# By the observed number (requirements FR5); the name of an event has its damage.
_CORRUPTED: Final[dict[str, bytes]] = {
    **{f"operation-{code}": partial_image(diff(code)) for code in (3, 4, 127, 255)},
    "path-empty": _path(""),
    "path-without-dollar": _path("a"),
    "path-dollar-name": _path("$x"),
    "path-no-name": _path("$."),
    "path-no-index": _path("$["),
    "path-ends-with-dot": _path("$.n."),
    "path-negative-index": _path("$.arr[-1]"),
    "path-huge-index": _path("$.arr[99999999999]"),
    "path-not-utf8": _path(b"$.\xff"),
    "path-length-beyond": partial_image(diff(path_length=b"\x40")),
    "path-length-fb": partial_image(diff(path_length=b"\xfb")),
    **{f"path-length-{byte:x}-without-room": partial_image(bytes((0, byte))) for byte in (0xFC, 0xFD, 0xFE, 0xFF)},
    "data-length-beyond": partial_image(diff(data_length=b"\x40")),
    "data-missing": partial_image(diff(data=None)),
    "path-missing": partial_image(b"\x00"),
    "trailing-byte": partial_image(_DIFFS + b"\x00"),
    "data-after-remove": partial_image(diff(2, data=_TWO)),
    "literal-3": _value(b"\x04\x03"),
    "literal-9": _value(b"\x04\x09"),
    "type-0d": _value(b"\x0d\x00\x00"),
    "type-55": _value(b"\x55\x00\x00"),
    "type-7f": _value(b"\x7f\x00\x00"),
    "string-cut": _value(b"\x0c\x05abc"),
    "integer-cut": _value(b"\x05\x01"),
    "long-integer-cut": _value(b"\x09\x01\x02\x03"),
    "double-cut": _value(b"\x0b\x01\x02\x03"),
    "array-size-larger": _value(b"\x02\x01\x00\x60\x00\x05\x02\x00"),
    "array-count-larger": _value(b"\x02\x60\x00\x07\x00\x05\x02\x00"),
    "array-size-smaller": _value(b"\x02\x01\x00\x02\x00\x05\x02\x00"),
    "field-length-too-small": b"\x01\x01\x00" + (len(_DIFFS) - 1).to_bytes(4, "little") + _DIFFS[:-1],
}
_FRAME: Final[dict[str, bytes]] = {
    **{f"value-options-{code}": bytes((code,)) + _GOOD[1:] for code in (2, 3, 4, 5, 127, 250, 251)},
    "field-length-one-too-large": b"\x01\x01\x00" + (len(_DIFFS) + 1).to_bytes(4, "little") + _DIFFS,
    "field-length-huge": b"\x01\x01\x00\xff\xff\xff\x7f" + _DIFFS,
    "byte-after-the-row": _GOOD + b"\x00",
    **{f"row-cut-at-{size}": _GOOD[:size] for size in range(len(_GOOD))},
}
_NOT_APPLICABLE: Final[dict[str, bytes]] = {
    "replace-root": _path("$"),
    "insert-root": partial_image(diff(1, b"$")),
    "remove-root": partial_image(diff(2, b"$", None)),
    "wildcard-member": _path("$.*"),
    "wildcard-cell": _path("$.arr[*]"),
    "range": _path("$.arr[1 to 2]"),
    "beyond-the-front": _path("$.arr[last-9]"),
    "cell-past-the-end": _path("$.arr[9]"),
    "two-levels-missing": partial_image(diff(1, b"$.q.r")),
    "insert-existing": partial_image(diff(1)),
    "insert-under-scalar": partial_image(diff(1, b"$.n.x")),
    "insert-cell-of-scalar": partial_image(diff(1, b"$.n[1]")),
    "cell-of-scalar": _path("$.n[0]"),
    "same-integer-wider": _value(b"\x07\x01\x00\x00\x00"),
    "same-integer": _value(encode(1)),
    "same-string": partial_image(diff(path=b"$.s", data=encode("abc"))),
    "same-array": partial_image(diff(path=b"$.arr", data=encode([1, 2, 3, [4, 5]]))),
    "second-of-two-equal": partial_image(_DIFFS + _DIFFS),
}
_IN_ARRAY: Final = b"\x02\x01\x00\x10\x00\x02\x07\x00"  # an array of one array, which follows
_LIBRARY: Final[dict[str, tuple[int, bytes]]] = {
    "decimal-broken": (3142, _value(_opaque(DECIMAL, b"\x41\x02\xff"))),
    "inner-offset-outside": (3142, _value(_IN_ARRAY + b"\x01\x00\x09\x00\x0c\x70\x00\x01a")),
    "inner-self-reference": (3142, _value(_IN_ARRAY + b"\x01\x00\x09\x00\x02\x00\x00\x00\x00")),
    "nested-100": (3157, _value(_nested(100))),
}
_ACCEPTED: Final[dict[str, bytes]] = {
    "path-with-spaces": _path("$ . n"),
    "path-quoted": _path('$."n"'),
    "path-escaped": _path('$."\\u006e"'),
    "path-leading-zero": _path("$.arr[00]"),
    "replace-last": _path("$.arr[last]"),
    "path-length-of-3-bytes": partial_image(diff(path_length=b"\xfc\x03\x00")),
    "data-length-of-3-bytes": partial_image(diff(data_length=b"\xfc\x03\x00")),
    "value-options-of-3-bytes": b"\xfc\x01\x00" + _GOOD[1:],
    "byte-after-the-value": _value(_TWO + b"\x00"),
    "value-of-no-bytes": _value(b""),
    "double-nan": _value(b"\x0b" + struct.pack("<d", float("nan"))),
    "double-infinite": _value(b"\x0b" + struct.pack("<d", float("inf"))),
    "unknown-opaque": _value(_opaque(200, b"xyz")),
    "surplus-partial-columns": b"\x01\xff" + _GOOD[2:],
    "partial-bit-of-null": b"\x01\x01\x01",
    "no-partial-bit": b"\x01\x00\x00" + full_image(_TWO)[2:],
    "full-value": full_image(_TWO),
    "no-diffs": partial_image(b""),
    "nested-98": _value(_nested(98)),
}
# What 9.7.4 stores though it is no JSON: only where a row may be spoilt.
_SPOILING: Final[dict[str, bytes]] = {
    "string-not-utf8": _value(b"\x0c\x03a\xffb"),
    "cell-not-utf8": _value(b"\x02\x01\x00\x09\x00\x0c\x07\x00\x01\xfe"),
    "member-not-utf8": partial_image(diff(1, b'$."\xff"')),
    "full-string-not-utf8": full_image(b"\x0c\x02\xc3\x28"),
    "full-type-0d": full_image(b"\x0d\x00\x00"),
    "full-type-55": full_image(b"\x55\x00\x00"),
    "full-string-cut": full_image(b"\x0c\x30abc"),
    "full-integer-cut": full_image(b"\x05\x01"),
    "full-array-cut": full_image(b"\x02\x01\x00\x60\x00\x05\x02\x00"),
}


def listed() -> Iterator[Injection]:
    """The damages of requirements FR5, each on the same document."""
    for group, number, demand, hazard in (
        (_CORRUPTED, 3649, Demand.ERROR, "none"),
        (_FRAME, 1610, Demand.ERROR, "none"),
        (_NOT_APPLICABLE, 3648, Demand.EITHER, "none"),
        (_ACCEPTED, None, Demand.EITHER, "none"),
        (_SPOILING, None, Demand.ERROR, "corrupts-row"),
    ):
        for name, image in group.items():
            yield Injection(name=name, stored=STORED, image=image, demand=demand, number=number, hazard=hazard)
    for name, (number, image) in _LIBRARY.items():
        yield Injection(name=name, stored=STORED, image=image, demand=Demand.ERROR, number=number)


_TYPES: Final = (0x0D, 0x0E, *range(0x10, 0x100))
_FIELDS: Final = mix(
    ("operation", 3),
    ("options", 3),
    ("cut", 6),
    ("row", 3),
    ("path", 8),
    ("lengths", 4),
    ("type", 2),
    ("after", 2),
    ("text", 1),
    ("full", 1),
)


def damaged(draw: Draw) -> Injection:
    """A valid diff of some place of the document, with one changed field."""
    place = path_targets.aim(draw, open_document(STORED))
    path = path_targets.spell(draw, place.legs).encode()
    value: JsonValue = scalars.scalar(draw) if draw.below(3) else [scalars.scalar(draw) for _ in range(draw.below(4))]
    data = encode(value)
    good = diff(0, path, data)
    demand = Demand.ERROR
    field = draw.choice(_FIELDS)
    if field == "operation":
        image = partial_image(diff(3 + draw.below(253), path, data))
    elif field == "options":
        image = bytes((2 + draw.below(249),)) + partial_image(good)[1:]
    elif field == "cut":
        image = partial_image(good[: 1 + draw.below(len(good) - 1)])
    elif field == "row":
        whole = partial_image(good)
        image = whole[: draw.below(len(whole))]
    elif field == "path":
        demand = Demand.EITHER  # what comes out may be a path all the same
        image = partial_image(diff(0, apply_edits(path, edits(draw, len(path), most=2)), data))
    elif field == "lengths":
        image = partial_image(
            diff(0, path, data, path_length=encode_packed(len(path) + len(data) + 10 + draw.below(300)))
            if draw.below(2)
            else diff(0, path, data, data_length=encode_packed(len(data) + 1 + draw.below(300)))
        )
    elif field == "type":
        image = partial_image(diff(0, path, bytes((draw.choice(_TYPES),)) + data[1:]))
    elif field == "text":
        raw = scalars.string(draw)[:100].encode()
        cut = draw.below(len(raw) + 1)
        raw = raw[:cut] + draw.choice((b"\xff", b"\xfe", b"\xc0")) + raw[cut:]
        image = partial_image(diff(1, b"$.new", b"\x0c" + encode_varlen(len(raw)) + raw))
    elif field == "full":
        raw = scalars.string(draw)[:100].encode() + b"x"
        broken = b"\x0c" + encode_varlen(len(raw) + 1 + draw.below(100)) + raw
        image = full_image(broken if draw.below(2) else bytes((draw.choice(_TYPES),)) + data[1:])
    else:
        image = partial_image(diff(2, path, None) + bytes((3 + draw.below(253),)))
    hazard = "corrupts-row" if field in ("text", "full") else "none"
    return Injection(name=f"generated-{field}", stored=STORED, image=image, demand=demand, hazard=hazard)
