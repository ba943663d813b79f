"""What a run shows while it goes on, and the summary at its end; plain lines where there is no terminal."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.stream import Progress, ProgressSink

PLAIN_SECONDS = 5.0  # between two lines about the same job


@contextmanager
def progress_sink(file: TextIO) -> Iterator[ProgressSink]:
    """A sink for progress records: bars on a terminal, a plain line every few seconds elsewhere."""
    if file.isatty():
        with _bars(file) as sink:
            yield sink
    else:
        yield PlainProgress(file)


class PlainProgress:
    """Writes a line when a job begins, every few seconds, and when it is done."""

    def __init__(self, file: TextIO, *, seconds: float = PLAIN_SECONDS) -> None:
        self._file = file
        self._seconds = seconds
        self._label: str | None = None
        self._last = 0.0
        self._finished = False

    def __call__(self, record: Progress) -> None:
        """Take one progress record."""
        now = time.monotonic()
        finished = record.total is not None and record.done >= record.total
        new = record.label != self._label
        if new or (finished and not self._finished) or (not finished and now - self._last >= self._seconds):
            print(progress_line(record), file=self._file, flush=True)
            self._last = now
        self._label, self._finished = record.label, finished


def progress_line(record: Progress) -> str:
    """One line of text, the same words as the bar."""
    amount = f" {_amount(record)}" if record.done or record.total else ""
    note = f"  {record.note}" if record.note else ""
    return f"{record.label}{amount}{note}"


def _amount(record: Progress) -> str:
    if record.unit == "bytes":
        done, total = _mebibytes(record.done), record.total and _mebibytes(record.total)
    else:
        unit = f" {record.unit}" if record.unit else ""
        done, total = f"{record.done:,.0f}{unit}", record.total and f"{record.total:,.0f}{unit}"
    if not record.total:
        return done
    if record.unit and record.unit != "bytes":
        done = f"{record.done:,.0f}"
    return f"{done} of {total} ({100 * record.done / record.total:.0f} %)"


def _mebibytes(count: float) -> str:
    return f"{count / 2**20:,.1f} MiB"


@contextmanager
def _bars(file: TextIO) -> Iterator[ProgressSink]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(file=file)
    columns: tuple[Any, ...] = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[words]}", markup=False, style="dim"),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        tasks: dict[str, Any] = {}

        def sink(record: Progress) -> None:
            if record.label not in tasks:
                for earlier in tasks.values():
                    bars.stop_task(earlier)
                tasks[record.label] = bars.add_task(record.label, total=record.total, words="")
            words = " ".join(part for part in (_amount(record), record.note) if part)
            bars.update(tasks[record.label], completed=record.done, total=record.total, words=words)

        yield sink
