"""Names of functions in a program, taken from its file and found by the addresses of a stack.

A server that was started through its loader (a bundle) does not find its own names: /proc/self/exe is the loader, and
the crash report says <unknown>. The file has them. Observed on 9.7.4: the stripped mysqld of Debian has 80,000 names,
for its plugins (.dynsym), and its mysqlbinlog none.
"""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

HANDLER: Final = "_Z19handle_fatal_signaliP9siginfo_tPv"  # the signal handler, which is in every crash report
_NEAR: Final = 4  # the handler is among this many innermost frames
_PAGE: Final = 4096  # bytes; the system loads programs at a multiple of the page size
_ELF64_LITTLE: Final = b"\x7fELF\x02\x01"
_SECTIONS_AT: Final = struct.Struct("<40xQ10xHH")  # offset of the section headers, size and number of them
_SECTION: Final = struct.Struct("<4xI16xQQI20x")  # type, offset, size, linked section
_SYMBOL: Final = struct.Struct("<IBxHQQ")  # name, type, section, value, size
_SYMBOL_TABLES: Final = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_FUNCTION: Final = 2


@dataclass(frozen=True, slots=True)
class Symbols:
    """Functions in the order of their ``ends`` (relative to the program's load address)."""

    ends: tuple[int, ...]
    starts: tuple[int, ...]
    names: tuple[bytes, ...]

    def name(self, address: int) -> str:
        """The function that a call returns into; an empty text if the file has no name for it.

        A return address follows its call: at most it is the end of the function.
        """
        at = bisect_left(self.ends, address)
        if at == len(self.ends) or address <= self.starts[at]:
            return ""
        return self.names[at].decode("ascii", "replace")

    def resolve(self, addresses: Sequence[int]) -> tuple[str, ...]:
        """The names of a stack's functions, innermost first.

        The signal handler, whose address within its page is known, reveals where the program is loaded. If several load
        addresses fit, the one that explains most frames wins.
        """
        places = [[self.name(address - base) for address in addresses] for base in self._bases(addresses[:_NEAR])]
        return tuple(max(places, key=lambda names: sum(map(bool, names)), default=[""] * len(addresses)))

    def _bases(self, addresses: Iterable[int]) -> Iterator[int]:
        for start, end, name in zip(self.starts, self.ends, self.names, strict=True):
            if name == HANDLER.encode():
                for address in addresses:
                    inside = (address - start) % _PAGE
                    if 0 < inside <= end - start and address >= start + inside:
                        yield address - start - inside


@lru_cache(maxsize=2)
def symbols_of(program: Path) -> Symbols:
    """The functions in a program's file; none unless it is a 64-bit, little-endian ELF file. Raises ``OSError``."""
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            found = sorted(_functions(data))
        except (struct.error, ValueError):  # the file is cut off
            found = []
    return Symbols(
        tuple(end for end, _, _ in found), tuple(start for _, start, _ in found), tuple(name for _, _, name in found)
    )


def _functions(data: mmap.mmap) -> Iterator[tuple[int, int, bytes]]:
    """End, start and name of each function."""
    if data[: len(_ELF64_LITTLE)] != _ELF64_LITTLE:
        return
    at, size, count = _SECTIONS_AT.unpack_from(data, 0)
    sections = [_SECTION.unpack_from(data, at + size * number) for number in range(count)]
    for kind, start, length, linked in sections:
        if kind not in _SYMBOL_TABLES:
            continue
        texts = sections[linked][1]
        for name, code, section, value, extent in _SYMBOL.iter_unpack(data[start : start + length]):
            if code & 15 == _FUNCTION and section and extent:
                yield value + extent, value, data[texts + name : data.find(b"\0", texts + name)]
