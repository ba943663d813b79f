"""A file that takes the output of a command, in the place of standard output."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.user_errors import CouldNotRun, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def not_among(target: str, inputs: Sequence[str]) -> Path:
    """The path of a file to write. Raises :class:`Usage` for one of the inputs."""
    path = Path(target)
    if path.exists() and any(Path(name).exists() and path.samefile(name) for name in inputs):
        raise Usage(f"{target} is one of the inputs: it would be overwritten before it is read")
    return path


@contextmanager
def result_file(target: str | None, inputs: Sequence[str]) -> Iterator[None]:
    """Write what is printed to this file, as it comes. Raises :class:`Usage` for one of the inputs."""
    if target is None:
        yield
        return
    path = not_among(target, inputs)
    try:
        file = path.open("wb")
    except OSError as problem:
        raise CouldNotRun(f"{target}: {problem.strerror or problem}") from problem
    sys.stdout.flush()
    with io.TextIOWrapper(file, encoding="utf-8") as text, redirect_stdout(text):
        yield
