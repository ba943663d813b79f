"""The diffs of a partial column value: frames, typed diffs, and encoding back to bytes."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from conformance.reference.jsonb.encode import encode
from conformance.reference.jsonb.values import JsonValue, same
from conformance.reference.partial.diffs import Diff, Operation, RawDiff, decode_diffs, encode_diffs, split_diffs
from fuzz import documents
from fuzz.naive import diffs as naive
from fuzz.naive.documents import identical
from fuzz.naive.pieces import Refused
from fuzz.targets.path import leg_of
from fuzz.violation import attempt, require
from generators.damaged_events import diff

if TYPE_CHECKING:
    from collections.abc import Iterator

INVARIANT: Final = (
    "The naive reader reads the same diffs, or refuses them too; what is read is written as diffs that read the same;"
    " the strict reading writes it back byte for byte unless its values have holes."
)
INSTRUMENT: Final[tuple[str, ...]] = (
    "conformance.reference.cursor",
    "conformance.reference.partial.diffs",
    "conformance.reference.jsonb.decode",
    "conformance.reference.partial.paths",
)
MAX_LEN: Final = 512
DICTIONARY: Final = (
    b"$.", b"$[", b"[last-", b"[last]", b"**", b"[*]", b" to ", b'$."', b"\\u00", b"\xfc\x03\x00", b"\xfd\x03\x00\x00",
    b"\xfe\x03\x00\x00\x00\x00\x00\x00\x00", b"\xfb", b"4294967295", b"4294967296", *documents.DICTIONARY,
)  # fmt: skip


def check(data: bytes) -> None:
    """Check any bytes."""
    frames, torn = attempt(split_diffs, data)
    diffs, unread = attempt(decode_diffs, data)
    _compare(data, diffs)
    strict, refused = attempt(decode_diffs, data, strict=True)
    require(torn is None or unread, "diffs without frames are not read", str(torn))
    require(unread is None or refused, "the strict reading takes nothing that the lenient one refuses", str(unread))
    if diffs is None or frames is None:
        return
    require(len(diffs) == len(frames), "there are as many diffs as frames", len(diffs), len(frames))
    require(
        [*map(tuple, frames)] == [*map(tuple, naive.frames(data))], "the frames are those of the naive reader", frames
    )
    if strict is not None:
        require(_same(strict, diffs), "the strict reading gives the diffs of the lenient one")
    written, unwritten = attempt(encode_diffs, diffs)
    require(written is not None, "what was read can be written", str(unwritten))
    again, unread = attempt(decode_diffs, written or b"")
    require(again is not None and _same(again, diffs), "what was written reads the same", str(unread))
    require(encode_diffs(again or ()) == written, "writing what was written changes nothing")
    if strict is not None:
        values = [item.value for item in strict if item.operation is not Operation.REMOVE]
        compact = all(encode(value) == frame for value, frame in zip(values, _data(frames), strict=True))
        lengths = len(written or b"") == len(data)  # a longer form of a length is legal
        require(not (compact and lengths) or written == data, "compact diffs are written byte for byte", data, written)


def _compare(data: bytes, diffs: tuple[Diff, ...] | None) -> None:
    """Read the diffs a second time, and compare."""
    try:
        others = naive.read(data)
    except Refused as reason:
        require(diffs is None, "the naive reader reads what the reference reads", str(reason))
        return
    require(diffs is not None, "the reference reads what the naive reader reads", others)
    for one, other in zip_longest(diffs or (), others):
        same = one and other and (one.operation, [*map(leg_of, one.path.legs)]) == (other.operation, other.legs)
        require(same and identical(one.value, other.value), "both read the same diffs", one, other)


def _data(frames: list[RawDiff]) -> list[bytes]:
    return [data for _, _, data in frames if data is not None]


def _same(a: tuple[Diff, ...], b: tuple[Diff, ...]) -> bool:
    return len(a) == len(b) and all(
        x.operation is y.operation and x.path == y.path and same(x.value, y.value) for x, y in zip(a, b, strict=True)
    )


_PATHS: Final = (
    b"$.a", b"$[0]", b"$[last]", b"$[last-1]", b'$."a b"', b"$.a[4294967295]", b"$", b"$[*]", b"$**.a", b"$[1 to last]",
    b"$.a[4294967296]", b"$.", b'$."\\u0041"', b"$ . a [ 01 ]", b"$.\xc3\xa9", b'$."\xff"', b"$.\xff",
)  # fmt: skip


def seeds() -> Iterator[tuple[str, bytes]]:
    """Every operation, the forms of paths and lengths, and values of all types."""
    two: JsonValue = 2
    value = encode(two)
    yield "none", b""
    for name, code in (("replace", 0), ("insert", 1)):
        yield name, diff(code, b"$.a", value)
    yield "remove", diff(2, b"$.a", None)
    yield "three", diff(0, b"$.b", encode("zz")) + diff(2, b"$.c[1]", None) + diff(1, b"$.new", encode("n"))
    yield "operation-3", diff(3, b"$.a", value)
    for number, path in enumerate(_PATHS):
        yield f"path-{number}", diff(0, path, value)
    for name, length in (("3", b"\xfc\x03\x00"), ("4", b"\xfd\x03\x00\x00"), ("9", b"\xfe\x03" + bytes(7))):
        yield f"path-length-in-{name}", diff(0, b"$.a", value, path_length=length)
        yield f"data-length-in-{name}", diff(0, b"$.a", value, data_length=length)
    yield "length-fb", diff(0, b"$.a", value, path_length=b"\xfb")
    yield "length-beyond", diff(0, b"$.a", value, data_length=b"\x40")
    yield "length-4g", diff(0, b"$.a", value, data_length=b"\xfe\xff\xff\xff\xff\x00\x00\x00\x00")
    yield "value-of-no-bytes", diff(0, b"$.a", b"")
    yield "path-of-252-bytes", diff(0, b"$." + b"a" * 250, value)
    for name, document in documents.small_seeds():
        if len(document) < 60:
            yield f"value-{name}", diff(0, b"$.a", document)
