"""The content of TABLE_MAP (WL#4618), and what ``mysqlbinlog --print-table-metadata`` prints of it.

The check makes generated tables on the server; it inserts a row into each with ``binlog_row_metadata`` MINIMAL and
deletes it with FULL. It compares every TABLE_MAP byte for byte with a prediction from the definition, and every text
with the reference's.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.table_metadata import field_order, unknown_fields
from conformance.checks.table_metadata.altered_maps import file_of
from conformance.checks.table_metadata.definitions import (
    TEXT,
    client_text,
    draw_definitions,
    judge_events,
    judge_text,
    record_block,
    run_block,
)
from conformance.harness.witnesses import record_not_shown
from conformance.servers.errors import ProgramUnusable, ServerUnavailable
from conformance.servers.program_identity import own_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.harness.check import Check
    from conformance.judge.problem import Problem
    from conformance.requirements.deviations import Deviation
    from conformance.servers.base import Server
    from conformance.servers.programs import Program

_BLOCK: Final = 100


@pytest.mark.check("bytes")
def test_table_maps(check: Check) -> None:
    """Each TABLE_MAP of generated tables, and each text of it, is as predicted, with MINIMAL and with FULL."""
    lab = check.lab
    server = _server(check, "TMF7")
    program = _program(check, server)
    systems = lab.questions.has("srs 4326")
    with server.connect() as connection:
        capture = server.capture()
        for block, numbers in _parts(check.size()):
            begun = time.perf_counter()
            with server.schema(connection) as schema:
                definitions = draw_definitions(check.seed, numbers, schema, lab.dialect.log, systems=systems)
                log = run_block(connection, capture, definitions)
            broken = judge_events(lab, definitions, log)
            if program:
                broken += judge_text(definitions, log, client_text(program, log.captured.file_bytes()))
            record_block(check, block, definitions, broken, printed=bool(program), begun=begun)
        capture.close()


@pytest.mark.check("unknown-fields")
def test_unknown_fields(check: Check) -> None:
    """Client and applier read a TABLE_MAP with an unknown field, at any place, as without the field."""
    server = _server(check)
    program = _program(check, server)
    entry = check.lab.listed(name=unknown_fields.DEVIATION)
    shown = 0
    with server.connect() as connection, server.connect() as session:
        capture = server.capture()
        for number, numbers in _parts(check.size()):
            with check.block(number) as block:
                with server.schema(connection) as schema:
                    definitions = unknown_fields.small_definitions(check.seed, numbers, schema, check.lab.dialect.log)
                    log = run_block(connection, capture, definitions)
                    items = unknown_fields.with_unknown_fields(f"{check.seed}/{number}", definitions, log)
                    session.execute(f"USE {schema}")
                    errors = unknown_fields.apply(session, log.captured.format_description, items)
                found = unknown_fields.judge_applied(items, errors)
                if program:
                    found += unknown_fields.judge_texts(items, client_text(program, file_of(log, items)))
                found = _as_listed(found, entry)
                shown += sum(problem.deviation is not None for problem in found)
                block.cases = len(items) * (2 if program else 1)
                block.differs(*found)
        capture.close()
    if entry is not None and not shown:
        record_not_shown(check, [entry])


@pytest.mark.check("field-order")
def test_fields_in_another_order(check: Check) -> None:
    """Client and server read a TABLE_MAP the same, in whatever order its fields stand."""
    server = _server(check)
    program = _program(check, server)
    with server.connect() as connection, server.connect() as session:
        capture = server.capture()
        for number, numbers in _parts(check.size()):
            with check.block(number) as block:
                with server.schema(connection) as schema:
                    definitions = unknown_fields.small_definitions(check.seed, numbers, schema, check.lab.dialect.log)
                    log = run_block(connection, capture, definitions)
                    items = field_order.with_other_orders(f"{check.seed}/{number}", definitions, log)
                    session.execute(f"USE {schema}")
                    outcomes = field_order.apply(session, log.captured.format_description, items)
                block.cases = len(items) * (2 if program else 1)
                block.differs(*field_order.judge_applied(items, outcomes))
                if program:
                    text = client_text(program, file_of(log, items))
                    block.differs(*field_order.judge_texts(items, text))
        capture.close()


def _parts(total: int) -> Iterator[tuple[int, range]]:
    """The numbers of tables, block by block."""
    for block, first in enumerate(range(0, total, _BLOCK)):
        yield block, range(first, min(total, first + _BLOCK))


def _server(check: Check, *requirements: str) -> Server:
    """The server, which the lab must have started. Without one the check ends, and these requirements are recorded as
    not applicable."""
    server = check.needs_server("a server: tables are made, and their events captured")
    if not server.started_by_us:
        reason = "needs a server that the lab started: the global variable binlog_row_metadata is changed"
        check.leave_out(reason, *requirements)
    if not check.lab.dialect.log.tlv_max:
        check.leave_out("needs table metadata in the log: this version writes none", *requirements)
    return server


def _program(check: Check, server: Server) -> Program | None:
    try:
        return own_program(server, "mysqlbinlog")
    except ProgramUnusable as error:
        check.named(check.id, TEXT).not_run(str(error))
        return None
    except ServerUnavailable as error:
        check.narrate(f"no text of tables is compared: {error}")
        return None


def _as_listed(problems: list[Problem], entry: Deviation | None) -> list[Problem]:
    """Take the name of the deviation from each problem, unless the list has an entry of this name for the server."""
    if entry is not None:
        return problems
    return [replace(problem, deviation=None) for problem in problems]
