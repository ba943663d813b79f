"""Updates of tables without JSON columns: with the option on they are event 39 as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.checks.decoders.suite.declare import Setting, recorded

if TYPE_CHECKING:
    from conformance.checks.decoders.suite.declare import Recorded

_WHY: Final = (
    "HeatWave has the option on by default: a decoder that skips event 39 loses updates of tables that never saw JSON."
)
_TABLE: Final = "CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(20))"
_ROWS: Final = "INSERT INTO t VALUES (1, 10, 'one'), (2, 20, 'two'), (3, 30, NULL)"


def _update(
    name: str, title: str, *statements: str, why: str = _WHY, image: str = "FULL", metadata: str = "FULL",
    table: str = _TABLE, rows: str = _ROWS, requirements: str = "DEC1 F1",
) -> Recorded:  # fmt: skip
    return recorded(
        f"updates/{name}", title, why, requirements, setting=Setting(partial=True, image=image, metadata=metadata),
        prepare=(table, rows), statements=statements,
    )  # fmt: skip


CASES: Final = (
    _update("no-json-column", "One row of a table without JSON columns", "UPDATE t SET a = 11 WHERE id = 1"),
    _update("several-rows", "Three rows in one event", "UPDATE t SET a = a + 1"),
    _update("minimal", "MINIMAL image", "UPDATE t SET a = 11 WHERE id = 2", image="MINIMAL"),
    _update("noblob", "NOBLOB image with a TEXT column", "UPDATE t SET a = 11", image="NOBLOB", table="CREATE TABLE t (id INT PRIMARY KEY, a INT, x TEXT)", rows="INSERT INTO t VALUES (1, 10, 'one')"),
    _update("metadata-minimal", "Without column names in the log", "UPDATE t SET v = 'new' WHERE id = 1", metadata="MINIMAL", requirements="DEC1 DEC15"),
    _update("no-key", "A table without a key", "UPDATE t SET a = 11 WHERE id = 1", table=_TABLE.replace(" PRIMARY KEY", "")),
    _update("to-and-from-null", "Values that become NULL and come back", "UPDATE t SET v = NULL WHERE id = 1", "UPDATE t SET v = 'back' WHERE id = 3"),
    _update("all-operations", "INSERT, UPDATE and DELETE: the UPDATE alone has the other event type", "INSERT INTO t VALUES (4, 40, 'four')", "UPDATE t SET a = 41 WHERE id = 4", "DELETE FROM t WHERE id = 4"),
    _update("seventy-columns", "A table of 70 columns", "UPDATE t SET c0 = 5, c69 = 6", table="CREATE TABLE t (" + ", ".join(f"c{number} INT" for number in range(70)) + ")", rows="INSERT INTO t VALUES (" + ", ".join(map(str, range(70))) + ")", requirements="DEC1 DEC14"),
    _update("many-types", "Columns of many types", "UPDATE t SET n = 8", table="CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(10,2), m DATETIME(3), e ENUM('x','y'), b BIT(9), k BLOB, n INT)", rows="INSERT INTO t VALUES (1, -1.5, '2024-02-29 12:00:00.5', 'y', b'100000001', x'00ff', 7)", requirements="DEC1 DEC10 DEC11"),
    _update("json-null-column", "A table whose JSON column is NULL in the row", "UPDATE t SET a = 11", table="CREATE TABLE t (id INT PRIMARY KEY, a INT, j JSON)", rows="INSERT INTO t VALUES (1, 10, NULL)", requirements="DEC1 DEC5"),
    _update("key-change", "The primary key itself changes", "UPDATE t SET id = 9 WHERE id = 1"),
    _update("on-duplicate-key", "INSERT … ON DUPLICATE KEY UPDATE", "INSERT INTO t VALUES (1, 99, 'x') ON DUPLICATE KEY UPDATE a = VALUES(a)", why="An INSERT statement whose event is a partial update."),
    recorded(
        "updates/cascade", "An update that a foreign key cascades", "The server logs the parent's change, and the child's where it makes it itself.", "DEC1", setting=Setting(partial=True),
        prepare=("CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON UPDATE CASCADE)", "INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (1, 1)"),
        statements="UPDATE p SET id = 2",
    ),
    recorded(
        "updates/trigger", "A trigger writes into a second table", "Two tables are mapped before the rows of either.", "DEC1", setting=Setting(partial=True),
        prepare=(_TABLE, "CREATE TABLE log (t INT, old INT, new INT)", "CREATE TRIGGER r AFTER UPDATE ON t FOR EACH ROW INSERT INTO log VALUES (NEW.id, OLD.a, NEW.a)", _ROWS),
        statements="UPDATE t SET a = a + 1 WHERE id < 3",
    ),
    recorded(
        "updates/json-and-plain", "Tables with and without JSON columns in one transaction", "Both are event 39; only one has a bitmap of partial columns with bits.", "DEC1 DEC4", setting=Setting(partial=True),
        prepare=(_TABLE, _ROWS, "CREATE TABLE u (id INT PRIMARY KEY, j JSON)", "INSERT INTO u VALUES (1, JSON_OBJECT('a', 1, 'pad', REPEAT('p', 80)))"),
        statements=("BEGIN", "UPDATE t SET a = 11 WHERE id = 1", "UPDATE u SET j = JSON_SET(j, '$.a', 2)", "UPDATE t SET a = 12 WHERE id = 1", "COMMIT"),
    ),
)  # fmt: skip
