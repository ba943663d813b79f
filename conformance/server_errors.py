"""Errors of servers as errors of a command: 2 for a wrong spec, 3 for what could not run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from conformance.servers.errors import ServerError, SpecError
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def server_errors() -> Iterator[None]:
    """Raise the errors of servers as those of the command."""
    try:
        yield
    except SpecError as problem:
        raise Usage(str(problem)) from problem
    except ServerError as problem:
        raise CouldNotRun(str(problem)) from problem
