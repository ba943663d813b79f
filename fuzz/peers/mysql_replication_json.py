"""Compares how python-mysql-replication reads JSON documents."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb import values
from conformance.reference.jsonb.layout import decode_stored, stored_value
from conformance.reference.jsonb.opaque import (
    decimal_number,
    pack_date,
    pack_datetime,
    pack_time,
    temporal_number,
    unpack_date,
    unpack_datetime,
    unpack_time,
)  # fmt: skip
from conformance.reference.jsonb.values import (
    BINARY,
    BIT,
    BLOB,
    DECIMAL,
    LONG_BLOB,
    MEDIUM_BLOB,
    TINY_BLOB,
    VARCHAR,
    Opaque,
)  # fmt: skip
from fuzz import documents
from fuzz.mutators.trees import mutate_document
from fuzz.violation import Violation, require

try:  # imported with this module, so that the peer's code is instrumented too
    from pymysqlreplication import json_binary
except ImportError:
    json_binary = None

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.jsonb.values import JsonValue

PACKAGE: Final = "mysql-replication"
INVARIANT: Final = "A document that a server could have written is read, as the same JSON value."
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.jsonb.layout", "pymysqlreplication.json_binary")
MAX_LEN: Final = 512
DICTIONARY: Final = documents.DICTIONARY
mutate = mutate_document


def _reader() -> Callable[[int, bytes], Any]:
    if json_binary is None:
        raise ModuleNotFoundError(f"pip install {PACKAGE}")
    reader: Callable[[int, bytes], Any] = json_binary.parse_json
    return reader


def check(data: bytes) -> None:
    """Check a document."""
    try:
        value = stored_value(decode_stored(data))
    except CodecError:
        return
    if not data or not writable(value):
        return  # the event's reader handles an empty value
    try:
        other = _reader()(data[0], data[1:])
    except Exception as error:  # noqa: BLE001 - whatever a stranger raises is a refusal
        raise Violation(f"a document is read, not refused: {error!r}"[:100], value) from None
    differ = difference(value, other)
    require(differ is None, f"{differ} comes as it is", value, other)


_BYTES: Final = frozenset((VARCHAR, BIT, DECIMAL, TINY_BLOB, MEDIUM_BLOB, LONG_BLOB, BLOB, BINARY))


def writable(value: JsonValue) -> bool:
    """Whether SQL makes such a value: strict reading knows the length of a date, not whether it is a date."""
    if isinstance(value, (list, dict)):
        return all(map(writable, value.values() if isinstance(value, dict) else value))
    if not isinstance(value, Opaque):
        return True
    try:
        match value.field_type:
            case values.DATE:
                number = temporal_number(value)
                return pack_date(unpack_date(number)) == number
            case values.TIME:
                number = temporal_number(value)
                return pack_time(unpack_time(number)) == number
            case values.DATETIME | values.TIMESTAMP:
                number = temporal_number(value)
                return pack_datetime(unpack_datetime(number)) == number
    except CodecError:
        return False
    return value.field_type in _BYTES


def kind(value: JsonValue) -> str:
    """The kind of a value in words."""
    return f"an opaque value of type {value.field_type}" if isinstance(value, Opaque) else f"a {type(value).__name__}"


def difference(value: JsonValue, other: Any) -> str | None:
    """The kind of the first value that the peer returns as another one; opaque values have no agreed Python form."""
    if isinstance(value, list):
        if not isinstance(other, list) or len(other) != len(value):
            return "an array"
        return next(filter(None, map(difference, value, other)), None)
    if isinstance(value, dict):
        if not isinstance(other, dict):
            return "an object"
        keys = {key if isinstance(key, bytes) else str(key).encode("utf-8", "surrogateescape"): key for key in other}
        if set(keys) != {key.encode("utf-8", "surrogateescape") for key in value}:
            return "an object"
        return next(filter(None, (difference(item, other[keys[key.encode()]]) for key, item in value.items())), None)
    if isinstance(value, Opaque):
        exact = value.field_type != DECIMAL or Decimal(other) == decimal_number(value.payload)
        return None if exact else "a DECIMAL"
    if isinstance(value, str):
        same = other in (value, value.encode("utf-8", "surrogateescape"))
    elif isinstance(value, bool) or value is None:
        same = other is value
    else:
        same = not isinstance(other, bool) and isinstance(other, (int, float)) and other == value
    return None if same else kind(value)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Documents of every type."""
    for name, data in documents.small_seeds():
        if name not in documents.ODD:
            yield name, data
