"""Broken streams: corrupted markers by the worklog's table, and streams that are cut, reordered, or lack events.

A real receiver and the real client read the latter.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.boundaries import broken_streams, census
from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.receivers import heard_problems, needed_target
from conformance.judge.problem import Problem
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.event import encode_event
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.gtid import NIL_UUID, Gtid, GtidTagged
from conformance.reference.binlog.query import Query
from conformance.reference.boundaries.markers import mark
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.dialect import MYSQL
from conformance.reference.event_types import EventType
from conformance.requirements.versions import dialect_of
from conformance.servers.source.scripted import FILE
from conformance.verdict import Verdict
from generators import streams
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.check import Check
    from conformance.reference.binlog.event import Body
    from conformance.reference.dialect import LogForms
    from generators.draw import Draw
    from generators.streams import Placed

_BEAT: Final = EventType.HEARTBEAT_V2
# What a file of one server has in other places, or not at all.
UNREADABLE: Final = (_BEAT, EventType.ROTATE, EventType.FORMAT_DESCRIPTION, EventType.STOP)


# --- corrupted markers -----------------------------------------------------------------------------------------------


@pytest.mark.check("markers")
def test_corrupted_markers(check: Check) -> None:
    """The model reports a corruption that the transition table forbids at the exact event, and accepts all others."""
    counts: Counter[bool] = Counter()
    events: list[bytes] = []
    with check.block(cases=check.size()) as block:
        for number in check.blocks():
            draw = Stream("markers", check.seed, number)
            if number % 20 == 0:
                events = marked_stream(draw.fork("stream"))
            what, stream = corrupted(draw, events)
            expected = boundaries.expected_breaks(boundaries.markers_of(stream))
            got = boundaries.breaks(map(observe, stream))
            counts[bool(expected)] += 1
            if expected != got:
                block.differs(
                    Problem(
                        field=f"{what}: markers {''.join(map(str, boundaries.markers_of(stream)))}",
                        expected=str(expected),
                        got=str(got),
                        message="other events are told than the transition table makes invalid",
                    )
                )
    check.narrate(f"TM1: {counts[True]} corruptions are invalid and told, {counts[False]} are valid and accepted")


def marked_stream(draw: Draw) -> list[bytes]:
    """Some transactions as a source with the feature would send them, the dump thread's ROTATE first."""
    bodies = [body for item in streams.stream(draw, 6) for body in item if body.type != _BEAT]
    return boundaries.mark_events([streams.fake_rotate(FILE), *(item.data for item in streams.placed(bodies))])


def corrupted(draw: Draw, events: Sequence[bytes]) -> tuple[str, list[bytes]]:
    """A marked stream with one or two corrupted places."""
    out = list(events)
    done = []
    for _ in range(1 + draw.below(2)):
        place = draw.below(len(out))
        what = draw.choice(("marker changed", "event removed", "event doubled", "events swapped", "event moved", "cut"))
        done.append(what)
        if what == "marker changed":
            now = boundaries.markers_of(out[place : place + 1])[0]
            out[place] = mark(out[place], draw.choice([marker for marker in range(1, 8) if marker != now]))
        elif what == "event removed":
            del out[place]
        elif what == "event doubled":
            out.insert(place, out[place])
        elif what == "events swapped":
            out[place : place + 2] = reversed(out[place : place + 2])
        elif what == "event moved":
            event = out.pop(place)
            out.insert(draw.below(len(out) + 1), event)
        else:
            out = out[place:]
    return ", ".join(done), out


# --- broken streams before real programs -----------------------------------------------------------------------------


def broken_stream(draw: Draw, groups: int) -> tuple[list[Body], Counter[str]]:
    """Transactions of which a third are damaged, and the number of damaged ones by kind of damage."""
    bodies: list[Body] = []
    counts: Counter[str] = Counter()
    for item in streams.stream(draw, groups):
        if len(item) > 1 and draw.chance(1, 3):
            what, left = streams.damaged(draw, item)
            bodies += left
            counts[what] += 1
        else:
            bodies += item
    return bodies, counts


def in_version(bodies: Sequence[Body], log: LogForms) -> list[Body]:
    """The events as a version knows them: without tags, where it has none."""
    return [
        Gtid(uuid=body.uuid or NIL_UUID, gno=body.gno or 0)
        if isinstance(body, GtidTagged) and not log.tagged_gtid
        else body
        for body in bodies
    ]


