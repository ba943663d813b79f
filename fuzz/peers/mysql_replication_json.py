"""Compares how python-mysql-replication reads JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.judge.decoding.difference import Kind
from conformance.judge.decoding.documents import differences_of_documents
from conformance.reference.errors import CodecError
from conformance.reference.jsonb import values
from conformance.reference.jsonb.layout import decode_stored, stored_value
from conformance.reference.jsonb.opaque import (
    pack_date,
    pack_datetime,
    pack_time,
    temporal_number,
    unpack_date,
    unpack_datetime,
    unpack_time,
)  # fmt: skip
from conformance.reference.jsonb.tagged import to_tagged
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
    require(differ is None, f"a document comes as it is, not otherwise: {differ}", value, other)


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


def difference(value: JsonValue, other: Any) -> str | None:
    """The class of the first difference from what the peer returns; a type that it does not tell is none."""
    try:
        tagged = to_tagged(value)
    except CodecError:
        return None
    found = differences_of_documents(tagged, other, "$")
    return next((f"{item.what} {item.cause}".strip() for item in found if item.kind is Kind.ALTERED), None)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Documents of every type."""
    for name, data in documents.small_seeds():
        if name not in documents.ODD:
            yield name, data
