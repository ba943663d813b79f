"""The effects of single statements on the dictionary information of their table (innodb-sdi B.2).

A file is read after FLUSH TABLES FOR EXPORT, before the statement and after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi.columns import comment
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.servers import own_files
from conformance.checks.sdi.tables import ROW_FORMATS
from conformance.judge.problem import Problem
from conformance.reference.innodb.sdi import TABLE, TABLESPACE
from conformance.servers.errors import SqlError
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.harness.check import Check
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

REFUSED: Final = (
    "RENAME TABLE t TO renamed, other TO taken",
    "ALTER TABLE t ADD UNIQUE KEY (a), COMMENT='refused', ALGORITHM=INPLACE",
    "ALTER TABLE t ADD UNIQUE KEY (a), COMMENT='refused', ALGORITHM=COPY",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A table's file before a statement and after it. ``error``: number of the refusal, or 0."""

    statement: str
    comment: str
    before: SdiFile
    after: SdiFile
    error: int = 0


def exported(server: OwnServer, connection: Connection, schema: str, table: str = "t") -> SdiFile:
    """The file of a table, written out."""
    connection.execute(f"FLUSH TABLES {table} FOR EXPORT")
    try:
        data = server.files.read(f"{schema}/{table}.ibd")
    finally:
        connection.execute("UNLOCK TABLES")
    return read_file(f"{table}.ibd", data)


def altered(change: Change) -> Iterator[Problem]:
    """SDI53: CREATE inserts the record of the table, ALTER leaves one record, with the new content."""
    before, after = change.before.of_type(TABLE), change.after.of_type(TABLE)
    if len(before) != 1 or before[0]["comment"] != "":
        yield Problem(
            "after CREATE TABLE", "one record", str(len(before)), "CREATE TABLE inserts no record of its table"
        )
    if [table["comment"] for table in after] != [change.comment]:
        yield Problem("after ALTER TABLE", change.comment, str([table["comment"] for table in after]),
                      "ALTER TABLE does not update the record")  # fmt: skip


def truncated(change: Change) -> Iterator[Problem]:
    """SDI63: TRUNCATE gives the file of a new tablespace the record of the table, and one of that tablespace."""
    spaces = change.before.space_id, change.after.space_id
    if spaces[0] == spaces[1] or change.after.tablespace is None:
        yield Problem("tablespace", "a new one with its record", str(spaces), "TRUNCATE makes no SDI anew")
        return
    place = f"id={change.after.space_id};"
    if place not in change.after.tablespace["se_private_data"]:
        yield Problem("tablespace record", place, change.after.tablespace["se_private_data"],
                      "the record is of another tablespace")  # fmt: skip
    names = [[table["name"] for table in file.of_type(TABLE)] for file in (change.before, change.after)]
    ids = [[item.id for item in file.objects if item.type == TABLESPACE] for file in (change.before, change.after)]
    if names[0] != names[1] or ids[0] == ids[1]:
        yield Problem("records", f"{names[0]}, and another tablespace than {ids[0]}", f"{names[1]}, {ids[1]}",
                      "TRUNCATE leaves other records")  # fmt: skip


def rolled_back(change: Change) -> Iterator[Problem]:
    """SDI25: a refused statement leaves every record as it was."""
    if not change.error:
        yield Problem(change.statement, "refused", "accepted", "a statement that must be rolled back is not refused")
    kept = [[(item.type, item.id, item.text) for item in file.objects] for file in (change.before, change.after)]
    if kept[0] != kept[1]:
        yield Problem(change.statement, str(kept[0])[:300], str(kept[1])[:300], "a rollback leaves other records")


@pytest.mark.check("statements")
def test_statements_that_change_a_table(check: Check) -> None:
    """CREATE, ALTER, TRUNCATE, and statements that are rolled back; in every row format."""
    with own_files(check) as (server, connection, schema):
        for number in check.blocks():
            changes = observe(server, connection, schema, Stream("sdi-statements", check.seed, number), number)
            for requirement, judged in (("SDI53", altered), ("SDI63", truncated), ("SDI25", rolled_back)):
                with check.block(number, cases=len(changes[requirement]), requirement=requirement) as block:
                    for change in changes[requirement]:
                        block.differs(*judged(change))


def observe(
    server: OwnServer, connection: Connection, schema: str, draw: Stream, number: int
) -> dict[str, list[Change]]:
    """One table, from its CREATE on; the changes by the requirement that they show."""
    text = comment(draw, 30)
    options = f"ROW_FORMAT={ROW_FORMATS[number % len(ROW_FORMATS)]}"
    connection.execute(f"CREATE TABLE t (id int PRIMARY KEY, a int) {options}")
    connection.execute("CREATE TABLE other (id int)")
    connection.execute("CREATE TABLE taken (id int)")
    connection.execute("INSERT INTO t VALUES (1, 5), (2, 5)")

    def run(statement: str) -> Change:
        before, number = exported(server, connection, schema), 0
        try:
            connection.execute(statement)
        except SqlError as error:
            number = error.number
        after = exported(server, connection, schema)
        return Change(statement=statement, comment=shown, before=before, after=after, error=number)

    shown = text.replace("''", "'").replace("\\\\", "\\")
    changes = {
        "SDI53": [run(f"ALTER TABLE t COMMENT='{text}'")],
        "SDI25": [run(statement) for statement in REFUSED],
        "SDI63": [run("TRUNCATE TABLE t")],
    }
    connection.execute("DROP TABLE t, other, taken")
    return changes
