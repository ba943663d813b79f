"""Small trees made here, page by page: what no recorded file has, such as three levels or a node without a child."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference.innodb.pages import FIL_NULL, PageType, Tablespace
from conformance.reference.innodb.records import Field, IndexFormat
from tests.reference.innodb.fixture_files import file_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE: Final = 16384
INDEX_ID: Final = 77
ROOT: Final = 4
FORMAT: Final = IndexFormat((Field("id", 4), Field("n", 2)), 1)
_OWNED: Final = 4  # records of one slot of the directory


def page(number: int, keys: Sequence[int], *, level: int = 0, children: Sequence[int] = (), prev: int = FIL_NULL,
         next_: int = FIL_NULL) -> bytearray:  # fmt: skip
    """A compact page: leaf records of a key and twice the key, or node pointers."""
    out = bytearray(SIZE)
    out[4:8], out[8:12], out[12:16] = (value.to_bytes(4, "big") for value in (number, prev, next_))
    out[24:26] = PageType.INDEX.to_bytes(2, "big")
    out[94:120] = b"\x01\0\x02\0\0infimum\0\x01\0\x0b\0\0supremum"
    at, before, owned, slots = 125, 99, 1, [99]
    for rank, key in enumerate(keys):
        tail = children[rank].to_bytes(4, "big") if level else (2 * key % (1 << 16)).to_bytes(2, "big")
        out[at : at + 4 + len(tail)] = key.to_bytes(4, "big") + tail
        out[at - 4 : at - 2] = (rank + 2 << 3 | (level > 0)).to_bytes(2, "big")
        out[before - 2 : before] = (at - before).to_bytes(2, "big")
        if owned == _OWNED:
            out[at - 5], owned = _OWNED, 0
            slots.append(at)
        before, at, owned = at, at + 9 + len(tail), owned + 1
    out[before - 2 : before] = ((112 - before) % (1 << 16)).to_bytes(2, "big")
    out[107] = owned
    slots.append(112)
    for number_, origin in enumerate(slots, 1):
        out[SIZE - 8 - 2 * number_ : SIZE - 6 - 2 * number_] = origin.to_bytes(2, "big")
    header = (len(slots), at - 5, 0x8000 | len(keys) + 2, 0, 0, 0, 0, 0, len(keys))
    out[38:56] = b"".join(value.to_bytes(2, "big") for value in header)
    out[64:66], out[66:74] = level.to_bytes(2, "big"), INDEX_ID.to_bytes(8, "big")
    return out


def tree(leaves: int = 3, rows: int = 10) -> dict[int, bytearray]:
    """Three levels: a root, two nodes, and leaves from page 7 on, the last of them below the second node."""
    numbers = [7 + place for place in range(leaves)]
    pages = {
        number: page(number, range(place * rows, (place + 1) * rows),
                     prev=numbers[place - 1] if place else FIL_NULL,
                     next_=numbers[place + 1] if place + 1 < leaves else FIL_NULL)
        for place, number in enumerate(numbers)
    }  # fmt: skip
    firsts = [place * rows for place in range(leaves)]
    pages[5] = page(5, firsts[:-1], level=1, children=numbers[:-1], next_=6)
    pages[6] = page(6, firsts[-1:], level=1, children=numbers[-1:], prev=5)
    pages[ROOT] = page(ROOT, [0, firsts[-1]], level=2, children=[5, 6])
    return pages


def space_of(pages: dict[int, bytearray]) -> Tablespace:
    """A tablespace of the pages; those before them are those of a recorded file."""
    data = bytearray(file_bytes("gencols_json")[: ROOT * SIZE])
    for number in range(ROOT, max(pages) + 1):
        data += pages.get(number, bytes(SIZE))
    head = bytes(data[38:42])
    for number in pages:
        data[number * SIZE + 34 : number * SIZE + 38] = head
    whole = bytes(data)
    return Tablespace.of_bytes(whole, verify=False)
