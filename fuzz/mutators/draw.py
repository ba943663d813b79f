"""The generators' source of decisions, from a seed: fast, because a mutator runs before every execution."""

from __future__ import annotations

from random import Random
from zlib import crc32

from generators.draw import Draw, KeyPart


class SeedDraw(Draw):
    """Makes the same decisions for the same seed, in every process. Findings are kept as bytes."""

    __slots__ = ("_random", "_seed")

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = Random(seed)

    def below(self, n: int, /) -> int:
        return int(self._random.random() * n) if n < 1 << 50 else self._random.randrange(n)

    def fork(self, *key: KeyPart) -> SeedDraw:
        return SeedDraw(crc32(repr((self._seed, *key)).encode()))
