"""The decisions of generators.

A generator is written once against :class:`Draw`, whose only source is :meth:`Draw.below`. :class:`Stream` drives bulk
runs, servers and Spark; ``generators.strategies.HypothesisDraw`` drives search and shrinking. Every generator follows
two conventions, which keep shrinking good. **A smaller number means a simpler result**: the simplest choice comes
first, ``chance`` is False for small numbers, ``integer`` goes away from zero. And a generator draws no decision that it
does not need.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from hashlib import blake2b
from itertools import chain, count
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

KeyPart: TypeAlias = "str | int"

_WORDS: Final = struct.Struct("<16I")  # one blake2b digest of 64 bytes
_WORD: Final = 1 << 32


class Draw(ABC):
    """A source of decisions."""

    __slots__ = ()

    @abstractmethod
    def below(self, n: int, /) -> int:
        """An integer in ``0 .. n-1``; ``n`` is at least 1."""

    @abstractmethod
    def fork(self, *key: KeyPart) -> Draw:
        """The source for a part of the work: the draws of one part do not shift those of the next."""

    def integer(self, low: int, high: int) -> int:
        """An integer in ``low .. high``, both included; small numbers drawn mean a result near zero."""
        if low > high:
            raise ValueError(f"no integer between {low} and {high}")
        drawn = self.below(high - low + 1)
        if low >= 0:
            return low + drawn
        if high <= 0:
            return high - drawn
        return drawn if drawn <= high else high - drawn

    def bits(self, n: int) -> int:
        """An integer of ``n`` bits."""
        return self.below(1 << n)

    def chance(self, numerator: int, denominator: int) -> bool:
        """True in ``numerator`` of ``denominator`` cases."""
        return self.below(denominator) >= denominator - numerator

    def choice(self, items: Sequence[T]) -> T:
        """One of ``items``, the simplest of which comes first. For unequal weights see :func:`mix`."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """``n`` different positions of ``items``, in their order."""
        if not 0 <= n <= len(items):
            raise ValueError(f"cannot take {n} of {len(items)} items")
        # Floyd's way: n draws whatever the population.
        chosen: set[int] = set()
        for top in range(len(items) - n, len(items)):
            position = self.below(top + 1)
            chosen.add(top if position in chosen else position)
        return [items[position] for position in sorted(chosen)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """``items`` in another order; all numbers 0 leave the order alone."""
        result = list(items)
        for position in range(len(result) - 1):
            other = position + self.below(len(result) - position)
            result[position], result[other] = result[other], result[position]
        return result

    def letters(self, length: int, alphabet: str) -> str:
        """``length`` characters of ``alphabet``. Costs one decision per eight of them."""
        base = len(alphabet)
        result = []
        while length > 0:
            group = min(length, 8)
            number = self.below(base**group)
            for _ in range(group):
                number, digit = divmod(number, base)
                result.append(alphabet[digit])
            length -= group
        return "".join(result)


def mix(*weighted: tuple[T, int]) -> tuple[T, ...]:
    """A table for :meth:`Draw.choice` in which each item occurs as often as its weight says.

    Built once, when a module is loaded: choosing from it is one draw and one index.
    """
    if not weighted or any(weight < 0 for _, weight in weighted):
        raise ValueError("weights are 0 or more, and there must be one")
    table = tuple(item for item, weight in weighted for _ in range(weight))
    if not 0 < len(table) <= 10_000:
        raise ValueError(f"the weights add up to {len(table)}, not to 1 .. 10000")
    return table


class Stream(Draw):
    """A counter stream: block number n is blake2b of n under a key made from ``key``.

    ``key`` is (seed or campaign, cell, index, ...). The numbers of a stream depend on its key alone: not on the Python
    version, the machine, or other streams.
    """

    __slots__ = ("_word", "key")

    def __init__(self, *key: KeyPart) -> None:
        self.key: Final = key
        secret = blake2b(_key_bytes(key)).digest()

        def block(number: int) -> tuple[int, ...]:
            return _WORDS.unpack(blake2b(number.to_bytes(8, "little"), key=secret).digest())

        self._word: Final[Callable[[], int]] = chain.from_iterable(map(block, count())).__next__

    def below(self, n: int, /) -> int:
        # Multiply and shift: no rejection loop, so each call takes a fixed number of words. The bias is below n / 2^32.
        if 0 < n <= _WORD:
            return self._word() * n >> 32
        if n <= 0:
            raise ValueError(f"nothing is below {n}")
        words = (n.bit_length() + 63) // 32
        number = 0
        for _ in range(words):
            number = number << 32 | self._word()
        return number * n >> 32 * words

    def fork(self, *key: KeyPart) -> Stream:
        return Stream(*self.key, *key)

    def __repr__(self) -> str:
        return f"Stream{self.key!r}"


def _key_bytes(key: tuple[KeyPart, ...]) -> bytes:
    """Different keys, different bytes: ``("a", "b")`` is not ``("ab",)`` and 1 is not ``"1"``."""
    if not key:
        raise ValueError("a stream needs a key")
    parts = []
    for part in key:
        if isinstance(part, bool) or not isinstance(part, (str, int)):
            raise TypeError(f"a part of a stream's key is a str or an int, not {part!r}")
        raw = part.encode() if isinstance(part, str) else str(part).encode()
        parts.append(b"%c%d:%s" % (b"s" if isinstance(part, str) else b"i", len(raw), raw))
    return b"".join(parts)
