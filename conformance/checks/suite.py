"""The case suite: every Case that the kit brings along, under its id.

The suite has the witnesses of the listed deviations and the recorded captures. It has the statements with their allowed
outcomes (conditions, variable, warnings), and the Cases promoted from findings. Cases that a run generates from its
seed are not in it: they are stored with the run's report.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from conformance.cases.files import case_id, load_any_case, load_case
from conformance.checks.diff_conditions.cases import CONDITIONS
from conformance.checks.sql_interface.startup_cases import command_line_cases, startup_warning_cases
from conformance.checks.sql_interface.variable_cases import (
    hint_cases,
    privilege_cases,
    restriction_cases,
    scope_cases,
    value_cases,
)
from conformance.checks.sql_interface.warning_cases import closed_log_case, global_cases, session_cases, v1_cases
from conformance.harness.promoted import promoted
from conformance.harness.updates.captures import load_capture, recorded
from conformance.reference.binlog.files import FileReader
from conformance.reference.binlog.format_description import FormatDescription
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.replay.engine import Replay
from conformance.reference.text.row_changes import RowChanges
from conformance.requirements.deviations import load_deviations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.cases.files import AnyCase
    from conformance.cases.sql_case import SqlCase

CAPTURE: Final = "capture.binlog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The log that a server wrote for a Case. ``data`` is the line of the recorded captures."""

    data: dict[str, Any]

    @property
    def server_version(self) -> str:
        """The version of the server that was recorded."""
        return str(self.data["server_version"])

    def binary_log(self) -> bytes:
        """The events as one binary log file: the kit writes a description and positions; all else is as recorded."""
        _, observation = load_capture(self.data)
        writer = FileWriter(format=FormatDescription(server_version=observation.server_version))
        return writer.start() + b"".join(map(writer.copy, observation.events))


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCase:
    """One entry. ``origin`` says where the Case comes from."""

    case: AnyCase
    origin: str
    recording: Recording | None = None

    @property
    def id(self) -> str:
        return self.case.id


# The families of statements with allowed outcomes.
_STATEMENTS: Final[tuple[Callable[[], Iterable[SqlCase]], ...]] = (
    lambda: chain.from_iterable(CONDITIONS.values()),
    value_cases,
    scope_cases,
    restriction_cases,
    privilege_cases,
    hint_cases,
    session_cases,
    global_cases,
    lambda: [closed_log_case()],
    lambda: v1_cases(present=True),
    command_line_cases,
    startup_warning_cases,
)


def suite() -> Iterator[SuiteCase]:
    """The whole suite: witnesses, recorded captures, statements with their allowed outcomes, and promoted findings.

    Raises :class:`PromotionError` for a promoted file that is no Case.
    """
    for deviation in load_deviations():
        if deviation.witness is not None:
            case = load_any_case(json.loads(deviation.witness))
            yield SuiteCase(case=case, origin=f"witness of the deviation {deviation.id}")
    for data in recorded():
        update = load_case(data["case"])
        recording = Recording(data=data)
        yield SuiteCase(
            case=replace(update, id=case_id(update)),
            origin=f"recorded on {recording.server_version}",
            recording=recording,
        )
    for family in _STATEMENTS:
        for statements in family():
            yield SuiteCase(case=statements, origin="statements")
    for kept, origin in promoted():
        yield SuiteCase(case=kept, origin=origin)


def row_changes(log: bytes, *, resolve: bool = False) -> Iterator[str]:
    """The lines of ``decode --format jsonl`` (with ``--resolve``) for a file in memory, called :data:`CAPTURE`."""
    changes = RowChanges()
    changes.start_file(CAPTURE)
    replay = Replay(lenient=True) if resolve else None
    reader = FileReader(expand=True)
    reader.feed(log)
    for event in reader.events():
        if replay is not None:
            replay.other(event)
        yield from changes.event(event, None if replay is None else replay.row)
    reader.finish()
