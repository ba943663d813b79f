"""The option that shares work out between processes."""

from __future__ import annotations

import os
from typing import Final

import click

jobs_option: Final = click.option(
    "--jobs", type=click.IntRange(min=0), metavar="N", default=1, show_default=True,
    callback=lambda _context, _option, jobs: jobs or cores(),
    help="Share the work out between N processes, with the same output; 0: one for each core.",
)  # fmt: skip


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
