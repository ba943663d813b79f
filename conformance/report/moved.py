"""The paths and commands of a report that stands in another place than its run wrote it: on another machine, say."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from conformance.stream import CaseVerdict, Finding, Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.stream import AnyRecord


def moved(records: Iterable[AnyRecord], directory: Path) -> Iterator[AnyRecord]:
    """The records with the paths of the directory where the report stands now."""
    old, new = "", directory.absolute()
    for record in records:
        if isinstance(record, Run):
            old = record.report
            yield replace(record, report=str(new)) if old else record
        elif not old or old == str(new):
            yield record
        elif isinstance(record, CaseVerdict):
            yield replace(
                record,
                case_file=_path(record.case_file, old, new),
                error_log=_path(record.error_log, old, new),
                data_directory=_path(record.data_directory, old, new),
                replay=_command(record.replay, old, new),
            )
        elif isinstance(record, Finding):
            case_file = _path(record.case_file, old, new) or record.case_file
            yield replace(record, case_file=case_file, replay=_command(record.replay, old, new) or record.replay)
        else:
            yield record


def _path(text: str | None, old: str, new: Path) -> str | None:
    if text is None or not PurePath(text).is_relative_to(old):
        return text
    return str(new / PurePath(text).relative_to(old))


def _command(text: str | None, old: str, new: Path) -> str | None:
    if text is None:
        return None
    words = shlex.split(text)
    moved_words = [_path(word, old, new) or word for word in words]
    return text if moved_words == words else shlex.join(moved_words)
