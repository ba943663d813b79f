"""A whole run of the kit on a double: the same items, plugin and records as ``binlog-lab conformance``.

The run is in this process, with the double in the place of the server that a spec names. The table of versions has
9.7.4's cells in the rows that the double leaves, and the listed deviations are those of the server behind it.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from conformance.cli.conformance import _pytest
from conformance.harness import findings, session
from conformance.harness.profiles import SIZES
from conformance.harness.settings import Settings
from conformance.report.cells import Cell
from conformance.report.results import Summary
from conformance.requirements import versions
from conformance.requirements.crashes import VECTOR_LENGTH
from conformance.requirements.deviations import Deviation, load_deviations
from conformance.requirements.versions import applies
from conformance.runs.check_runs.lab_run import LabRun
from conformance.servers.auto import find_installation
from conformance.servers.install.cache import silent
from conformance.servers.specs import parse_spec
from conformance.stream import Asked, CaseVerdict
from tests.doubles.fault import NONE
from tests.doubles.server import DoubleMaker, double_of, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.servers.auto import Wishes
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.owned import OwnServer
    from conformance.stream import AnyRecord
    from tests.doubles.server import Double
    from tests.faults.fault import Fault
    from tests.faults.servers.relayed import RelayedServer

UPDATES: Final = 100
"""Generated updates of a run on a double: it is about what a server lacks, and the kit's own run has the others."""
SHARE: Final = 10
"""A run on a double does one in so many of the Cases of the profile quick, but every check."""
# A round of tables has every kind of column; and listed crashes of the client must be met.
_WHOLE: Final = ("row_values/values/tables", "mysqlbinlog_damage/values")


class _Run(LabRun):
    """A run that keeps its records."""

    records: list[AnyRecord]

    def sink(self, record: AnyRecord) -> None:
        self.records.append(record)


@dataclass(slots=True)
class Outcome:
    """Records of a run. ``problem``: why it could not go on; ``broken``: tracebacks of relays; ``seconds`` of CPU."""

    records: list[AnyRecord]
    problem: str
    broken: list[str]
    seconds: float
    selected: int = 0

    @property
    def failing(self) -> list[CaseVerdict]:
        """The verdicts that make a row red."""
        return [record for record in self.records if isinstance(record, CaseVerdict) and record.fails]

    @property
    def rows(self) -> dict[str, Cell]:
        """Each row of the catalogue that the run is about, as reports count it."""
        found: dict[str, Cell] = {}
        for name, cells in Summary(self.records).cells().items():
            for cell in cells.values():
                found.setdefault(name, Cell()).add(cell)
        return found

    @property
    def red(self) -> set[str]:
        """The rows of the catalogue that are red."""
        return {name for name, cell in self.rows.items() if cell.failed or cell.not_run}

    @property
    def contradicted(self) -> set[str]:
        """The rows of the table of versions, beside those that the double leaves, that the server contradicted."""
        asked = [record for record in self.records if isinstance(record, Asked)]
        return {row["row"] for record in asked for row in record.rows if row["known"] and row.get("agrees") is False}

    @property
    def left_out(self) -> dict[str, set[str]]:
        """Reason -> the requirements, and checks, that were not applicable for it."""
        found: dict[str, set[str]] = defaultdict(set)
        for record in self.records:
            if isinstance(record, CaseVerdict) and record.verdict == "not-applicable":
                found[record.message].add(f"{record.requirement} ({record.check})")
        return dict(found)


@dataclass(slots=True)
class Stage:
    """Runs of the kit on doubles of one version, with a fault or without."""

    version: str
    fault: Fault = NONE
    servers: list[RelayedServer] = field(default_factory=list)
    folder: TemporaryDirectory[str] = field(default_factory=lambda: TemporaryDirectory(prefix="double-"))
    double: Double = field(init=False)

    def __post_init__(self) -> None:
        self.double = double_of(self.version, real_installation(), Path(self.folder.name), self.fault)

    def _launched(self, server: RelayedServer) -> None:
        self.servers.append(server)
        if len(self.servers) == 1:
            server.relay.arm(self.fault.change.get("passing", {}), self.fault.id)

    def _resolve(self, _: str, wishes: Wishes, **__: Any) -> OwnServer:
        """The double, as ``resolve`` would start a process."""
        maker = DoubleMaker(self.double.real, self.double, self._launched, in_memory=wishes.in_memory)
        return maker.launch(server_id=wishes.server_id, options={**wishes.defaults, **wishes.options})

    def run(
        self,
        *requirements: str,
        checks: str = "",
        updates: int = UPDATES,
        share: int = SHARE,
        narrate: Callable[[str], None] = silent,
    ) -> Outcome:
        """A run about some requirements, or about all. ``share``: one in so many Cases of the profile quick."""
        wanted = frozenset(requirements)
        self.servers = []
        begun = cpu()
        with TemporaryDirectory() as cases, self._playing(), patch.dict(SIZES, smaller(share)):
            settings = Settings(
                server="process", updates=updates, requirements=wanted, seed=self.fault.run["seed"], cases=Path(cases)
            )
            run = _Run(lambda _: settings, requirements=wanted, narrate=narrate)
            run.records = []
            _pytest(run, *(("-k", checks) if checks else ()))
        problem = run.could_not_run or run.usage_error or run.incomplete or ("" if run.selected else "nothing selected")
        broken = [server.relay.broken for server in self.servers if server.relay.broken]
        return Outcome(run.records, problem, broken, cpu() - begun, len(run.selected))

    @contextlib.contextmanager
    def _playing(self) -> Iterator[None]:
        """The lab finds the double, its table of versions, and its deviations; Cases are not shrunk."""
        table = table_of(self.double.lacks, self.double.real.number)
        with (
            patch.object(session, "resolve", self._resolve),
            patch.object(session, "load_deviations", self._deviations),
            patch.dict(versions.SWITCHES, table),
            patch.object(findings, "SECONDS", 0.0),
        ):
            versions.dialect_of.cache_clear()
            try:
                yield
            finally:
                versions.dialect_of.cache_clear()
        versions.dialect_of.cache_clear()

    def _deviations(self, path: Path | None) -> tuple[Deviation, ...]:
        """The deviations of the server behind the double, as those of the version that it plays. One is about columns
        that the version has not."""
        found = []
        for entry in load_deviations(path):
            of_vectors = entry.crash is not None and entry.crash.damage == VECTOR_LENGTH
            if applies(entry.versions, self.double.real.number) and (
                self.double.dialect.log.vector_type or not of_vectors
            ):
                listed = applies(entry.versions, self.double.lacks.number)
                found.append(entry if listed else replace(entry, versions=f"{entry.versions}, {self.version}"))
        return tuple(found)

    def close(self) -> None:
        """Remove the double's programs."""
        self.folder.cleanup()


def smaller(share: int) -> dict[str, dict[str, int]]:
    """The sizes of the profile quick, divided."""
    made = {}
    for name, sizes in SIZES.items():
        size = sizes["quick"]
        if name.endswith("/one-in"):
            size *= share
        elif size and name not in _WHOLE:
            size = max(1, size // share)
        made[name] = sizes | {"quick": size}
    return made


def real_installation() -> Installation:
    """The programs behind the doubles."""
    return find_installation(parse_spec("process"))


def cpu() -> float:
    """Seconds of this process and its ended children."""
    return sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))
