"""The memory that a server takes at most for JSON while it applies one event (requirements FR14; WL#2955, step 17).

The performance schema keeps the largest number of bytes that a session had in use. A session of its own applies each
event by a BINLOG statement, so that the mark has nothing else in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.case_sql import binlog_statement
from conformance.judge.problem import Problem
from conformance.reference.event_types import EventType
from conformance.servers.wire.packets import whole

if TYPE_CHECKING:
    from conformance.servers.base import Server
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

FEW: Final = 2
_MANY, _MORE = 60, 90  # the event stays below binlog_row_event_max_size, which has at least 8192 bytes here
_LETTERS: Final = "abcdefgh"
_MARK: Final = (
    "SELECT COUNT_ALLOC, HIGH_NUMBER_OF_BYTES_USED "
    "FROM performance_schema.memory_summary_by_thread_by_event_name "
    "WHERE THREAD_ID = PS_CURRENT_THREAD_ID() AND EVENT_NAME = 'memory/sql/JSON'"
)


class Used(NamedTuple):
    """The cost of one event for a session: rows, allocations, and the most bytes in use at one time."""

    rows: int
    allocations: int
    bytes: int


class Plan(NamedTuple):
    """Documents that are alike, and an update that changes each by one diff of the same length."""

    rows: int
    padding: int
    old: str
    new: str

    def table(self, rows: int) -> list[str]:
        """Statements that make the table with so many rows; nothing of the rows is logged."""
        document = f"JSON_OBJECT('a', '{self.old}', 'p', REPEAT('x', {self.padding}))"
        rest = ", ".join(f"({number}, {document})" for number in range(rows))
        return [
            "SET SESSION sql_log_bin = 1, SESSION binlog_row_image = MINIMAL",
            "SET SESSION binlog_row_value_options = PARTIAL_JSON, SESSION binlog_format = ROW",
            "DROP TABLE IF EXISTS many",
            "CREATE TABLE many (id INT PRIMARY KEY, j JSON)",
            "SET SESSION sql_log_bin = 0",
            f"INSERT INTO many VALUES {rest}",
            "SET SESSION sql_log_bin = 1",
        ]

    def update(self, value: str) -> str:
        """The statement that gives every row this value."""
        return f"UPDATE many SET j = JSON_SET(j, '$.a', '{value}')"


def plan(draw: Draw) -> Plan:
    """Rows and values of one measurement."""
    length = 4 + draw.below(9)
    return Plan(
        _MANY + draw.below(_MORE),
        100 + draw.below(2_000),
        draw.letters(length, _LETTERS),
        draw.letters(length, _LETTERS.upper()),
    )


def measure(server: Server, writer: Connection, capture: Capture, schema: str, made: Plan, rows: int) -> Used:
    """Log the update of so many rows, take it back, and apply its row event in a new session."""
    writer.execute_many(made.table(rows)).check()
    start = capture.mark(writer)
    writer.execute(made.update(made.new))
    captured = capture.since(start, capture.mark(writer))
    writer.execute_many(["SET SESSION sql_log_bin = 0", made.update(made.old), "SET SESSION sql_log_bin = 1"]).check()
    wanted = (EventType.TABLE_MAP, EventType.PARTIAL_UPDATE_ROWS)
    events = [event for event in captured.events if event[4] in wanted]
    if [event[4] for event in events] != [*wanted]:
        return Used(0, 0, 0)
    with server.connect() as session:
        session.execute(f"USE {schema}")
        session.execute(binlog_statement(captured.format_description))
        session.execute("SET SESSION gtid_next = 'AUTOMATIC'")
        session.execute(binlog_statement(*events))
        allocations, most = session.execute(_MARK).only()
    applied = writer.execute(f"SELECT COUNT(*) FROM many WHERE j->>'$.a' = '{made.new}'").number()
    return Used(applied, whole(allocations), whole(most))


def shows(made: Plan, few: Used, many: Used) -> bool:
    """Whether both events came as diffs and were applied whole, and each of their rows was counted."""
    counted = 0 < few.allocations * made.rows <= many.allocations * few.rows
    return (few.rows, many.rows) == (FEW, made.rows) and counted and few.bytes > 0


def judge(few: Used, many: Used) -> list[Problem]:
    """LLD17: the most bytes in use are those of a few rows, however many rows the event has."""
    if many.bytes <= few.bytes:
        return []
    return [
        Problem(
            field=f"memory/sql/JSON over {many.rows} rows",
            expected=f"at most {few.bytes} bytes, as over {few.rows} rows",
            got=f"{many.bytes} bytes",
            message="the memory of diffs grows with the rows of an event",
        )
    ]
