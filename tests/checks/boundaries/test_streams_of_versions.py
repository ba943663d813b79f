"""Made streams for a version that has no tags: the same groups, begun as that version begins them."""

from __future__ import annotations

from conformance.checks.boundaries.check_broken_streams import broken_stream, in_version, row_format_stream
from conformance.reference.binlog.gtid import Gtid, GtidTagged
from conformance.reference.binlog.versions import reads
from conformance.requirements.versions import dialect_of
from generators.draw import Stream

OLD, NEW = dialect_of((8, 0, 45)).log, dialect_of((9, 7, 4)).log


def test_tags_become_gtids_where_there_are_none() -> None:
    bodies = [body for number in range(20) for body in broken_stream(Stream("tags", number), 8)[0]]
    tagged = [place for place, body in enumerate(bodies) if isinstance(body, GtidTagged)]
    assert tagged
    assert in_version(bodies, NEW) == bodies
    old = in_version(bodies, OLD)
    for place, (body, now) in enumerate(zip(bodies, old, strict=True)):
        if place in tagged:
            assert isinstance(body, GtidTagged)
            assert isinstance(now, Gtid)
            assert (now.uuid, now.gno) == (body.uuid, body.gno)
        else:
            assert now is body


def test_files_for_the_client_of_8_0_have_no_event_that_it_does_not_know() -> None:
    for number in range(40):
        placed = row_format_stream(Stream("row", number), OLD)
        assert all(reads(OLD, item.data[4], item.data[17]) for item in placed)
