"""``mysqlbinlog | mysql``: a server's log as text, fed to another server that holds the same rows (FR3).

The states of the two tables are compared as text and as stored bytes. Stored bytes are read from the log: the DELETE of
all rows under a FULL image has every document as it is stored.
"""

from __future__ import annotations

import base64
import re
import subprocess
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.harness.outcomes import Problem
from conformance.judge.replica import Refusal, ReplicaModel, transactions
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import DELETE_TYPES, RowsBody
from conformance.reference.event_types import EventType
from conformance.reference.sql.tokens import quote_identifier
from conformance.requirements.versions import applies
from conformance.servers.wire.groups import groups_of_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.cases.script import Script
    from conformance.harness.lab import Lab
    from conformance.reference.tables.definitions import Table
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.capture import Capture, Position
    from conformance.servers.wire.connection import Connection

_STORED: Final = (
    "SET SESSION binlog_row_image='FULL', SESSION binlog_row_value_options='', "
    "SESSION binlog_transaction_compression=0, SESSION binlog_format='ROW'"
)
_ERROR: Final = re.compile(r"^ERROR (\d+) \(\w+\)(?: at line (\d+))?", re.MULTILINE)
_SHOWN: Final = 300  # characters of a value


class State(NamedTuple):
    """All rows of a table in order of the selector: as the server prints them, and as it stores them."""

    texts: list[tuple[bytes | None, ...]]
    stored: list[tuple[Any, ...]]


class Replayed(NamedTuple):
    """How a replay ended: the error's number and text (``None``: whole), and how many statements came before it."""

    error: int | None
    message: str
    statements: int


@dataclass(frozen=True, slots=True)
class Text:
    """What mysqlbinlog printed."""

    data: bytes

    def statements_before(self, line: int) -> int:
        """The number of BINLOG statements with rows that begin before a line (from 1): one for each SQL statement."""
        count = 0
        lines = self.data.split(b"\n")
        for number, content in enumerate(lines[: line - 1]):
            if content == b"BINLOG '" and base64.b64decode(lines[number + 1][:8])[4] != EventType.FORMAT_DESCRIPTION:
                count += 1
        return count


