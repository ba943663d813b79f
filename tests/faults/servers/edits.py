"""Edits that faults make of events and answers: small changes from which the catalogue is put together.

An edit of events takes those of whole transactions, as a fault's ``log`` does. Compressed transactions pass as they
are.
"""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.header import HEADER_SIZE, Checksum
from conformance.reference.binlog.rows import ROWS_TYPES, LazyRows, RowsBody
from conformance.reference.cursor import encode_packed
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import RawDiff, split_diffs
from conformance.reference.tables.columns import PartialJson
from conformance.reference.tables.table_map import TableMap
from conformance.servers.wire.capture import split_events
from tests.faults.servers.log import with_checksum

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tests.faults.servers.fault import ChangedAnswer, ChangedLog, Diagnostic
    from tests.faults.servers.packets import Answer

PARTIAL = frozenset((EventType.PARTIAL_UPDATE_ROWS,))
UPDATES = frozenset((EventType.UPDATE_ROWS, EventType.PARTIAL_UPDATE_ROWS))
ROWS = frozenset(ROWS_TYPES)

# --- events ----------------------------------------------------------------------------------------------------------


def each(types: Collection[int], change: Callable[[bytes], bytes | list[bytes]]) -> ChangedLog:
    """Change each event of these types, by its bytes; a list takes the event's place."""

    def changed(events: Sequence[bytes]) -> list[bytes]:
        out: list[bytes] = []
        for event in events:
            made = change(event) if event[4] in types else event
            out += made if isinstance(made, list) else [made]
        return out

    return changed


def typed(types: Collection[int], change: Callable[[Any], Any]) -> ChangedLog:
    """Change the typed body of each event of these types."""

    def changed(events: Sequence[bytes]) -> list[bytes]:
        tables: dict[int, TableMap] = {}
        out = []
        for event in events:
            if event[4] not in types and event[4] != EventType.TABLE_MAP:
                out.append(event)
                continue
            algorithm = Checksum.CRC32 if with_checksum(event) else Checksum.NONE
            header, body, *_ = decode_event(event, tables=tables, algorithm=algorithm, verify=False)
            if isinstance(body, TableMap):
                tables[body.table_id] = body
            if event[4] in types:
                before = body.typed() if isinstance(body, LazyRows) else body
                after = change(before)
                if after != before:
                    event = encode_event(
                        after, timestamp=header.timestamp, server_id=header.server_id, flags=header.flags,
                        algorithm=algorithm,
                    )  # fmt: skip
            out.append(event)
        return out

    return changed


def rows(change: Callable[[RowsBody], RowsBody], types: Collection[int] = PARTIAL) -> ChangedLog:
    """Change each event of rows."""
    return typed(types, change)


def values(change: Callable[[Any], Any], types: Collection[int] = ROWS) -> ChangedLog:
    """Change each value of the after-images."""

    def changed(body: RowsBody) -> RowsBody:
        made = tuple(
            row if row.after is None else row._replace(after=tuple(map(change, row.after))) for row in body.rows
        )
        return replace(body, rows=made)

    return rows(changed, types)


def diffs(change: Callable[[list[RawDiff]], list[RawDiff]]) -> ChangedLog:
    """Change each column's list of diffs."""

    def changed(value: Any) -> Any:
        if not isinstance(value, PartialJson):
            return value
        return PartialJson(b"".join(map(frame, change(split_diffs(value.diffs)))))

    return values(changed, PARTIAL)


def frame(diff: RawDiff) -> bytes:
    """The bytes of a diff."""
    data = b"" if diff.data is None else encode_packed(len(diff.data)) + diff.data
    return bytes((diff.operation,)) + encode_packed(len(diff.path)) + diff.path + data


def patch(offset: int, change: Callable[[int], int], size: int = 1) -> Callable[[bytes], bytes]:
    """Change a number of an event, little-endian: ``offset`` counts from the start of the body."""

    def changed(event: bytes) -> bytes:
        start = HEADER_SIZE + offset
        number = change(int.from_bytes(event[start : start + size], "little")) % (1 << 8 * size)
        return event[:start] + number.to_bytes(size, "little") + event[start + size :]

    return changed


