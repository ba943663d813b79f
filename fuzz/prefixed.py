"""Inputs of several parts: a length of two bytes precedes each part but the last.

A length beyond the input takes all remaining bytes, so every input has a meaning and none is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from generators.draw import Draw


def join(*parts: bytes) -> bytes:
    """The input for some parts; each but the last has less than 64 KB."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in parts[:-1]) + parts[-1]


def split(data: bytes, count: int) -> list[bytes]:
    """Split any input into ``count`` parts."""
    parts = []
    for _ in range(count - 1):
        length = int.from_bytes(data[:2], "little")
        parts.append(data[2 : 2 + length])
        data = data[2 + length :]
    return [*parts, data]


def mutate_one(
    draw: Draw, data: bytes, max_size: int, mutators: tuple[Callable[[bytes, int, int], bytes], ...]
) -> bytes:
    """Change one part with its mutator, and keep the others."""
    parts = split(data, len(mutators))
    place = draw.below(len(mutators))
    room = max_size - len(join(*parts)) + len(parts[place])
    if room <= 0:
        return data[:max_size]
    parts[place] = mutators[place](parts[place], room, draw.below(1 << 30))
    return join(*parts)[:max_size]
