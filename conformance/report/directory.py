"""The report's directory: taken only if it is ours, locked while a run writes, each file renamed into place whole.

The lab replaces ``DIR`` only if it is empty or holds an earlier report (contract, design 6). A marker file says that a
report lives here. Of an earlier report the lab removes exactly its own files; other files stay. It removes the finished
files of the earlier run *before* the new run begins, so that nobody can take them for its result. Each new file is
written beside its place and renamed into it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from conformance.report.html import write_html
from conformance.report.junit import write_junit
from conformance.report.markdown import write_markdown
from conformance.report.matrix import SUBJECTS_DIR
from conformance.report.moved import moved
from conformance.report.results import Summary, write_results
from conformance.report.subjects.badge import endpoint, svg
from conformance.report.subjects.markdown import write_subjects
from conformance.report.subjects.page import page
from conformance.stream import EVIDENCE_DIR, RUN_FILE, Progress, Writer, read_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.stream import AnyRecord

MARKER = ".binlog-lab-report"
MARKER_TEXT = "A report of binlog-lab lives here; the next run into this directory replaces its files.\n"
CASES_DIR = "cases"  # failing Cases, stored before they are shrunk
UPDATES_DIR = "updates"  # the blocks of an update campaign on Spark, as Parquet
INDEX, RESULTS, JUNIT, MARKDOWN = "index.html", "results.json", "junit.xml", "summary.md"
SUBJECTS_MARKDOWN = "subjects.md"  # only where the run judged decoders, as the pages in subjects/
RENDERED: dict[str, Callable[[Summary, Path], None]] = {
    JUNIT: write_junit, MARKDOWN: write_markdown, INDEX: write_html, RESULTS: write_results
}  # fmt: skip
PROGRESS_SECONDS = 1.0  # between two progress records of the same job in run.jsonl


class ReportError(Exception):
    """The lab could not write the report; the message is for the user."""


class DirectoryInUseError(ReportError):
    """DIR must not be touched: it holds other things, is not a directory, or another run writes into it (usage)."""


class ReportDirectory:
    """Writes one run's stream and renders the files for people and machines from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.summary = Summary()
        self._last_progress: dict[str, float] = {}
        self._lock = _claim(path)
        with _clear_errors(path):
            self._writer = Writer(path)

    @property
    def cases(self) -> Path:
        """The directory for failing Cases, made on first use."""
        path = self.path / CASES_DIR
        with _clear_errors(path):
            path.mkdir(exist_ok=True)
        return path

    def write(self, record: AnyRecord) -> None:
        """Append a record to the stream and count it. Of progress records, keep one a second for each job."""
        if isinstance(record, Progress) and not self._due(record):
            return
        with _clear_errors(self.path):
            record = self._writer.write(record)
        self.summary.add(record)

    def _due(self, record: Progress) -> bool:
        now = time.monotonic()
        if record.done != record.total and now - self._last_progress.get(record.label, -1e9) < PROGRESS_SECONDS:
            return False
        self._last_progress[record.label] = now
        return True

    def render(self) -> None:
        """Write junit.xml, summary.md, index.html and results.json from what has been written so far."""
        render(self.summary, self.path)

    def close(self) -> None:
        """End writing and release the directory."""
        try:
            with _clear_errors(self.path):
                self._writer.close()
        finally:
            os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def render_again(path: Path) -> Summary:
    """Render an existing report again from its ``run.jsonl``, complete or not (``binlog-lab report DIR``).

    Its commands have the paths of where the report stands now.
    """
    stream = read_stream(path)
    summary = Summary(moved(stream.records, path), problem=stream.problem)
    with held(path):
        render(summary, path)
    return summary


def render(summary: Summary, path: Path) -> None:
    """Write every rendered file beside its place, then rename all: a crash leaves each file old or new, never half."""
    with _clear_errors(path):
        ready = []
        try:
            for name, write in {**_of_decoders(summary), **RENDERED}.items():
                final = path / name
                final.parent.mkdir(exist_ok=True)
                temporary = final.with_name(f".{final.name}.new")
                ready.append((temporary, final))
                write(summary, temporary)
            for temporary, final in ready:
                temporary.replace(final)
        finally:
            for temporary, _ in ready:
                temporary.unlink(missing_ok=True)


def _of_decoders(summary: Summary) -> dict[str, Callable[[Summary, Path], None]]:
    """The files about decoders: page, badge and badge data of each, and the Markdown about all."""
    matrix = summary.matrix
    if not matrix:
        return {}
    out: dict[str, Callable[[Summary, Path], None]] = {}
    names = matrix.names()
    for subject in matrix.judged:
        texts: dict[str, Callable[[], str]] = {
            "html": functools.partial(page, summary, subject),
            "svg": functools.partial(svg, matrix.counts(subject.id)),
            "badge.json": functools.partial(endpoint, matrix.counts(subject.id)),
        }
        for suffix, text in texts.items():
            out[f"{SUBJECTS_DIR}/{names[subject.id]}.{suffix}"] = functools.partial(_write_text, text)
    return {**out, SUBJECTS_MARKDOWN: write_subjects}


def _write_text(text: Callable[[], str], _summary: Summary, path: Path) -> None:
    path.write_text(text(), encoding="utf-8")


@contextlib.contextmanager
def taken(path: Path) -> Iterator[None]:
    """Hold a directory for a run that writes its own files there; first remove an earlier report."""
    lock = _claim(path)
    try:
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a directory while its report's files are written again; remove nothing."""
    lock = _lock(path)
    try:
        with _clear_errors(path):
            yield
    finally:
        os.close(lock)


def _claim(path: Path) -> int:
    """Lock the directory for a new run, remove the earlier report from it, and return the lock's descriptor."""
    if path.exists() and not path.is_dir():
        raise DirectoryInUseError(f"{path} is not a directory")
    with _clear_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        names = {item.name for item in path.iterdir()}
    if names and MARKER not in names:
        raise DirectoryInUseError(
            f"{path} is not empty and holds no earlier report of binlog-lab: it is left alone (choose another --report)"
        )
    lock = _lock(path)
    try:
        with _clear_errors(path):
            files = (*RENDERED, SUBJECTS_MARKDOWN)
            for name in (*files, *(f".{name}.new" for name in files), RUN_FILE):
                (path / name).unlink(missing_ok=True)
            for name in (EVIDENCE_DIR, CASES_DIR, SUBJECTS_DIR, UPDATES_DIR):
                with contextlib.suppress(FileNotFoundError):
                    shutil.rmtree(path / name)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _lock(path: Path) -> int:
    """Lock the marker file. The kernel releases the lock when the process ends, however it ends."""
    with _clear_errors(path):
        descriptor = os.open(path / MARKER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(descriptor).st_size:
                os.write(descriptor, MARKER_TEXT.encode())
        except BlockingIOError:
            os.close(descriptor)
            raise DirectoryInUseError(f"{path}: another run is writing its report there") from None
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


@contextlib.contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into one sentence."""
    try:
        yield
    except OSError as error:
        where = Path(os.fsdecode(error.filename)) if error.filename else path
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ReportError(f"{where}: no space left on the device; the report is incomplete") from error
        raise ReportError(f"{where}: {error.strerror or error}") from error
