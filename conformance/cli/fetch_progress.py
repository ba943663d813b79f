"""The progress of fetching a server or a subject."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from conformance.console import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.install import bundle


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
