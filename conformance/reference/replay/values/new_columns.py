"""The values that existing rows get in a new column: its default, the moment of the statement, or nothing at all."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import ReplayError
from conformance.reference.jsonb.encode import encode
from conformance.reference.portable import is_number
from conformance.reference.replay.values.constants import read_constant
from conformance.reference.replay.values.conversions import stored
from conformance.reference.replay.values.expressions import evaluated
from conformance.reference.sql.definition_reader import Reader
from conformance.reference.tables import columns as types
from conformance.reference.tables.temporal import Date, Datetime, Time, Timestamp
from conformance.reference.text.columns import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.replay.session_facts import SessionFacts
    from conformance.reference.replay.statements import ColumnDefinition
    from conformance.reference.sql.statement_words import Word
    from conformance.reference.tables.metadata import ColumnInfo

NOW: Final = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_STAMPS: Final = (types.TIMESTAMP, types.TIMESTAMP2)
_NULL_DOCUMENT: Final[JsonValue] = None


def value_of_new(definition: ColumnDefinition, info: ColumnInfo, session: SessionFacts) -> Any:
    """The value of existing rows in this column. Raises :class:`ReplayError` where it is not in the log."""
    stamp = info.type.real_type in _STAMPS
    if stamp and session.explicit_timestamps is not True and not definition.default and not definition.null:
        raise ReplayError(
            "value", "a TIMESTAMP without NULL and DEFAULT, whose meaning depends on explicit_defaults_for_timestamp",
            expected="this setting in the log", got="none" if session.explicit_timestamps is None else "OFF",
        )  # fmt: skip
    words = definition.default
    if not words or words[0].among("NULL"):
        return implicit_default(info) if definition.not_null or definition.primary else None
    return default_value(words, info, session)


def default_value(words: Sequence[Word], info: ColumnInfo, session: SessionFacts) -> Any:
    """The value of the words behind DEFAULT, which may have other attributes behind them."""
    reader = Reader(words, "")
    if reader.at(*NOW):
        return stored(info, _moment(reader, session), session.time_zone)
    value = evaluated(reader.parenthesis(), (), ()) if reader.at("(") else read_constant(reader)
    if value is None:
        return None
    if info.type.real_type == types.JSON and not words[0].among("("):
        raise ReplayError("value", "a JSON column has no constant as its default")
    found = stored(info, value, session.time_zone)
    if isinstance(value, Decimal | float) and isinstance(found, int | Decimal) and found != value:
        raise ReplayError("value", "more digits than the column has", got=str(value))
    return found


def _moment(reader: Reader, session: SessionFacts) -> Timestamp:
    """The moment of the statement, with as many digits as the function has."""
    reader.next()
    digits = 0
    if reader.at("("):
        inner = reader.parenthesis()
        digits = int(inner[0].text) if inner and is_number(inner[0].text[:1]) else 0
    if digits and session.microseconds is None:
        raise ReplayError("value", "the fraction of a second of the statement is not in the log")
    unit = 10 ** (6 - min(digits, 6))
    return Timestamp(session.seconds, (session.microseconds or 0) // unit * unit if digits else 0)


def implicit_default(info: ColumnInfo) -> Any:
    """The value of a NOT NULL column without a default, by its type (observed on 9.7.4 for every type)."""
    kind = info.type.real_type
    if kind in INTEGERS or kind in (types.BIT, types.YEAR, types.SET):
        return 0
    if kind in (types.FLOAT, types.DOUBLE):
        return 0.0
    if kind == types.NEWDECIMAL:
        return Decimal(0).scaleb(-info.type.scale)
    if kind == types.ENUM:
        return 1
    if kind in (types.DATE, types.NEWDATE):
        return Date(0, 0, 0)
    if kind in (types.DATETIME, types.DATETIME2):
        return Datetime(0, 0, 0)
    if kind in (types.TIME, types.TIME2):
        return Time(negative=False, hour=0, minute=0, second=0)
    if kind in _STAMPS:
        return Timestamp(0)
    if kind == types.JSON:
        return encode(_NULL_DOCUMENT)
    if info.type.is_character:
        return b""
    raise ReplayError("value", "a column of this type has no implicit default")
