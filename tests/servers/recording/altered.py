"""Recordings that somebody changed: the same directory with other answers, and a manifest that fits them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.servers.recording.directory import MANIFEST, TAPES, tapes_in
from conformance.servers.recording.files import Entry, TapeWriter, read_tape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

PACKETS = "packets for"


def alter(recording: Path, change: Callable[[list[Entry]], Iterable[Entry]], *, tapes: str = "*") -> None:
    """Write tapes again with changed entries: all, or those of this name."""
    for file in sorted((recording / TAPES).glob(f"{tapes}.tape")):
        content = read_tape(file)
        writer = TapeWriter(file)
        for item in content.items:
            writer.item(item)
        for entry in change(content.entries):
            writer.entry(entry)
        writer.close(whole=content.whole)
    manifest = json.loads((recording / MANIFEST).read_text())
    (recording / MANIFEST).write_text(json.dumps({**manifest, "tapes": tapes_in(recording)}))


def packets(entry: Entry) -> list[bytes]:
    """The packets of an answer; none of an entry of another kind."""
    match entry:
        case Entry(kind="packets for", answer=[bytes(blob), _]):
            out, place = [], 0
            while place < len(blob):
                end = place + 4 + int.from_bytes(blob[place : place + 4], "little")
                out.append(blob[place + 4 : end])
                place = end
            return out
    return []


def with_packets(entry: Entry, changed: list[bytes]) -> Entry:
    """The entry with other packets."""
    blob = b"".join(len(packet).to_bytes(4, "little") + packet for packet in changed)
    return replace(entry, answer=[blob, None])
