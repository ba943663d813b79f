"""An events Case as a script: plain SQL with BINLOG statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.by_hand.injection import MISSING_ROW, Demand, state_of
from conformance.harness.scripts.checked_sql import BEFORE, RUN_WITH, SUCCEEDED, ended, refused_with, row
from conformance.judge.damage.diverged import ALLOWED, expected_of, show
from conformance.reference.errors import CodecError
from conformance.reference.sql.quoting import quote_string
from conformance.servers.roles.injector import script

if TYPE_CHECKING:
    from conformance.cases.by_hand.event_case import EventCase
    from conformance.cases.by_hand.injection import Injection, RowState

_SCHEMA = "binlog_lab_injection"
_VERSION = "9.7.4"


def event_script(case: EventCase) -> str:
    """SQL of the Case. Where the event ends the server, the client prints "Lost connection" behind the expected
    result."""
    injection = case.injection
    *before, event, _ = script(injection, _VERSION)
    what, condition = _demanded(injection)
    lines = [
        f"-- Case {case.id}{f', seed {case.seed}' if case.seed else ''}; requirements: {', '.join(case.requirements)}",
        f"-- Run it with: {RUN_WITH} < SCRIPT 2>&1",
        "-- on a server of your own with gtid_mode=OFF and enforce_gtid_consistency=OFF.",
        *([f"-- Hazard {case.hazard}: it may do that to the server."] if case.hazard != "none" else []),
        f"DROP SCHEMA IF EXISTS {_SCHEMA};",
        *(f"{statement};" for statement in before),
        f"-- The event: {injection.name}.",
        f"SELECT 'the event: {injection.name}' AS next, {quote_string(f'{what}; the server lives')} AS expected;",
        BEFORE,
        f"{event};",
        *ended("the event", what, condition),
        *_reading(injection),
        "SELECT 'the server' AS checked, 'lives' AS expected, 'lives' AS got, 'as expected' AS verdict;",
        f"DROP SCHEMA {_SCHEMA};",
    ]
    return "\n".join(lines) + "\n"


def _demanded(injection: Injection) -> tuple[str, str]:
    """The outcome that the event must have, as text and as a condition: the worklog's, else the reference's."""
    numbers = sorted(ALLOWED if injection.row_exists else ALLOWED | {MISSING_ROW})
    if injection.demand is Demand.ERROR:
        return f"an error for a damaged event ({', '.join(map(str, numbers))})", refused_with(*numbers)
    predicted = expected_of(injection)
    if predicted.error:
        return f"error {predicted.error}", refused_with(predicted.error)
    return "success", SUCCEEDED


def _reading(injection: Injection) -> list[str]:
    """SQL that reads the row: unchanged if the event was refused, else as the reference leaves it."""
    start = state_of(injection.stored) if injection.row_exists else None
    predicted = expected_of(injection)
    after = start if predicted.error or injection.demand is Demand.ERROR else predicted.state
    if start is None:
        return []
    expected = [show(state) for state in ([start] if after == start else [after, start])]
    words = " or, after an error, ".join(expected)
    try:
        condition = f"IF(@errors, {_reads_as(start)}, {_reads_as(after)})"
    except CodecError:
        return [f"SELECT * FROM {_SCHEMA}.t;"]
    got = (
        "CONCAT_WS('', COALESCE(CAST(j AS CHAR), IF(j IS NULL, 'SQL NULL', 'a text that is NULL')), ' (valid ', "
        "JSON_VALID(j), ', size ', JSON_STORAGE_SIZE(j), ', free ', JSON_STORAGE_FREE(j), ')')"
    )
    select = row("the row", words, got, condition).removesuffix(";")
    return [
        f"SELECT 'reading the row' AS next, {quote_string(words)} AS expected;",
        BEFORE.replace("@errors = 0", "@errors = @errors"),
        f"{select}\n  FROM {_SCHEMA}.t WHERE id = 1;",
    ]


def _reads_as(state: RowState | None) -> str:
    if state is None or state.is_null:
        return "j IS NULL"
    if state.text is None:
        return "FALSE"
    text = quote_string(state.text.decode("utf-8", "surrogateescape"))
    return f"COALESCE(BINARY CAST(j AS CHAR) = BINARY {text}, FALSE)"
