"""The article's documents on a server: in the record as they are drawn, and inside documents that are stored off-page.

Three rows show what reaches the engine. A large object with a version above 1 is copied once for each range. One with
version 1 keeps it as long as all ranges together have at most 100 bytes (innodb-lob 8.1). So the number of the ranges
and the sum of their lengths are seen in the file, beside the bytes that changed. Where small changes overwrite any
version (8.0), their number is not seen: such a row shows that the version stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.lob_pages.article import STEPS, Step, earlier
from conformance.checks.lob_pages.files import StoredRow, opened
from conformance.checks.lob_pages.run import create, stored_documents
from conformance.judge.problem import Problem
from conformance.reference.innodb.lob_change import SMALL
from conformance.servers.roles.data_files import table_file
from conformance.servers.wire.packets import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.innodb.lob import PlainLob
    from conformance.servers.base import Server
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

_COMPANION: Final = 200  # characters of a member that changes too, so that the sum of the lengths can be chosen


class RowKind(StrEnum):
    """The kind of a row, by what it shows of the ranges."""

    INLINE = "in the record"
    COPIES = "their number"
    LIMIT = "their sum, as 100"
    BEYOND = "their sum, as 101"


@dataclass(frozen=True, slots=True)
class Plan:
    """A row: the step that is judged on it, and the lengths of the strings around the article's document."""

    id: int
    step: Step
    kind: RowKind
    before: int = 0
    behind: int = 0

    @property
    def insert(self) -> str:
        """The row with the article's first document."""
        document = f"CAST('{self.step.document}' AS JSON)"
        if self.kind is not RowKind.INLINE:
            document = (f"JSON_OBJECT('a', REPEAT('a', {self.before}), 'c', REPEAT('c', {_COMPANION}), "
                        f"'d', {document}, 'z', REPEAT('z', {self.behind}))")  # fmt: skip
        return f"INSERT INTO t VALUES ({self.id}, {document})"

    @property
    def prepare(self) -> Iterator[str]:
        """The statements before the judged step: a version above 1 where copies are counted, and earlier steps."""
        if self.kind is RowKind.COPIES:
            yield self._update(f"JSON_SET(j, '$.c', REPEAT('e', {SMALL + 20}))")
        for step in earlier(self.step):
            yield self._update(step.at(self._root))

    @property
    def companion(self) -> int:
        """Length of the companion's new string, whose range is one byte longer."""
        written = sum(length for _, length in self.step.ranges)
        return SMALL - written - (self.kind is RowKind.LIMIT)

    @property
    def update(self) -> str:
        """The judged statement."""
        call = self.step.at(self._root)
        if self.kind in (RowKind.LIMIT, RowKind.BEYOND):
            call = f"JSON_SET({call}, '$.c', REPEAT('x', {self.companion}))"
        return self._update(call)

    @property
    def _root(self) -> str:
        return "$" if self.kind is RowKind.INLINE else "$.d"

    def _update(self, call: str) -> str:
        return f"UPDATE t SET j = {call} WHERE id = {self.id}"


class RowOutcome(NamedTuple):
    """One row before and after its statement: from the file, the binary log, and JSON_STORAGE_FREE."""

    plan: Plan
    before: StoredRow
    after: StoredRow
    logged: bytes
    free: tuple[int, int]


def plans(draw: Draw, count: int) -> list[Plan]:
    """``count`` rows of each kind for each step; half of them have the document near the end of the first page."""
    found: list[Plan] = []
    for step in STEPS:
        found.append(Plan(len(found), step, RowKind.INLINE))
        for _ in range(count):
            before = 15_150 + draw.below(330) if draw.below(2) else 9_000 + draw.below(4_000)
            behind = draw.below(20_000)
            for kind in (RowKind.COPIES, RowKind.LIMIT, RowKind.BEYOND):
                found.append(Plan(len(found), step, kind, before, behind))
    return found


def outcomes(server: Server, session: Connection, rows: Sequence[Plan]) -> Iterator[RowOutcome]:
    """Store the rows, run each one's statement, and give what the server shows of it."""
    create(session)
    session.execute_many([plan.insert for plan in rows]).check()
    session.execute_many([statement for plan in rows for statement in plan.prepare]).check()
    old, free = opened(table_file(session)).rows, _free(session)
    capture = server.capture()
    try:
        start = capture.mark(session)
        session.execute_many([plan.update for plan in rows]).check()
        logged = list(stored_documents(capture.since(start, capture.mark(session)).events))
    finally:
        capture.close()
    new, free_after = opened(table_file(session)).rows, _free(session)
    for plan, images, *both in zip(rows, logged, free, free_after, strict=True):
        yield RowOutcome(plan, old[plan.id], new[plan.id], images, (both[0], both[1]))


def _free(session: Connection) -> list[int]:
    return [whole(free) for (free,) in session.execute("SELECT JSON_STORAGE_FREE(j) FROM t ORDER BY id").texts()]


# --- judging ---------------------------------------------------------------------------------------------------------


