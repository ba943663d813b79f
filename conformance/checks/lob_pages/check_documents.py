"""LOB5 to LOB9, LOB11: the article's documents and calls, in the bytes and pages of a real file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.lob_pages import documents
from conformance.checks.lob_pages.article import ARRAY, STEPS
from conformance.checks.lob_pages.check import NEEDS, UNREADABLE
from conformance.checks.lob_pages.sketch import lob_update
from conformance.servers.roles.data_files import readable
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.harness.check import Check

_ROWS: Final = 17  # of each step and kind
_CALLS: Final = {step.requirement: step for step in STEPS}


@pytest.mark.check("documents")
def test_documents(check: Check) -> None:
    """The documents are stored as drawn; each call changes the drawn bytes, by ranges of that number and length."""
    server = check.needs_started_server(NEEDS)
    any_version = check.lab.dialect.server.small_lob_changes == "any"
    for number in check.blocks():
        rows = documents.plans(Stream("lob-documents", check.seed, number), _ROWS)
        with server.connect() as session, server.schema(session) as schema, server.connect(database=schema) as reader:
            if not readable(session):
                check.leave_out(UNREADABLE)
            reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")  # older versions stay
            found = list(documents.outcomes(server, session, rows))
            if number == 0:
                session.execute("DROP TABLE t")
                check.write(lob_update(session, check.subject))
            reader.execute("ROLLBACK")
        problems = [(outcome, documents.judge(outcome, any_version=any_version)) for outcome in found]
        first = [outcome for outcome in found if outcome.plan.step.before == ARRAY]
        with check.part("LOB5", "LOB5").block(number, cases=len(first)) as block:
            block.differs(*(problem for outcome in first for problem in documents.stored(outcome)))
        for requirement, step in _CALLS.items():
            mine = [told for outcome, told in problems if outcome.plan.step is step]
            with check.part(requirement, requirement).block(number, cases=len(mine)) as block:
                block.differs(*(problem for told in mine for problem in told))
        engine = [told for outcome, told in problems if outcome.plan.kind is not documents.RowKind.INLINE]
        with check.part("LOB11", "LOB11").block(number, cases=len(engine)) as block:
            block.differs(*(problem for told in engine for problem in told))
