"""WL#4618: what TABLE_MAP says about a table, and what ``mysqlbinlog --print-table-metadata`` makes of it.

Generated tables are made on the server; a row goes into each with ``binlog_row_metadata`` MINIMAL and out again with
FULL. Every TABLE_MAP is predicted from the definition and compared byte for byte, every text with the reference's.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.checks.table_metadata import unknown_fields
from conformance.checks.table_metadata.definitions import (
    client_text,
    judge_events,
    judge_text,
    made,
    record_block,
    run_block,
)
from conformance.harness.outcomes import Outcome, record
from conformance.harness.witnesses import unexpected_pass
from conformance.requirements.versions import applies
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from conformance.harness.lab import Lab
    from conformance.harness.outcomes import Problem
    from conformance.requirements.deviations import Deviation
    from conformance.servers.base import Server

_TABLES = {"quick": 140, "full": 5_000, "soak": 100_000}
_BLOCK = 100
_UNKNOWN = {"quick": 60, "full": 1_000, "soak": 20_000}


@pytest.mark.requirement(
    "TMF1", "TMF2", "TMF3", "TMF4", "TMF5", "TMF6", "TMF7", "TMM1", "TMG1", "TMG2", "TMG3", "TMG4", "TMP1"
)
def test_table_maps(lab: Lab) -> None:
    """Each TABLE_MAP of generated tables as predicted, with both settings; each text of it as predicted."""
    server = _server(lab, "table-map/bytes", "TMF7")
    if server is None:
        return
    program = _program(lab, server)
    failed = 0
    total = _TABLES[lab.settings.profile]
    with server.connect() as connection:
        capture = server.capture()
        for block, first in enumerate(range(0, total, _BLOCK)):
            begun = time.perf_counter()
            with server.schema(connection) as schema:
                definitions = made(lab.settings.seed, range(first, min(total, first + _BLOCK)), schema, lab.dialect.log)
                log = run_block(connection, capture, definitions)
            broken = judge_events(lab, definitions, log)
            if program:
                broken += judge_text(definitions, log, client_text(program, log.captured.file_bytes()))
            failed += record_block(lab, block, definitions, broken, printed=bool(program), begun=begun)
        capture.close()
    if failed:
        pytest.fail(f"{failed} events or texts of tables are not as predicted; see the report", pytrace=False)


@pytest.mark.requirement("TMNF3")
def test_unknown_fields(lab: Lab) -> None:
    """A field that nobody knows yet, anywhere in a TABLE_MAP: client and applier read the event as without it."""
    server = _server(lab, "table-map/unknown-fields", "TMNF3")
    if server is None:
        return
    program = _program(lab, server)
    entry = _listed(lab)
    failed = shown = 0
    total = _UNKNOWN[lab.settings.profile]
    with server.connect() as connection, server.connect() as session:
        capture = server.capture()
        for block, first in enumerate(range(0, total, _BLOCK)):
            begun = time.perf_counter()
            seed = lab.settings.seed
            with server.schema(connection) as schema:
                numbers = range(first, min(total, first + _BLOCK))
                definitions = unknown_fields.small_definitions(seed, numbers, schema, lab.dialect.log)
                log = run_block(connection, capture, definitions)
                items = unknown_fields.with_unknown_fields(f"{seed}/{block}", definitions, log)
                session.execute(f"USE {schema}")
                errors = unknown_fields.apply(session, log.captured.format_description, items)
            found = unknown_fields.judge_applied(items, errors)
            if program:
                found += unknown_fields.judge_texts(items, client_text(program, unknown_fields.file_of(log, items)))
            found = _as_listed(found, entry)
            shown += sum(problem.deviation is not None for problem in found)
            failed += record(
                lab,
                Outcome(
                    check="table-map/unknown-fields",
                    requirement="TMNF3",
                    block=block,
                    cases=len(items) * (2 if program else 1),
                    problems=found,
                    seconds=time.perf_counter() - begun,
                ),
            )
        capture.close()
    if failed:
        pytest.fail(f"{failed} fields that nobody knows change what is read; see the report", pytrace=False)
    if entry is not None and not shown:
        unexpected_pass(lab, "table-map/unknown-fields", [entry])


def _server(lab: Lab, check: str, requirement: str) -> Server | None:
    """The server, if it is one of the lab's own; skips without one."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: tables are made, and their events captured")
    if not server.started_by_us:
        reason = "the global variable binlog_row_metadata is changed, which is left to servers of the lab"
        lab.not_applicable(check, requirement, reason)
        return None
    if not lab.dialect.log.tlv_max:
        lab.not_applicable(check, requirement, "a server of this version logs no table metadata")
        return None
    return server


def _program(lab: Lab, server: Server) -> list[str]:
    try:
        return server.program("mysqlbinlog")
    except ServerUnavailable as error:
        lab.narrate(f"no text of tables is compared: {error}")
        return []


def _listed(lab: Lab) -> Deviation | None:
    """The deviation, where it is listed for this server."""
    for entry in lab.deviations:
        if entry.id == unknown_fields.DEVIATION and applies(entry.versions, lab.version):
            return entry
    return None


def _as_listed(problems: list[Problem], entry: Deviation | None) -> list[Problem]:
    """What the list does not explain is no deviation."""
    if entry is not None:
        return problems
    return [replace(problem, deviation=None) for problem in problems]
