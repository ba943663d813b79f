"""The digest of a result: independent of the order of rows, and of how the work was cut, retried or resumed.

A row's hash is Spark's ``xxhash64`` over its columns as 64-bit integers. It is XXH64 of each 8 bytes, with the hash so
far as the seed, beginning with 42. Python computes it here too, so that results without Spark can be compared. Equal
rows cancel each other in the XOR, so both counts are part of the digest.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MASK: Final = (1 << 64) - 1
_SEED: Final = 42
_P1: Final = 0x9E3779B185EBCA87
_P2: Final = 0xC2B2AE3D27D4EB4F
_P3: Final = 0x165667B19E3779F9
_P4: Final = 0x85EBCA77C2B2AE63
_P5: Final = 0x27D4EB2F165667C5


class CellTally(NamedTuple):
    """The tally of a cell's rows: how many, how many different scenarios, the XOR of the hashes (signed)."""

    rows: int
    scenarios: int
    xor: int


def row_hash(row: Sequence[int]) -> int:
    """Spark's ``xxhash64`` of a row of 64-bit integers, unsigned."""
    result = _SEED
    for value in row:
        result = _hash_long(value & _MASK, result)
    return result


def _hash_long(value: int, seed: int) -> int:
    mixed = _rotate(value * _P2 & _MASK, 31) * _P1 & _MASK
    out = (seed + _P5 + 8 & _MASK) ^ mixed
    out = _rotate(out, 27) * _P1 + _P4 & _MASK
    out = (out ^ out >> 33) * _P2 & _MASK
    out = (out ^ out >> 29) * _P3 & _MASK
    return out ^ out >> 32


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def tally(rows: Iterable[Sequence[int]]) -> dict[int, CellTally]:
    """The tallies of rows that begin with cell and scenario."""
    found: dict[int, list[int]] = {}
    seen: dict[int, set[int]] = {}
    for row in rows:
        entry = found.setdefault(row[0], [0, 0])
        entry[0] += 1
        entry[1] ^= row_hash(row)
        seen.setdefault(row[0], set()).add(row[1])
    return {
        cell: CellTally(count, len(seen[cell]), xor - (1 << 64) if xor >> 63 else xor)
        for cell, (count, xor) in found.items()
    }


def digest(matrix_digest: str, cells: Mapping[int, CellTally]) -> str:
    """The digest of a whole result."""
    lines = [f"{cell} {entry.rows} {entry.scenarios} {entry.xor}" for cell, entry in sorted(cells.items())]
    return hashlib.blake2b("\n".join([matrix_digest, *lines]).encode(), digest_size=16).hexdigest()


def unsound(cells: Mapping[int, CellTally], counts: Sequence[int]) -> list[str]:
    """Faults of the set of rows: cells that are missing, too many rows, too few, or rows twice."""
    out = []
    for cell, count in enumerate(counts):
        entry = cells.get(cell, CellTally(0, 0, 0))
        if entry.rows != count or entry.scenarios != count:
            out.append(f"cell {cell}: expected {count} rows, got {entry.rows} of {entry.scenarios} scenarios")
    out += [f"cell {cell}: {cells[cell].rows} rows that nobody asked for" for cell in cells if cell >= len(counts)]
    return out
