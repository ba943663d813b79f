"""One session of pytest as a run of the kit: its hooks select checks, run them, and end the result stream.

pytest loads this module in every project of the environment. Therefore it imports nothing heavy until pytest collects a
check of the kit, and no hook changes an item of another project.
"""

from __future__ import annotations

import gc
import os
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.runs.check_runs.check_items import (
    check_name,
    experiment_of,
    former_name,
    is_check,
    requirements_of,
)
from conformance.runs.check_runs.ended_checks import EndedChecks
from conformance.runs.check_runs.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from conformance.harness.session import Lab
    from conformance.harness.settings import Settings
    from conformance.report.directory import ReportDirectory
    from conformance.runs.check_runs.limit import Limit
    from conformance.runs.check_runs.recorded_runs import RecordedRun
    from conformance.runs.check_runs.side_by_side import Link
    from conformance.stream import AnyRecord, Block, End


class LabRun(EndedChecks):
    """One pytest session as a run of the kit: its result stream, its report, its end.

    A run on several servers and subjects has one session for each: one column of a common stream. ``before`` is the run
    of the previous column; only the ``last`` column ends the stream. A server or subject that cannot run is an error of
    its own column; the other columns still run. ``kinds``: whether the session takes the checks about subjects
    (``True``), those about servers (``False``), or both, which is for lists. ``subjects``: how many columns are about
    subjects. ``jobs``: how many checks may run side by side, where the lab starts the servers. ``limit``: when no
    further check is to begin. ``whole``: every experiment of the requested requirements is in the run, and one that
    looks at too little makes it incomplete.
    """

    def __init__(
        self,
        settings: Callable[[Path | None], Settings],
        *,
        report: Path | None = None,
        requirements: frozenset[str] = frozenset(),
        profile: str = "quick",
        command: str = "pytest",
        progress: Callable[[Any], None] | None = None,
        narrate: Callable[[str], None] = lambda _: None,
        before: LabRun | None = None,
        last: bool = True,
        columns: tuple[str, ...] = (),
        kinds: frozenset[bool] = frozenset({False}),
        subjects: int = 0,
        jobs: int = 1,
        whole: bool = False,
        limit: Limit | None = None,
    ) -> None:
        self._selection = Selection(requirements, profile, kinds, subjects, max(1, len(columns)))
        self._of_others = 0  # selected checks of a column of the other kind
        self.told: set[str] = set() if before is None else before.told  # facts about the suite that the stream has
        self.before = before
        self._last = last
        self._columns = columns
        self._run_items: set[pytest.Item] = set()
        self._unanswered_items: set[pytest.Item] = set()
        self._ended_in_a_row = 0  # checks whose server died, without one behind them that ran
        self._make_settings = settings
        self._report_path = report
        self._command = command
        self._progress = progress
        self._narrate = narrate
        self._jobs = jobs
        self._whole = whole
        self._limit = limit
        self._session: pytest.Session | None = None
        self._now = ""  # the check that runs in this process
        self._recording: RecordedRun | None = None  # where the run makes a recording, or judges one
        self._link: Link | None = None  # in a worker: its way to the run
        self._outcome = ""  # of a check in a worker, as pytest calls it
        self.begun: float = time.monotonic() if before is None else before.begun
        self._lab: Lab | None = None
        self.report: ReportDirectory | None = None if before is None else before.report
        self.selected: list[pytest.Item] = []
        self.could_not_run: str | None = None
        self.usage_error: str | None = None
        self.incomplete: str | None = None
        self.end: End | None = None
        self.rate = 0.0
        self.column_errors: list[str] = [] if before is None else before.column_errors

    @property
    def stops(self) -> bool:
        """Whether the run ends with this column, planned columns or not."""
        reasons = (self.incomplete, self.usage_error, self.could_not_run)
        return self.end is not None or any(reason is not None for reason in reasons)

    # --- collection --------------------------------------------------------------------------------------------------

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Import no module of checks of which the run asks for none."""
        return True if self._selection.leaves_out(collection_path) else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the checks of the requested requirements and profile, and all items that are not the kit's."""
        kept, self._of_others = self._selection.take(items)
        left_out = [item for item in items if is_check(item) and item not in kept]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not is_check(item) or item in kept]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start the run: the selected checks are known now."""
        self.selected = [item for item in session.items if is_check(item)]
        if self.selected:
            gc.freeze()  # modules and checks stay to the end: the garbage collector need not visit them
            gc.set_threshold(10_000)  # documents make many objects and few cycles
        first = self.before is None and not session.config.option.collectonly
        if first and self.selected and self._report_path is not None:
            from conformance.report.directory import DirectoryInUseError, ReportDirectory, ReportError
            from conformance.requirements.catalogue import REQUIREMENTS
            from conformance.stream import MODEL, Subject

            self._open_recording()
            try:
                self.report = ReportDirectory(self._report_path)
                self.sink(self._run_record())
                if any(REQUIREMENTS[name].judged_on == MODEL for name in self._judged() & REQUIREMENTS.keys()):
                    self.sink(Subject(id=MODEL, role=MODEL, note="the kit's own model: no verdict about a server"))
            except DirectoryInUseError as problem:
                self.usage_error = str(problem)
                pytest.exit(str(problem), returncode=2)
            except ReportError as problem:
                self.could_not_run = str(problem)
                pytest.exit(str(problem), returncode=3)

    def _open_recording(self) -> None:
        """Take the directory of a recording that is made, or open the one that is judged."""
        from conformance.runs.check_runs.recorded_runs import recorded_run
        from conformance.servers.errors import ServerError

        try:
            self._recording = recorded_run(self._make_settings(None))
        except ServerError as problem:
            message = str(problem)
            if problem.exit_code == 2:
                self.usage_error = message
            else:
                self.could_not_run = message
            pytest.exit(message, returncode=problem.exit_code)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a module of checks that cannot be imported as a failure of the lab."""
        if report.failed:
            why = report.longreprtext.strip().splitlines() or ["no reason was given"]
            self.could_not_run = f"the checks cannot be collected: {why[-1]}"

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool | None:
        """Tell of an exception that no hook foresaw in one sentence: a module of checks that ends the interpreter."""
        if not self._whole:
            return None
        self.could_not_run = f"the checks cannot be collected or run: {excinfo.exconly()}"
        return True

    def _judged(self) -> set[str]:
        """The requirements of the selected checks."""
        return set().union(*map(requirements_of, self.selected))

    def _run_record(self) -> AnyRecord:
        from conformance.runs.check_runs.run_record import run_record

        settings = self._make_settings(None)
        return run_record(
            settings,
            profile=self._selection.profile,
            command=self._command,
            selected=self._selection.number_in_run(
                len(self.selected), self._of_others, about_subject=bool(settings.subject)
            ),
            judged=self._judged(),
            columns=self._columns,
            recording=None if self._recording is None else self._recording.words,
            report="" if self.report is None else str(_whole(self.report.path)),
        )

    # --- running -----------------------------------------------------------------------------------------------------

    def sink(self, record: AnyRecord) -> None:
        """The receiver of the lab's records: it writes the report, and sends progress to the display.

        Facts about the suite, which every subject's column tells, are written once.
        """
        if self._recording is not None and not self._recording.is_new(record):
            return
        if record.type == "block" and self._now:
            record = replace(cast("Block", record), experiment=experiment_of(self._now))
        if self._link is not None:
            self._link.write(record)
            return
        if record.type in ("suite", "case"):
            key = f"{record.type} {getattr(record, 'id', '')}"
            if key in self.told:
                return
            self.told.add(key)
        if self.report is not None:
            self.report.write(record)
        if record.type == "progress" and self._progress is not None:
            self._progress(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the checks side by side where the lab can start a server for each worker; else pytest runs them."""
        self._session = session
        if self._jobs < 2 or session.testsfailed or session.config.option.collectonly:
            return None
        from conformance.harness.session import several_servers
        from conformance.runs.check_runs.side_by_side import SideBySide

        checks = SideBySide(
            self.selected, sink=self.sink, narrate=self._narrate, name=check_name, most=self._jobs, enough=self._enough
        )
        if checks.workers < 2 or not several_servers(self._make_settings(None), self.sink, self._narrate):
            return None
        try:
            stop = checks.run(partial(self._work, session), self._end_fixtures)
        finally:
            self.rate = checks.rate
            self.column_errors += checks.errors
            if checks.ended < len(self.selected):
                self.incomplete = self._enough(failed=False) or self.incomplete
        if stop is not None and stop.usage:
            self.usage_error = stop.message
        elif stop is not None:
            self.could_not_run = stop.message
        return True

    def _work(self, session: pytest.Session, link: Link) -> None:
        """Run modules of checks in a worker, as long as the run has some."""
        from conformance.runs.check_runs.side_by_side import Stop

        self._link, self._narrate = link, link.tell
        for checks in link.modules():
            # After the last one the module's fixtures end, and the lab stays: the session follows.
            followers = [*(self.selected[number] for number in checks[1:]), session]
            for link.check, following in zip(checks, followers, strict=True):
                link.begun = True
                item = self.selected[link.check]
                self._outcome = "passed"
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                reason = self.usage_error or self.could_not_run
                stop = Stop(reason, usage=self.usage_error is not None) if reason is not None else None
                rate = 0.0 if self._lab is None else self._lab.rate
                link.end(self._outcome, rate=rate, stop=stop, errors=tuple(self.column_errors))
                self.column_errors.clear()
                if stop is not None:
                    return

    def _end_fixtures(self) -> None:
        """End the fixtures that a worker still has: nothing follows its last check."""
        if self._link is not None and self._link.begun:
            item = self.selected[self._link.check]
            item.config.hook.pytest_runtest_teardown(item=item, nextitem=None)

    @contextmanager
    def open_lab(self) -> Iterator[Lab]:
        """The lab of this run as a context, which closes it in every case."""
        from conformance.harness.session import Lab

        cases = None if self.report is None else _whole(self.report.cases)
        self._lab = lab = Lab(self._make_settings(cases), self.sink, self._narrate)
        if self._recording is not None:
            lab.recording = self._recording.tapes
        try:
            yield lab
        finally:
            self.rate = lab.rate
            self.close_lab(lab)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Put the tape of the check's module under the lab, if there are tapes."""
        self._now = check_name(item) if item in self.selected else ""
        if self._recording is not None and item in self.selected:
            self._recording.begin(item.path, check_name(item), self._lab, former_name(item))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A check has ended in order; perhaps no further one is to begin."""
        if self._recording is not None:
            self._recording.running = False
        session = self._session
        if self._limit is None or self._link is not None or session is None or nodeid == self.selected[-1].nodeid:
            return
        if reason := self._enough(failed=False):
            self.incomplete = session.shouldstop = reason

    def _enough(self, *, failed: bool) -> str:
        """Why no further check is to begin; empty where the run goes on."""
        if self._limit is None:
            return ""
        failed = failed or (self.report is not None and bool(self.report.summary.failed))
        return self._limit.reached(failed=failed, seconds=time.monotonic() - self.begun)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Count the check as not applicable if the server is older than partial JSON updates, or lacks what the check
        needs."""
        if self._lab is not None and item in self.selected:
            reason = self._lab.excluded() or self._lab.lacking(check_name(item))
            if reason:
                pytest.skip(reason)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """Let generators make only doubles that the server's parser reads exactly."""
        if self._lab is None or pyfuncitem not in self.selected:
            return (yield)
        from generators.scalars import portable_doubles

        with portable_doubles(self._lab.known and self._lab.dialect.json.text_double == "fast"):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember how a check ended."""
        if not report.passed:
            self._outcome = report.outcome

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Handle Ctrl-C and ``pytest.exit``: verdicts so far stay, the run is incomplete."""
        stopped = isinstance(excinfo.value, pytest.Session.Interrupted)  # pytest.exit after a failure of the lab
        if isinstance(excinfo.value, KeyboardInterrupt) and not stopped:
            self.incomplete = "interrupted"

    # --- the end -----------------------------------------------------------------------------------------------------

    def pytest_sessionfinish(self) -> None:
        """Write the last record and render the report."""
        if self._lab is not None:
            self.rate = self._lab.rate
            self.close_lab(self._lab)
        report = self.report
        if report is None or not (self._last or self.stops):
            return
        self._finish(report)

    def _finish(self, report: ReportDirectory) -> None:
        """End the whole run."""
        summary = report.summary
        if self.incomplete is None and self._recording is not None:
            self.incomplete = self._recording.incomplete
        if (
            self.incomplete is None
            and self._selection.profile != "quick"
            and summary.census
            and summary.census.not_exercised()
        ):
            missing = summary.census.not_exercised()
            self.incomplete = f"{len(missing)} rules of the census were not exercised: {', '.join(missing[:5])}"
        told = self.incomplete or self.could_not_run or self.usage_error or self.column_errors
        if self._whole and not told and not summary.failed:
            from conformance.runs.check_runs.silence import silence

            self.incomplete = silence(
                summary,
                self._make_settings(None),
                profile=self._selection.profile,
                requirements=self._selection.requirements,
                several=bool(self._columns),
            )
        self.end = summary.conclude(
            seconds=time.monotonic() - self.begun,
            incomplete_reason=self.incomplete,
            could_not_run=self.could_not_run
            or self.usage_error
            or "; ".join(problem.splitlines()[0] for problem in self.column_errors)
            or None,
            updates_per_second=self._overall_rate(),
        )
        if self._recording is not None:
            self._recording.finish(summary, self.end.incomplete_reason or self.could_not_run or "", self._narrate)
        from conformance.report.directory import ReportError

        try:
            try:
                report.write(self.end)
                report.render()
            finally:
                report.close()
        except ReportError as problem:  # the disk is full, say: without its files the run has no result
            self.could_not_run = str(problem)
            self.report = self.end = None

    def close_lab(self, lab: Lab) -> None:
        """Close the lab, and then the tape that it closed its servers on."""
        if self._recording is not None:
            self._recording.close(lab)
        else:
            lab.close()

    def _overall_rate(self) -> float:
        """Updates per second of all columns together: each column ran the same number."""
        rates = [self.rate] if self.rate else []
        before = self.before
        while before is not None:
            rates += [before.rate] if before.rate else []
            before = before.before
        return len(rates) / sum(1 / rate for rate in rates) if rates else 0.0


def _whole(path: Path) -> Path:
    """The path from the root, without ``..``: commands that people copy name it."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - absolute() keeps .., and resolve() follows links