@pytest.mark.check("receiver")
def test_warnings_of_a_receiver(check: Check) -> None:
    """A real receiver of streams that are cut, reordered, or lack events warns exactly where the model does."""
    target = needed_target(check)
    log = dialect_of(target.server.number).log
    counts: Counter[str] = Counter()
    table: Counter[str] = Counter()
    for number in check.blocks():
        with check.block(number, verdict=Verdict.DIFFERS) as block:
            draw = Stream("receiver", check.seed, number)
            bodies, damages = broken_stream(draw, check.size("transactions"))
            texts = streams.texts(draw.fork("texts"))
            bodies += [body for item in texts for body in item]
            bodies = in_version(bodies, log)
            placement = streams.Placement()
            stream = [*placement.frame(), *map(placement.place, bodies)]
            end = (streams.FILE.format(placement.file), placement.position)
            heard = target.hear(_connections(draw, stream), end)
            expected = broken_streams.expected_warnings(stream)
            block.cases = damages.total() + len(texts)
            block.exercised(census.RECEIVER, census.of_receiver(bodies, damages, expected))
            block.differs(
                *broken_streams.judge_warnings(expected, heard.warnings, f"stream {number}", stream),
                *heard_problems(heard, end),
            )
        counts.update(warnings=len(expected), events=len(stream), connections=len(heard.asked))
        table.update(damages)
    check.narrate(
        f"TP2: {table.total()} damaged transactions in {counts['events']} events over {counts['connections']} "
        f"connections; {counts['warnings']} warnings foretold: {broken_streams.counted(table)}"
    )


def _connections(draw: Draw, stream: Sequence[Placed]) -> list[list[bytes]]:
    """The stream over two connections, the first lost at any place of the first file: the parser keeps its state."""
    data = [item.data for item in stream]
    first = [number for number, item in enumerate(stream) if item.file == FILE][2:]
    place = first[draw.below(len(first))]
    description = encode_event(FormatDescription(), server_id=streams.SERVER_ID, log_pos=0)
    return [data[:place], [description, *data[place:]]]


@pytest.mark.check("row-format")
def test_what_is_not_row_format_ends_the_client(check: Check) -> None:
    """``mysqlbinlog --require-row-format`` ends at the event that the model names, in whole and in broken files."""
    target = needed_target(check)
    program = check.needs_programs("mysqlbinlog", server=target.server)
    log = dialect_of(target.server.number).log
    refused = 0
    with check.block(cases=check.size(), verdict=Verdict.DIFFERS) as block:
        for number in check.blocks():
            stream = row_format_stream(Stream("row-format", check.seed, number), log)
            file = boundaries.file_of(item.data for item in stream)
            wanted = broken_streams.first_refused(stream)
            run = broken_streams.run_row_format(program, file, stream)
            refused += wanted is not None
            if run.refused != wanted or run.died:
                block.differs(
                    Problem(
                        field=f"stream {number}",
                        expected="all of it read" if wanted is None else f"the event at {wanted} refused",
                        got=f"{run.refused}: {run.words[:200]}",
                        message="mysqlbinlog ends elsewhere",
                    )
                )
    check.narrate(f"TP3: of {check.size()} files {refused} are refused at the event foretold, the others read")


_NOT_ROW_FORMAT: Final = (
    EventType.INTVAR,
    EventType.RAND,
    EventType.USER_VAR,
    EventType.BEGIN_LOAD_QUERY,
    EventType.APPEND_BLOCK,
    EventType.EXECUTE_LOAD_QUERY,
)
_ROW_FORMAT_LEAVES: Final = re.compile(rb"insert|rollback to", re.IGNORECASE)


def row_format_stream(draw: Draw, log: LogForms = MYSQL.log) -> list[Placed]:
    """A file that the client of a version can read; every second file has only few events that row format forbids."""
    bodies = [body for body in in_version(broken_stream(draw, 8)[0], log) if body.type not in UNREADABLE]
    bodies = [body for body in bodies if not (isinstance(body, Opaque) or _text(body) == b"")]
    if draw.chance(1, 2):
        bodies = [
            body
            for body in bodies
            if body.type not in _NOT_ROW_FORMAT and not _ROW_FORMAT_LEAVES.match(_text(body) or b"")
        ]
    return streams.placed(bodies)


def _text(body: Body) -> bytes | None:
    return body.text if isinstance(body, Query) else None
