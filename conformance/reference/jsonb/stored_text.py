"""The text of a JSONB document straight from its bytes, without Python values between.

The result is ``format_text(decode(data))``. A damaged or unusual document (shared children, members out of order, more
than 100 containers) takes exactly that way. It has the rules and the errors.
"""

from __future__ import annotations

from itertools import chain, repeat
from json.encoder import encode_basestring as _quote
from typing import TYPE_CHECKING, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import (
    LONG,
    container_header,
    decode,
    decode_scalar,
    known_keys,
    last_key_end,
    object_keys,
    spend,
)
from conformance.reference.jsonb.leaves import Pieces, double_at
from conformance.reference.jsonb.members import stored_order
from conformance.reference.jsonb.text import format_double, format_text
from conformance.reference.jsonb.values import (
    DOUBLE,
    INT16,
    INT32,
    LARGE_ARRAY,
    LARGE_OBJECT,
    LITERAL,
    MAX_DEPTH,
    STRING,
    UINT16,
    UINT32,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORDS: Final = ("null", "true", "false")
_LIST: Final = ["[", *[", "] * 255]  # what stands before each element
_MANY: Final = 1 << 14


def document_text(data: bytes) -> str:
    """The text of a document on one line. Raises what :func:`decode` and :func:`format_text` raise."""
    if data and data[0] <= LARGE_ARRAY:
        pieces = Pieces(len(data) // 3 + 1)
        try:
            if _container(data, data[0], 1, len(data), MAX_DEPTH, [0, len(data)], pieces):
                return pieces.text()
        except (CodecError, UnicodeDecodeError):
            pass  # the other way raises the error with its path
    value = decode(data)
    return f"{value}" if type(value) is int else format_text(value)


def _container(  # noqa: C901 - one loop over all types: a call for each would cost more than its work
    data: bytes, kind: int, start: int, end: int, room: int, budget: list[int], pieces: Pieces
) -> bool:
    """Add the text of a container to ``pieces``; false where :func:`decode` must read it."""
    if not room:
        return False
    count, end, values, values_end = container_header(data, kind, start, end)
    if not pieces.take(count):
        return False
    if not count:
        pieces.add("[]" if kind > LARGE_OBJECT else "{}")
        return True
    large = kind & 1
    octets = data  # by number: a pointer in the compiled build
    prefixes: Iterable[str] | None
    if kind > LARGE_OBJECT:
        prefixes = _LIST[:count] if count <= len(_LIST) else chain.from_iterable(_commas(count, pieces))
    else:
        prefixes = _prefixes(data, kind, start, end, values, values_end, budget)
        if prefixes is None:
            return False
    width = 5 if large else 3
    # The commonest types stand first and are read here, as in decode.
    place = values - width
    for prefix in prefixes:
        pieces.add(prefix)
        place += width
        entry_kind = octets[place]
        offset = octets[place + 1] | octets[place + 2] << 8
        if large:
            top = octets[place + 4]
            offset |= octets[place + 3] << 16 | top << 24
        at = start + offset
        if entry_kind == STRING and values_end <= at < end and octets[at] < 0x80:
            stop = at + 1 + octets[at]
            if stop > end:
                return False
            pieces.quoted(octets, at + 1, stop)
        elif entry_kind == INT16:
            pieces.integer((offset & 0xFFFF ^ 0x8000) - 0x8000)
        elif entry_kind == LITERAL:
            word = offset & 0xFF
            if word > 2:
                return False
            pieces.add(_WORDS[word])
        elif entry_kind == UINT16:
            pieces.integer(offset & 0xFFFF)
        elif large and entry_kind == INT32:
            pieces.integer((offset ^ 0x80000000) - 0x80000000)
        elif large and entry_kind == UINT32:
            pieces.integer(offset)
        elif at < values_end or at > end:
            return False
        elif entry_kind == DOUBLE and at + 8 <= end:
            if not pieces.double(octets, at):
                pieces.add(format_double(double_at(octets, at)))
        elif entry_kind > LARGE_ARRAY:
            value, stop = decode_scalar(data, entry_kind, at, end)
            if stop - at > LONG:
                spend(budget, stop - at, at)
            pieces.add(format_text(value))
        elif not _container(data, entry_kind, at, end, room - 1, budget, pieces):
            return False
    pieces.add("]" if kind > LARGE_OBJECT else "}")
    return True


def _commas(count: int, pieces: Pieces) -> Iterator[Iterable[str]]:
    """Yield the texts before the elements of a long array, in runs; behind each, the pieces become one."""
    yield ("[",)
    for left in range(count - 1, 0, -_MANY):
        yield repeat(", ", min(left, _MANY))
        pieces.fold()


# Objects of one array mostly have the same keys: their texts are kept as decode keeps the keys, under the same bytes.
_known_prefixes: dict[tuple[int, bytes, bytes], list[str]] = {}
_latest: tuple[int, bytes, bytes, list[str]] = (-1, b"", b"", [])  # of the last object: that of the next, mostly


def _prefixes(
    data: bytes, kind: int, start: int, end: int, values: int, values_end: int, budget: list[int]
) -> list[str] | None:
    """Return the text in front of each member's value; ``None`` where the members are not in stored order."""
    global _latest  # noqa: PLW0603
    place = start + (8 if kind else 4)
    same, entries, names, prefixes = _latest
    if (
        kind == same
        and len(entries) == values - place
        and values_end + len(names) <= end
        and data.startswith(names, values_end)
        and data.startswith(entries, place)
    ):
        return prefixes
    entries = data[place:values]
    last = last_key_end(entries, kind, start, len(entries))
    names = data[values_end:last]
    known = kind, entries, names
    found = _known_prefixes.get(known)
    if found is None or last > end:
        keys = object_keys(data, kind, start, end, values_end, entries, budget)
        if list(stored_order(dict.fromkeys(keys))) != keys:
            return None
        found = [f", {_quote(key)}: " for key in keys]
        found[0] = "{" + found[0][2:]
        if known not in known_keys:
            return found
        _known_prefixes[known] = found
    _latest = kind, entries, names, found
    return found
