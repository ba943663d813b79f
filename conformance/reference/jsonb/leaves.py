"""The leaves of a document's text: what the compiled build does without Python objects between (leaves.pyx)."""

from __future__ import annotations

from json.encoder import encode_basestring as _quote
from struct import Struct

_double = Struct("<d").unpack_from


def quoted(data: bytes, start: int, stop: int) -> str:
    """The UTF-8 text ``data[start:stop]`` as a JSON string. Raises :class:`UnicodeDecodeError`."""
    return _quote(data[start:stop].decode())


def double_at(data: bytes, place: int) -> float:
    """The DOUBLE in the eight bytes at ``place``, which exist."""
    value: float = _double(data, place)[0]
    return value


shortest = repr  # the shortest digits that give a DOUBLE again, in Python's notation
