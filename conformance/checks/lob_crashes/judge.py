"""Faults that a crash must not cause: a lost commit, a wrong document, or a file that nobody can read or refuse."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.lob_crashes.files import FilesRead
from conformance.checks.lob_crashes.generate import DONE, FORMATS, Place, places
from conformance.judge.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.checks.lob_crashes.sessions import Moment
    from conformance.reference.replay.data_files import Comparison

COMMITTED: Final = "LOB11"
READABLE: Final = "LOB21"
ROLLED_BACK: Final = "LOB31"

_LOST: Final = "a commit that the server acknowledged is not in the log"
_INVENTED: Final = "the log has a transaction whose COMMIT no session sent"
_ROW_TOO_MANY: Final = "after recovery the server has a row that no transaction inserted"
_NOT_RECOVERED: Final = "after recovery the server does not have the last transaction of the log"
_WRONG: Final = {
    COMMITTED: "a committed document is not the last one that was logged",
    ROLLED_BACK: "a document that an unfinished transaction changed is not as before",
}
_UNDECLARED: Final = "before recovery, a file is neither read nor refused with a declared error"
_UNNAMED: Final = "before recovery, a refusal names no page and field"
_UNSEEN: Final = "before recovery, a document is neither read nor refused"
_SHOWN: Final = 60


@dataclass(slots=True, kw_only=True)
class Crash:
    """The observations of one kill.

    ``moments``: moments of the sessions. ``acknowledged``, ``sent``: transactions by session. ``undone``: the documents
    whose last change was not committed. ``before``: the files before recovery. ``log``, ``logged``: documents and
    transactions by the log. ``server``, ``recovered``: by SELECT after recovery. ``files``: by the files after a flush.
    """

    moments: Counter[Moment] = field(default_factory=Counter)
    acknowledged: Mapping[int, int] = field(default_factory=dict)
    sent: Mapping[int, int] = field(default_factory=dict)
    undone: frozenset[Place] = frozenset()
    before: FilesRead = field(default_factory=FilesRead)
    log: Mapping[Place, str] = field(default_factory=dict)
    logged: Mapping[int, int] = field(default_factory=dict)
    server: Mapping[Place, str | None] = field(default_factory=dict)
    recovered: Mapping[int, int] = field(default_factory=dict)
    files: tuple[Comparison, ...] = ()
    statements: int = 0
    open: int = 0  # transactions at the kill
    committed: int = 0  # transactions since the last kill

    def requirement(self, place: Place) -> str:
        """Return the requirement under which a document's state is judged."""
        return ROLLED_BACK if place in self.undone else COMMITTED

    @property
    def cases(self) -> dict[str, int]:
        """Comparisons by requirement: documents on the server and in the files, sessions, and files before
        recovery."""
        undone = len(self.undone)
        return {
            COMMITTED: 2 * (len(self.log) - undone) + len(self.sent),
            ROLLED_BACK: 2 * undone,
            READABLE: self.before.files,
        }


def judge(crash: Crash) -> dict[str, list[Problem]]:
    """The problems, by requirement."""
    found: dict[str, list[Problem]] = {COMMITTED: [], ROLLED_BACK: [], READABLE: []}
    found[COMMITTED] += _transactions(crash)
    for place, expected in crash.log.items():
        got = crash.server.get(place)
        if got != expected:
            name = crash.requirement(place)
            found[name].append(_document(place, expected, got, _WRONG[name]))
    for place in sorted(crash.server.keys() - crash.log.keys()):
        found[COMMITTED].append(Problem(f"{place.table} id={place.id}", "no row", "a row", _ROW_TOO_MANY))
    for comparison in crash.files:
        for name, problem in _file(crash, comparison):
            found[name].append(problem)
    found[READABLE] += _unseen(crash.before)
    found[READABLE] += [Problem("file", "read or refused", text, _UNDECLARED) for text in crash.before.undeclared]
    found[READABLE] += [Problem("file", "page and field", text, _UNNAMED) for text in crash.before.unnamed]
    return found


def _unseen(before: FilesRead) -> Iterator[Problem]:
    """No transaction removes a row: one deletes it and inserts it again, and meanwhile its record is there."""
    counts = Counter(place.table for place in places())
    for table in FORMATS:
        if before.rows.get(table, counts[table]) != counts[table]:
            yield Problem(f"file of {table}", f"{counts[table]} rows", f"{before.rows[table]} rows", _UNSEEN)


def _transactions(crash: Crash) -> Iterator[Problem]:
    for session, sent in crash.sent.items():
        acknowledged, logged = crash.acknowledged[session], crash.logged.get(session, 0)
        recovered = crash.recovered.get(session, 0)
        where = f"session {session}"
        if logged < acknowledged:
            yield Problem(where, f"transaction {acknowledged}", f"transaction {logged}", _LOST)
        if logged > sent:
            yield Problem(where, f"transaction {sent} at most", f"transaction {logged}", _INVENTED)
        if recovered != logged:
            yield Problem(where, f"transaction {logged}", f"transaction {recovered}", _NOT_RECOVERED)


def _document(place: Place, expected: str, got: str | None, message: str) -> Problem:
    pairs = enumerate(zip(expected, got or "", strict=False))
    at = next((index for index, (one, other) in pairs if one != other), min(len(expected), len(got or "")))
    start = max(0, at - _SHOWN // 2)
    shown = "no row" if got is None else got[start : start + _SHOWN]
    field_ = f"{place.table} id={place.id}, character {at}"
    return Problem(field_, expected[start : start + _SHOWN], shown, message)


def _file(crash: Crash, comparison: Comparison) -> Iterator[tuple[str, Problem]]:
    """Yield the differences between the log and a file after recovery and a flush."""
    schema, table = comparison.name
    if comparison.problem or comparison.damaged:
        got = "; ".join([comparison.problem, *comparison.damaged])
        yield COMMITTED, Problem(f"file of {schema}.{table}", "the rows of the log", got, _WRONG[COMMITTED])
    rows = [(each.key, each.column, str(each.log), str(each.file)) for each in comparison.differing]
    rows += [(key, "row", "the row", "no row") for key in comparison.missing]
    rows += [(key, "row", "no row", "a row") for key in comparison.only_in_file]
    for key, column, log, file in rows:
        number = int(key["id"] or 0)
        name = COMMITTED if table == DONE else crash.requirement(Place(table, number))
        yield name, Problem(f"file of {table}, id={number}: {column}", log, file, _WRONG[name])
