"""The record of each death of a server: all that it logged since it was started, and its exit status.

A server that the lab itself ends has no death. There is one place for the whole process, as the servers of a run are
started in many places; worker processes have it from the one that started them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_place: Path | None = None


def keep_in(directory: Path | None) -> None:
    """Keep deaths there from now on; ``None``: nowhere. The first death makes the directory."""
    global _place  # noqa: PLW0603 - one for the whole process
    _place = directory


def keep(server: str, pid: int, ended: str, log: str) -> Path | None:
    """Write a death down; returns the file. ``ended``: the exit status in words. A full disk ends no run here."""
    if _place is None:
        return None
    path = _place / f"{server}-{pid}.error.log"
    try:
        _place.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {server}, process {pid}: {ended}\n{log}", encoding="utf-8", errors="replace")
    except OSError:
        return None
    return path
