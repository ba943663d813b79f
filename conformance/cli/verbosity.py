"""``-q`` and ``-v``: how much of a run's end a command prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def verbosity(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the parameters ``quiet`` and ``verbose``."""
    more = click.option("-v", "--verbose", is_flag=True, help="Print every requirement, deviation and census rule.")
    less = click.option("-q", "--quiet", is_flag=True, help="Print the outcome only.")
    return less(more(command))
