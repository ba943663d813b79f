"""The ends of checks in a run: failed, left out, not run, and the lab's own trouble."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest

from conformance.interrupts import interrupted
from conformance.runs.check_runs.check_items import check_name, requirements_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.harness.session import Lab
    from conformance.runs.check_runs.recorded_runs import RecordedRun
    from conformance.stream import AnyRecord

_ENDS_IN_A_ROW: Final = 3


class EndedChecks:
    """A run, as far as its checks end. Subclasses set the attributes."""

    selected: list[pytest.Item]
    could_not_run: str | None
    usage_error: str | None
    incomplete: str | None
    column_errors: list[str]
    sink: Callable[[AnyRecord], None]
    _lab: Lab | None
    _columns: tuple[str, ...]
    _recording: RecordedRun | None
    _run_items: set[pytest.Item]
    _unanswered_items: set[pytest.Item]
    _ended_in_a_row: int
    _narrate: Callable[[str], None]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Tell a failed requirement from a lab that could not run.

        Checks fail through pytest's own exception, after their verdicts are written. Any other exception, including an
        assertion of the kit, means that a rule was not judged. The run must never look green then.
        """
        if item not in self.selected:
            return
        if interrupted():  # its exception may be lost, or hide behind another one, and goes to no check
            self.incomplete = item.session.shouldstop = "interrupted"
            return
        if self._unanswered(item, call):
            return
        if call.excinfo is None:
            if call.when == "call":
                self._run_items.add(item)
                self._ended_in_a_row = 0
            return
        error = call.excinfo.value
        if isinstance(error, pytest.skip.Exception | pytest.fail.Exception):
            self._run_items.add(item)
        if isinstance(error, pytest.skip.Exception):
            self._not_applicable(item, str(error))
        elif not isinstance(error, pytest.fail.Exception | KeyboardInterrupt) and not (
            self._refused(item, error)
            or self._unread(item, error)
            or self._without_program(item, error)
            or self._outlived(item, error)
            or self._unforeseen(item, error)
        ):
            self._failed_to_run(error)
            item.session.shouldstop = "the lab could not go on"

    def _unanswered(self, item: pytest.Item, call: pytest.CallInfo[None]) -> bool:
        """Count a check that asked for what the recording has not as not run, whatever else it says of itself."""
        from conformance.servers.unforeseen import said

        error = None if call.excinfo is None else call.excinfo.value
        if self._recording is None or isinstance(error, KeyboardInterrupt):
            return False
        problem = self._recording.tapes.problem
        if problem is None:
            # What a check without answers left behind, a lost session say, can be in the way of the next one.
            behind = any(other.path == item.path for other in self._unanswered_items)
            if error is None or isinstance(error, pytest.skip.Exception | pytest.fail.Exception) or not behind:
                return False
            problem = f"it follows a check of its module that the recording has no answers for: {error}"
        if item not in self._unanswered_items:
            self._unanswered_items.add(item)
            cause = _cause(error)
            self._ends_alone(item, problem if cause is None else f"{said(cause)}; behind that, {problem}")
        return True

    def _failed_to_run(self, error: BaseException) -> None:
        from conformance.report.directory import ReportError

        code = getattr(error, "exit_code", 3)
        known = hasattr(error, "exit_code") or isinstance(error, ReportError)
        message = str(error) if known else f"the lab failed: {type(error).__name__}: {error}"
        if self._columns and self._lab is not None and not isinstance(error, ReportError):
            self._column_failed(message)
        elif code == 2:
            self.usage_error = message
        else:
            self.could_not_run = message

    def _refused(self, item: pytest.Item, error: BaseException) -> bool:
        """A living server refused a statement of one check, which nobody foresaw. The other checks still run."""
        from conformance.servers.errors import SqlError

        lab = self._lab
        if lab is None or not isinstance(error, SqlError) or not lab.lives:
            return False
        self._ends_alone(item, f"the server refused a statement of the check itself: {error}")
        return True

    def _unread(self, item: pytest.Item, error: BaseException) -> bool:
        """A check cannot read what the server wrote: it counts as not run, and the other checks judge those bytes."""
        from conformance.reference.errors import DecodeError

        if self._lab is None or not isinstance(error, DecodeError):
            return False
        self._ends_alone(item, f"the server's bytes cannot be read: {error}")
        return True

    def _without_program(self, item: pytest.Item, error: BaseException) -> bool:
        """A client program that the check needs is broken, or another one: the check counts as not run."""
        from conformance.servers.errors import ProgramUnusable

        if self._lab is None or not isinstance(error, ProgramUnusable):
            return False
        self._ends_alone(item, str(error))
        return True

    def _ends_alone(self, item: pytest.Item, reason: str) -> None:
        """Count one check as not run. The other checks still run."""
        assert self._lab is not None
        self._run_items.add(item)
        message = f"{check_name(item)}: {reason}"
        self._not_run([item], message)
        told = f"{self._lab.settings.column}: {message}" if self._columns else message
        self.column_errors.append(told)
        self._narrate(f"{told}; the other checks go on")

    def _outlived(self, item: pytest.Item, error: BaseException) -> bool:
        """A server of the lab's died under one check, or left a log that cannot be read: the other checks still run.

        The check itself counts as not run. After a few such ends in a row the lab cannot go on.
        """
        from conformance.harness.updates.run import CampaignFailed
        from conformance.servers.errors import CaptureError, ConnectionLost, NoBinaryLog
        from conformance.servers.recording.tape import NoAnswer

        lab = self._lab
        died = isinstance(error, CaptureError | ConnectionLost | CampaignFailed) and not isinstance(error, NoBinaryLog)
        if self._columns or lab is None or not lab.known or not died or self._ended_in_a_row >= _ENDS_IN_A_ROW:
            return False
        try:
            with suppress(NoAnswer):  # the servers of a recording are as they were
                lab.revive()
        except Exception as problem:  # noqa: BLE001 - then the first error tells more
            self._narrate(f"the server cannot be started again: {problem}")
            return False
        self._ended_in_a_row += 1
        self._ends_alone(item, str(error))
        return True

    def _unforeseen(self, item: pytest.Item, error: BaseException) -> bool:
        """A check cannot go on with what it was told, whatever its code stumbled over: the other checks still run.

        The run ends only where no check could go on: the lab has no server yet, or none any more, or may not use it.
        """
        from conformance.servers.errors import NoBinaryLog
        from conformance.servers.unforeseen import ends_all, said

        lab = self._lab
        if lab is None or not lab.known:
            return False
        under_test = "" if lab.server is None else lab.server.id
        beside = isinstance(error, NoBinaryLog) and error.server not in ("", under_test)
        if ends_all(error) and not beside:
            return False
        self._ends_alone(item, said(error))
        return True

    def _column_failed(self, message: str) -> None:
        """This column's server cannot go on: report its remaining checks as not run, and begin the next column.

        Where the only column never began, the run ends with the cause: no check has anything to say.
        """
        from conformance.harness.decoders import subject_record
        from conformance.stream import Subject

        assert self._lab is not None
        column, spec = self._lab.settings.column, self._lab.settings.subject
        alone = len(self._columns) == 1 and not self._lab.known
        if alone:
            self.could_not_run = f"{column}: {message}"
        else:
            self.column_errors.append(f"{column}: {message}")
            self._narrate(f"{column} cannot run: {message}")
        if not self._lab.known:
            first = message.splitlines()[0]
            if spec:
                self.sink(subject_record(column, spec, unavailable=first))
            else:
                self.sink(Subject(id=column, role="source", capabilities=("source",), note=f"could not run: {first}"))
        if not alone:
            self._not_run([item for item in self.selected if item not in self._run_items], message)

    def _not_run(self, items: list[pytest.Item], message: str) -> None:
        """Checks that were selected for this column and have no result."""
        from conformance.harness.check import Check

        assert self._lab is not None
        for item in items:
            Check(self._lab, check_name(item), sorted(requirements_of(item))).not_run(message)

    def _not_applicable(self, item: pytest.Item, reason: str) -> None:
        from conformance.harness.check import Check

        if self._lab is not None:
            Check(self._lab, check_name(item), sorted(requirements_of(item))).not_applicable(reason)


def _cause(error: BaseException | None) -> BaseException | None:
    """The failure of a check on the way to whose end it asked for what the recording has not."""
    from conformance.servers.recording.tape import NoAnswer

    found = None
    while error is not None:
        found = error if isinstance(error, Exception) and not isinstance(error, NoAnswer) else found
        error = error.__cause__ or error.__context__
    return found
