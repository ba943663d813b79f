"""JSON documents read by python-mysql-replication."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.opaque import decimal_number
from conformance.reference.jsonb.values import DECIMAL, Opaque
from fuzz import documents
from fuzz.mutators.trees import mutate_document
from fuzz.violation import Violation, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.reference.jsonb.values import JsonValue

PACKAGE: Final = "mysql-replication"
INVARIANT: Final = "A document that a server could have written is read, as the same JSON value."
INSTRUMENT: Final[tuple[str, ...]] = ("conformance.reference.jsonb.layout", "pymysqlreplication.json_binary")
MAX_LEN: Final = 512
DICTIONARY: Final = documents.DICTIONARY
mutate = mutate_document


@cache
def _reader() -> Callable[[int, bytes], Any]:
    from pymysqlreplication.json_binary import parse_json

    reader: Callable[[int, bytes], Any] = parse_json
    return reader


def check(data: bytes) -> None:
    """A document."""
    try:
        value = decode(data, strict=True)
    except CodecError:
        return
    if not data:
        return  # the event's reader looks at the length first
    try:
        other = _reader()(data[0], data[1:])
    except Exception as error:  # noqa: BLE001 - whatever a stranger raises is a refusal
        raise Violation(f"{kind(value)} is read", value, repr(error)) from None
    differ = difference(value, other)
    require(differ is None, f"{differ} comes as it is", value, other)


def kind(value: JsonValue) -> str:
    """The kind of a value in words; of a container that of its first element, because that is what differs."""
    if isinstance(value, (list, dict)):
        items = list(value.values()) if isinstance(value, dict) else value
        inner = next((kind(item) for item in items if isinstance(item, Opaque)), "")
        return f"{inner} in a container" if inner else "an object" if isinstance(value, dict) else "an array"
    return f"an opaque value of type {value.field_type}" if isinstance(value, Opaque) else f"a {type(value).__name__}"


def difference(value: JsonValue, other: Any) -> str | None:
    """The kind of the first value that comes as another one; opaque values have no Python form that all agree on."""
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
