"""The rights that statements need, by their first words."""

from __future__ import annotations

import pytest

from conformance.servers.settings.rights_of_statements import CREATOR, needs_of_statements


@pytest.mark.parametrize(
    ("statement", "needs"),
    [
        ("UPDATE t SET j = JSON_SET(j, '$.a', 1)", ()),
        ("CREATE TABLE t (id INT PRIMARY KEY, view INT)", ()),
        ("ALTER TABLE t ADD KEY (i)", ("right ALTER",)),
        ("alter table t ADD FOREIGN KEY (i) REFERENCES p (i)", ("right ALTER", "right REFERENCES")),
        ("CREATE TABLE c (i INT, FOREIGN KEY (i)\n REFERENCES p (i))", ("right REFERENCES",)),
        ("CREATE UNIQUE INDEX i ON t (i)", ("right INDEX",)),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", ("right CREATE VIEW",)),
        ("CREATE SQL SECURITY INVOKER VIEW v AS SELECT 1", ("right CREATE VIEW",)),
        ("CREATE TRIGGER r BEFORE UPDATE ON t FOR EACH ROW SET NEW.i = 1", ("right TRIGGER", CREATOR)),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", ("right CREATE ROUTINE", "right EXECUTE", CREATOR)),
        ("CREATE PROCEDURE p() SELECT 1", ("right CREATE ROUTINE", "right EXECUTE")),
        ("CALL p()", ("right EXECUTE",)),
        ("LOCK TABLES t WRITE", ("right LOCK TABLES",)),
        ("FLUSH TABLES t FOR EXPORT", ("right RELOAD",)),
        ("LOAD DATA INFILE 'x' INTO TABLE t", ("right FILE",)),
        ("XA RECOVER", ("right XA_RECOVER_ADMIN",)),
        ("BINLOG 'AAAAAA9cAAAA'", ("right BINLOG_ADMIN",)),
        ("SHOW BINLOG EVENTS", ()),
        ("XA START 'x'", ()),
        ("SELECT a FROM performance_schema.variables_metadata", ("reads performance_schema.variables_metadata",)),
        ("SELECT a FROM information_schema.TABLES", ()),
    ],
)
def test_a_statement_s_needs(statement: str, needs: tuple[str, ...]) -> None:
    assert needs_of_statements([statement]) == needs


def test_needs_are_named_once_in_the_order_of_the_statements() -> None:
    statements = ["LOCK TABLES t WRITE", "ALTER TABLE t FORCE", "LOCK TABLES t READ"]
    assert needs_of_statements(statements) == ("right LOCK TABLES", "right ALTER")
