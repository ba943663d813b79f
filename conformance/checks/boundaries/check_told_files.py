"""Warnings of the kit's ``decode`` about markers that break the rules (WL#4162, I3 and mysqlbinlog.cc M3).

No released mysqlbinlog reads markers, so the verdicts are about the kit's own program. It runs as a user runs it, once
over all marked files. The warnings that it must write come from the worklog's grammar, and each file begins anew.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from conformance.checks.boundaries import judge as boundaries
from conformance.checks.boundaries.check_broken_streams import UNREADABLE
from conformance.judge.problem import Problem
from conformance.reference.binlog.control_events import Opaque
from conformance.reference.binlog.header import MAGIC
from conformance.reference.boundaries.markers import BoundaryType, mark, marker_title
from conformance.servers.child_process import run_in_time
from generators import streams
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.harness.check import Check
    from generators.draw import Draw

_GROUPS: Final = 6
_TOLD: Final = re.compile(r"^(?:.*/)?(\d+)\.binlog: \S+ at (\d+): (.*)$", re.MULTILINE)
_REST: Final = re.compile(r"^(?:.*/)?(\d+)\.binlog: (\d+ more events do not fit their transactions)$", re.MULTILINE)
_NAMED: Final = 20  # the events of a file that decode names; it counts the others
_BEHIND: Final = 1 << 32  # in place of an offset: the others
_SECONDS: Final = 600.0


class Told(NamedTuple):
    """A warning about an event: the number of its file, its offset, and the words."""

    file: int
    offset: int
    words: str


def marked_file(draw: Draw) -> list[bytes]:
    """The events of a file with a broken marker or two; half of the files end where a transaction may be open."""
    bodies = [body for group in streams.stream(draw, _GROUPS) for body in group if body.type not in UNREADABLE]
    whole = streams.placed([body for body in bodies if not isinstance(body, Opaque)])
    events = boundaries.mark_events([item.data for item in whole])
    for _ in range(draw.below(3)):
        place = 1 + draw.below(len(events) - 1)
        events[place] = mark(events[place], 1 + draw.below(7))
    return events[: 2 + draw.below(len(events) - 1)] if draw.below(2) else events


def wanted(files: Sequence[Sequence[bytes]]) -> list[Told]:
    """The warnings of the worklog: each event that the grammar does not take, with the parser's state before it.

    Of a file with many of them the others are counted.
    """
    out = []
    for number, events in enumerate(files):
        markers = boundaries.markers_of(events)
        found, start = [], 0
        for place in boundaries.expected_breaks(markers):
            seen = [marker for marker in markers[start:place] if marker != BoundaryType.IGNORE_BOUNDARY]
            state = BoundaryType(seen[-1]) if seen else BoundaryType.NOT_DEFINED
            words = f"Unable to change boundary parser from {state.title} to {marker_title(markers[place])}."
            found.append(Told(number, len(MAGIC) + sum(map(len, events[:place])), words))
            start = place + 1
        out += found[:_NAMED]
        if len(found) > _NAMED:
            out.append(Told(number, _BEHIND, f"{len(found) - _NAMED} more events do not fit their transactions"))
    return out


def told(files: Sequence[Sequence[bytes]]) -> list[Told]:
    """Run ``decode`` once over all of these files, and return the warnings that it writes to its stderr."""
    with TemporaryDirectory(prefix="binlog-lab-") as directory:
        names = [f"{number}.binlog" for number in range(len(files))]
        for name, events in zip(names, files, strict=True):
            Path(directory, name).write_bytes(boundaries.file_of(events))
        paths = (str(Path(directory, name)) for name in names)
        text = run_in_time([sys.executable, "-m", "conformance", "decode", *paths], _SECONDS).words
    named = [Told(int(file), int(offset), words) for file, offset, words in _TOLD.findall(text)]
    return named + [Told(int(file), _BEHIND, words) for file, words in _REST.findall(text)]


def judge(expected: Sequence[Told], got: Sequence[Told]) -> list[Problem]:
    """TI3: exactly these warnings, in their order."""
    places = {(item.file, item.offset) for item in (*expected, *got)}
    by_place = [{(item.file, item.offset): item.words for item in items} for items in (expected, got)]
    out = []
    for file, offset in sorted(places):
        want, have = (words.get((file, offset), "no warning") for words in by_place)
        if want != have:
            message = "an event that breaks the rules is told otherwise than the worklog says"
            where = "the others" if offset == _BEHIND else f"event at {offset}"
            out.append(Problem(f"file {file}, {where}", want, have, message))
    return out


@pytest.mark.check("told")
def test_files_with_broken_markers_are_told(check: Check) -> None:
    """``decode`` names exactly the events that break the rules, in the worklog's words, and begins each file anew."""
    files = [marked_file(Stream("told", check.seed, number)) for number in check.blocks()]
    expected = wanted(files)
    check.record(0, judge(expected, told(files)), cases=len(files))
    check.narrate(f"TI3: {len(files)} files, {len(expected)} events that break the rules")
