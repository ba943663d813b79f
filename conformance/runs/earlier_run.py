"""The run that stored a Case: the options of its command, and whether the Case failed there.

A report's directory has the stream of the run beside the Cases. So a Case is judged as the run judged it, wherever the
directory stands now: what its command names by paths of another machine is not needed.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.stream import RUN_FILE, CaseVerdict, Finding, from_line
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CASES: Final = "cases"


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The result of one Case in the run that stored it.

    ``words``: the command that replays it there, without program and path. ``failed``: the Case failed there, or a
    listed deviation explained its failure. ``died``: something died of it.
    """

    words: tuple[str, ...] = ()
    failed: bool = False
    died: bool = False


def earlier_run(path: Path) -> EarlierRun:
    """Read the result of a Case from the report that its file lies in; an empty one where that is no report."""
    records = [*_about(path)]
    commands = [shlex.split(record.replay) for record in records if record.replay]
    words = next((words for words in commands if words[:2] == ["binlog-lab", "replay"]), [])
    failed = any(
        isinstance(record, Finding) or record.fails or record.verdict is Verdict.DEVIATES for record in records
    )
    died = any(isinstance(record, CaseVerdict) and record.verdict is Verdict.CRASH for record in records)
    return EarlierRun(tuple(words[2:-1]), failed, died)


def _about(path: Path) -> Iterator[CaseVerdict | Finding]:
    stream = path.absolute().parent.parent / RUN_FILE
    if path.absolute().parent.name != CASES or not stream.is_file():
        return
    name = json.dumps(path.name)[1:-1].encode()
    with stream.open("rb") as lines:
        for line in lines:
            if name not in line:
                continue
            try:
                record = from_line(line)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # a torn line: the run was broken off
            if isinstance(record, CaseVerdict | Finding) and (record.case_file or "").endswith(f"/{path.name}"):
                yield record
