"""The events of captured files, as they stand there."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Final

from conformance.reference.boundaries.reader import file_footer
from conformance.reference.event_types import EventType

FILES: Final = sorted(Path(__file__).parents[2].glob("data/binlogs/*.binlog"))


def events_of(path: object) -> list[tuple[bytes, int]]:
    """Each event with the length of its checksum."""
    data = Path(str(path)).read_bytes()
    footer = file_footer(BytesIO(data))
    out = []
    position = 4
    while position < len(data):
        end = position + int.from_bytes(data[position + 9 : position + 13], "little")
        event = data[position:end]
        out.append((event, 4 if event[4] == EventType.FORMAT_DESCRIPTION else footer))
        position = end
    return out