def judge(outcome: RowOutcome, *, any_version: bool = False) -> list[Problem]:
    """Where a row is not as the article draws it. ``any_version``: small changes overwrite any version, not only 1."""
    plan, step = outcome.plan, outcome.plan.step
    found = [*_documents(outcome)]
    if plan.kind is not RowKind.INLINE:
        found += _engine(outcome, any_version)
    previous = earlier(step)[-1].free if earlier(step) else 0
    gained = outcome.free[1] - outcome.free[0]
    lost = 0 if plan.kind in (RowKind.INLINE, RowKind.COPIES) else _shrunk(plan)
    if gained != step.free - previous + lost:
        found.append(_problem(plan, "JSON_STORAGE_FREE", step.free - previous + lost, gained))
    return found


def stored(outcome: RowOutcome) -> list[Problem]:
    """Where the document before the first call is not stored in the bytes that are drawn (LOB5)."""
    start = place_of(outcome)
    if start is None:
        return [_problem(outcome.plan, "bytes of the document", outcome.plan.step.before.hex(), "not in the file")]
    return []


def place_of(outcome: RowOutcome) -> int | None:
    """Where the article's document stands in the stored one, type byte excluded, which the parent's entry has."""
    if outcome.plan.kind is RowKind.INLINE:
        return 1 if outcome.before.document == outcome.plan.step.before else None
    body = outcome.plan.step.before[1:]
    start = outcome.before.document.find(body)
    return start if start >= 0 and outcome.before.document.find(body, start + 1) < 0 else None


def _documents(outcome: RowOutcome) -> Iterator[Problem]:
    """The document of the file and of the log is the drawn one, and nothing around it has changed."""
    plan, step = outcome.plan, outcome.plan.step
    start = place_of(outcome)
    if start is None:
        yield from stored(outcome)
        return
    expected = bytearray(outcome.before.document)
    if plan.kind is RowKind.INLINE:
        expected[0] = step.after[0]
    expected[start : start + len(step.after) - 1] = step.after[1:]
    if plan.kind in (RowKind.LIMIT, RowKind.BEYOND):
        # A companion of 200 characters begins behind two bytes of length; its new length has one byte.
        at = expected.index(b"\xc8\x01" + b"c" * _COMPANION)
        expected[at : at + 1 + plan.companion] = bytes([plan.companion]) + b"x" * plan.companion
    for where, got in (("file", outcome.after.document), ("binary log", outcome.logged)):
        if got != expected:
            yield _problem(plan, f"bytes in the {where}", step.after.hex(), got[start - 1 : start + 40].hex())


def _shrunk(plan: Plan) -> int:
    """Bytes that the companion leaves free."""
    return 2 + _COMPANION - (1 + plan.companion)


def _engine(outcome: RowOutcome, any_version: bool) -> Iterator[Problem]:
    """Yield the problems of the ranges as the pages show them: their number, or the sum of their lengths."""
    plan, before, after = outcome.plan, outcome.before.lob, outcome.after.lob
    if before is None or after is None:
        yield _problem(plan, "place of the document", "off-page", "in the record")
        return
    if before.first.number != after.first.number:
        yield _problem(plan, "first page", before.first.number, after.first.number)
        return
    small = plan.kind is RowKind.LIMIT or (plan.kind is RowKind.COPIES and any_version)
    version = before.current + (not small)
    if after.current != version:
        yield _problem(plan, "version", version, after.current)
    elif plan.kind is RowKind.COPIES and not small:
        yield from _copies(outcome, before, after)


def _copies(outcome: RowOutcome, before: PlainLob, after: PlainLob) -> Iterator[Problem]:
    """Each piece is copied once for each range in it, and a copy differs from the one before it in its range alone."""
    start = place_of(outcome)
    if start is None:
        return
    at = 0
    for number, (old, new) in enumerate(zip(before.entries, after.entries, strict=True)):
        ranges = [(start - 1 + offset - at, length) for offset, length in outcome.plan.step.ranges
                  if start - 1 + offset < at + old.length and at < start - 1 + offset + length]  # fmt: skip
        made = [piece for piece in (new, *new.older) if piece.version == after.current]
        if len(made) != len(ranges):
            yield _problem(outcome.plan, f"copies of piece {number}", len(ranges), len(made))
            return
        data = before.read_piece(old)
        for (offset, length), piece in zip(ranges, reversed(made), strict=True):
            copy = after.read_piece(piece)
            first, end = max(offset, 0), min(offset + length, old.length)
            if data[:first] + data[end:] != copy[:first] + copy[end:]:
                yield _problem(outcome.plan, f"page {piece.page}", f"changes in {first} to {end - 1}", "others")
            data = copy
        at += old.length


def _problem(plan: Plan, field: str, expected: object, got: object) -> Problem:
    message = "a document of the article is not stored, or not changed, as it draws it"
    return Problem(f"{plan.kind}: {field}", str(expected), str(got), message, statements=(plan.insert, plan.update))
