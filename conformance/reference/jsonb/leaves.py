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


class Pieces(list[str]):
    """The text of a document while its pieces are put together; in the compiled build, bytes without objects between.

    ``left``: how many elements may follow. ``add`` takes a text as it is.
    """

    __slots__ = ("_folded", "_left")

    def __init__(self, left: int) -> None:
        self._folded: list[str] = []
        self._left = left

    add = list[str].append

    def take(self, count: int) -> bool:
        """Whether so many more elements may follow."""
        self._left -= count
        return self._left >= 0

    def quoted(self, data: bytes, start: int, stop: int) -> None:
        """Add what :func:`quoted` gives."""
        self.append(quoted(data, start, stop))

    def integer(self, value: int) -> None:
        """Add an integer."""
        self.append(str(value))

    def double(self, data: bytes, place: int) -> bool:  # noqa: ARG002 - as the compiled one
        """Add the DOUBLE in the eight bytes at ``place``, if that takes no more than its shortest digits."""
        return False

    def fold(self) -> None:
        """Make one text of many pieces, which takes a twentieth of their memory."""
        self._folded.append("".join(self))
        self.clear()

    def text(self) -> str:
        """All that was added."""
        return "".join(self._folded + self)
