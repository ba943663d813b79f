"""The use of servers by a command: their errors with its exit codes, and the progress of a fetch."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from conformance.console import progress
from conformance.servers.errors import ServerError, SpecError
from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.install import bundle


@contextlib.contextmanager
def server_errors() -> Iterator[None]:
    """Raise errors of servers as those of a command: 2 for a wrong spec, 3 for what could not run."""
    try:
        yield
    except SpecError as problem:
        raise Usage(str(problem)) from problem
    except ServerError as problem:
        raise CouldNotRun(str(problem)) from problem


@contextlib.contextmanager
def fetch_progress() -> Iterator[Callable[[bundle.Progress], None]]:
    """Progress of a bundle fetch as progress records."""
    from conformance.stream import Progress

    with progress() as sink:

        def show(state: bundle.Progress) -> None:
            if state.total:
                sink(Progress(label=f"{state.what}: {state.step}", done=state.done, total=state.total, unit="bytes"))
            else:
                sink(Progress(label=f"{state.what}: {state.step}", done=round(state.percent), total=100, unit="%"))

        yield show
