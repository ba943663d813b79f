"""Problems that a query met, told on the driver: a warning for each part, and a list of all.

Spark's accumulators bring them, with the plan of a query and with the results of its tasks. Where a session has none
(Spark Connect), who meets them writes the warning into the log of its process.
"""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from pyspark.accumulators import AccumulatorParam

from conformance.logs.following import FollowError
from conformance.logs.rows.options import Mode, OptionError
from conformance.logs.rows.tuples import BinlogProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.logs.part_events import Problem
    from conformance.logs.parts import Part
    from conformance.logs.rows.options import Options

LOG: Final = logging.getLogger("mysql-binlog")
NAMED: Final = 10  # problems of a part that a report names; it counts the others
_WORKER: Final = "SPARK_PYTHON_RUNTIME"  # set in the processes that Spark starts
_HIDES: Final = "SPARK_HIDE_TRACEBACK"


class Report(NamedTuple):
    """The problems of a part: the first of them, their number, the rows with a value that no type holds, and the first
    such value. ``planned``: the driver met them in the plan, and a task that reads the part meets them again.
    """

    plan: str
    file: str
    mode: str
    problems: tuple[Problem, ...]
    met: int
    values: int = 0
    value: str | None = None
    planned: bool = False

    def __str__(self) -> str:
        dropped = " dropped" if self.mode == Mode.DROPMALFORMED else ""
        told = [_sentence(problem) for problem in self.problems]
        if self.met > len(told):
            told.append(f"and {self.met - len(told)} more")
        if self.met:
            told[0] = f"{self.met} problem{'s' * (self.met > 1)}{dropped}: {told[0]}"
        if self.values:
            told.append(f"{self.values} rows with a value that is null, as no type of Spark holds it: {self.value}")
        return f"mode {self.mode}: {self.file}: {'; '.join(told)}"


def _sentence(problem: Problem) -> str:
    if problem.position is None or "at offset " in problem.message:
        return problem.message
    return f"{problem.message} at offset {problem.position}"


class Problems:
    """The problems that a session's queries have met since the source was registered."""

    def __init__(self, spark: Any) -> None:
        self._told: dict[tuple[str, str], set[int | None]] = {}
        self.reports: list[Report] = []
        self.accumulator = spark.sparkContext.accumulator([], _Reports(self))

    @property
    def count(self) -> int:
        """The number of problems, notes on open files included."""
        return sum(report.met for report in self.reports)

    def add(self, report: Report) -> None:
        """Take a report. The first task that repeats what the plan told is passed over, and later ones are not."""
        told = self._told.setdefault((report.plan, report.file), set())
        places = {problem.position for problem in report.problems}
        if report.planned:
            told |= places
        elif places <= told and not report.values:
            told -= places
            return
        self.reports.append(report)
        LOG.warning("%s", report)


class _Reports(AccumulatorParam[list[Report]]):
    """A list that the driver's copy hands on."""

    def __init__(self, problems: Problems | None = None) -> None:
        self.problems = problems

    def __reduce__(self) -> tuple[type[_Reports], tuple[()]]:
        return _Reports, ()  # a task's copy only collects

    def zero(self, _: list[Report]) -> list[Report]:
        return []

    def addInPlace(self, value1: list[Report], value2: list[Report]) -> list[Report]:  # noqa: N802 - Spark's name
        if self.problems is None:
            return value1 + value2
        for report in value2:
            self.problems.add(report)
        return value1


class Reporter:
    """The way of a task's problems to the driver."""

    def __init__(self, accumulator: Any | None) -> None:
        self.accumulator = accumulator
        self.plan = uuid4().hex

    def send(
        self, part: Part, options: Options, problems: list[Problem], values: int = 0, value: str | None = None,
        *, planned: bool = False,
    ) -> None:  # fmt: skip
        """Report a part, unless there is nothing to tell. ``value``: the first value that no type holds, of ``values``
        rows.
        """
        if not problems and not values:
            return
        named, mode = tuple(problems[:NAMED]), str(options.mode)
        report = Report(self.plan, part.name, mode, named, len(problems), values, value, planned)
        if self.accumulator is None:
            LOG.warning("%s", report)
        else:
            self.accumulator.add([report])


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Let an error that names its cause reach the user without the trace of a worker; the worker ends with it."""
    try:
        yield
    except (BinlogProblem, FollowError, OptionError):
        if _WORKER in os.environ:
            os.environ[_HIDES] = "1"
        raise
