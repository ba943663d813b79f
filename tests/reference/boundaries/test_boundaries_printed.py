"""Marked files as text: one comment an event, and everything else as it was (WL#4162, F2)."""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from conformance.reference.binlog.files import read_events
from conformance.reference.boundaries.markers import mark
from conformance.reference.boundaries.observed_event import observe
from conformance.reference.boundaries.source import mark_stream
from conformance.reference.text.mysqlbinlog import LogText
from tests.reference.boundaries.streams import FILES, events_of

if TYPE_CHECKING:
    from pathlib import Path


def text_of(data: bytes) -> bytes:
    text = LogText(types=True)
    events = read_events(BytesIO(data), expand=True)
    return b"".join([text.begin(), *(piece for event in events for piece in text.event(event)), *text.end()])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_marked_file_prints_its_markers_and_otherwise_the_same(path: Path) -> None:
    events = events_of(path)
    types = list(mark_stream([observe(event, footer) for event, footer in events], relay="relay" in path.stem))
    marked = [mark(event, kind, footer=footer) for (event, footer), kind in zip(events, types, strict=True)]
    text = text_of(b"\xfebin" + b"".join(marked))
    plain = text_of(path.read_bytes())
    assert re.findall(rb"^# boundary: (.*)$", text, re.MULTILINE) == [kind.title.encode() for kind in types]
    assert b"# boundary: " not in plain

    def bare(words: bytes) -> bytes:
        return re.sub(rb"CRC32 0x[0-9a-f]{8}", b"", re.sub(rb"^# boundary: .*\n", b"", words, flags=re.MULTILINE))

    assert bare(text) == bare(plain)
