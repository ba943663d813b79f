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


def with_tag(value: Any, name: str, alter: Callable[[str], str]) -> Any:
    """The value with each text of this tag altered."""
    if isinstance(value, dict) and value.get("$type") == name:
        return {**value, "text": alter(value["text"])}
    if isinstance(value, dict):
        return {key: with_tag(item, name, alter) for key, item in value.items()}
    return [with_tag(item, name, alter) for item in value] if isinstance(value, list) else value


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


class OwnDocuments(Reader):
    """Reads documents with a decoder of its own, which is wrong about the place of a value."""

    def __init__(self) -> None:
        row_changes.decode = self._decode  # type: ignore[attr-defined]

    def place(self, start: int, offset: int, end: int) -> int:
        """The place of a value: the container's start, the entry's offset, and the end of the value in front."""
        raise NotImplementedError

    def _decode(self, data: bytes) -> Any:
        return self._value(data[1:], data[0], 0)[0] if data else None

    def _value(self, data: bytes, kind: int, start: int) -> tuple[Any, int]:
        """A value, and its end."""
        if kind > LARGE_ARRAY:
            return decode_scalar(data, kind, start, len(data))
        wide, is_object = kind & 1, kind <= LARGE_OBJECT
        count, _, entries, end = container_header(data, kind, start, len(data))
        key_size, value_size = (6, 5) if wide else (4, 3)
        keys = []
        table = data[entries - count * key_size : entries] if is_object else b""
        for _, length in (large_keys if wide else small_keys)(table):
            keys.append(data[end : end + length].decode())
            end += length
        values = []
        table = data[entries : entries + count * value_size]
        for number, (value_kind, offset) in enumerate((large_values if wide else small_values)(table)):
            if value_kind in (INLINED_LARGE if wide else INLINED_SMALL):
                value, _ = decode_scalar(data, value_kind, entries + number * value_size + 1, len(data))
            else:
                value, end = self._value(data, value_kind, self.place(start, offset, end))
            values.append(value)
        return dict(zip(keys, values, strict=True)) if is_object else values, end


class EntryOrder(OwnDocuments):
    """Reads the values one behind the other, and not where their entries say."""

    def place(self, start: int, offset: int, end: int) -> int:
        return end


class OffsetsFromTheRoot(OwnDocuments):
    """Counts the offsets of an inner container from the start of the document."""

    def place(self, start: int, offset: int, end: int) -> int:
        return offset


class ColumnsBehindDiffsUnread(Reader):
    def change(self, change: Change) -> Change:
        after: dict[str, Any] = {}
        for name, value in (change["after"] or {}).items():
            after[name] = value
            if diffs_in(value):
                change["after"] = after
                break
        return change


class DiffsAsDocument(Reader):
    """Takes the first value in a list of diffs for the whole document."""

    def value(self, value: Any) -> Any:
        diffs = diffs_in(value)
        return {"json": diffs[0].get("value")} if diffs else value


class BooleansAsNumbers(Reader):
    def value(self, value: Any) -> Any:
        return everywhere(value, lambda leaf: int(leaf) if isinstance(leaf, bool) else leaf)


class DecimalsThroughDoubles(Reader):
    def value(self, value: Any) -> Any:
        return with_tag(value, "DECIMAL", lambda text: repr(float(text)))


class TimestampAsDatetime(Reader):
    def value(self, value: Any) -> Any:
        return everywhere(value, lambda leaf: "DATETIME" if leaf == "TIMESTAMP" else leaf)


class ZeroDatesAsNull(Reader):
    def value(self, value: Any) -> Any:
        return None if isinstance(value, str) and value.startswith("0000-00-00") else value


class TimeWithoutSign(Reader):
    def value(self, value: Any) -> Any:
        return everywhere(value, lambda leaf: _TIME.sub(r"\1", leaf) if isinstance(leaf, str) else leaf)


class IntegersThroughDoubles(Reader):
    def value(self, value: Any) -> Any:
        tagged = with_tag(value, "UNSIGNED INTEGER", lambda text: str(int(float(text))))
        return everywhere(tagged, lambda leaf: int(float(leaf)) if type(leaf) is int else leaf)


class MembersInLatin1(Reader):
    def __init__(self) -> None:

        def member(info: Any, value: int) -> str | None:
            text = member_text(info, value)
            return None if text is None else text.encode().decode("latin-1")

        row_changes.member_text = member  # type: ignore[attr-defined]


class MembersShifted(Reader):
    """Counts the members of an ENUM from zero."""

    def __init__(self) -> None:
        def member(info: Any, value: int) -> str | None:
            return member_text(info, value % len(info.members) + 1 if info.members and value else value)

        row_changes.member_text = member  # type: ignore[attr-defined]


class TextInLatin1(Reader):
    def value(self, value: Any) -> Any:
        return value.encode("utf-8", "replace").decode("latin-1") if isinstance(value, str) else value


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


class BytesUpToAZero(Reader):
    def value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"hex"}:
            return {"hex": bytes.fromhex(value["hex"]).partition(b"\0")[0].hex()}
        return value