def print_log(server: OwnServer, start: Position, end: Position, *, program: Sequence[str] = ()) -> Text:
    """``mysqlbinlog --skip-gtids`` of a part of a server's own log files; by its own ``program`` or another."""
    with server.connect() as connection:
        names = [str(row[0]) for row in connection.execute("SHOW BINARY LOGS").texts()]
    files = names[names.index(start.file) : names.index(end.file) + 1]
    head, tail = server.log_reader(files, program)
    command = [
        *head,
        "--skip-gtids",
        f"--start-position={start.offset}",
        f"--stop-position={end.offset}",
        *tail,
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise PrintFailed(done.stderr.decode("utf-8", "replace").strip())
    return Text(done.stdout)


class PrintFailed(Exception):
    """mysqlbinlog ended with an error."""


def feed(server: OwnServer, text: Text) -> Replayed:
    """``mysql`` with the text as its input."""
    command = [*server.client("mysql"), "--binary-mode", "--max-allowed-packet=1G"]
    with TemporaryFile() as file:
        file.write(text.data)
        file.seek(0)
        done = subprocess.run(command, stdin=file, capture_output=True, check=False)
    words = done.stderr.decode("utf-8", "replace").strip()
    if not done.returncode:
        return Replayed(None, "", text.statements_before(text.data.count(b"\n") + 1))
    found = _ERROR.search(words)
    if found is None:
        return Replayed(0, words, 0)
    return Replayed(int(found[1]), words, text.statements_before(int(found[2] or 1)))


def take_state(connection: Connection, capture: Capture, table: Table, selector: str) -> State:
    """Read a table, then empty it: the rows as they were stored stand in the log."""
    name = quote_identifier(table.name)
    place = next(index for index, column in enumerate(table.columns) if column.name == selector)
    texts = connection.execute(f"SELECT * FROM {name} ORDER BY {quote_identifier(selector)}").rows
    connection.execute(_STORED)
    start = capture.mark(connection)
    connection.execute(f"DELETE FROM {name}")
    events = groups_of_thread(capture.since(start, capture.mark(connection)).events, connection.thread_id)
    stored: list[tuple[Any, ...]] = []
    for _, event, error in iter_events(events):
        if event is None:
            raise error or AssertionError
        if isinstance(event.body, RowsBody) and event.body.type in DELETE_TYPES:
            stored += [row.before for row in event.body.rows if row.before is not None]
    return State(list(texts), sorted(stored, key=lambda row: int(row[place])))


def compare_states(expected: State, got: State, names: Sequence[str]) -> list[Problem]:
    """Rows that are not the same on both servers."""
    problems: list[Problem] = []
    for what, wanted, found in (
        ("text", expected.texts, got.texts),
        ("stored bytes", expected.stored, got.stored),
    ):
        if len(wanted) != len(found):
            problems.append(
                Problem(
                    field=f"rows ({what})",
                    expected=str(len(wanted)),
                    got=str(len(found)),
                    message="another number of rows after the replay",
                )
            )
        for number, (row, other) in enumerate(zip(wanted, found, strict=False)):
            problems += [
                Problem(
                    field=f"{what} of row {number}, column {name}",
                    expected=repr(value)[:_SHOWN],
                    got=repr(seen)[:_SHOWN],
                    message=f"another {what} after the replay",
                )
                for name, value, seen in zip(names, row, other, strict=True)
                if value != seen
            ]
    return problems


class Expected(NamedTuple):
    """What the reference applier makes of a log: the documents of all rows in start order, or the diff it refuses."""

    model: ReplicaModel
    refusal: Refusal | None


def expected_of(script: Script, events: Sequence[bytes], *, refuses: bool = True) -> Expected:
    """Apply the captured events to the start rows. ``refuses`` off: without refusals that a switch explains."""
    case = script.case
    names = [column.name for column in case.table.columns]
    json = [case.table.columns[index].name for index in case.table.json_columns]
    model = ReplicaModel([dict(zip(names, row, strict=True)) for row in case.rows], json)
    for transaction in transactions(script, events):
        refusal = model.apply(transaction)
        if refusal is not None and not refuses and refusal.switch is not None:
            refusal = model.apply(transaction, unless=refusal.switch)
        if refusal is not None:
            return Expected(model, refusal)
    return Expected(model, None)


def expected_state(script: Script, source: State, model: ReplicaModel) -> State:
    """The source's rows, with the documents as the applier stores them: free space may be another
    (requirements NR5)."""
    case = script.case
    places = {case.table.columns[index].name: index for index in case.table.json_columns}
    final = script.model.rows
    order = sorted(range(len(case.rows)), key=lambda index: int(str(final[index][case.selector])))
    stored = []
    for row, index in zip(source.stored, order, strict=True):
        values = list(row)
        for name, document in model.rows[index].items():
            values[places[name]] = document
        stored.append(tuple(values))
    return State(source.texts, stored)


def stop_problem(lab: Lab, script: Script, refusal: Refusal | None, replayed: Replayed) -> Problem:
    """The replay stopped: at which statement, and whether a listed deviation of the applier explains it there."""
    steps = [number for number, prediction in enumerate(script.predictions) if prediction.events]
    step = steps[replayed.statements] if replayed.statements < len(steps) else None
    deviation = None
    if refusal is not None and (refusal.step, refusal.number) == (step, replayed.error):
        deviation = next(
            (
                entry.id
                for entry in lab.deviations
                if entry.switch == refusal.switch and applies(entry.versions, lab.version)
            ),
            None,
        )
    return Problem(
        field="replay" if step is None else f"statement {step}",
        expected="a replay without an error",
        got=replayed.message[:_SHOWN],
        message="the output of mysqlbinlog is refused",
        deviation=deviation,
    )
