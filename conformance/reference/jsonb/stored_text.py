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
from conformance.reference.jsonb.leaves import double_at, quoted
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
        parts: list[str] = []
        pieces: list[str] = []
        try:
            if _container(data, data[0], 1, len(data), MAX_DEPTH, [len(data) // 3 + 1, len(data)], parts, pieces):
                return "".join(pieces + parts)
        except (CodecError, UnicodeDecodeError):
            pass  # the other way raises the error with its path
    value = decode(data)
    return f"{value}" if type(value) is int else format_text(value)


def _container(  # noqa: C901 - one loop over all types: a call for each would cost more than its work
    data: bytes, kind: int, start: int, end: int, room: int, budget: list[int], parts: list[str], pieces: list[str]
) -> bool:
    """Append the text of a container to ``parts``; false where :func:`decode` must read it.

    Parts of a long array become one of ``pieces``, which stand before the parts: twenty times less memory.
    """
    if not room:
        return False
    count, end, values, values_end = container_header(data, kind, start, end)
    budget[0] -= count
    if budget[0] < 0:
        return False
    if not count:
        parts.append("[]" if kind > LARGE_OBJECT else "{}")
        return True
    large = kind & 1
    octets = data  # by number: a pointer in the compiled build
    prefixes: Iterable[str] | None
    if kind > LARGE_OBJECT:
        prefixes = _LIST[:count] if count <= len(_LIST) else chain.from_iterable(_commas(count, parts, pieces))
    else:
        prefixes = _prefixes(data, kind, start, end, values, values_end, budget)
        if prefixes is None:
            return False
    width = 5 if large else 3
    # The commonest types stand first and are read here, as in decode.
    place = values - width
    for prefix in prefixes:
        parts.append(prefix)
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
            parts.append(quoted(octets, at + 1, stop))
        elif entry_kind == INT16:
            parts.append(str((offset & 0xFFFF ^ 0x8000) - 0x8000))
        elif entry_kind == LITERAL:
            word = offset & 0xFF
            if word > 2:
                return False
            parts.append(_WORDS[word])
        elif entry_kind == UINT16:
            parts.append(str(offset & 0xFFFF))
        elif large and entry_kind == INT32:
            parts.append(str((offset ^ 0x80000000) - 0x80000000))
        elif large and entry_kind == UINT32:
            parts.append(str(offset))
        elif at < values_end or at > end:
            return False
        elif entry_kind == DOUBLE and at + 8 <= end:
            parts.append(format_double(double_at(octets, at)))
        elif entry_kind > LARGE_ARRAY:
            value, stop = decode_scalar(data, entry_kind, at, end)
            if stop - at > LONG:
                spend(budget, stop - at, at)
            parts.append(format_text(value))
        elif not _container(data, entry_kind, at, end, room - 1, budget, parts, pieces):
            return False
    parts.append("]" if kind > LARGE_OBJECT else "}")
    return True


def _commas(count: int, parts: list[str], pieces: list[str]) -> Iterator[Iterable[str]]:
    """Yield the texts before the elements of a long array, in runs.

    Behind each run of commas the parts become a piece.
    """
    yield ("[",)
    for left in range(count - 1, 0, -_MANY):
        yield repeat(", ", min(left, _MANY))
        pieces.append("".join(parts))
        parts.clear()


# Objects of one array mostly have the same keys: their texts are kept as decode keeps the keys, under the same bytes.
_known_prefixes: dict[tuple[int, bytes, bytes], list[str]] = {}


def _prefixes(
    data: bytes, kind: int, start: int, end: int, values: int, values_end: int, budget: list[int]
) -> list[str] | None:
    """Return the text in front of each member's value; ``None`` where the members are not in stored order."""
    entries = data[start + (8 if kind else 4) : values]
    last = last_key_end(entries, kind, start, len(entries))
    known = kind, entries, data[values_end:last]
    prefixes = _known_prefixes.get(known)
    if prefixes is not None and last <= end:
        return prefixes
    keys = object_keys(data, kind, start, end, values_end, entries, budget)
    if list(stored_order(dict.fromkeys(keys))) != keys:
        return None
    prefixes = [f", {_quote(key)}: " for key in keys]
    prefixes[0] = "{" + prefixes[0][2:]
    if known in known_keys:
        _known_prefixes[known] = prefixes
    return prefixes
