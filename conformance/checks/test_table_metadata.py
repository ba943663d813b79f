"""WL#4618: what TABLE_MAP says about a table, and what ``mysqlbinlog --print-table-metadata`` makes of it.

Generated tables are made on the server; a row goes into each with ``binlog_row_metadata`` MINIMAL and out again with
FULL. Every TABLE_MAP is predicted from the definition and compared byte for byte, every text with the reference's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.definitions import client_text, judge_events, judge_text, made, record_block, run_block
from conformance.servers.errors import ServerUnavailable

if TYPE_CHECKING:
    from conformance.checks.lab import Lab

_TABLES = {"quick": 140, "full": 5_000, "soak": 100_000}
_BLOCK = 100


@pytest.mark.requirement(
    "TMF1", "TMF2", "TMF3", "TMF4", "TMF5", "TMF6", "TMF7", "TMM1", "TMG1", "TMG2", "TMG3", "TMG4", "TMP1"
)
def test_table_maps(lab: Lab) -> None:
    """Each TABLE_MAP of generated tables as predicted, with both settings; each text of it as predicted."""
    server = lab.server
    if server is None:
        pytest.skip("needs a server: tables are made, and their events captured")
    if not server.started_by_us:
        reason = "the global variable binlog_row_metadata is changed, which is left to servers of the lab"
        lab.not_applicable("table-map/bytes", "TMF7", reason)
        return
    try:
        program = server.program("mysqlbinlog")
    except ServerUnavailable as error:
        lab.narrate(f"no text of tables is compared: {error}")
        program = []
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
