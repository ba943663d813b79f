"""Generated updates of tables with a BEFORE UPDATE trigger, one Case after the other on one session."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from conformance.harness.update_records import UpdateCheck
from conformance.harness.updates.blocks import judge_block
from conformance.harness.updates.run import server_limits
from conformance.judge.damage.document_bytes import has_bad_key_entry
from conformance.reference.partial.update import is_unpredictable
from conformance.servers.roles.update_cases import run_case
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.cases.script import Script
    from conformance.cases.update_case import UpdateCase
    from conformance.harness.updates.blocks import BlockResult
    from conformance.servers.base import Server

_LOG: Final = frozenset(("event", "events", "outcome", "decode", "apply"))
_STORED: Final = frozenset(("size", "free", "text"))
IN_ROW: Final = (
    UpdateCheck(id="triggers/in-row/log", kinds=_LOG, requirements=("D13",), verdict=Verdict.FAIL),
    UpdateCheck(id="triggers/in-row/rows", kinds=_STORED, requirements=("D15",), verdict=Verdict.FAIL),
)
OFF_PAGE: Final = (
    UpdateCheck(id="triggers/off-page/log", kinds=_LOG, requirements=("D13",), verdict=Verdict.FAIL),
    UpdateCheck(id="triggers/off-page/rows", kinds=_STORED, requirements=("D15",), verdict=Verdict.FAIL),
)


def run(server: Server, cases: Iterable[UpdateCase]) -> Iterator[BlockResult]:
    """Run and judge each Case. A Case whose row could end the server when it is read is left out."""
    limits = server_limits(server)
    with server.connect() as connection, server.schema(connection) as schema:
        capture = server.capture()
        try:
            for number, case in enumerate(cases):
                begun = time.perf_counter()
                script = limits.script(case)
                if not _harmful(script):
                    yield judge_block(script, run_case(connection, capture, script, schema), number, begun)
        finally:
            capture.close()


def _harmful(script: Script) -> bool:
    """Whether the stored bytes cannot be predicted, or an object in them has a key outside itself: 9.7.4 dies when it
    reads such a key (FR5)."""
    changes = [row.change for prediction in script.predictions for row in prediction.rows]
    stored = [document for change in changes for document in change.stored_wrongly.values()]
    return any(map(is_unpredictable, changes)) or any(map(has_bad_key_entry, stored))
