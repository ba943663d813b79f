"""SDI66: a server imports its own files with rows in several versions. Some servers crash there, as listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conformance.cases.by_hand.row_versions import ROW_FORMATS
from conformance.checks.sdi.row_versions import NotInstant, judge_taken, observe
from conformance.checks.sdi.servers import own_server
from conformance.harness.injections import Tried, keep_run, not_shown, record_tried
from conformance.harness.witnesses import record_not_shown
from conformance.requirements.crashes import IMPORTING
from generators.draw import Stream

if TYPE_CHECKING:
    from conformance.checks.sdi.row_versions import Taken
    from conformance.harness.check import Check

_SCHEMA: Final = "row_versions"


def tried(taken: Taken) -> Tried:
    """The verdict on the import of a file."""
    return Tried(
        id=taken.id, name=taken.name, judged=judge_taken(taken), script=lambda: taken.statements, death=taken.death,
        crash=taken.crash,
    )  # fmt: skip


@pytest.mark.check("row-versions")
def test_files_with_row_versions(check: Check) -> None:
    """A server imports its own files, whose dictionary information takes one page or several."""
    items: list[Tried] = []
    try:
        for number in check.blocks():
            draw = Stream("sdi-row-versions", check.seed, number)
            with own_server(check) as server:
                with server.connect() as connection:
                    connection.execute(f"CREATE SCHEMA {_SCHEMA}")
                items += [  # the file that may end the server comes last
                    tried(observe(server, _SCHEMA, draw.fork(int(long)), ROW_FORMATS[number], long=long))
                    for long in (False, True)
                ]
                if items[-1].death:
                    keep_run(check.lab, server, items[-1])
    except NotInstant:
        check.leave_out("needs DROP COLUMN with ALGORITHM=INSTANT: without it no row has several versions")
    with check.block(cases=None) as block:
        record_tried(block, items)
    if not check.failures.count:
        record_not_shown(check, not_shown(check.lab, items, IMPORTING))
