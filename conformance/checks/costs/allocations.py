"""Counts of a server's allocations for JSON, from the performance schema (requirements FR14).

On the source this module reads the count of one session around each statement. The same statements run in sessions that
differ in one condition. On a replica, where nothing else works, it reads the server's whole count around a block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cases.script import Statement
from conformance.checks.costs.allocations_judge import StatementCounts
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.errors import ServerError
from conformance.servers.wire.packets import whole

if TYPE_CHECKING:
    from conformance.cases.script import Script
    from conformance.harness.updates.blocks import Limits
    from conformance.servers.wire.connection import Connection

_EVENT: Final = "memory/sql/JSON"
_SESSION: Final = (
    "SELECT COUNT_ALLOC FROM performance_schema.memory_summary_by_thread_by_event_name "
    f"WHERE THREAD_ID = PS_CURRENT_THREAD_ID() AND EVENT_NAME = '{_EVENT}'"
)
_GLOBAL: Final = (
    "SELECT COUNT_ALLOC, SUM_NUMBER_OF_BYTES_ALLOC FROM performance_schema.memory_summary_global_by_event_name "
    f"WHERE EVENT_NAME = '{_EVENT}'"
)
_ENABLED: Final = f"SELECT ENABLED FROM performance_schema.setup_instruments WHERE NAME = '{_EVENT}'"


class Mode(NamedTuple):
    """A session in which a condition does not hold, or all do (``on``), or the option is off (``off``)."""

    partial_json: bool
    log: bool
    format: str

    def statements(self) -> list[str]:
        """The mode's statements, after those of the Case's session. Switching the log comes last: a closed log would
        forbid nothing else."""
        option = "'PARTIAL_JSON'" if self.partial_json else "''"
        return [
            f"SET SESSION binlog_format = {self.format}",
            f"SET SESSION binlog_row_value_options = {option}",
            f"SET SESSION sql_log_bin = {int(self.log)}",
        ]


OFF: Final = Mode(False, True, "ROW")
ON: Final = Mode(True, True, "ROW")
WITHOUT: Final = {
    "no log (condition 1)": Mode(True, False, "ROW"),
    "STATEMENT format (condition 3)": Mode(True, True, "STATEMENT"),
}


class Growth(NamedTuple):
    """Allocations and bytes between two moments."""

    allocations: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.allocations} allocations, {self.bytes} bytes"

    def since(self, before: Growth) -> Growth:
        """Return the growth since ``before``, which counts from the same start. Raises :class:`ServerError`."""
        return Growth(grown(before.allocations, self.allocations), grown(before.bytes, self.bytes))


def grown(before: int, after: int) -> int:
    """By how much a counter grew. Raises :class:`ServerError` where it went back."""
    if after < before:
        raise ServerError(f"a counter of memory/sql/JSON went back: expected {before} or more, got {after}")
    return after - before


def counts_allocations(connection: Connection) -> bool:
    """Whether the server counts allocations for JSON: performance schema on, and its instrument."""
    if connection.variable("global.performance_schema") not in ("ON", "1"):
        return False
    return connection.execute(_ENABLED).scalar() == "YES"


def all_allocations(connection: Connection) -> Growth:
    """The whole server's allocations for JSON since its start."""
    count, size = connection.execute(_GLOBAL).only()
    return Growth(whole(count), whole(size))


def with_option(script: Script, limits: Limits, *, partial_json: bool) -> Script:
    """The same Case in a session with the option on or off, and without compression."""
    session = replace(script.case.session, partial_json=partial_json, compression=False)
    return limits.script(replace(script.case, session=session))


def capture_counts(connection: Connection, script: Script) -> list[StatementCounts]:
    """Run the statements of a Case (the option on in its session) in every mode, and count their allocations."""
    off = _run(connection, script, OFF)
    without = {condition: _run(connection, script, mode) for condition, mode in WITHOUT.items()}
    on = _run(connection, script, ON)
    return [
        StatementCounts(
            step,
            off[step],
            {condition: counts[step] for condition, counts in without.items() if step in counts},
            on[step],
            any(change.diffs for row in prediction.rows for change in row.change.columns.values()),
        )
        for step, prediction in enumerate(script.predictions)
        if step in off and step in on
    ]


def _run(connection: Connection, script: Script, mode: Mode) -> dict[int, int]:
    """Allocations by statement; a statement that the server refuses is left out."""
    name = script.case.table.name
    connection.execute("SET SESSION sql_log_bin = 1")
    connection.execute_many(
        [
            *script.case.session.statements(),
            *mode.statements(),
            f"DROP TABLE IF EXISTS {quote_identifier(name)}",
            create_table(script.case.table),
            script.insert,
        ]
    ).check()
    counts: dict[int, int] = {}
    for item in script.items:
        answer = connection.execute_many([_SESSION, item.sql, _SESSION])
        if answer.error is not None and answer.error.position != 1:
            raise answer.error  # of the question, not of the statement
        if isinstance(item, Statement) and answer.error is None:
            before, _, after = answer.results
            counts[item.step] = grown(before.number(), after.number())
    connection.execute_many(["SET SESSION sql_log_bin = 1", "SET SESSION binlog_format = ROW"]).check()
    return counts
