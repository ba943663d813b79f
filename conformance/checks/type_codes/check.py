"""Updates of tables without JSON columns, and of columns beside documents: their type codes (F1), and all other bytes
(F3)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conformance.checks.type_codes.generate import case_of
from conformance.checks.type_codes.judge import other_differences, type_codes
from conformance.harness.updates.run import server_limits
from conformance.judge.updates.compare import judge
from conformance.servers.roles.update_cases import run_case
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check


@pytest.mark.check("events")
def test_updates_without_documents(check: Check) -> None:
    """With the option on every update is of type 39, in a table without JSON columns too; with it off, of type 31."""
    server = check.needs_server("a server: the recorded captures have no update of a table without JSON columns")
    types, contents = check.part("F1", "F1"), check.part("bytes", "F3")
    limits = server_limits(server, check.lab.dialect)
    draw = Stream("type-codes", check.seed)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        try:
            for number in check.blocks():
                begun = time.perf_counter()
                script = limits.script(case_of(draw.fork(number), number))
                observation = run_case(connection, capture, script, schema)
                wrong = type_codes(script, observation)
                mismatches = judge(script, observation).mismatches
                others = [*other_differences(mismatches, wrong_codes=bool(wrong))]
                seconds = (time.perf_counter() - begun) / 2
                for part, problems in ((types, wrong), (contents, others)):
                    cases = max(len(script.predictions), len(problems))
                    part.record(number, problems, cases=cases, case=script.case, seconds=seconds)
        finally:
            capture.close()
