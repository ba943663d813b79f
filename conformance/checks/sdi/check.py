"""Files that DDL leaves, on a real server: the kit's reader, ibd2sdi and INFORMATION_SCHEMA agree on every record, and
another table takes each file by IMPORT (innodb-sdi B).

A batch of sequences ends with a clean shutdown, every other one after ``kill -9`` and a recovery. Then the files of
general tablespaces and of the system tablespace are whole, and are judged too.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi import imports, judge
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.generate import ddl_sequence
from conformance.checks.sdi.run import drop, observe, run_sequence, shown_tables, tablespace_facts
from conformance.checks.sdi.servers import own_server
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import ShownTable
    from conformance.harness.check import Check
    from conformance.judge.problem import Problem
    from conformance.reference.innodb.sdi_views.information_schema import Facts
    from conformance.servers.run.owned import OwnServer

_PAGE_SIZES: Final = (16_384, 4_096, 8_192, 32_768, 65_536)
_BATCH: Final = 20  # sequences between two shutdowns


@dataclass(slots=True)
class JudgedBatch:
    """Problems and cases by requirement, and what a batch did."""

    cases: Counter[str] = field(default_factory=Counter)
    problems: dict[str, list[Problem]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, requirement: str, problems: Iterable[Problem], cases: int = 1) -> None:
        """Judge cases of a requirement."""
        self.cases[requirement] += cases
        self.problems[requirement] += problems

    def add_file(self, file: SdiFile, tables: Iterable[ShownTable], spaces: Mapping[int, Facts]) -> None:
        """Judge one file of a persistent tablespace."""
        for requirement, judged in judge.FILE_JUDGES.items():
            cases = len(judge.long_objects(file)) if requirement == "SDI19" else 1
            self.add(requirement, judged(file), cases)
        facts = {(table.schema, table.name): table.facts for table in tables}
        self.add("SDI66", [*judge.compared(file, facts), *judge.compared_tablespace(file, spaces)])
        self.add("SDI1", judge.has_records(file))
        self.counts["files"] += 1
        self.counts["records"] += len(file.objects)
        self.counts["records off-page"] += sum(item.off_page for item in file.objects)
        self.counts["files with page compression, which ibd2sdi refuses"] += file.page_compression

    def record(self, check: Check, number: int) -> None:
        """Write a block for each requirement."""
        for requirement, cases in self.cases.items():
            check.part(requirement, requirement).record(number, self.problems[requirement], cases=cases)


@pytest.mark.check("sequences")
def test_files_of_ddl_sequences(check: Check) -> None:
    """Sequences of DDL, on a server for each page size."""
    begun = time.monotonic()
    total: Counter[str] = Counter()
    for place, page_size in enumerate(_PAGE_SIZES[: check.size("page-sizes")]):
        with own_server(check, page_size) as server:
            for first in range(0, check.size(), _BATCH):
                numbers = range(first, min(first + _BATCH, check.size()))
                judged = _batch(check, server, page_size, numbers, kill=bool(first // _BATCH % 2))
                judged.record(check, place * check.size() + first)
                total += judged.counts
        check.progress(place + 1, check.size("page-sizes"), "page sizes")
    check.narrate(f"SDI65: {', '.join(f'{count} {words}' for words, count in total.items() if count)}")
    check.narrate(f"  page sizes {_PAGE_SIZES[: check.size('page-sizes')]}, {time.monotonic() - begun:.0f} s")


def _batch(check: Check, server: OwnServer, page_size: int, numbers: range, *, kill: bool) -> JudgedBatch:
    judged = JudgedBatch()
    has = check.lab.questions.has
    sequences = [
        ddl_sequence(Stream("sdi", check.seed, page_size, number), page_size, number, has) for number in numbers
    ]
    with server.connect() as connection:
        for sequence in sequences:
            outcome = run_sequence(connection, sequence)
            observe(server, connection, outcome)
            for file in outcome.files:
                judged.add_file(file, outcome.tables, outcome.spaces)
            judged.add("SDI18", judge.records(outcome), len(outcome.files))
            taken = imports.import_tables(server, connection, outcome)
            judged.add("SDI66", taken.problems, taken.imported)
            judged.counts.update({
                "sequences": 1, sequence.shape.format: 1, "changes": len(sequence.changes),
                "changes refused": len(outcome.refused), "imports": taken.imported,
                "files with FULLTEXT, or that 9.7.4 cannot import": taken.left,
            })  # fmt: skip
        schemas = [schema for sequence in sequences for schema in sequence.schemas]
        tables, spaces = [*shown_tables(connection, [*schemas, "sys"])], tablespace_facts(connection)
    if kill:
        server.kill()
        server.start()
        judged.counts["kills"] += 1
    server.stop()
    _whole_directory(server, judged, tables, spaces)
    if numbers.stop == check.size():
        return judged
    server.start()
    with server.connect() as connection:
        for sequence in sequences:
            drop(connection, sequence)
    return judged


def _whole_directory(
    server: OwnServer, judged: JudgedBatch, tables: list[ShownTable], spaces: dict[int, Facts]
) -> None:
    """The tablespaces of a server that was shut down, except the one of the dictionary."""
    ibd2sdi = server.client_program("ibd2sdi")
    found = server.files.matching("*/*.ibd", "ddl*.ibd", "ibdata1")
    files = [read_file(name, data, ibd2sdi) for name, data in found.items()]
    for file in files:
        judged.add_file(file, tables, spaces)
    judged.add("SDI66", imports.definitions(files, tables), len(tables))
    judged.add("SDI18", judge.tablespace_records(files, spaces), len(files))
    judged.add("SDI18", judge.table_records(files, tables), len(tables))
