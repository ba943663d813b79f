"""From values of python-mysql-replication to the changes of the protocol, without loss and without improvement."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from typing import Any

_ABSENT, _EMPTY_SET, _UNCHANGED = "cols bitmap", "empty set", "same with before values"
_UNREADABLE = "out of "  # the beginnings of its words for dates that Python does not have
_JSON, _SET, _BIT = 245, 248, 16
_EVENTS = {
    "WriteRowsEvent": "WRITE_ROWS_EVENT", "UpdateRowsEvent": "UPDATE_ROWS_EVENT",
    "DeleteRowsEvent": "DELETE_ROWS_EVENT", "PartialUpdateRowsEvent": "PARTIAL_UPDATE_ROWS_EVENT",
}  # fmt: skip
_OPERATIONS = {0: "REPLACE", 1: "INSERT", 2: "REMOVE"}


def text_of(value: Any) -> str:
    """Dates and times in MySQL's text."""
    if isinstance(value, dt.timedelta):
        micro = value // dt.timedelta(microseconds=1)
        sign, micro = ("-", -micro) if micro < 0 else ("", micro)
        seconds, fraction = divmod(micro, 1_000_000)
        text = f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        return f"{text}.{fraction:06}" if fraction else text
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return str(value)


def json_text(value: Any) -> str:
    """A document as JSON text; numbers keep their digits."""
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else json.dumps(str(value))
    if isinstance(value, decimal.Decimal):
        return _tagged("DECIMAL", f"{value:f}")
    for kind, name in ((dt.datetime, "DATETIME"), (dt.date, "DATE"), (dt.time, "TIME"), (dt.timedelta, "TIME")):
        if isinstance(value, kind):
            return _tagged(name, text_of(value))
    if isinstance(value, bytes):
        return json.dumps(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json_text(_key(key))}: {json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(json_text, value)) + "]"
    return json.dumps(value if isinstance(value, str) else text_of(value))


def _tagged(kind: str, text: str) -> str:
    """A value whose Python type says the type of MySQL."""
    return json.dumps({"$type": kind, "text": text})


def _key(key: Any) -> Any:
    return key if isinstance(key, (bytes, str)) else str(key)


def _diff(diff: Any) -> dict[str, Any]:
    path = diff.path.decode("utf-8", "backslashreplace") if isinstance(diff.path, bytes) else str(diff.path)
    operation = _OPERATIONS.get(diff.op.value, str(diff.op))
    if operation == "REMOVE":
        return {"operation": operation, "path": path}
    return {"operation": operation, "path": path, "value": {"json_text": json_text(diff.value)}}


def value_of(value: Any, column: Any, source: str) -> Any:
    """One column's value. ``source``: the library's own word on why a value is None."""
    kind = getattr(column, "type", None)
    if value is None:
        if source == _UNCHANGED:
            return {"diffs": []}
        return "" if source == _EMPTY_SET and kind == _SET else None
    if type(value).__name__ == "JsonDiff":
        return {"diffs": [_diff(value)]}
    if kind == _JSON:
        return {"json_text": json_text(value)}
    if kind == _BIT and isinstance(value, str):
        return {"hex": int(value or "0", 2).to_bytes((len(value) + 7) // 8, "big").hex()}
    if isinstance(value, (bytes, bytearray)):
        return {"hex": bytes(value).hex()}
    if isinstance(value, (set, frozenset)):
        return ",".join(word for word in (column.set_values or sorted(value)) if word in value)
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) else text_of(value)


def _image(
    values: dict[str, Any], sources: dict[str, str], columns: list[Any], marks: list[dict[str, Any]]
) -> dict[str, Any]:
    image = {}
    for number, (name, value) in enumerate(values.items()):
        source = sources.get(name, "")
        if value is None and source == _ABSENT:
            continue
        if value is None and source.startswith(_UNREADABLE):  # not given, and the library says why
            marks.append({"message": f"{name}: {source}"})
            continue
        column = columns[number] if number < len(columns) else None
        shown = f"@{number + 1}" if str(name).startswith("UNKNOWN_COL") else name
        image[shown] = value_of(value, column, source)
    return image


def changes_of(event: Any, marks: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The changes of a row event; adds the library's own remarks to ``marks``. Decoding happens here and may raise."""
    said: list[dict[str, Any]] = []
    found = []
    for row in event.rows:
        before = after = None
        if "values" in row:
            image = _image(row["values"], row.get("none_sources", {}), event.columns, said)
            operation = "delete" if type(event).__name__.startswith("Delete") else "insert"
            before, after = (image, None) if operation == "delete" else (None, image)
        else:
            operation = "update"
            before = _image(row["before_values"], row.get("before_none_sources", {}), event.columns, said)
            after = _image(row["after_values"], row.get("after_none_sources", {}), event.columns, said)
        found.append(
            {"schema": event.schema, "table": event.table, "operation": operation, "before": before, "after": after}
        )
    name = _EVENTS.get(type(event).__name__, "")
    if marks is not None:
        marks += [mark | {"event": name} for mark in said]
    return found
