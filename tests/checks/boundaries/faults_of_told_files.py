"""Programs that tell of broken markers otherwise than the kit's own ``decode``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.boundaries import check_told_files
from conformance.checks.boundaries.check_told_files import Told

if TYPE_CHECKING:
    from collections.abc import Sequence

asked = check_told_files.told


def one_lost(files: Sequence[Sequence[bytes]]) -> list[Told]:
    return asked(files)[1:]


def silent(_: Sequence[Sequence[bytes]]) -> list[Told]:
    """Tell nothing, as a released mysqlbinlog does."""
    return []


def next_event(files: Sequence[Sequence[bytes]]) -> list[Told]:
    return [told._replace(offset=told.offset + 1) for told in asked(files)]


def other_words(files: Sequence[Sequence[bytes]]) -> list[Told]:
    return [told._replace(words=told.words.replace("from", "to")) for told in asked(files)]


def sound_event_told(files: Sequence[Sequence[bytes]]) -> list[Told]:
    return [Told(0, 4, "Unable to change boundary parser from Not Defined to Reserved (6)."), *asked(files)]


TOLD_FAULTS: Final = (one_lost, silent, next_event, other_words, sound_event_told)
