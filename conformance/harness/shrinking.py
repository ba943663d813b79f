"""Shrinking a failing Case on the server that showed it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.cases.files import case_id, dump_case, load_case
from conformance.cases.shrinking.update_cases import shrink
from conformance.harness.updates.blocks import BlockResult, judge_block
from conformance.harness.updates.events import check_events
from conformance.harness.updates.run import server_limits
from conformance.judge.updates.compare import compare, judge_rules
from conformance.servers.errors import ConnectionLost
from conformance.servers.roles.update_cases import run_case

if TYPE_CHECKING:
    from collections.abc import Collection

    from conformance.cases.update_case import UpdateCase
    from conformance.servers.base import Server


def judge_live(server: Server, case: UpdateCase) -> BlockResult:
    """Run one Case in a schema of its own and judge it."""
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        try:
            script = limits.script(case)
            observation = run_case(connection, capture, script, schema)
        finally:
            capture.close()
    return judge_block(script, observation, 0, time.perf_counter(), keep_case=True)


def shrink_live(
    server: Server,
    data: dict[str, Any],
    kinds: Collection[str],
    deviation: str | None,
    seconds: float,
    *,
    refused: bool = False,
) -> dict[str, Any] | None:
    """The data of a smaller Case with a mismatch of one of these kinds, or ``None`` if there is none.

    ``deviation``: the switch that explains the mismatch; a smaller Case must show one with the same explanation.
    ``refused``: the server refused a statement around the updates. Where it did not, a cut that makes the server refuse
    one is no valid Case.
    """
    case = load_case(data)
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()

        def fails(candidate: UpdateCase) -> bool:
            try:
                script = limits.script(candidate)
                observation = run_case(connection, capture, script, schema)
            except ConnectionLost:
                raise
            except Exception:  # noqa: BLE001 - a cut that leaves no valid Case; the stored one stays as it is
                return False
            if bool(observation.refused) != refused:
                return False
            # Whether, not what: no re-synchronised predictions, no census.
            rules = judge_rules(script, observation)
            found = (*compare(script, observation).mismatches, *rules, *check_events(script, observation).found)
            return any(mismatch.kind in kinds and mismatch.deviation == deviation for mismatch in found)

        try:
            small = shrink(case, fails, seconds=seconds)
        finally:
            capture.close()
    if small == case:
        return None
    return dump_case(replace(small, id=case_id(small)))
