"""Updates with a hundred diffs to a thousand, and their lists in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.judge.updates.events import readable_events
from conformance.reference.binlog.rows import UPDATE_TYPES, RowsBody
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.diffs import Operation, RawDiff, split_diffs
from conformance.reference.tables.columns import PartialJson
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CREATE: Final = (
    "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = MINIMAL",
    "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'",
    "CREATE TABLE longs (id INT PRIMARY KEY, j JSON)",
    "INSERT INTO longs VALUES (1, JSON_OBJECT('a', 1, 'b', 2, 'c', JSON_ARRAY(1, 2), 'p', 'p'))",
    "UPDATE longs SET j = JSON_SET(j, '$.p', REPEAT('p', 60000))",
)
"""A document so large that its diffs are shorter."""
_PATHS: Final = ("$.a", "$.b", "$.c[0]", "$.c[1]")


def assignments(seed: str, count: int) -> Iterator[list[tuple[str, int]]]:
    """The paths and values of ``count`` assignments."""
    draw = Stream("long-lists", seed)
    value = 10
    for number in range(count):
        part = draw.fork(number)
        changes = []
        for _ in range(100 + part.below(901)):
            value = 10 + (value - 9) % 30_000  # never the value that is there: such a diff stops a replica
            changes.append((part.choice(_PATHS), value))
        yield changes


def expected_list(changes: Iterable[tuple[str, int]]) -> list[RawDiff]:
    """The diffs of an assignment as they stand in the log: each change replaces the value that is there."""
    return [RawDiff(Operation.REPLACE, path.encode(), encode(value)) for path, value in changes]


def logged_lists(events: Iterable[bytes]) -> list[list[RawDiff] | None]:
    """The diffs that each row of the log has; ``None``: the log has the whole document."""
    return [
        next((list(split_diffs(value.diffs)) for value in row.after or () if isinstance(value, PartialJson)), None)
        for _, event in readable_events(events)
        if isinstance(event.body, RowsBody) and event.body.type in UPDATE_TYPES
        for row in event.body.rows
    ]
