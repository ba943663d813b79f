"""Removes a killed lab's objects from the container engine; a script of its own.

The lab holds the other end of the pipe on standard input. When that closes without a ``Q``, or this process gets
another parent, the lab is gone. The reaper then removes everything with the label of its run, until it finds nothing
twice in a row: the engine may still be making requested objects. It reports this in one line on standard error. Ctrl-C
does not reach this process: it has a session of its own.
"""
# This script runs as a program and prints its report.
# ruff: noqa: T201

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import Final

POLL_SECONDS: Final = 0.5  # how soon a lost parent is noticed when a forked copy of the lab still holds the pipe


def wait(lab: int) -> bool:
    """Wait until the lab has said goodbye (true) or is gone (false)."""
    while True:
        ready, _, _ = select.select([0], [], [], POLL_SECONDS)
        if ready:
            return os.read(0, 1) == b"Q"
        if os.getppid() != lab:
            return False


def clean(run: str) -> str:
    """Remove everything of a run; describe the removed objects in words."""
    from conformance.servers.containers import engine

    removed = engine.sweep(engine.connect(), run)
    return str(removed) if removed else ""


def main() -> int:
    """The script's entry point: ``reaper RUN PID``."""
    run, lab = sys.argv[1], int(sys.argv[2])
    if wait(lab):
        return 0
    with contextlib.suppress(Exception):  # the lab is gone, and perhaps its caller too: nobody is left to tell
        removed = clean(run)
        if removed:
            print(f"binlog-lab: the lab was killed; removed from the container engine: {removed}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
