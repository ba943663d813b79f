"""Rows events (binlog-events 10, binlog-events 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz.naive import columns
from fuzz.naive.pieces import Pieces, Refused

if TYPE_CHECKING:
    from fuzz.naive.table_metadata import Column

_PARTIAL: Final = 39
_UPDATES: Final = (24, 31, _PARTIAL)
_DELETES: Final = (25, 32)
_FIRST_V2: Final = 30


class Diffs(NamedTuple):
    """A document that was logged as diffs."""

    field: bytes


class Row(NamedTuple):
    """The images of a row; ``None`` for one that the event does not have."""

    before: list[columns.Plain | Diffs] | None
    after: list[columns.Plain | Diffs] | None


class Rows(NamedTuple):
    """The rows that can be read, and why the next one cannot."""

    rows: list[Row]
    refused: str


def rows(code: int, body: bytes, known: list[Column]) -> Rows:
    """The rows of an event of this type. Raises :class:`Refused` for what stands in front of the rows."""
    pieces = Pieces(body)
    pieces.take(8)
    if code >= _FIRST_V2:
        extra = pieces.number(2)
        if extra < 2:
            raise Refused("the extra data counts its own length")
        pieces.take(extra - 2)
    count = pieces.packed()
    if count != len(known):
        raise Refused("another number of columns")
    first = _places(pieces, count)
    second = _places(pieces, count) if code in _UPDATES else []
    if not all(columns.exists(known[place].kind, known[place].metadata) for place in (*first, *second)):
        return Rows([], "no such column")
    found: list[Row] = []
    if not pieces and code != _PARTIAL and not first and not second:
        # An INSERT that names no column: its image has no bytes.
        nothing: list[columns.Plain | Diffs] = []
        return Rows([_row(code, nothing, nothing)], "")
    while pieces:
        start = pieces.at
        try:
            before = _image(pieces, known, first, [])
            chosen = _shared(pieces, known) if code == _PARTIAL else []
            after = _image(pieces, known, second, chosen) if code in _UPDATES else []
        except Refused as reason:
            return Rows(found, str(reason))
        if pieces.at == start:
            return Rows(found, "a row without bytes")
        found.append(_row(code, before, after))
    return Rows(found, "")


def _row(code: int, first: list[columns.Plain | Diffs], second: list[columns.Plain | Diffs]) -> Row:
    if code in _UPDATES:
        return Row(first, second)
    return Row(first, None) if code in _DELETES else Row(None, first)


def _places(pieces: Pieces, count: int) -> list[int]:
    """The columns of an image."""
    return [place for place, there in enumerate(pieces.bits(count)) if there]


def _shared(pieces: Pieces, known: list[Column]) -> list[int]:
    """The columns with diffs (binlog-events 11.1): the bits count all JSON columns of the table."""
    options = pieces.packed()
    if options > 1:
        raise Refused("unknown value options")
    documents = [place for place, column in enumerate(known) if column.kind == columns.JSON]
    return [documents[bit] for bit in _places(pieces, len(documents))] if options else []


def _image(pieces: Pieces, known: list[Column], places: list[int], chosen: list[int]) -> list[columns.Plain | Diffs]:
    nulls = pieces.bits(len(places))
    values: list[columns.Plain | Diffs] = []
    for place, null in zip(places, nulls, strict=True):
        column = known[place]
        if null:
            values.append(None)
        elif place in chosen:
            values.append(Diffs(pieces.take(pieces.number(4))))
        else:
            values.append(columns.read(column.kind, column.metadata, unsigned=column.unsigned, pieces=pieces))
    return values
