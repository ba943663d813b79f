"""JSON values as plain JSON data with type tags: the form that Cases and adapters exchange.

A leaf without a plain JSON form becomes ``{"$type": NAME, ...}``; an object with a key that begins with ``$`` becomes
``{"$object": [[key, value], ...]}``. Reading back gives the same value, to the byte.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.jsonb import opaque
from conformance.reference.jsonb.values import (
    BIT,
    BLOB,
    DATE,
    DATETIME,
    DECIMAL,
    TIME,
    TIMESTAMP,
    JsonValue,
    Opaque,
    UInt,
)

_NAMES: Final = {DECIMAL: "DECIMAL", DATE: "DATE", TIME: "TIME", DATETIME: "DATETIME", TIMESTAMP: "TIMESTAMP"}
_CODES: Final = {name: code for code, name in _NAMES.items()}


def to_tagged(value: JsonValue) -> Any:
    """The tagged form of a value: data that the ``json`` module can write."""
    if isinstance(value, UInt):
        return {"$type": "UNSIGNED INTEGER", "text": str(int(value))}
    if isinstance(value, Opaque):
        return _opaque(value)
    if isinstance(value, dict):
        if any(key.startswith("$") for key in value):
            return {"$object": [[key, to_tagged(item)] for key, item in value.items()]}
        return {key: to_tagged(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_tagged(item) for item in value]
    return value


def _opaque(value: Opaque) -> dict[str, Any]:
    name = _NAMES.get(value.field_type)
    if name is not None:
        try:
            tagged = {"$type": name, "text": opaque.opaque_text(value)}
            if from_tagged(tagged) != value:  # a precision that no literal has, for one
                tagged["hex"] = value.payload.hex()
            return tagged
        except CodecError:
            pass
    name = "BIT" if value.field_type == BIT else "BLOB" if value.field_type == BLOB else "OPAQUE"
    return {"$type": name, "field_type": value.field_type, "hex": value.payload.hex()}


def from_tagged(data: Any) -> JsonValue:
    """The value of tagged data. Raises :class:`DecodeError` for a tag that is unknown or incomplete."""
    if isinstance(data, list):
        return [from_tagged(item) for item in data]
    if not isinstance(data, dict):
        if data is None or isinstance(data, bool | int | float | str):
            return data
        raise DecodeError("bad-tag", "not JSON data", got=type(data).__name__)
    if "$type" in data:
        try:
            return _from_type(data)
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
            raise DecodeError("bad-tag", "a typed value is incomplete or malformed", got=data) from None
    if "$object" in data:
        return _from_members(data["$object"])
    return {key: from_tagged(item) for key, item in data.items()}


def _from_members(members: Any) -> dict[str, JsonValue]:
    out: dict[str, JsonValue] = {}
    try:
        for key, item in members:
            if not isinstance(key, str):
                raise DecodeError("bad-tag", "the name of a member is no text", got=key)
            out[key] = from_tagged(item)
    except (TypeError, ValueError):
        raise DecodeError("bad-tag", "$object is no list of pairs", got=members) from None
    return out


def _from_type(data: dict[str, Any]) -> JsonValue:
    name = data["$type"]
    if name == "UNSIGNED INTEGER":
        return UInt(data["text"])
    if name == "INTEGER":
        return int(data["text"])
    if name == "DOUBLE":
        return float(data["text"])
    if "hex" in data:
        return Opaque(_CODES[name] if name in _CODES else int(data["field_type"]), bytes.fromhex(data["hex"]))
    text = data["text"]
    if name == "DECIMAL":
        return opaque.decimal_from_text(text)
    if name == "TIME":
        negative = text.startswith("-")
        hour, minute, second = text.removeprefix("-").split(":")
        whole, _, fraction = second.partition(".")
        return opaque.time(int(hour), int(minute), int(whole), int(fraction.ljust(6, "0")), negative=negative)
    day, _, clock = text.partition(" ")
    year, month, day_of_month = map(int, day.split("-"))
    if name == "DATE":
        return opaque.date(year, month, day_of_month)
    hour, minute, second = (clock or "0:0:0").split(":")
    whole, _, fraction = second.partition(".")
    parts = (int(hour), int(minute), int(whole), int(fraction.ljust(6, "0")))
    if name == "DATETIME":
        return opaque.datetime(year, month, day_of_month, *parts)
    if name == "TIMESTAMP":
        return opaque.timestamp(year, month, day_of_month, *parts)
    raise DecodeError("bad-tag", "no JSON type has this name", got=name)
