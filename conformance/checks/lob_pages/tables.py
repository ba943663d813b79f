"""The article's tables of fields: name and width in order, which gives each field its offset.

They are written down from the article, and not taken from the reader: the check judges both by what a server writes.
"""

from __future__ import annotations

from typing import Final

FIL_HEADER: Final = 38

_Fields = tuple[tuple[str, int], ...]
_FIRST: Final[_Fields] = (
    ("format", 1), ("flags", 1), ("version", 4), ("last transaction", 6), ("last undo number", 4),
    ("data length", 4), ("transaction", 6), ("index list", 16), ("free list", 16),
)  # fmt: skip
_DATA: Final[_Fields] = (("format", 1), ("data length", 4), ("transaction", 6))
_ENTRY: Final[_Fields] = (
    ("previous", 6), ("next", 6), ("older versions", 16), ("transaction", 6), ("modifier", 6), ("undo number", 4),
    ("modifier's undo number", 4), ("page", 4), ("data length", 4), ("version", 4),
)  # fmt: skip
_REFERENCE: Final[_Fields] = (("space", 4), ("page", 4), ("version", 4))

TABLES: Final = {"first page": (FIL_HEADER, _FIRST), "data page": (FIL_HEADER, _DATA), "entry": (0, _ENTRY),
                 "reference": (0, _REFERENCE)}  # fmt: skip
ENTRY_SIZE: Final = 60
ENTRIES: Final = 10  # in the first page, behind its fields
FIRST_ENTRY: Final = FIL_HEADER + sum(width for _, width in _FIRST)
FIRST_DATA: Final = FIRST_ENTRY + ENTRIES * ENTRY_SIZE
DATA: Final = FIL_HEADER + sum(width for _, width in _DATA)
TYPES: Final = {"LOB_INDEX": 22, "LOB_DATA": 23, "LOB_FIRST": 24, "ZLOB_FIRST": 25, "ZLOB_DATA": 26, "ZLOB_INDEX": 27,
                "ZLOB_FRAG": 28, "ZLOB_FRAG_ENTRY": 29}  # fmt: skip
_NOWHERE: Final = 0xFFFFFFFF


def raw(data: bytes, table: str, field: str, at: int = 0) -> bytes:
    """The bytes of a field. ``at``: where the page, the entry or the reference begins."""
    place, fields = TABLES[table]
    at += place
    for name, width in fields:
        if name == field:
            return data[at : at + width]
        at += width
    raise KeyError(field)


def number(data: bytes, table: str, field: str, at: int = 0) -> int:
    """A field as a number."""
    return int.from_bytes(raw(data, table, field, at), "big")


def address(data: bytes) -> tuple[int, int] | None:
    """The page and the offset of six bytes; ``None`` for nowhere, and outside of the file."""
    page = int.from_bytes(data[:4], "big")
    return None if len(data) < 6 or page == _NOWHERE else (page, int.from_bytes(data[4:6], "big"))
