"""Updates that a replica replays, as diffs and as whole documents, and what its own data file shows of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.lob_pages.files import FileCopy, opened
from conformance.judge.problem import Problem
from conformance.reference.innodb.lob_change import Kind, differences, predict_change, problems, regions
from conformance.reference.innodb.pages import PageType
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.expressions import parse_expression
from conformance.servers.roles.data_files import OWN_FILE, table_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.harness.pairs.run import PairRun
    from conformance.reference.partial.in_place import Range
    from generators.draw import Draw

DIFFS: Final = "SET SESSION binlog_row_image = MINIMAL, SESSION binlog_row_value_options = 'PARTIAL_JSON'"
WHOLE: Final = "SET SESSION binlog_row_image = FULL, SESSION binlog_row_value_options = ''"
_MEMBERS, _LENGTH = 12, 2_500
_LENGTHS: Final = (20, 60, 98, 99, 100, 101, 300, 2_000)  # of new strings; 99 is the longest of a small change


class Predicted(NamedTuple):
    """The document that the source has after an update, and the binary diffs that make it."""

    document: bytes
    ranges: tuple[Range, ...]


class Replayed(NamedTuple):
    """Copies of the replica's file: at first, after updates that came as diffs, after others that came whole.

    ``diffs`` and ``whole`` are the updates by row, predicted from the first copy and the second one.
    """

    before: FileCopy
    diffs: dict[int, Predicted]
    after_diffs: FileCopy
    whole: dict[int, Predicted]
    after_whole: FileCopy


def replay(run: PairRun, draw: Draw, rows: int) -> Replayed:
    """Store documents on the source, update each twice, and take the copies. A snapshot on the replica stops purge."""
    run.source.execute(f"CREATE TABLE t (id INT PRIMARY KEY, j JSON) {OWN_FILE}")
    members = ", ".join(f"'k{number:02}', REPEAT('{'abcdef'[number % 6]}', {_LENGTH})" for number in range(_MEMBERS))
    run.source.execute_many([f"INSERT INTO t VALUES ({row}, JSON_OBJECT({members}))" for row in range(rows)]).check()
    run.catch_up()
    with run.pair.replica.connect() as reader:
        reader.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        copies, updates = [_copy(run)], []
        for option, letters in ((DIFFS, "uvw"), (WHOLE, "xyz")):
            calls = {row: call_of(draw, letters) for row in range(rows)}
            updates.append({row: predict(copies[-1].rows[row].document, call) for row, call in calls.items()})
            statements = [f"UPDATE t SET j = {call} WHERE id = {row}" for row, call in calls.items()]
            run.source.execute_many([option, *statements]).check()
            run.catch_up()
            copies.append(_copy(run))
        reader.execute("ROLLBACK")
    return Replayed(copies[0], updates[0], copies[1], updates[1], copies[2])


def _copy(run: PairRun) -> FileCopy:
    return opened(table_file(run.replica))


def call_of(draw: Draw, letters: str) -> str:
    """An update in place of one member or two. With letters of its own it changes what an earlier one left."""
    calls = "j"
    for _ in range(1 + draw.below(2)):
        member, length = draw.below(_MEMBERS), draw.choice(_LENGTHS)
        calls = f"JSON_SET({calls}, '$.k{member:02}', REPEAT('{draw.choice(letters)}', {length}))"
    return calls


def predict(document: bytes, call: str) -> Predicted:
    """The update of one stored document."""
    change = update_row(
        {"id": 1, "j": document}, [Assignment("j", parse_expression(call))], Columns(("j",)), log_diffs=False
    ).columns["j"]
    assert change.after is not None
    assert change.ranges is not None
    return Predicted(change.after, change.ranges)


# --- judging ---------------------------------------------------------------------------------------------------------


def judge_diffs(replayed: Replayed) -> list[list[Problem]]:
    """FR6.2, for each row: the same large object, with the version and the pieces that the source's ranges make."""
    return [list(_of_diffs(replayed, row)) for row in replayed.diffs]


def _of_diffs(replayed: Replayed, row: int) -> Iterator[Problem]:
    before, after, predicted = replayed.before.rows[row], replayed.after_diffs.rows[row], replayed.diffs[row]
    if after.document != predicted.document:
        yield _problem(row, "document", len(predicted.document), "another one of that length or another length")
    if before.lob is None or after.lob is None or before.lob.first.number != after.lob.first.number:
        yield _problem(row, "first page", _first(replayed.before, row), _first(replayed.after_diffs, row))
        return
    change = predict_change(before.lob, predicted.ranges)
    yield from (_problem(row, "pages", "as predicted", said) for said in problems(change, before.lob, after.lob))


def judge_bytes(replayed: Replayed) -> list[Problem]:
    """LOB11: no byte outside of the ranges has changed, in the pages and from a piece to its copy.

    Pages with records are left out: their directory follows updates of a row.
    """
    allowed, found = [], []
    for row, predicted in replayed.diffs.items():
        before, after = replayed.before.rows[row].lob, replayed.after_diffs.rows[row].lob
        if before is None or after is None:
            return [_outside(f"row {row}", "off-page", "in the record")]
        change = predict_change(before, predicted.ranges)
        if change.kind is not Kind.REWRITTEN and len(before.entries) == len(after.entries):
            allowed += regions(change, before, after)
            found += [_outside(f"row {row}", "copies that differ in the ranges", said)
                      for said in problems(change, before, after)]  # fmt: skip
    old, new = replayed.before.space, replayed.after_diffs.space
    return found + [
        _outside(f"page {region.page}", "unchanged", f"{region.length} bytes from {region.offset} differ")
        for region in differences(old, new, allowed)
        if new.page(region.page).type != PageType.INDEX
    ]


def _outside(field: str, expected: str, got: str) -> Problem:
    return Problem(field, expected, got, "the replica's engine wrote bytes outside of the ranges")


def judge_whole(replayed: Replayed) -> list[list[Problem]]:
    """For each row: a document that comes whole is a new large object with version 1 (innodb-lob 11)."""
    return [list(_of_whole(replayed, row)) for row in replayed.whole]


def _of_whole(replayed: Replayed, row: int) -> Iterator[Problem]:
    after = replayed.after_whole.rows[row]
    if after.document != replayed.whole[row].document:
        yield _problem(row, "document that came whole", len(replayed.whole[row].document), "another one")
    old, new = _first(replayed.after_diffs, row), _first(replayed.after_whole, row)
    if old == new:
        yield _problem(row, "first page of a document that came whole", "a new one", new)
    elif after.lob is None or after.lob.current != 1:
        yield _problem(row, "version of a document that came whole", 1, after.lob and after.lob.current)


def _first(copy: FileCopy, row: int) -> int | None:
    lob = copy.rows[row].lob
    return None if lob is None else lob.first.number


def _problem(row: int, field: str, expected: object, got: object) -> Problem:
    message = "the replica's file is not changed as the event says: in place by diffs, anew by a whole document"
    return Problem(f"row {row}: {field}", str(expected), str(got), message)


def told(found: Iterable[Iterable[Problem]]) -> list[Problem]:
    """The problems of all rows."""
    return [problem for problems_of_row in found for problem in problems_of_row]
