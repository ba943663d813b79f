"""Spans of versions, and events in the form of a version: what the tests of the dialect table are made of."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pytest

from conformance.reference.binlog.event import decode_event, encode_event
from conformance.reference.binlog.images import Row
from conformance.reference.binlog.rows import PartitionInfo, RowsBody, rows_body
from conformance.reference.binlog.versions import written
from conformance.reference.errors import EncodeError
from conformance.reference.event_types import EventType
from conformance.reference.tables import columns as types
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.table_map import TableMap
from conformance.requirements.versions import parse_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.binlog.event import Body
    from conformance.reference.dialect import Dialect
    from conformance.requirements.versions import Version

T = TypeVar("T")
# Series that were released one after the other, for the version in front of the first one of a series.
_SERIES: Final = ((5, 6), (5, 7), *((8, minor) for minor in range(5)), *((9, minor) for minor in range(8)))


def before(version: Version) -> Version:
    """The version in front of one."""
    major, minor, patch = version
    if patch:
        return major, minor, patch - 1
    return *_SERIES[_SERIES.index((major, minor)) - 1], 99


def spans(*parts: tuple[str, T]) -> Iterator[tuple[Version, T]]:
    """The first and the last version of each span, with what holds there; of the last span, its first and 9.7.4."""
    for number, (since, value) in enumerate(parts):
        yield parse_version(since), value
        yield before(parse_version(parts[number + 1][0])) if number + 1 < len(parts) else (9, 7, 4), value


# --- bodies in the newest form ---------------------------------------------------------------------------------------

INT, YEAR, JSON = ColumnType(types.LONG), ColumnType(types.YEAR), ColumnType(types.JSON, 4)
STEPS: Final[dict[str, Any]] = {
    "immediate_commit_timestamp": 1_700_000_000_000_000, "transaction_length": 300, "immediate_server_version": 90704,
    "commit_group_ticket": 9,
}  # fmt: skip


def table(*columns: ColumnType, metadata: tuple[Any, ...] = (), flags: int = 1) -> TableMap:
    return TableMap(
        table_id=1,
        schema="d",
        table="t",
        columns=columns,
        nullable=(True,) * len(columns),
        metadata=metadata,
        flags=flags,
    )


def insert(*, flags: int = 1, partition: bool = False, kind: int = EventType.WRITE_ROWS) -> RowsBody:
    extra = (PartitionInfo(3),) if partition else ()
    return rows_body(table(INT, INT, INT), kind, [Row(None, (1, None, 7))], flags=flags, extra=extra)


def form(body: Body, dialect: Dialect) -> Any:
    """As this version writes it: encoded, and decoded again."""
    made = written(body, dialect)
    if made is None:
        return None
    maps = {1: table(INT, INT, INT)}
    event = decode_event(encode_event(made), tables=maps).typed()
    assert event.encode() == encode_event(made)
    return event.body


def refuses(body: Body, dialect: Dialect) -> bool:
    with suppress(EncodeError):
        written(body, dialect)
        return False
    with pytest.raises(EncodeError, match="not-in-version"):
        written(body, dialect)
    return True
