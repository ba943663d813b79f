"""The script of a Case of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.cases.by_hand.event_case import EventCase
from conformance.cases.bytes_case import BytesCase
from conformance.cases.sql_case import SqlCase
from conformance.cases.sql_case_text import script_of as commented
from conformance.harness.scripts.event import event_script
from conformance.harness.scripts.file import file_script
from conformance.harness.scripts.pair import pair_script
from conformance.harness.scripts.statements import is_plain, statements_script
from conformance.harness.scripts.update import update_script

if TYPE_CHECKING:
    from conformance.cases.files import AnyCase


def script_of(case: AnyCase) -> str:
    """A script for people: statements, with the expected result of each beside the real one. A shell script begins with
    ``#!``, any other script is SQL.

    A sql Case of several sessions, servers or starts has the expected results as comments: one client cannot run it.
    """
    if isinstance(case, EventCase):
        return event_script(case)
    if isinstance(case, BytesCase):
        return file_script(case)
    if isinstance(case, SqlCase):
        return statements_script(case) if is_plain(case) else commented(case)
    return update_script(case) if case.topology is None else pair_script(case)
