"""Faulty decoders that alter or lose values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conformance.reference.jsonb.decode import (
    container_header,
    decode_scalar,
    large_keys,
    large_values,
    small_keys,
    small_values,
)
from conformance.reference.jsonb.encode import INLINED_LARGE, INLINED_SMALL
from conformance.reference.jsonb.values import LARGE_ARRAY, LARGE_OBJECT
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text import row_changes
from conformance.reference.text.columns import member_text
from tests.subjects.faulty.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.subjects.faulty.reading import Change

_TIME = re.compile(r"-(\d{2,3}:\d\d:\d\d(\.\d+)?)")
_PARTIAL = "PARTIAL_UPDATE_ROWS_EVENT"


def everywhere(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """The value with each leaf altered."""
    if isinstance(value, dict):
        return {key: everywhere(item, leaf) for key, item in value.items()}
    return [everywhere(item, leaf) for item in value] if isinstance(value, list) else leaf(value)


def diffs_in(value: Any) -> list[Any] | None:
    """The diffs of a column's value, if it has a list of them."""
    return value["diffs"] if isinstance(value, dict) and "diffs" in value else None


class FirstDiffOnly(Reader):
    def value(self, value: Any) -> Any:
        diffs = diffs_in(value)
        return value if diffs is None else {"diffs": diffs[:1]}


class LastDiffFirst(Reader):
    def value(self, value: Any) -> Any:
        diffs = diffs_in(value)
        return value if diffs is None else {"diffs": diffs[::-1]}


class EmptyListAsNull(Reader):
    def value(self, value: Any) -> Any:
        return None if diffs_in(value) == [] else value


class JsonNullAsSqlNull(Reader):
    def value(self, value: Any) -> Any:
        return None if value == {"json": None} else value


class ReadsPastTheList(Reader):
    """Takes the diffs of the next column for its own."""

    def change(self, change: Change) -> Change:
        known: list[Any] | None = None
        for value in (change["after"] or {}).values():
            diffs = diffs_in(value)
            if known is not None and diffs:
                known += diffs
                diffs.clear()
            known = diffs
        return change


class IgnoresThePartialBitmap(Reader):
    """Takes each document in event 39 for diffs."""

    def change(self, change: Change) -> Change:
        if change["event"] == _PARTIAL:
            for name, value in change["after"].items():
                if isinstance(value, dict) and "json" in value:
                    change["after"][name] = {"diffs": [{"operation": "REPLACE", "path": "$", "value": value["json"]}]}
        return change


class EntryOrder(Reader):
    """Reads the values of a document one behind the other, and not where their entries say."""

    def __init__(self) -> None:
        row_changes.decode = self._decode  # type: ignore[attr-defined]

    def _decode(self, data: bytes) -> Any:
        return self._value(data[1:], data[0], 0)[0] if data else None

    def _value(self, data: bytes, kind: int, place: int) -> tuple[Any, int]:
        """A value, and its end."""
        if kind > LARGE_ARRAY:
            return decode_scalar(data, kind, place, len(data))
        wide, is_object = kind & 1, kind <= LARGE_OBJECT
        count, _, entries, end = container_header(data, kind, place, len(data))
        lengths = (small_keys, large_keys)[wide](data[entries - count * (4, 6)[wide] : entries]) if is_object else ()
        keys = []
        for _, length in lengths:
            keys.append(data[end : end + length].decode())
            end += length
        values = []
        inlined = (INLINED_SMALL, INLINED_LARGE)[wide]
        for number, (value_kind, _) in enumerate(
            (small_values, large_values)[wide](data[entries : entries + count * (3, 5)[wide]])
        ):
            if value_kind in inlined:
                value, _ = decode_scalar(data, value_kind, entries + number * (3, 5)[wide] + 1, len(data))
            else:
                value, end = self._value(data, value_kind, end)
            values.append(value)
        return dict(zip(keys, values, strict=True)) if is_object else values, end


class TimeWithoutSign(Reader):
    def value(self, value: Any) -> Any:
        return everywhere(value, lambda leaf: _TIME.sub(r"\1", leaf) if isinstance(leaf, str) else leaf)


class IntegersThroughDoubles(Reader):
    def value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.get("$type") == "UNSIGNED INTEGER":
            return {**value, "text": str(int(float(value["text"])))}
        if isinstance(value, dict):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        return int(float(value)) if isinstance(value, int) and not isinstance(value, bool) else value


class MembersInLatin1(Reader):
    def __init__(self) -> None:

        def member(info: Any, value: int) -> str | None:
            text = member_text(info, value)
            return None if text is None else text.encode().decode("latin-1")

        row_changes.member_text = member  # type: ignore[attr-defined]


class UnsignedAsSigned(Reader):
    def __init__(self) -> None:
        TableMap.unsigned = property(lambda table: (False,) * len(table.columns))  # type: ignore[method-assign,assignment]


class FirstColumnsOnly(Reader):
    """Has bitmaps of one machine word."""

    def change(self, change: Change) -> Change:
        for image in ("before", "after"):
            if change[image] is not None:
                change[image] = dict(list(change[image].items())[:64])
        return change


class AbsentAsNull(Reader):
    def change(self, change: Change) -> Change:
        before, after = change["before"], change["after"]
        if before is not None and after is not None:
            change["before"] = dict.fromkeys(after) | before
            change["after"] = dict.fromkeys(before) | after
        return change


class ImagesSwapped(Reader):
    def change(self, change: Change) -> Change:
        if change["operation"] == "update":
            change["before"], change["after"] = change["after"], change["before"]
        return change


class BytesAsText(Reader):
    """Decodes whatever it gets as UTF-8."""

    def value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"hex"}:
            return bytes.fromhex(value["hex"]).decode(errors="replace")
        return value


class LosesTypes(Reader):
    """Gives MySQL's text of values that JSON has no type for."""

    capabilities = ("file",)
    tagged = False
