"""D14: which columns stand in the images of an update with binlog_row_image=NOBLOB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.checks.diff_conditions.images import image_cases, images_of, judge_images
from conformance.judge.problem import Problem
from conformance.reference.errors import CodecError
from conformance.servers.wire.groups import groups_of_thread
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.checks.diff_conditions.images import ImageCase
    from conformance.harness.check import Check
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection


@pytest.mark.check("images")
def test_columns_of_noblob(check: Check) -> None:
    """NOBLOB leaves BLOB and TEXT columns out of both images, and keeps JSON columns, whatever the option."""
    server = check.needs_server("a server: the recorded captures have no table with BLOB columns under NOBLOB")
    problems: list[Problem] = []
    with server.connect() as connection, server.schema(connection):
        capture = server.capture()
        try:
            cases = list(image_cases())
            for case in cases:
                try:
                    problems += judge_images(case, images_of(logged(connection, capture, case)))
                except CodecError as error:
                    problems.append(Problem("event", "a readable event", str(error), "the event cannot be read"))
        finally:
            capture.close()
    check.record(problems=problems, cases=max(len(cases), len(problems)), verdict=Verdict.DIFFERS)


def logged(connection: Connection, capture: Capture, case: ImageCase) -> list[bytes]:
    """The events of the update."""
    for statement in case.setup:
        connection.execute(statement)
    begin = capture.mark(connection)
    connection.execute(case.update)
    events = groups_of_thread(capture.since(begin, capture.mark(connection)).events, connection.thread_id)
    connection.execute("DROP TABLE t")
    return list(events)
