"""The values that a reader of the log alone must find in a row, from what SELECT shows of it (WL#4618, scenario 3).

A reader's answer is the JSON object of one row change (design: ``decode --format jsonl``), parsed by :func:`parse`. A
server's is a :class:`Cell` for each value. Columns are those of the CREATE TABLE, which the reader has not seen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.reference.tables.definitions import Column

_NUMBERS: Final = frozenset(("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "FLOAT", "DOUBLE"))
_TEXTS: Final = frozenset(("DECIMAL", "YEAR", "DATE", "TIME", "DATETIME", "TIMESTAMP"))
_SHOWN: Final = 200
_SURROGATE: Final = b"\xed"  # with A0 to BF behind it: how UTF-8 would write a surrogate


@dataclass(frozen=True, slots=True)
class Number:
    """A number as the JSON text writes it, so that 1 and 1.0 and "1" differ."""

    text: str


class Cell(NamedTuple):
    """A value as the server shows it in UTF-8, and its bytes where UTF-8 may lose some: strings, and names of an ENUM
    or a SET."""

    shown: bytes | None
    stored: bytes | None = None


class Difference(NamedTuple):
    """One value, or one name (``column`` is then empty), that differs between log and table."""

    row: int
    column: str
    expected: str
    got: str


def parse(line: str) -> Any:
    """JSON with its numbers as texts."""
    return json.loads(line, parse_int=Number, parse_float=Number, parse_constant=Number)


def compare_rows(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], images: Sequence[Mapping[str, Any] | None]
) -> Iterator[Difference]:
    """All differences between the reader's images and the server's rows, which are in the same order."""
    names = [column.name for column in columns]
    if len(rows) != len(images):
        yield Difference(min(len(rows), len(images)), "", f"{len(rows)} rows", f"{len(images)} rows")
    for number, (row, image) in enumerate(zip(rows, images, strict=False)):
        if image is None or list(image) != names:
            yield Difference(number, "", _short(names), _short(None if image is None else list(image)))
            continue
        for column, cell in zip(columns, row, strict=True):
            got = image[column.name]
            if not matches(column, cell, got):
                yield Difference(number, column.name, _short(cell), _short(got))


def matches(column: Column, cell: Cell, got: Any) -> bool:
    """Whether the reader's value is the server's value."""
    shown, stored = cell
    kind = column.type
    if shown is None:
        return got is None
    if kind in _NUMBERS:
        return bool(got == Number(shown.decode()))
    if kind in _TEXTS:
        return bool(got == shown.decode())
    if kind == "JSON":
        try:
            return bool(got == {"json": parse(shown.decode())})
        except ValueError:  # the server shows a text that is no JSON
            return False
    if column.charset is None:
        return bool(got == {"hex": shown.hex()})
    assert stored is not None
    if isinstance(got, dict):
        # Only what has no text may be told as bytes: SELECT shows question marks, or surrogates, for it.
        return _incomplete(shown) and got == {"hex": stored.hex()}
    return bool(got == shown.decode("utf-8", "replace"))


def _incomplete(shown: bytes) -> bool:
    return b"?" in shown or _SURROGATE in shown


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
