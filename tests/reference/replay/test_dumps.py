"""Dumps: statements of mysqldump give tables and rows; what cannot be read is refused with its line."""

from __future__ import annotations

import pytest

from conformance.reference.replay.dumps import start_from_dump, statements
from conformance.reference.replay.engine import Replay
from conformance.reference.replay.tables_text import table_rows
from tests.reference.refusals import refused
from tests.reference.replay.replay_log import Log

DUMP = """\
-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET TIME_ZONE='+00:00' */;

--
-- Current Database: `d`
--
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d` /*!40100 DEFAULT CHARACTER SET latin1 */;
USE `d`;
DROP TABLE IF EXISTS `t`;
CREATE TABLE `t` (
  `id` int NOT NULL, -- a comment; with a semicolon
  `v` varchar(9) DEFAULT NULL,
  `g` int GENERATED ALWAYS AS ((`id` * 2)) VIRTUAL,
  `ts` timestamp NULL DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB;
LOCK TABLES `t` WRITE;
/*!40000 ALTER TABLE `t` DISABLE KEYS */;
INSERT INTO `t` (`id`, `v`, `ts`) VALUES (1,'é;','2024-01-02 03:04:05'),
(2,NULL,NULL);
INSERT INTO `t` (`id`) VALUES (-3);
UNLOCK TABLES;
DELIMITER ;;
CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN INSERT INTO nothing VALUES (1); END ;;
DELIMITER ;
CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE='binlog.000002', SOURCE_LOG_POS=158;
-- Dump completed
"""


def started(text: str) -> Replay:
    replay = Replay()
    start_from_dump(replay, text.splitlines(keepends=True))
    return replay


def test_a_dump_gives_tables_and_rows() -> None:
    state = started(DUMP).tables["d", "t"]
    assert state.column_names() == ["id", "v", "g", "ts"]
    assert table_rows(state, numeric=True) == [
        ["-3", None, "-6", None],
        ["1", "é;", "2", "2024-01-02 03:04:05"],
        ["2", None, "4", None],
    ]


def test_a_log_goes_on_from_a_dump() -> None:
    log = Log(create="")
    lines = ["create table d.t(id int primary key, v int);\n", "insert into d.t values(1, 2), (3, 4);\n"]
    start_from_dump(log.replay, lines)
    log.update(1, 5)
    log.insert((6, 7))
    assert log.rows() == [[1, 5], [3, 4], [6, 7]]


def test_statements_have_the_number_of_their_first_line() -> None:
    text = "\n-- one\nselect 1;\n\nselect\n ';\n';\n/* c\ndrop table t;\n*/\nselect 2 ; \n;\nselect 3"
    found = dict(statements(text.splitlines(keepends=True)))
    assert list(found) == [3, 5, 11, 13]
    assert found[11].strip() == "select 2 ;"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("use d;\ninsert into u values (1);", 2, "no-table"),
        ("create table d.t (a int);\n\ninsert into d.t values (1), (2, 3);", 3, "statement"),
        ("create table d.t (a int, b int);\ninsert into d.t values (1);", 2, "statement"),
        ("create table d.t (a int);\ninsert into d.t values\n('x');", 2, "value"),
        ("create table d.t (a int);\ninsert into d.t values (1 + 1);", 2, "statement"),
        ("create table d.t (a int);\ninsert into d.t values (rand());", 2, "value"),
        ("create table d.t (a int);\ninsert into d.t select 1;", 2, "statement"),
        ("create table d.t (a int);\ninsert into d.t values (1) on duplicate key update a = 2;", 2, "statement"),
        ("create table d.t (a int);\ninsert into d.t (b) values (1);", 2, "no-column"),
        ("create table d.t (a int not null, b int);\ninsert into d.t (b) values (1);", 2, "default"),
        ("create table d.t (a timestamp);\ninsert into d.t values ('2024-01-02 03:04:05');", 2, "time-zone"),
        ("create table d.t (a frob);\ninsert into d.t values (1);", 2, "value"),
        ("\nreplace into d.t values (1);", 2, "statement"),
        ("delete from d.t;", 1, "statement"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int, code: str) -> None:
    error = refused(started, text)
    assert (error.code, error.path[0]) == (code, f"line {line}")


def test_two_rows_with_one_key_are_refused() -> None:
    error = refused(started, "create table d.t (a int primary key);\ninsert into d.t values (1), (1);")
    assert error.code == "duplicate"
