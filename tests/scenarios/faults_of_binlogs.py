"""Faults for the data source of binary logs, written down before the checks that must notice them.

Each says the sentence that it breaks. How a fault is planted stands beside the test that plants it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SourceFault:
    """A fault of the data source. ``by``: the check that must notice.

    - ``split``: parts give the rows of the whole
    - ``lines``: rows are those of the command
    - ``events``: events are those of the file, byte for byte
    - ``damage``: nothing is lost silently
    - ``batches``: a batch is bounded
    """

    id: str
    sentence: str
    by: str


SOURCE_FAULTS: Final = (
    SourceFault("cut/inside-a-transaction", "A file is split only at transaction boundaries.", "split"),
    SourceFault("cut/at-groups-without-gtid", "In a log with GTIDs a part begins with one.", "split"),
    SourceFault("cut/relay-log", "A part is read by the FORMAT_DESCRIPTION that holds for it.", "split"),
    SourceFault("part/one-byte-short", "Every event is in exactly one part.", "split"),
    SourceFault("part/reads-on", "A part ends where the next begins.", "split"),
    SourceFault("part/no-format-description", "Every part reads the FORMAT_DESCRIPTION itself.", "split"),
    SourceFault("part/format-description-again", "An event is given out once.", "split"),
    SourceFault("part/note-again", "What is to be known of a file is said once.", "split"),
    SourceFault("rows/gtid-of-the-last", "A row has the GTID of its transaction.", "lines"),
    SourceFault("rows/absent-image-is-empty", "An insert has no before image, a delete no after image.", "lines"),
    SourceFault("rows/payload-not-expanded", "Events inside of compressed transactions are read.", "lines"),
    SourceFault("events/checksum-in-the-body", "A body ends before the checksum.", "events"),
    SourceFault("damage/truncated-is-the-end", "A cut-off event is reported.", "damage"),
    SourceFault("damage/not-told", "Damage is a row.", "damage"),
    SourceFault("damage/rows-before-it-lost", "What stands before damage is given out.", "damage"),
    SourceFault("damage/ends-the-part", "Damage costs the same rows, however a file is cut.", "damage"),
    SourceFault("damage/in-rows-ends-the-part", "So does damage inside rows.", "damage"),
    SourceFault("batch/of-the-part", "Arrow batches are bounded by bytes.", "batches"),
)
