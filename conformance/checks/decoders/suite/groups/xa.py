"""XA transactions: rows are logged at XA PREPARE, and decided later, by COMMIT or ROLLBACK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, n INT)"
_ROWS: Final = "INSERT INTO t VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)), 1), (2, NULL, 2)"
_ROLLED: Final = (
    "Rows of a transaction that was rolled back later stand in the log: given as committed they never happened."
)


def _branch(name: str, *work: str) -> tuple[str, ...]:
    return (f"XA START {name}", *work, f"XA END {name}", f"XA PREPARE {name}")


def _xa(
    name: str,
    title: str,
    why: str,
    *statements: str,
    rolled_back: tuple[int, ...] = (),
    setting: Setting | None = None,
    requirements: str = "DEC18",
    at_end: bool = False,
) -> Recorded:
    return recorded(
        f"xa/{name}",
        title,
        why,
        requirements,
        setting=setting or Setting(),
        prepare=(_TABLE, _ROWS),
        statements=statements,
        rolled_back=rolled_back,
        at_end=at_end,
    )


_UPDATE: Final = "UPDATE t SET n = n + 10 WHERE id = 1"
_DIFF: Final = "UPDATE t SET j = JSON_SET(j, '$.a', 2) WHERE id = 1"

CASES: Final = (
    _xa("committed", "Prepared and committed", "Rows stand in front of XA PREPARE, the decision in a transaction of its own behind.", *_branch("'x'", _UPDATE), "XA COMMIT 'x'"),
    _xa("rolled-back", "Prepared and rolled back", _ROLLED, *_branch("'x'", _UPDATE), "XA ROLLBACK 'x'", rolled_back=(0,)),
    _xa("one-phase", "Committed in one phase", "XA COMMIT … ONE PHASE writes one event 38 with another flag.", "XA START 'x'", _UPDATE, "XA END 'x'", "XA COMMIT 'x' ONE PHASE"),
    _xa("rolled-back-between", "A rolled back branch between two ordinary transactions", _ROLLED, "UPDATE t SET n = 11 WHERE id = 2", *_branch("'x'", _UPDATE), "XA ROLLBACK 'x'", "UPDATE t SET n = 12 WHERE id = 2", rolled_back=(1,)),
    _xa("commit-later", "Another transaction between prepare and commit", "The order of the log is not the order of the commits.", *_branch("'x'", _UPDATE), "UPDATE t SET n = 20 WHERE id = 2", "XA COMMIT 'x'", at_end=True),
    _xa("two-branches", "Two branches, decided in the other order, one rolled back", _ROLLED, *_branch("'x'", _UPDATE), *_branch("'y'", "UPDATE t SET n = 20 WHERE id = 2"), "XA COMMIT 'y'", "XA ROLLBACK 'x'", rolled_back=(0,)),
    _xa("never-decided", "Prepared, and not decided where the log ends", "Nobody knows yet: given as committed, the rows may never be.", *_branch("'x'", _UPDATE), rolled_back=(0,)),
    _xa("several-rows", "A branch with INSERT, UPDATE and DELETE", "All its rows share one fate.", *_branch("'x'", "INSERT INTO t VALUES (3, NULL, 3)", _UPDATE, "DELETE FROM t WHERE id = 2"), "XA COMMIT 'x'"),
    _xa("several-rows-rolled-back", "A branch with INSERT, UPDATE and DELETE, rolled back", _ROLLED, *_branch("'x'", "INSERT INTO t VALUES (3, NULL, 3)", _UPDATE, "DELETE FROM t WHERE id = 2"), "XA ROLLBACK 'x'", rolled_back=(0, 1, 2)),
    _xa("partial-rolled-back", "A partial update that is rolled back, and the same again", "The diff applies to the document as if the first one had never been.", *_branch("'x'", _DIFF), "XA ROLLBACK 'x'", "UPDATE t SET j = JSON_SET(j, '$.a', 3) WHERE id = 1", rolled_back=(0,), setting=Setting(partial=True), requirements="DEC18 DEC1"),
    _xa("partial-committed", "A partial update in a branch", "Event 39 in front of event 38.", *_branch("'x'", _DIFF), "XA COMMIT 'x'", setting=Setting(partial=True), requirements="DEC18 DEC1"),
    _xa("compressed", "A compressed branch", "Rows and XA PREPARE are inside of the payload.", *_branch("'x'", _UPDATE), "XA COMMIT 'x'", setting=Setting(compressed=True), requirements="DEC18 DEC16"),
    _xa("compressed-rolled-back", "A compressed branch that is rolled back", _ROLLED, *_branch("'x'", _UPDATE), "XA ROLLBACK 'x'", setting=Setting(compressed=True), rolled_back=(0,), requirements="DEC18 DEC16"),
    _xa("binary-id", "A branch whose id has bytes and a format number", "The id is shown in hex: X'…',X'…',number.", *_branch("x'00ff27', x'0a', 7", _UPDATE), "XA COMMIT x'00ff27', x'0a', 7"),
    _xa("longest-id", "A branch with the longest id", "64 bytes for each part.", *_branch(f"'{'g' * 64}', '{'b' * 64}', 2147483647", _UPDATE), f"XA ROLLBACK '{'g' * 64}', '{'b' * 64}', 2147483647", rolled_back=(0,)),
    _xa("with-gtids", "Prepare and rollback, each with a GTID", "The decision has a GTID of its own.", *_branch("'x'", _UPDATE), "XA ROLLBACK 'x'", rolled_back=(0,), setting=Setting(gtids=True), requirements="DEC18 DEC17"),
    _xa("empty-branch", "An empty branch in front of a transaction with rows", "A branch without changes may leave events without rows.", *_branch("'x'"), "XA COMMIT 'x'", _UPDATE),
    _xa("rollback-before-prepare", "A branch rolled back before it is prepared", "Nothing of it is in the log.", "XA START 'x'", "UPDATE t SET n = 5 WHERE id = 2", "XA END 'x'", "XA ROLLBACK 'x'", _UPDATE),
    _xa("savepoint", "ROLLBACK TO SAVEPOINT in an ordinary transaction", "What was taken back is not in the log, and the rest is.", "BEGIN", _UPDATE, "SAVEPOINT s", "UPDATE t SET n = 99 WHERE id = 2", "ROLLBACK TO s", "UPDATE t SET n = 20 WHERE id = 2", "COMMIT"),
)  # fmt: skip
