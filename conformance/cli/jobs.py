"""The option that shares the reading of binary logs out between processes."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

import click

from conformance.cli.console import CouldNotRun, Usage
from conformance.cli.logs import STDIN
from conformance.cli.remote_logs import RemoteName

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

jobs_option: Final = click.option(
    "--jobs", type=click.IntRange(min=0), metavar="N", default=1, show_default=True,
    callback=lambda _context, _option, jobs: jobs or cores(),
    help="Share the work out between N processes, with the same output; 0: one for each core.",
)  # fmt: skip


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_files(paths: Sequence[str], jobs: int) -> None:
    """Raise unless every input can be read in parts, where there are several jobs."""
    for path in paths if jobs > 1 else ():
        if isinstance(path, RemoteName):
            raise Usage(f"--jobs {jobs}: a server sends {path} once and in order, to one reader",
                        hint="copy the log first, or leave --jobs out")  # fmt: skip
        if path == STDIN or not S_ISREG(Path(path).stat().st_mode):
            what = "standard input" if path == STDIN else path
            raise Usage(f"--jobs {jobs}: {what} can be read once only, by one reader",
                        hint="write it to a file first, or leave --jobs out")  # fmt: skip


@contextmanager
def children_errors() -> Iterator[None]:
    """A worker that something ended means that the command could not run."""
    from conformance.forked import ChildLostError

    try:
        yield
    except ChildLostError as problem:
        raise CouldNotRun(str(problem), hint="the output ends before its part") from problem
