"""The same workload four times: the option off everywhere, off in the session alone, on, and off again."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.option_off.judge import broken_rules
from conformance.servers.errors import SqlError
from conformance.servers.roles.update_cases import run_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.cases.update_case import UpdateCase
    from conformance.harness.updates.blocks import Limits
    from conformance.judge.problem import Problem
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

OPTION: Final = "binlog_row_value_options"
_SETTINGS: Final = ((False, False), (True, False), (False, True), (False, False))  # of the server, of the session


class Run(NamedTuple):
    """The events of one run, and the fields that break a rule in it."""

    events: tuple[bytes, ...]
    broken: list[Problem]


def four_runs(connection: Connection, capture: Capture, schema: str, case: UpdateCase, limits: Limits) -> list[Run]:
    """Run the workload in one session with the option off, off with the global option on, on, and off again.

    The session must be new: the first two runs are those of one that never had the option on.
    """
    runs = []
    for everywhere, session in _SETTINGS:
        # Compressed transactions have other bytes for other reasons.
        changed = replace(case, session=replace(case.session, partial_json=session, compression=False))
        script = limits.script(changed)
        with _globally(connection, on=everywhere):
            observation = run_case(connection, capture, script, schema)
        runs.append(Run(observation.events, broken_rules(script, observation)))
    return runs


@contextmanager
def _globally(connection: Connection, *, on: bool) -> Iterator[None]:
    before = connection.variable(f"global.{OPTION}")
    connection.execute(f"SET GLOBAL {OPTION} = '{'PARTIAL_JSON' if on else ''}'")
    try:
        yield
    finally:
        connection.execute(f"SET GLOBAL {OPTION} = '{before}'")


def set_option(connection: Connection, value: str) -> tuple[int | None, str | None]:
    """Set the session's option: the error, and the value that the session then has."""
    error = None
    try:
        connection.execute(f"SET SESSION {OPTION} = '{value}'")
    except SqlError as refused:
        error = refused.number
    return error, connection.variable(f"session.{OPTION}")
