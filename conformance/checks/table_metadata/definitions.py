"""Generated table definitions on a server: a block makes them, logs rows, prints the log by the real client, and
judges."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from conformance.checks.table_metadata import census
from conformance.checks.table_metadata.run import MODES, Definition, log_definitions, make_tables
from conformance.checks.table_metadata.table_map_judge import MODE, concerned, judge_table_map
from conformance.judge.problem import Problem
from conformance.judge.updates.log_rules import judge_log
from conformance.reference.binlog.header import HEADER_SIZE, footer_size
from conformance.reference.dialect import MYSQL
from conformance.reference.tables.definitions import create_table, definable
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK, TableMap
from conformance.reference.text.table_metadata import metadata_text
from conformance.servers.errors import ServerError
from conformance.verdict import Verdict
from generators.definitions import definition, row_values
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.checks.table_metadata.run import DefinitionLog
    from conformance.harness.check import Check
    from conformance.harness.session import Lab
    from conformance.reference.dialect import LogForms
    from conformance.servers.programs import Program
    from conformance.servers.wire.capture import Capture
    from conformance.servers.wire.connection import Connection

TEXT: Final = "TMP1"
OPTIONS: Final = ("--no-defaults", "--print-table-metadata", "--base64-output=decode-rows")
_FILE: Final = "block.binlog"
_AROUND: Final = 200  # characters of a text in front of a difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A rule that one table's event or text breaks."""

    requirement: str
    verdict: Verdict
    problem: Problem


def draw_definitions(
    seed: str, numbers: range, schema: str, log: LogForms = MYSQL.log, *, systems: bool = True
) -> list[Definition]:
    """The definitions with these numbers; they depend only on seed and number. An older server gets those that it can
    have. ``systems``: whether it has the spatial reference system of some columns."""
    tables = [definition(Stream("definitions", seed, number), schema=schema, name=f"t{number}") for number in numbers]
    return [
        Definition(table=table, values=row_values(table))
        for table in tables
        if definable(table, log) and (systems or not any("SRID" in (column.spelled or "") for column in table.columns))
    ]


def run_block(connection: Connection, capture: Capture, definitions: Sequence[Definition]) -> DefinitionLog:
    """Make the tables in the current schema, and have their events written."""
    make_tables(connection, definitions)
    return log_definitions(connection, capture, definitions)


def judge_events(lab: Lab, definitions: Sequence[Definition], log: DefinitionLog) -> list[Broken]:
    """Each captured TABLE_MAP against its prediction."""
    dialect = lab.dialect
    found = []
    for mode in MODES:
        events = log.maps[mode]
        if len(events) != len(definitions):
            problem = Problem(
                f"TABLE_MAP events with {mode}", str(len(definitions)), str(len(events)), "another number of events"
            )
            found.append(Broken(requirement="TMG1", verdict=Verdict.FAIL, problem=problem))
            continue
        for item, event in zip(definitions, events, strict=True):
            for mismatch in judge_table_map(item.table, mode, event, dialect):
                problem = Problem(
                    field=f"{mismatch.field} with {mode}",
                    expected=mismatch.expected,
                    got=mismatch.got,
                    message=mismatch.message,
                    statements=_statements(item, mode),
                )
                verdict = Verdict.DIFFERS if mismatch.observed else Verdict.FAIL
                found.append(Broken(requirement=mismatch.requirement, verdict=verdict, problem=problem))
    return [*found, *_broken_rules(log)]


def _broken_rules(log: DefinitionLog) -> list[Broken]:
    """Broken rules of the event fields that no definition decides."""
    return [
        Broken(
            requirement="TMG1",
            verdict=Verdict.FAIL,
            problem=Problem(item.field, item.expected, item.got, item.message),
        )
        for item in judge_log(log.own, log.facts, thread_id=log.thread_id)
    ]


def judge_text(definitions: Sequence[Definition], log: DefinitionLog, text: bytes) -> list[Broken]:
    """Judge what the client printed behind each ``Table_map``, in their order: what the event says, right or wrong."""
    found = []
    place = 0
    for mode in MODES:
        for item, event in zip(definitions, log.maps[mode], strict=False):
            observed = TableMap.decode(event[HEADER_SIZE : len(event) - footer_size(log.algorithm)])
            head = head_of(observed)
            start = text.find(head, place)
            if start < 0:
                problem = Problem(
                    field=f"text with {mode}",
                    expected=head.decode("utf-8", "backslashreplace"),
                    got="not there",
                    message="mysqlbinlog does not show the table",
                    statements=_statements(item, mode),
                )
                found.append(Broken(requirement=TEXT, verdict=Verdict.FAIL, problem=problem))
                continue
            place = start + len(head)
            wanted = metadata_text(observed) + b"# at "
            if text.startswith(wanted, place):
                place += len(wanted)
                continue
            shown = text[place : place + len(wanted) + _AROUND]
            found.append(Broken(requirement=TEXT, verdict=Verdict.DIFFERS, problem=_other(wanted, shown, item, mode)))
    return found


def head_of(table: TableMap) -> bytes:
    schema, name = (part.encode("utf-8", "surrogateescape") for part in (table.schema, table.table))
    generated = bool(table.flags & GENERATED_INVISIBLE_PK)
    return b"\tTable_map: `%b`.`%b` mapped to number %d\n# has_generated_invisible_primary_key=%d\n" % (
        schema, name, table.table_id, generated,
    )  # fmt: skip


def _other(wanted: bytes, shown: bytes, item: Definition, mode: str) -> Problem:
    place = next(
        (number for number, pair in enumerate(zip(wanted, shown, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(shown)),
    )
    begin = max(0, place - _AROUND)
    return Problem(
        field=f"text with {mode}, byte {place}",
        expected=wanted[begin : place + _AROUND].decode("utf-8", "backslashreplace"),
        got=shown[begin : place + _AROUND].decode("utf-8", "backslashreplace"),
        message="mysqlbinlog prints another text",
        statements=_statements(item, mode),
    )


def _statements(item: Definition, mode: str) -> tuple[str, ...]:
    return f"SET GLOBAL binlog_row_metadata = {mode}", create_table(item.table), item.insert()


def client_text(program: Program, data: bytes) -> bytes:
    """Everything that the client prints of a log. Raises :class:`ServerError` if it fails."""
    done = program.run([*OPTIONS, _FILE], files={_FILE: data})
    if done.returncode:
        raise ServerError(f"mysqlbinlog ended with {done.returncode}: {done.words}")
    return done.stdout


def record_block(
    check: Check,
    number: int,
    definitions: Sequence[Definition],
    broken: Sequence[Broken],
    *,
    printed: bool,
    begun: float,
) -> None:
    """Write the records of one block: for each requirement the number of events it is about, and what breaks it."""
    cases = Counter(name for mode in MODES for item in definitions for name in concerned(item.table, mode))
    if printed:
        cases[TEXT] = len(MODES) * len(definitions)
    seconds = (time.perf_counter() - begun) / len(cases)
    for name, count in sorted(cases.items()):
        part = check.part("text") if name == TEXT else check
        with part.block(
            number,
            cases=count,
            requirement=name,
            seconds=seconds,
            texts_compared=count if name == TEXT else 0,
        ) as block:
            if name == MODE:
                tables = [item.table for item in definitions]
                block.exercised(census.rules(check.lab.dialect.log), census.of_tables(tables))
            for item in broken:
                if item.requirement == name:
                    block.differs(item.problem, verdict=item.verdict)
