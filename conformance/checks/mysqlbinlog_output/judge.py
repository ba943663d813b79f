"""The pseudo-SQL of ``mysqlbinlog -v``: what the client printed against the reference's text, and read back.

Two independent judges: the printer of the reference says which bytes the client must print; a parser made from the
grammar alone says whether the text holds everything that stands in the events.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Final

from conformance.harness.outcomes import Problem
from conformance.judge.updates.events import iter_events
from conformance.reference.binlog.rows import Row, RowsBody, rows_body
from conformance.reference.binlog.writer import FileWriter
from conformance.reference.event_types import EventType
from conformance.reference.partial.diffs import Diff, Operation, encode_diffs
from conformance.reference.partial.paths import parse_path
from conformance.reference.tables.columns import ColumnType, PartialJson
from conformance.reference.tables.table_map import TableMap
from conformance.reference.text.pseudo_sql import row_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from conformance.checks.mysqlbinlog_output.completeness import Completeness

VERBOSE: Final = {"-v": False, "-vv": True}  # option of the client -> whether types are printed
_AROUND: Final = 3  # lines of context in front of a difference

# WL#2955, section 6: one diff of every kind that the text tells apart, and two in a row of two kinds.
EXAMPLE_DIFFS: Final = (
    Diff(Operation.REPLACE, parse_path("$.a"), 7),
    Diff(Operation.REPLACE, parse_path("$.b[1]"), "bb"),
    Diff(Operation.REMOVE, parse_path("$.c")),
    Diff(Operation.REMOVE, parse_path("$.d[0]")),
    Diff(Operation.INSERT, parse_path("$.e"), "ee"),
    Diff(Operation.INSERT, parse_path("$.f[1]"), "ff"),
    Diff(Operation.INSERT, parse_path("$.g"), "gg"),
)
EXAMPLE_TEXT: Final = b"""\
### UPDATE `test`.`t`
### WHERE
###   @1=1
### SET
###   @2=JSON_INSERT(
###      JSON_ARRAY_INSERT(
###      JSON_INSERT(
###      JSON_REMOVE(
###      JSON_REPLACE(@2, '$.a', 7,
###      '$.b[1]', 'bb'),
###      '$.c',
###      '$.d[0]'),
###      '$.e', 'ee'),
###      '$.f[1]', 'ff'),
###      '$.g', 'gg')
"""
"""As printed by the 9.7.4 client (mysqlbinlog-output 4.4; mysqlbinlog-output 5 lists how the worklog draws it)."""


def example_bodies() -> tuple[TableMap, RowsBody]:
    """The worklog's example: no statement of a server makes this list of diffs."""
    columns = (ColumnType(3), ColumnType(245, 4))
    table = TableMap(table_id=153, schema="test", table="t", columns=columns, nullable=(False, True))
    row = Row((1,), (PartialJson(encode_diffs(EXAMPLE_DIFFS)),))
    return table, rows_body(table, EventType.PARTIAL_UPDATE_ROWS, [row], before=[0], after=[1])


def example_file() -> bytes:
    """A binary log with the example."""
    writer = FileWriter(timestamp=1_500_000_000)
    table, rows = example_bodies()
    return writer.start() + writer.add(table) + writer.add(rows)


def row_events(events: Iterable[bytes]) -> list[RowsBody]:
    """The row events among captured events, those inside compressed transactions too."""
    bodies: list[RowsBody] = []
    for _, event, error in iter_events(events):
        if event is None:
            raise error or AssertionError
        if isinstance(event.body, RowsBody):
            bodies.append(event.body)
    return bodies


def reference_text(bodies: Iterable[RowsBody], *, types: bool) -> bytes:
    """The ``###`` lines as the reference prints them."""
    return b"".join(part for body in bodies for part in row_lines(body, types=types))


def client_text(program: Sequence[str], path: Path, option: str) -> bytes:
    """The ``###`` lines of the real client for a file."""
    command = [*program, "--no-defaults", option, "--base64-output=decode-rows", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise ClientFailed(done.returncode, done.stderr.decode("utf-8", "replace").strip())
    return b"".join(line + b"\n" for line in done.stdout.split(b"\n") if line.startswith(b"###"))


class ClientFailed(Exception):
    """The program ended with an error."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"exit status {status}: {words}")


def compare_lines(expected: bytes, got: bytes, option: str) -> list[Problem]:
    """The first line that differs, with the lines in front of it; nothing when the texts are equal."""
    if expected == got:
        return []
    wanted, shown = expected.split(b"\n"), got.split(b"\n")
    place = next(
        (number for number, pair in enumerate(zip(wanted, shown, strict=False)) if pair[0] != pair[1]),
        min(len(wanted), len(shown)),
    )
    begin = max(0, place - _AROUND)
    return [
        Problem(
            field=f"line {place + 1} of {option}",
            expected=b"\n".join(wanted[begin : place + 1]).decode("utf-8", "backslashreplace"),
            got=b"\n".join(shown[begin : place + 1]).decode("utf-8", "backslashreplace"),
            message="mysqlbinlog prints another text",
        )
    ]


def completeness_problems(result: Completeness) -> list[Problem]:
    """What the parsed text lacks, as problems."""
    return [
        Problem(
            field=problem.field if problem.row is None else f"row {problem.row} {problem.field}",
            expected=problem.expected,
            got=problem.got,
            message=problem.message,
        )
        for problem in result.problems
    ]
