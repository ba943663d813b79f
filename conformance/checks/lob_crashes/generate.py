"""Documents of 1 to 600 KB, the statements that change them, and the shape of a transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from generators.draw import Stream

if TYPE_CHECKING:
    from generators.draw import Draw

FORMATS: Final = {
    "dynamic": "DYNAMIC", "compact": "COMPACT", "redundant": "REDUNDANT", "compressed": "COMPRESSED KEY_BLOCK_SIZE=8",
}  # fmt: skip
SESSIONS: Final = 4
DONE: Final = "done"  # the table with the number of the last transaction of each session
_DOCUMENTS: Final = 2  # of a session in each table: a large one and a small one
_KILOBYTES: Final = ((1, 3, 10, 40), (20, 20, 40, 40, 40, 90, 150, 300, 600))
# 9.7.4 rolls an interrupted update of a compressed document of up to 128 KB back wrongly: it frees the pages of the old
# document and keeps the reference (Bug#121193). The next free of such a page ends the server.
_COMPRESSED: Final = (200, 200, 300, 600)
_MEMBERS: Final = (15, 60, 95, 110, 400, 2000)  # bytes of a member's value when a document is made
_NEW: Final = (1, 20, 60, 80, 95, 101, 300, 400, 1500)  # bytes of a value that replaces another one
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_POOL: Final = Stream("lob-crashes/pool").letters(1 << 16, _LETTERS)
_STATEMENTS: Final = (1, 1, 2, 5, 12, 30)  # of a transaction


class Place(NamedTuple):
    """A document: its table and the key of its row."""

    table: str
    id: int


def owned(session: int) -> list[Place]:
    """The documents that a session changes: no other one does, so no transaction waits for another."""
    return [Place(table, session + SESSIONS * number) for table in FORMATS for number in range(_DOCUMENTS)]


def places() -> list[Place]:
    """All documents."""
    return [place for session in range(SESSIONS) for place in owned(session)]


def tables() -> list[str]:
    """The statements that make the tables."""
    return [
        *(
            f"CREATE TABLE {name} (id INT PRIMARY KEY, j JSON) ROW_FORMAT={options}"
            for name, options in FORMATS.items()
        ),
        f"CREATE TABLE {DONE} (id INT PRIMARY KEY, n INT)",
        f"INSERT INTO {DONE} VALUES {', '.join(f'({session}, 0)' for session in range(SESSIONS))}",
        *(insert(place, Stream("lob-crashes/documents", *place)) for place in places()),
    ]


def insert(place: Place, draw: Draw) -> str:
    """A new row with a new document."""
    return f"INSERT INTO {place.table} VALUES ({place.id}, '{_document(place, draw)}')"


def statement_count(draw: Draw) -> int:
    """How many statements a transaction has."""
    return draw.choice(_STATEMENTS)


def change(place: Place, draw: Draw) -> list[str]:
    """One statement that changes a document in place, mostly; or that writes it as a whole; or two that delete the row
    and insert it again."""
    where = f"WHERE id = {place.id}"
    kind = draw.below(20)
    if kind == 0:
        return [f"DELETE FROM {place.table} {where}", insert(place, draw)]
    if kind == 1:
        return [f"UPDATE {place.table} SET j = '{_document(place, draw)}' {where}"]
    value = "j"
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        member = f"$.k{draw.below(draw.choice((4, 30, 300)))}"
        if draw.below(8) == 0:
            value = f"JSON_REMOVE({value}, '{member}')"
        else:
            call = "JSON_SET" if draw.below(4) == 0 else "JSON_REPLACE"
            value = f"{call}({value}, '{member}', '{_text(draw, draw.choice(_NEW))}')"
    return [f"UPDATE {place.table} SET j = {value} {where}"]


def _document(place: Place, draw: Draw) -> str:
    sizes = _COMPRESSED if place.table == "compressed" else _KILOBYTES[place.id // SESSIONS]
    size = draw.choice(sizes) * 1000
    members: dict[str, str] = {}
    while size > 0:
        length = draw.choice(_MEMBERS)
        members[f"k{len(members)}"] = _text(draw, length)
        size -= length + 12
    return json.dumps(members)


def _text(draw: Draw, length: int) -> str:
    start = draw.below(len(_POOL) - length)
    return _POOL[start : start + length]
