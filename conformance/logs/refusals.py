"""Errors of the decoder as errors of a command that reads logs: what is wrong with a file, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.console import narrate
from conformance.logs.damage import events_around, size_of, sound_behind
from conformance.reference.binlog.event import listed_unread
from conformance.reference.errors import DecodeError
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from conformance.reference.binlog.event import UnreadEvents
    from conformance.reference.errors import CodecError

_GO_ON: Final = {
    **dict.fromkeys(
        ("payload-bomb", "payload-too-large"),
        "--max-uncompressed MB goes on up to so many megabytes, if the log is yours",
    ),
    "encrypted-events": "its server sends the events as they were: read it with --read-from-remote-server",
}


def refused(path: str, error: CodecError, position: int | None = None) -> Usage | InputCorrupt:
    """The command's error for an error of the decoder. ``position``: where the damaged event begins."""
    if error.code == "not-a-binlog":
        return Usage(f"{path}: {error.message}")
    hint = "give the keyring of its server with --keyring" if error.code == "encrypted" else hint_of(error.code)
    behind = _behind(path, position) if position is not None and isinstance(error, DecodeError) else ""
    return InputCorrupt(f"{path}: {error}{behind}", hint=hint)


def _behind(path: str, position: int) -> str:
    """The words about the places behind a damaged event."""
    found = sound_behind(path, position)
    if found is None:
        return ""
    then = "" if found.transaction is None else f", the next transaction at {found.transaction}"
    return f"; the next sound event begins at {found.event}{then}"


def check_start(path: str, start: int) -> None:
    """Raise :class:`Usage` if reading should begin at a position of a plain file where no event does."""
    around = events_around(path, start)
    if around is not None and around[0] != start:
        raise Usage(f"{path}: no event begins at {start}: one begins at {around[0]}, the next at {around[1]}")
    if (end := size_of(path)) is not None and start > end:
        raise Usage(f"{path}: no event begins at {start}: the file ends at {end}")


def tell_unread(unread: UnreadEvents) -> None:
    """Tell at the end of the logs what was passed over. Raises :class:`InputCorrupt` for what was not read."""
    if passed := unread.kinds(ignorable=True):
        narrate(listed_unread(passed, "passed over, as it may be ignored"))
    if lost := unread.kinds(ignorable=False):
        raise InputCorrupt(listed_unread(lost, "not read, so that changes may be missing"))


def hint_of(code: str) -> str | None:
    """How to go on in spite of an error with this code."""
    return _GO_ON.get(code)
