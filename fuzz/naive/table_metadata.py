"""TABLE_MAP, and what its optional metadata says of each column (binlog-events 9, table-map-metadata 2 and 3).

A field that comes twice is read like any other; no sheet says what it would mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz.naive import columns as types
from fuzz.naive.pieces import Pieces, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SIGNEDNESS: Final = 1
_YEAR, _TYPED_ARRAY, _VECTOR, _ENUM, _SET, _STRING, _GEOMETRY = 13, 20, 242, 247, 248, 254, 255
_WORKLOG: Final = {7: 8, 8: 9, 9: 7}  # table-map-metadata 4


class Rules(NamedTuple):
    """Differences between writers and readers (table-map-metadata 4). ``year``: whether SIGNEDNESS counts YEAR.
    ``worklog``: whether the worklog gives the numbers. ``last``: the last field number of a reader that does not skip
    what it does not know (3.10)."""

    year: bool = True
    worklog: bool = False
    last: int | None = None


SHIPPED: Final = Rules()


@dataclass
class Column:
    """A column, and what fields say of it; ``key``: its place in the primary key, and the prefix there."""

    kind: int
    metadata: bytes
    nullable: bool
    name: str | None = None
    unsigned: bool = False
    collation: int | None = None
    members: tuple[bytes, ...] | None = None
    geometry: int | None = None
    dimension: int | None = None
    visible: bool | None = None
    key: tuple[int, int] | None = None

    @property
    def real(self) -> int:
        """The type; 254 stands for ENUM, SET and STRING, and for nothing else (binlog-events 9.1): 0."""
        if self.kind != _STRING:
            return self.kind
        real = self.metadata[0] | 0x30
        return real if real in (_ENUM, _SET, _STRING) else 0


class Table(NamedTuple):
    """A TABLE_MAP; ``fields``: number and value of each field of the metadata."""

    number: int
    flags: int
    schema: str
    name: str
    columns: list[Column]
    fields: list[tuple[int, bytes]]


def read(body: bytes, rules: Rules = SHIPPED) -> Table:
    """Read the body. Raises :class:`Refused`."""
    pieces = Pieces(body)
    number, flags = pieces.number(6), pieces.number(2)
    schema, name = _ended(pieces), _ended(pieces)
    kinds = pieces.take(pieces.packed())
    details = Pieces(pieces.take(pieces.packed()))
    found = [_metadata(kind, details) for kind in kinds]
    if details:
        raise Refused("metadata without a column")
    nulls = pieces.bits(len(kinds))
    columns = [Column(*column) for column in zip(kinds, found, nulls, strict=True)]
    fields = []
    while pieces:
        code, size = pieces.number(1), pieces.packed()
        if rules.worklog:
            code = _WORKLOG.get(code, code)
        if rules.last is not None and not 0 < code <= rules.last:
            continue  # such a reader goes on inside the value
        value = pieces.take(size)
        fields.append((code, value))
        _tell(columns, code, Pieces(value), rules)
    return Table(number, flags, schema, name, columns, fields)


def _ended(pieces: Pieces) -> str:
    """A name with its length in front and a zero behind."""
    name = pieces.take(pieces.packed())
    if pieces.number(1):
        raise Refused("a name without its end")
    return _text(name)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _metadata(kind: int, details: Pieces) -> bytes:
    if kind not in types.KNOWN:
        raise Refused("no such type: where its metadata ends is not known")
    if kind == _TYPED_ARRAY:  # the type of an element, and its metadata
        element = details.take(1)
        return element + details.take(types.METADATA.get(element[0], 0))
    return details.take(types.METADATA.get(kind, 0))


def _tell(columns: list[Column], code: int, value: Pieces, rules: Rules) -> None:
    """Take one field: its items belong to the columns that it counts, in their order."""
    if code in (8, 9):
        parts = _pairs(value) if code == 9 else [(place, 0) for place in _numbers(value)]
        for order, (place, prefix) in enumerate(parts):
            if place < len(columns):
                columns[place].key = order, prefix
        return
    if code not in _ITEMS:
        return
    attribute, counted, items = _ITEMS[code]
    places = [column for column in columns if (column.kind if code == _SIGNEDNESS else column.real) in counted]
    if code == _SIGNEDNESS and not rules.year:
        places = [column for column in places if column.kind != _YEAR]
    if code in (2, 10):
        default = value.packed()
        exceptions = dict(_pairs(value))
        found: list[object] = [exceptions.get(place, default) for place in range(len(places))]
    else:
        found = list(items(value))
    for column, item in zip(places, found, strict=False):
        setattr(column, attribute, item)


def _bits(value: Pieces) -> list[bool]:
    """These bitmaps have their highest bit first (table-map-metadata 3.1)."""
    return [bool(byte << place & 0x80) for byte in value.data for place in range(8)]


def _numbers(value: Pieces) -> list[int]:
    found = []
    while value:
        found.append(value.packed())
    return found


def _pairs(value: Pieces) -> list[tuple[int, int]]:
    numbers = _numbers(value)
    if len(numbers) % 2:
        raise Refused("half a pair")
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _names(value: Pieces) -> list[str]:
    found = []
    while value:
        found.append(_text(value.take(value.packed())))
    return found


def _lists(value: Pieces) -> list[tuple[bytes, ...]]:
    found = []
    while value:
        found.append(tuple([value.take(value.packed()) for _ in range(value.packed())]))
    return found


_STRINGS: Final = frozenset((15, 140, 141, _VECTOR, 252, _STRING))
_MEMBERS: Final = frozenset((_ENUM, _SET))
_EVERY: Final = frozenset(range(256))
# What the items of a field are, the types of the columns that it counts, and how the items are read.
_ITEMS: Final[dict[int, tuple[str, frozenset[int], Callable[[Pieces], Sequence[object]]]]] = {
    _SIGNEDNESS: ("unsigned", types.NUMERIC, _bits),
    2: ("collation", _STRINGS, _pairs),
    3: ("collation", _STRINGS, _numbers),
    4: ("name", _EVERY, _names),
    5: ("members", frozenset((_SET,)), _lists),
    6: ("members", frozenset((_ENUM,)), _lists),
    7: ("geometry", frozenset((_GEOMETRY,)), _numbers),
    10: ("collation", _MEMBERS, _pairs),
    11: ("collation", _MEMBERS, _numbers),
    12: ("visible", _EVERY, _bits),
    13: ("dimension", frozenset((_VECTOR,)), _numbers),
}
