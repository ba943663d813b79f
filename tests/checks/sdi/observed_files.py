"""Files that a real server left: of a sequence, of single statements, of other tablespaces, and one without SDI."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from conformance.checks.sdi import check_crashes, check_statements, check_tablespaces, check_without_sdi, judge
from conformance.checks.sdi.check_old_server import Given, refuses
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.generate import DdlSequence
from conformance.checks.sdi.run import NAME, drop, observe, run_sequence
from conformance.checks.sdi.tables import OWN, Shape
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.checks.sdi.check_statements import Change
    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import SequenceOutcome
    from conformance.judge.problem import Problem
    from conformance.reference.innodb.sdi_views.information_schema import Facts
    from conformance.servers.run.process import ProcessServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Sound observations, which every judge accepts. ``file``: the file of a table whose record stands in BLOB
    pages."""

    outcome: SequenceOutcome
    file: SdiFile
    mysql: SdiFile
    temporary: SdiFile
    undo: SdiFile
    listed: check_tablespaces.Listed
    altered: Change
    truncated: Change
    refused: Change
    opened: check_without_sdi.Opened
    old: Given

    @property
    def facts(self) -> dict[tuple[str, str], Facts]:
        """The facts of INFORMATION_SCHEMA about the tables, by schema and name."""
        return {(table.schema, table.name): table.facts for table in self.outcome.tables}

    @property
    def spaces(self) -> dict[int, Facts]:
        """The tablespaces of the schemas alone."""
        schemas = tuple(f"{schema}/" for schema in self.outcome.sequence.schemas)
        return {number: facts for number, facts in self.outcome.spaces.items() if facts[NAME].startswith(schemas)}

    def with_outcome(self, **changes: Any) -> Observed:
        """Another outcome of the sequence."""
        return replace(self, outcome=replace(self.outcome, **changes))


def observe_all(server: ProcessServer) -> Observed:
    """Ask a real server. What the old server said is written down."""
    columns = ", ".join(
        f"c{n} int COMMENT '{Stream('long', n).letters(900, 'abcdefghijklmnopqrst')}'" for n in range(30)
    )
    shape = Shape(page_size=16384, format="DYNAMIC", block_size=16384, place=OWN, partitioned=False)
    made = (
        "CREATE SCHEMA ddl_0", "CREATE SCHEMA ddl_0_other", "USE ddl_0",
        "CREATE TABLESPACE ddl_0_general ADD DATAFILE 'ddl_0_general.ibd'", "CREATE TABLE parent (id int PRIMARY KEY)",
        f"CREATE TABLE t (id int PRIMARY KEY, {columns})", "INSERT INTO t (id) VALUES (1), (2)",
    )  # fmt: skip
    ibd2sdi = server.client_program("ibd2sdi")

    def file(name: str) -> SdiFile:
        return read_file(name, server.files.read(name), ibd2sdi)

    with server.connect() as connection:
        sequence = DdlSequence(number=0, shape=shape, made=made, changes=())
        try:
            outcome = run_sequence(connection, sequence)
            observe(server, connection, outcome)
        finally:
            drop(connection, sequence)
        with server.schema(connection) as schema:
            changes = check_statements.observe(server, connection, schema, Stream("faults"), 0)
            opened = check_without_sdi.observe(server, connection, schema, "DYNAMIC")
    return Observed(
        outcome=outcome,
        file=next(file for file in outcome.files if file.name == "t.ibd"),
        mysql=file("mysql.ibd"),
        temporary=file("ibtmp1"),
        undo=file("undo_001"),
        listed=check_tablespaces.Listed(roots={(1, 4): "PRIMARY"}, tables=()),
        altered=changes["SDI53"][0],
        truncated=changes["SDI63"][0],
        refused=changes["SDI25"][0],
        opened=opened,
        old=Given(row_format="DYNAMIC", own=0, with_sdi=1815),
    )


def judged(seen: Observed) -> dict[str, Iterable[Problem]]:
    """The judges by requirement; each says what it finds when it is asked."""
    tables, files = seen.outcome.tables, seen.outcome.files
    return {
        **{name: judge_(seen.file) for name, judge_ in judge.FILE_JUDGES.items()},
        "SDI1": judge.has_records(seen.file),
        "SDI2": judge.has_none(seen.temporary),
        "SDI3": judge.has_none(seen.undo),
        "SDI14": check_without_sdi.opened(seen.opened),
        "SDI16": refuses(seen.old),
        "SDI18": judge.records(seen.outcome),
        "SDI25": check_statements.rolled_back(seen.refused),
        "SDI27": check_crashes.both_or_none(files, tables, seen.outcome.spaces),
        "SDI53": check_statements.altered(seen.altered),
        "SDI55": check_tablespaces.in_no_dictionary(seen.listed, [seen.file]),
        "SDI56": check_without_sdi.flag_is_set(seen.opened),
        "SDI63": check_statements.truncated(seen.truncated),
        "SDI64": chain(
            check_crashes.recovered(files, tables, seen.outcome.spaces),
            check_crashes.no_space_alone(files, seen.spaces),
            check_crashes.whole_rows(tables, ((b"1", None), (b"2", None))),
        ),
        "SDI66": chain(
            judge.compared(seen.file, seen.facts), judge.compared_tablespace(seen.file, seen.outcome.spaces)
        ),
        "SDI67": check_tablespaces.both_kinds(seen.mysql),
    }