def missing(types: Collection[int]) -> ChangedLog:
    """Events of these types are not written."""
    return each(types, lambda _: [])


def twice(types: Collection[int]) -> ChangedLog:
    """Events of these types are written twice."""
    return each(types, lambda event: [event, event])


# --- answers ---------------------------------------------------------------------------------------------------------


def cells(pattern: str, change: Callable[[bytes], bytes]) -> ChangedAnswer:
    """Change the cells of columns whose name matches."""

    def changed(_: str, answer: Answer) -> Answer:
        places = {number for number, name in enumerate(answer.columns) if re.search(pattern, name)}
        if not places:
            return answer
        made = tuple(
            tuple(change(cell) if place in places and cell is not None else cell for place, cell in enumerate(row))
            for row in answer.rows
        )
        return replace(answer, rows=made)

    return changed


def after(pattern: str, change: Callable[[Answer], Answer]) -> ChangedAnswer:
    """Change the answers to statements that match."""
    return lambda sql, answer: change(answer) if re.search(pattern, sql, re.IGNORECASE) else answer


def events_of(sql: str) -> list[bytes]:
    """The events in a BINLOG statement; none in others."""
    if not sql.startswith("BINLOG"):
        return []
    return list(split_events(b"".join(map(b64decode, sql.split("'")[1].split()))))


def accepted(*numbers: int) -> Callable[[Answer], Answer]:
    """An error of these numbers (of any, without one) is none."""

    def changed(answer: Answer) -> Answer:
        wrong = answer.error is not None and (not numbers or answer.error[0] in numbers)
        return type(answer)() if wrong else answer

    return changed


def refused(number: int, text: str = "planted") -> Callable[[Answer], Answer]:
    """A success is an error."""
    return lambda answer: answer if answer.error else replace(answer, error=(number, "HY000", text))


def renumbered(number: int, other: int) -> Callable[[Answer], Answer]:
    """An error has another number."""
    return lambda answer: (
        replace(answer, error=(other, *answer.error[1:])) if answer.error and answer.error[0] == number else answer
    )


def rewritten(pattern: str, text: str) -> Callable[[str], str]:
    """The server takes a statement for another one."""
    return lambda sql: re.sub(pattern, text, sql, flags=re.IGNORECASE)


def without(number: int, sql: str = "") -> Callable[[str, list[Diagnostic]], list[Diagnostic]]:
    """A warning is not given (after statements that match)."""

    def changed(statement: str, listed: list[Diagnostic]) -> list[Diagnostic]:
        if not re.search(sql, statement, re.IGNORECASE):
            return listed
        return [item for item in listed if item[1] != number]

    return changed


def worded(number: int, old: str, new: str) -> Callable[[str, list[Diagnostic]], list[Diagnostic]]:
    """The text of a warning is another one."""
    return lambda _, listed: [
        (level, code, re.sub(old, new, text) if code == number else text) for level, code, text in listed
    ]


def invented(number: int, text: str, sql: str) -> Callable[[str, list[Diagnostic]], list[Diagnostic]]:
    """Statements that match give a warning that they should not."""
    return lambda statement, listed: (
        [*listed, ("Warning", number, text)] if re.search(sql, statement, re.IGNORECASE) else listed
    )


def as_note(number: int, sql: str) -> Callable[[str, list[Diagnostic]], list[Diagnostic]]:
    """Statements that match give a warning with the level Note."""

    def changed(statement: str, listed: list[Diagnostic]) -> list[Diagnostic]:
        if not re.search(sql, statement, re.IGNORECASE):
            return listed
        return [("Note" if code == number else level, code, text) for level, code, text in listed]

    return changed


def as_another(number: int, other: int, sql: str) -> Callable[[str, list[Diagnostic]], list[Diagnostic]]:
    """Statements that match give a warning under another number."""

    def changed(statement: str, listed: list[Diagnostic]) -> list[Diagnostic]:
        if not re.search(sql, statement, re.IGNORECASE):
            return listed
        return [(level, other if code == number else code, text) for level, code, text in listed]

    return changed
