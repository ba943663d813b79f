"""Judges one module of checks of a recording again and again, each time with one changed answer.

The checks are collected once. Each module gets a process of its own, which judges the module with the recorded answers
first. Then it runs the module's checks in order, and before each it forks a child for every changed answer of the
check. The child runs the rest of the module, writes a report as a run does, and tells what became of it.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from conformance.cli.conformance import _pytest
from conformance.harness.settings import Settings
from conformance.report.directory import ReportDirectory
from conformance.report.results import COUNTERS, Summary, write_results
from conformance.runs.check_runs.lab_run import LabRun
from conformance.runs.check_runs.recorded_runs import RecordedRun
from conformance.servers import clock
from conformance.servers.recording.directory import open_tape
from conformance.servers.recording.recordings import Recording, open_recording
from conformance.servers.recording.tape import NoAnswer, ReplayTape, TapedClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pytest

    from conformance.servers.recording.files import Entry, TapeContent
    from conformance.servers.recording.values import Value
    from conformance.stream import AnyRecord

PATIENCE: Final = 300.0  # seconds until a child counts as hanging; the machine may be busy
_SHOWN: Final = 300
_WHOLE: Final = 10  # of so many changes one is judged to the module's end, and its report is written in full


class DoctoredTape(ReplayTape):
    """The answers of a module, one of which is another. ``asked``: the request that got it."""

    def __init__(self, content: TapeContent) -> None:
        super().__init__(content)
        self._changed: Entry | None = None
        self.asked: str | None = None

    def change(self, number: int, entry: Entry) -> None:
        """Put another answer into the place of one that nobody has asked for yet."""
        old = self._content.entries[number]
        left = self._left[old.channel]
        left[next(place for place, known in enumerate(left) if known is old)] = self._changed = entry

    def answer(self, channel: str, kind: str, request: Value) -> Value:
        """A check that goes on otherwise, behind a changed answer, gets what the same request got later on."""
        self._skip(channel, kind, request)
        found = super().answer(channel, kind, request)
        if self._changed is not None and found is self._changed.answer:
            text = request.decode("utf-8", "replace") if isinstance(request, bytes) else str(request)
            self.asked = "".join(letter if letter.isprintable() else " " for letter in text[:_SHOWN]).strip()
        return found

    def _skip(self, channel: str, kind: str, request: Value) -> None:
        left = self._left[channel]
        digest = self._digest(request)
        for place, entry in enumerate(left):
            if entry.item > self.item:
                return
            if (entry.item, entry.kind, entry.request) == (self.item, kind, digest):
                for _ in range(place):
                    left.popleft()
                return


class DoctoredRecording(Recording):
    """A recording whose modules begin with such tapes, which are read once."""

    content: TapeContent | None = None

    def begin_module(self, name: str, former: str = "") -> None:
        assert self.manifest is not None
        if self.content is None:
            self.content = open_tape(self.path, self.manifest, f"{name}.tape")
        self._tape = DoctoredTape(self.content)
        clock.use(TapedClock(self._tape))


class Kept:
    """The records of a run in memory, in the place of a report."""

    def __init__(self, cases: Path) -> None:
        self.cases = cases
        self.summary = Summary()
        self.records: list[AnyRecord] = []

    def write(self, record: AnyRecord) -> None:
        self.records.append(record)
        self.summary.add(record)

    def render(self) -> None:
        """Nothing: a child renders what it judged."""

    def close(self) -> None:
        """Nothing is open."""


class DoctoredRun(LabRun):
    """A run over one recording whose loop is the bench's. ``work`` gets the run and the modules' checks by tape."""

    def __init__(self, recording: Path, work: Callable[[DoctoredRun, dict[str, list[pytest.Item]]], None]) -> None:
        manifest = open_recording(recording).manifest
        assert manifest is not None
        settings = Settings(
            server=f"recorded:{recording}",
            updates=manifest.updates,
            profile=manifest.profile,
            requirements=frozenset(manifest.requirements),
            seed=manifest.seed,
        )
        super().__init__(
            lambda cases: _with_cases(settings, cases),
            requirements=frozenset(manifest.requirements),
            profile=manifest.profile,
            command="python -m tests.doctored",
        )
        self._path, self._manifest, self._bench = recording, manifest, work
        self._session: Any = None
        self._traces: list[str] = []
        self._first_record: AnyRecord | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        self._session = session
        self._first_record = self._run_record()
        modules: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in self.selected:
            modules[f"{item.path.parent.name}.{item.path.stem}.tape"].append(item)
        self._bench(self, {name: modules[name] for name in sorted(modules) if name in self._manifest.tapes})
        return True

    def _failed_to_run(self, error: BaseException) -> None:
        self._trace(error)
        super()._failed_to_run(error)

    def _ends_alone(self, item: pytest.Item, reason: str) -> None:
        if sys.exc_info()[1] is not None:
            self._trace(cast("BaseException", sys.exc_info()[1]))
        super()._ends_alone(item, reason)

    def _trace(self, error: BaseException) -> None:
        places = traceback.extract_tb(error.__traceback__)
        ours = [place for place in places if "/conformance/" in place.filename or "/generators/" in place.filename]
        shown = [f"{Path(place.filename).parent.name}/{Path(place.filename).name}:{place.lineno}" for place in ours]
        self._traces.append(f"{type(error).__name__}: {error!s:.200} @ {' < '.join(shown[-1:-6:-1])}")

    # --- one module --------------------------------------------------------------------------------------------------

    def judge_module(
        self, checks: Sequence[pytest.Item], changes: Sequence[tuple[int, int, Entry]], tell: Callable[[Any], None]
    ) -> None:
        """Judge the module as recorded, then with each change: its number, the number of the answer, and the entry.

        ``tell`` gets the rows behind each check as recorded, then what became of each change.
        """
        with tempfile.TemporaryDirectory(prefix="doctored") as folder:
            tapes = DoctoredRecording(self._path, self._manifest)
            behind: list[int] = []
            cost = 0.0
            for _ in range(1 if changes else 2):  # the first time imports, and fills what is kept
                begun = time.process_time()
                self._anew(tapes, Path(folder))
                behind = [self._check(checks, place) and len(self._kept.records) for place in range(len(checks))]
                cost = time.process_time() - begun
            if not changes:
                told = [problem for problem in (self.could_not_run, self.usage_error, *self.column_errors) if problem]
                tell({"cost": cost, "rows": _rows(self._kept.records), "told": told})
                return
            for place, records in enumerate(behind):
                tell({"behind": place, "rows": _rows(self._kept.records[:records])})
            by_check: dict[int, list[tuple[int, int, Entry]]] = defaultdict(list)
            for change in changes:
                by_check[change[2].item].append(change)
            self._anew(tapes, Path(folder))
            for place in range(len(checks)):
                if not any(number >= place for number in by_check):
                    break
                for change in by_check.get(place, ()):
                    tell({"number": change[0], **self._child(checks, place, change, Path(folder))})
                self._check(checks, place)

    def _anew(self, tapes: DoctoredRecording, folder: Path) -> None:
        """Begin a run of the module."""
        self._session._setupstate.teardown_exact(None)
        tapes._tape = None
        self._recording = RecordedRun(tapes, self._manifest, makes=False)
        self.report = cast("ReportDirectory", Kept(folder))
        self._lab = None
        self.could_not_run = self.usage_error = self.incomplete = self.end = None
        self.told, self.column_errors = set(), []
        self._run_items, self._unanswered_items, self._ended_in_a_row = set(), set(), 0
        self._traces = []
        self._session.shouldstop = self._session.shouldfail = False
        assert self._first_record is not None
        self.sink(self._first_record)

    @property
    def _kept(self) -> Kept:
        return cast("Kept", self.report)

    def _check(self, checks: Sequence[pytest.Item], place: int) -> bool:
        """Run one check; returns whether the run goes on."""
        following = checks[place + 1] if place + 1 < len(checks) else self._session
        checks[place].config.hook.pytest_runtest_protocol(item=checks[place], nextitem=following)
        return self.could_not_run is None and self.usage_error is None

    def _ended(self, report: Path, *, whole: bool) -> dict[str, Any]:
        """End the run as a whole one ends, write its report, and say what is in it. ``whole``: with every page."""
        with suppress(NoAnswer):  # a child may stop before the check that ended the servers
            self._session._setupstate.teardown_exact(None)
        kept = self._kept
        self._finish(cast("ReportDirectory", kept))
        with ReportDirectory(report) as directory:
            for record in kept.records:
                directory.write(record)
            if whole:
                directory.render()
        write_results(kept.summary, report / "results.json")
        shutil.rmtree(report)
        assert self.end is not None
        return {
            "rows": _rows(kept.records),
            "exit": self.end.exit_code,
            "lab": self.could_not_run or self.usage_error,
            "alone": list(self.column_errors),
            "traces": self._traces,
            "words": list(dict.fromkeys(f"{v.requirement}: {v.message}"[:160] for v in kept.summary.failures))[:4],
        }

    def _child(self, checks: Sequence[pytest.Item], place: int, change: tuple[int, int, Entry], folder: Path) -> Any:
        number, index, entry = change
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.setpgid(0, 0)
            gc.disable()
            answer = self._in_child(checks, place, index, entry, folder, whole=not number % _WHOLE)
            with os.fdopen(writer, "w") as file:
                json.dump(answer, file)
            os._exit(0)
        os.close(writer)
        text = _read(reader)
        os.close(reader)
        if text is None:
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if text is None:
            return {"hang": True}
        return json.loads(text) if text else {"raised": "the process ended without a word"}

    def _in_child(
        self, checks: Sequence[pytest.Item], place: int, index: int, entry: Entry, folder: Path, *, whole: bool
    ) -> Any:
        """Judge from this check on: all that follow if ``whole``, else the next one, which shows that the run goes on.

        Its rows are compared with those that the recording itself has behind the same check.
        """
        try:
            assert self._recording is not None
            if place == 0:
                self._recording.begin(checks[0].path, "", None)
                tape = cast("DoctoredTape", self._recording.tapes.tape)
                tape.item, tape.problem = -1, None
            tape = cast("DoctoredTape", self._recording.tapes.tape)
            tape.change(index, entry)
            last = len(checks) - 1 if whole else min(place + 1, len(checks) - 1)
            for each in range(place, last + 1):
                if not self._check(checks, each):
                    break
            return {**self._ended(folder / "child", whole=whole), "asked": tape.asked, "last": last}
        except BaseException as error:  # noqa: BLE001 - it is what the bench looks for
            self._trace(error)
            return {"raised": f"{type(error).__name__}: {error}", "traces": self._traces}


def _rows(records: Iterable[AnyRecord]) -> dict[str, list[Any]]:
    """Verdict, cases and failures of each requirement; of what a server shows of its version, and the totals."""
    found = Summary(records).to_results()
    rows = {name: [row["verdict"], row["cases"], row["failed"]] for name, row in found["requirements"].items()}
    wrong = len(found["table_findings"])
    rows["table of versions"] = ["differs" if wrong else "pass", len(found["subjects"]), wrong]
    totals = found["totals"]
    rows["totals"] = ["info", [totals[name] for name in COUNTERS if name != "bytes_by_rule"], 0]
    return rows


def _read(reader: int) -> str | None:
    """Everything that a child tells; ``None`` after too long a silence."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], PATIENCE)
        if not ready:
            return None
        part = os.read(reader, 1 << 20)
        if not part:
            return b"".join(parts).decode("utf-8", "replace")
        parts.append(part)


def _with_cases(settings: Settings, cases: Path | None) -> Settings:
    from dataclasses import replace

    return replace(settings, cases=cases)


def drive(recording: Path, work: Callable[[DoctoredRun, dict[str, list[pytest.Item]]], None]) -> None:
    """Collect the checks of a recording, and give them to ``work``."""
    _pytest(DoctoredRun(recording, work))
