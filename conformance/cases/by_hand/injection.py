"""A row event given to a server by hand: the stored document, the bytes of the row, and the result of both.

Requirements FR5 asks for events whose diffs meet a document they were not made for, and for damaged events. ``predict``
is what the reference's applier does with the same bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import Enum
from typing import Final

from conformance.reference.binlog.images import Row, decode_rows
from conformance.reference.binlog.rows import bitmap_of, encode_head, rows_body
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.errors import CodecError, DecodeError, MysqlError, corrupted_diff, replica_corrupt_event
from conformance.reference.event_types import EventType
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.layout import storage_free
from conformance.reference.jsonb.text import format_text
from conformance.reference.partial.apply import apply_field
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.definitions import Column, Table, table_map

SCHEMA: Final = "binlog_lab_injection"
DOCUMENT: Final = "j"
TABLE: Final = Table(
    schema=SCHEMA,
    name="t",
    columns=(Column(name="id", type="INT", nullable=False), Column(name=DOCUMENT, type="JSON")),
    primary_key=((0, 0),),
)
TABLE_MAP: Final = table_map(TABLE)
BEFORE: Final = (0,)  # the columns of the two images: what a MINIMAL source logs
AFTER: Final = (1,)
MISSING_ROW: Final = 1032


class Demand(Enum):
    """The worklog's demand, beside a living server and a readable document."""

    EITHER = "either"  # an error that changes nothing, or any valid document: a document that diverged (NR1)
    ERROR = "error"  # an event in a bad format must be refused (7.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One Case. ``image`` is the row behind its before-image: value_options, partial_columns, after-image.

    ``number``: the observed error (requirements FR5), where there is one; 0: applied. Else the reference decides.
    """

    name: str
    stored: bytes | None
    image: bytes
    demand: Demand = Demand.EITHER
    number: int | None = None
    hazard: str = "none"
    row_exists: bool = True

    @property
    def id(self) -> str:
        """The id, by content."""
        total = hashlib.blake2b(digest_size=6)
        for part in (b"NULL" if self.stored is None else b"J" + self.stored, self.image):
            total.update(len(part).to_bytes(4, "little") + part)
        return f"inject-{total.hexdigest()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowState:
    """A JSON column as SQL reads it. ``error``: the SELECT failed with this number, and the rest is unknown."""

    is_null: bool = False
    valid: bool | None = None
    text: bytes | None = None
    size: int | None = None
    free: int | None = None
    error: int = 0

    @property
    def sound(self) -> bool:
        """SQL NULL, or a document that can be read as text."""
        return self.is_null or (not self.error and self.valid is True and self.text is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionOutcome:
    """The server's response. ``error``: the server refused the event with this number. ``death``: the signature of the
    crash.

    ``before`` and ``after`` are the row before the event, and in the same transaction after it or after the error;
    ``None``: there is no row. ``reading``: the server died when the row was read afterwards, not at the event.
    """

    error: int = 0
    message: str = ""
    before: RowState | None = None
    after: RowState | None = None
    death: str = ""
    reading: bool = False
    silent: bool = False  # no answer in the stated time


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """The prediction. ``error`` is a number, or 0: then ``state`` is the row's new state."""

    error: int = 0
    state: RowState | None = None


def partial_image(diffs: bytes) -> bytes:
    """The image of one row whose JSON column is logged as diffs."""
    return b"\x01\x01\x00" + len(diffs).to_bytes(4, "little") + diffs


def full_image(document: bytes) -> bytes:
    """The image of one row whose JSON column is logged whole; the document may be anything."""
    return b"\x00\x00" + len(document).to_bytes(4, "little") + document


def row_of(number: int, image: bytes) -> bytes:
    """The row's bytes in the event: a before-image with the key alone, then ``image``."""
    return b"\x00" + number.to_bytes(4, "little") + image


def row_event_body(*rows: tuple[int, bytes]) -> bytes:
    """The body of a PARTIAL_UPDATE_ROWS event: numbers of rows, and for each its ``image`` as it is."""
    head = rows_body(TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS, (), before=BEFORE, after=AFTER)
    return encode_head(head) + b"".join(row_of(number, image) for number, image in rows)


def state_of(stored: bytes | None) -> RowState:
    """The state that SQL reads from stored bytes."""
    if stored is None:
        return RowState(is_null=True)
    try:
        free = storage_free(stored) if stored else 0
        shown = format_text(decode(stored))
    except CodecError as error:
        return RowState(error=error.number if isinstance(error, MysqlError) else 3142)
    try:
        text = shown.encode("utf-8", "strict")
    except UnicodeEncodeError:  # a conversion to text that fails gives NULL (FR5, deviation 3)
        text = None
    return RowState(valid=True, text=text, size=len(stored), free=free)


def predict(injection: Injection, dialect: Dialect = MYSQL) -> Predicted:
    """The prediction of the reference's reader and applier."""
    if not injection.row_exists:
        return Predicted(error=MISSING_ROW)
    try:
        stored = _apply(injection, dialect)
    except MysqlError as error:
        return Predicted(error=error.number)
    return Predicted(state=state_of(stored))


def read_row(image: bytes) -> Row:
    """The one row of an event with this image. Raises :class:`DecodeError` or :class:`MysqlError`."""
    data = row_of(1, image)
    (row,) = decode_rows(
        EventType.PARTIAL_UPDATE_ROWS, TABLE_MAP, data, 0, bitmap_of(BEFORE), bitmap_of(AFTER), [False]
    )
    return row


def _apply(injection: Injection, dialect: Dialect) -> bytes | None:
    try:
        row = read_row(injection.image)
    except MysqlError:
        raise
    except (DecodeError, ValueError) as error:
        raise replica_corrupt_event(
            f"the row cannot be read{f': {error}' if isinstance(error, DecodeError) else ''}"
        ) from None
    if row.after is None:
        raise replica_corrupt_event("the row has no after-image")
    value = row.after[0]
    if isinstance(value, PartialJson):
        return apply_field(injection.stored, value.diffs, dialect)
    if value is None:
        return None
    assert isinstance(value, bytes)
    if not dialect.behaviour.copies_full_values and not state_of(value).sound:
        raise corrupted_diff("a full value that is no JSON document")
    return value
