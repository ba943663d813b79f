"""The parts of a failure's card beside its evidence: files with their sizes, a script, the nearest listed deviation."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.report.wording import amount_of_bytes

if TYPE_CHECKING:
    from conformance.stream import CaseVerdict

_CASES: Final = "cases"  # the directory of a report that holds them


class Link(NamedTuple):
    """A file or directory. ``href`` is relative to the report, and empty where the file stands outside the report."""

    label: str
    path: str
    href: str
    detail: str = ""


def links(verdict: CaseVerdict) -> list[Link]:
    """The Case, the error log, and the data directory with its size, as far as the run kept them."""
    size = "" if verdict.data_bytes is None else amount_of_bytes(verdict.data_bytes)
    named = (
        ("Case file", verdict.case_file, ""),
        ("Error log", verdict.error_log, ""),
        ("Data directory", verdict.data_directory, size),
    )
    return [Link(label, path, _href(path), detail) for label, path, detail in named if path]


def script_command(verdict: CaseVerdict) -> str | None:
    """The command that prints a script which shows the failure of a stored Case without the lab."""
    if verdict.case_file is None or not verdict.case_file.endswith(".json"):
        return None
    return f"binlog-lab replay {shlex.quote(verdict.case_file)} --as sql"


def _href(path: str) -> str:
    place = PurePath(path)
    return f"{_CASES}/{place.name}" if place.parent.name == _CASES else ""
