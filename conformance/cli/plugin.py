"""The pytest plugin: options, the fixture ``binlog_lab``, and the result stream of a run of ``conformance.checks``.

The ``pytest11`` entry point registers it, so ``pytest --pyargs conformance.checks`` works alone; the ``conformance``
command runs pytest with a :class:`LabRun` of its own. pytest loads this module in every project of the environment.
Therefore it imports nothing heavy until pytest collects a check of the kit. All names here carry the project's name,
and no hook changes an item of another project. The checks' short names (``lab``, the markers) are in their own
``conftest.py``.
"""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from conformance.runs.check_items import (
    CHECKS,
    DECODERS,
    check_name,
    former_name,
    is_about_subjects,
    is_check,
    profiles_of,
    requirements_of,
)
from conformance.runs.ended_checks import EndedChecks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from conformance.harness.session import Lab
    from conformance.harness.settings import Settings
    from conformance.report.directory import ReportDirectory
    from conformance.report.results import Summary
    from conformance.requirements.volume import Shortfall
    from conformance.runs.recorded_runs import RecordedRun
    from conformance.runs.side_by_side import Link
    from conformance.stream import AnyRecord, Block, End

_TOLD: Final = 5  # shortfalls that are told


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for running the checks with plain pytest."""
    group = parser.getgroup("binlog-lab", "conformance checks for MySQL's partial JSON row events")
    for name, metavar, default, words in (
        ("server", "SPEC", "auto", "server under test (default: auto)"),
        ("subject", "SUBJECT", "", "subject under test, instead of a server"),
        ("updates", "N", 2_000, "generated updates (default: 2000)"),
        ("seed", "SEED", "1", "seed of the generated updates (default: 1)"),
        ("report", "DIR", None, "write a report there (default: none)"),
    ):
        kind = int if isinstance(default, int) else str
        group.addoption(f"--binlog-lab-{name}", type=kind, default=default, metavar=metavar, help=words)


def pytest_configure(config: pytest.Config) -> None:
    """Register a run for plain pytest, unless the command line has registered its own."""
    if _run_of(config) is None:
        report = config.getoption("--binlog-lab-report")
        kinds = frozenset({bool(config.getoption("--binlog-lab-subject"))})
        config.pluginmanager.register(
            LabRun(_plain_settings(config), report=None if report is None else Path(report), kinds=kinds)
        )


def _run_of(config: pytest.Config) -> LabRun | None:
    return next((plugin for plugin in config.pluginmanager.get_plugins() if isinstance(plugin, LabRun)), None)


def _plain_settings(config: pytest.Config) -> Callable[[Path | None], Settings]:
    def make(cases: Path | None) -> Settings:
        from conformance.harness.settings import Settings

        return Settings(
            server=config.getoption("--binlog-lab-server"),
            subject=config.getoption("--binlog-lab-subject"),
            updates=config.getoption("--binlog-lab-updates"),
            seed=str(config.getoption("--binlog-lab-seed")),
            cases=cases,
        )

    return make


@pytest.fixture(scope="session")
def binlog_lab(pytestconfig: pytest.Config) -> Iterator[Lab]:
    """The server under test, and the objects that the checks share."""
    run = _run_of(pytestconfig)
    assert run is not None
    with run.open_lab() as opened:
        yield opened


class LabRun(EndedChecks):
    """One pytest session as a run of the kit: its result stream, its report, its end.

    A run on several servers and subjects has one session for each: one column of a common stream. ``before`` is the run
    of the previous column; only the ``last`` column ends the stream. A server or subject that cannot run is an error of
    its own column; the other columns still run. ``kinds``: whether the session takes the checks about subjects
    (``True``), those about servers (``False``), or both, which is for lists. ``subjects``: how many columns are about
    subjects. ``jobs``: how many checks may run side by side, where the lab starts the servers. ``whole``: every
    experiment of the requested requirements is in the run, and one that looks at too little makes it incomplete.
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
    ) -> None:
        self._kinds = kinds
        self._subjects = subjects
        self._of_others = 0  # selected checks of a column of the other kind
        self._told: set[str] = set() if before is None else before.told
        self._before = before
        self._last = last
        self._columns = columns
        self._run_items: set[pytest.Item] = set()
        self._unanswered_items: set[pytest.Item] = set()
        self._ended_in_a_row = 0  # checks whose server died, without one behind them that ran
        self._make_settings = settings
        self._report_path = report
        self._requirements = requirements
        self._profile = profile
        self._command = command
        self._progress = progress
        self._narrate = narrate
        self._jobs = jobs
        self._whole = whole
        self._now = ""  # the check that runs in this process
        self._recording: RecordedRun | None = None  # where the run makes a recording, or judges one
        self._link: Link | None = None  # in a worker: its way to the run
        self._outcome = ""  # of a check in a worker, as pytest calls it
        self._begun = time.monotonic() if before is None else before.begun
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
    def told(self) -> set[str]:
        """The facts about the suite that the stream has."""
        return self._told

    @property
    def begun(self) -> float:
        """The start of the run, by the monotonic clock."""
        return self._begun

    @property
    def stops(self) -> bool:
        """Whether the run ends with this column, planned columns or not."""
        return self.incomplete is not None or self.usage_error is not None or self.end is not None or self._broken

    @property
    def _broken(self) -> bool:
        """Mark the run as failed for a reason other than this server: the report, or the collection of checks."""
        return self.could_not_run is not None

    # --- collection --------------------------------------------------------------------------------------------------

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Import no module of checks of which the run asks for none."""
        return True if self._is_not_asked_for(collection_path) else None

    def _is_not_asked_for(self, path: Path) -> bool:
        if path.suffix != ".py" or not path.name.startswith("check") or not path.is_relative_to(CHECKS):
            return False
        if self._subjects in (0, len(self._columns) or 1) and (path.parent.name == DECODERS) not in self._kinds:
            return True  # else another column runs it, and the number of its checks is part of the stream
        if not self._requirements:
            return False
        from conformance.harness.experiments.manifests import ManifestError, judging

        try:
            names = judging(path)
        except ManifestError:  # whoever collects the file says so
            return False
        return names is not None and names.isdisjoint(self._requirements)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the checks of the requested requirements and profile, and all items that are not the kit's."""
        asked_for = [item for item in items if is_check(item) and self._wanted(item)]
        kept = {item for item in asked_for if is_about_subjects(item) in self._kinds}
        self._of_others = len(asked_for) - len(kept)
        left_out = [item for item in items if is_check(item) and item not in kept]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not is_check(item) or item in kept]

    def _wanted(self, check: pytest.Item) -> bool:
        asked_for = not self._requirements or bool(self._requirements & requirements_of(check))
        return asked_for and self._profile in profiles_of(check)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start the run: the selected checks are known now."""
        self.selected = [item for item in session.items if is_check(item)]
        if self.selected:
            gc.freeze()  # modules and checks stay to the end: the garbage collector need not visit them
            gc.set_threshold(10_000)  # documents make many objects and few cycles
        first = self._before is None and not session.config.option.collectonly
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
        from conformance.runs.recorded_runs import recorded_run
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
        from datetime import UTC, datetime

        from conformance.harness.environment import environment
        from conformance.harness.profiles import PROFILES
        from conformance.harness.updates.captures import UPDATES
        from conformance.judge.census import MIX, RULES, WHOLES
        from conformance.judge.updates.borrowed import TRUST
        from conformance.requirements.catalogue import REQUIREMENTS
        from conformance.requirements.deviations import load_deviations
        from conformance.servers.specs import parse_spec
        from conformance.stream import DeviationInfo, RequirementInfo, Run
        from conformance.version import __version__

        settings = self._make_settings(None)
        judged = self._judged()
        columns = max(1, len(self._columns))
        alike = (self._subjects if settings.subject else columns - self._subjects) or 1
        return Run(
            kit=__version__,
            seed=settings.seed,
            profile=self._profile,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            command=self._command,
            selected=len(self.selected) * alike + self._of_others * (columns - alike),
            census_rules=RULES,
            census_wholes=WHOLES,
            census_mix=MIX,
            trust={} if settings.subject else TRUST,
            requirements={
                name: RequirementInfo(
                    title=item.statement,
                    level=item.level,
                    basis=item.basis,
                    group=item.group,
                    source=f"{item.document}, {item.section}",
                    allowed=item.allowed,
                    needs=item.needs,
                    within=item.within,
                    # The catalogue's reason for a requirement of another profile is void in this run.
                    reason=None if item.reason is not None and name in judged else item.explanation,
                    finite=item.finite,
                    judged_on=item.judged_on,
                )
                for name, item in REQUIREMENTS.items()
            },
            deviations={
                item.id: DeviationInfo(
                    reason=item.reason,
                    requirements=item.requirements,
                    versions=item.versions,
                    observed=", ".join(item.observed),
                    ends="" if item.crash is None else item.crash.ends,
                )
                for item in (load_deviations(settings.deviations_file) if settings.deviations else ())
            },
            environment=environment(),
            options={
                **(
                    {}
                    if settings.subject
                    else {
                        "updates": settings.updates,
                        "updates_of_profile": UPDATES if settings.server == "none" else PROFILES[settings.profile],
                        "server": str(parse_spec(settings.server)),
                    }
                ),
                **({"servers": list(self._columns)} if self._columns else {}),
                **({} if self._recording is None else {"recording": self._recording.words}),
            },
        )

    # --- running -----------------------------------------------------------------------------------------------------

    def sink(self, record: AnyRecord) -> None:
        """The receiver of the lab's records: it writes the report, and sends progress to the display.

        Facts about the suite, which every subject's column tells, are written once.
        """
        if self._recording is not None and not self._recording.is_new(record):
            return
        if record.type == "block" and self._now:
            record = replace(cast("Block", record), experiment=_experiment(self._now))
        if self._link is not None:
            self._link.write(record)
            return
        if record.type in ("suite", "case"):
            key = f"{record.type} {getattr(record, 'id', '')}"
            if key in self._told:
                return
            self._told.add(key)
        if self.report is not None:
            self.report.write(record)
        if record.type == "progress" and self._progress is not None:
            self._progress(record)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the checks side by side where the lab can start a server for each worker; else pytest runs them."""
        if self._jobs < 2 or session.testsfailed or session.config.option.collectonly:
            return None
        from conformance.harness.session import several_servers
        from conformance.runs.side_by_side import SideBySide

        checks = SideBySide(self.selected, sink=self.sink, narrate=self._narrate, name=check_name, most=self._jobs)
        if checks.workers < 2 or not several_servers(self._make_settings(None), self.sink, self._narrate):
            return None
        try:
            stop = checks.run(partial(self._work, session), self._end_fixtures)
        finally:
            self.rate = checks.rate
            self.column_errors += checks.errors
        if stop is not None and stop.usage:
            self.usage_error = stop.message
        elif stop is not None:
            self.could_not_run = stop.message
        return True

    def _work(self, session: pytest.Session, link: Link) -> None:
        """Run modules of checks in a worker, as long as the run has some."""
        from conformance.runs.side_by_side import Stop

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

    def open_lab(self) -> LabOpened:
        """The lab of this run as a context."""
        from conformance.harness.session import Lab

        cases = None if self.report is None else self.report.cases
        self._lab = Lab(self._make_settings(cases), self.sink, self._narrate)
        if self._recording is not None:
            self._lab.recording = self._recording.tapes
        return LabOpened(self, self._lab)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Put the tape of the check's module under the lab, if there are tapes."""
        self._now = check_name(item) if item in self.selected else ""
        if self._recording is not None and item in self.selected:
            self._recording.begin(item.path, check_name(item), self._lab, former_name(item))

    def pytest_runtest_logfinish(self) -> None:
        """A check has ended in order."""
        if self._recording is not None:
            self._recording.running = False

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
        if self.incomplete is None and self._profile != "quick" and summary.census and summary.census.not_exercised():
            missing = summary.census.not_exercised()
            self.incomplete = f"{len(missing)} rules of the census were not exercised: {', '.join(missing[:5])}"
        told = self.incomplete or self.could_not_run or self.usage_error or self.column_errors
        if self._whole and not told and not summary.failed:
            self.incomplete = self._silence(summary)
        self.end = summary.conclude(
            seconds=time.monotonic() - self._begun,
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

    def _silence(self, summary: Summary) -> str | None:
        """Which experiments looked at less than they must, whatever the reason."""
        from conformance.harness.experiments.manifests import all_facts
        from conformance.report.wording import plural
        from conformance.requirements.volume import UPDATES, shortfalls, unseen
        from conformance.stream import MODEL

        settings = self._make_settings(None)
        listed = {
            facts.id: facts.requirements
            for facts in all_facts()
            if facts.sizes and facts.room != UPDATES and self._profile in facts.profiles
        }
        short: list[tuple[str, Shortfall]] = []
        for name, subject in summary.subjects.items():
            if subject.role not in ("source", "decoder"):
                continue
            counted, excused = summary.looked_at_of(name), summary.excused[name] | summary.excused[MODEL]
            decoders = subject.role == "decoder"
            updates = None if not decoders and settings.server == "none" else settings.updates
            found = (
                *shortfalls(counted, excused, requirements=self._requirements, updates=updates, decoders=decoders),
                *unseen(counted, excused, listed, requirements=self._requirements, decoders=decoders),
            )
            short += [(name, shortfall) for shortfall in found]
        if not short:
            return None
        words = [f"{name}: {shortfall}" if self._columns else str(shortfall) for name, shortfall in short]
        experiments = {(name, shortfall.experiment) for name, shortfall in short}
        more = f"; and {len(words) - _TOLD} more" if len(words) > _TOLD else ""
        return f"{plural(len(experiments), 'experiment')} looked at too little: {'; '.join(words[:_TOLD])}{more}"

    def close_lab(self, lab: Lab) -> None:
        """Close the lab, and then the tape that it closed its servers on."""
        if self._recording is not None:
            self._recording.close(lab)
        else:
            lab.close()

    def _overall_rate(self) -> float:
        """Updates per second of all columns together: each column ran the same number."""
        rates = [self.rate] if self.rate else []
        before = self._before
        while before is not None:
            rates += [before.rate] if before.rate else []
            before = before.before
        return len(rates) / sum(1 / rate for rate in rates) if rates else 0.0

    @property
    def before(self) -> LabRun | None:
        """The run of the previous column."""
        return self._before


def _experiment(name: str) -> str:
    """The experiment of a check: its own, or the room's where one campaign serves all checks of it."""
    from conformance.requirements.volume import UPDATES

    return UPDATES if name.startswith(f"{UPDATES}/") else name


class LabOpened:
    """Closes the lab at the end of the session in every case."""

    def __init__(self, run: LabRun, lab: Lab) -> None:
        self._run = run
        self._lab = lab

    def __enter__(self) -> Lab:
        return self._lab

    def __exit__(self, *_: object) -> None:
        self._run.rate = self._lab.rate
        self._run.close_lab(self._lab)
