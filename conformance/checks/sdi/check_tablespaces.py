"""Which tablespaces hold dictionary information: no temporary one, no undo one, and no dictionary table names it
(innodb-sdi B.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi import judge
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.servers import own_files
from conformance.judge.problem import Problem
from conformance.servers.roles.data_files import pages_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.harness.check import Check

_FILES: Final = "SELECT FILE_NAME FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = '{kind}'"
_SESSION: Final = "SELECT PATH FROM INFORMATION_SCHEMA.INNODB_SESSION_TEMP_TABLESPACES"
_ROOTS: Final = "SELECT SPACE, PAGE_NO, NAME FROM INFORMATION_SCHEMA.INNODB_INDEXES"
_TABLES: Final = "SELECT NAME FROM INFORMATION_SCHEMA.INNODB_TABLES WHERE TABLE_ID >= 0xFFFFFFFE00000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The lists of INFORMATION_SCHEMA: the root page of each index, and tables with the ids of SDI tables."""

    roots: dict[tuple[int, int], str]
    tables: tuple[str, ...]


def in_no_dictionary(listed: Listed, files: Sequence[SdiFile]) -> Iterator[Problem]:
    """SDI55: neither the table of the SDI nor its index is listed."""
    for name in listed.tables:
        yield Problem("INNODB_TABLES", "no table of SDI", name, "the dictionary names a table of SDI")
    for file in files:
        index = listed.roots.get((file.space_id, file.root.page))
        if index is not None:
            yield Problem(f"INNODB_INDEXES {file.name}", "no index with the root of the SDI", index,
                          "the dictionary names an index of SDI")  # fmt: skip


def both_kinds(file: SdiFile) -> Iterator[Problem]:
    """SDI67: in mysql.ibd a table and a tablespace have one id."""
    kinds = [{item.id for item in file.objects if item.type == kind} for kind in (1, 2)]
    if not kinds[0] & kinds[1]:
        yield Problem(file.name, "a table and a tablespace with one id", str(kinds[1]), "ids are unique across types")
    yield from judge.unique(file)


@pytest.mark.check("tablespaces")
def test_tablespaces_without_sdi(check: Check) -> None:
    """Temporary and undo tablespaces of a running server, and what INFORMATION_SCHEMA lists."""
    with own_files(check, printed=True) as (server, connection, schema):
        undo = f"{schema}_undo"
        connection.execute(f"CREATE UNDO TABLESPACE {undo} ADD DATAFILE '{undo}.ibu'")
        try:
            connection.execute("CREATE TEMPORARY TABLE temporary (id int PRIMARY KEY, t longtext)")
            connection.execute("INSERT INTO temporary VALUES (1, repeat('t', 100000))")
            connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
            connection.execute("FLUSH TABLES t FOR EXPORT")
            ibd2sdi = server.client_program("ibd2sdi")

            def file(name: str) -> SdiFile:
                return read_file(name, server.files.read(name), ibd2sdi)

            def read(sql: str) -> list[SdiFile]:
                return [file(str(name)) for (name,) in connection.execute(sql).texts()]

            listed = Listed(
                roots={
                    (int(str(space)), int(str(page))): str(name)
                    for space, page, name in connection.execute(_ROOTS).texts()
                },
                tables=tuple(str(name) for (name,) in connection.execute(_TABLES).texts()),
            )
            with pages_written(connection):  # a new undo tablespace may have no page 0 in its file yet
                groups = {
                    "SDI2": read(_FILES.format(kind="TEMPORARY")) + read(_SESSION),
                    "SDI3": read(_FILES.format(kind="UNDO LOG")),
                }
                own = [file(f"{schema}/t.ibd"), file("mysql.ibd")]
        finally:
            connection.execute("UNLOCK TABLES")
            connection.execute(f"ALTER UNDO TABLESPACE {undo} SET INACTIVE")
        for requirement, files in groups.items():
            with check.block(cases=len(files), requirement=requirement) as block:
                if not files:
                    block.differs(Problem("files", "at least one", "none", "the server lists no such tablespace"))
                for each in files:
                    block.differs(*judge.has_none(each))
        check.record(problems=in_no_dictionary(listed, own), cases=len(listed.roots), requirement="SDI55")
        check.record(problems=both_kinds(own[1]), cases=len(own[1].objects), requirement="SDI67")
