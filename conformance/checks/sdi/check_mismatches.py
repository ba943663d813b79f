"""SDI66: files that do not match the dictionary are given to the server, with their description (.cfg) and without.

The information in the file tells every mismatch. The server detects it by the description. Without it the server looks
at formats and rows alone, and has to say so: the worklog leaves to InnoDB whether it detects anything. The control is
a file that matches, which it must take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from conformance.checks.sdi import judge
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.servers import own_files
from conformance.judge.problem import Problem
from conformance.reference.innodb.sdi_views.information_schema import facts_of_server
from conformance.servers.errors import SqlError
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.harness.check import Check
    from conformance.reference.innodb.sdi_views.information_schema import Facts
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

_COLUMNS: Final = "id int PRIMARY KEY, a int, b varchar(20), KEY k (a)"
MATCH: Final = "none"
_FORMAT: Final = "ROW_FORMAT={}"


class _Table(NamedTuple):
    """The table that a file is of. ``differs``: objects, or fields of them, that the table that takes it has not so."""

    columns: str
    row_format: str
    differs: tuple[str, ...]


_FORMAT_FIELDS: Final = ("table: row format", "option ROW_FORMAT")
# What differs -> the table of which the file is. The table that takes it is that of MATCH.
_TABLES: Final = {
    MATCH: _Table(_COLUMNS, "DYNAMIC", ()),
    "type": _Table("id int PRIMARY KEY, a bigint, b varchar(20), KEY k (a)", "DYNAMIC", ("column a: type",)),
    "sign": _Table("id int PRIMARY KEY, a int unsigned, b varchar(20), KEY k (a)", "DYNAMIC", ("column a: type",)),
    "length": _Table("id int PRIMARY KEY, a int, b varchar(21), KEY k (a)", "DYNAMIC", ("column b: type",)),
    "character set": _Table(
        "id int PRIMARY KEY, a int, b varchar(20) CHARACTER SET latin1, KEY k (a)", "DYNAMIC", ("column b: collation",)
    ),
    "column name": _Table("id int PRIMARY KEY, a int, c varchar(20), KEY k (a)", "DYNAMIC", ("column b", "column c")),
    "one column more": _Table("id int PRIMARY KEY, a int, b varchar(20), c int, KEY k (a)", "DYNAMIC", ("column c",)),
    "one column fewer": _Table("id int PRIMARY KEY, a int, KEY k (a)", "DYNAMIC", ("column b",)),
    "not null": _Table(
        "id int PRIMARY KEY, a int NOT NULL, b varchar(20), KEY k (a)", "DYNAMIC", ("column a: nullable",)
    ),
    "one index fewer": _Table("id int PRIMARY KEY, a int, b varchar(20)", "DYNAMIC", ("index k",)),
    "one index more": _Table("id int PRIMARY KEY, a int, b varchar(20), KEY k (a), KEY l (b)", "DYNAMIC", ("index l",)),
    "column of an index": _Table(
        "id int PRIMARY KEY, a int, b varchar(20), KEY k (b)", "DYNAMIC", ("index k: columns",)
    ),
    "index name": _Table("id int PRIMARY KEY, a int, b varchar(20), KEY l (a)", "DYNAMIC", ("index k", "index l")),
    "format COMPACT": _Table(_COLUMNS, "COMPACT", _FORMAT_FIELDS),
    "format REDUNDANT": _Table(_COLUMNS, "REDUNDANT", _FORMAT_FIELDS),
    "format COMPRESSED": _Table(_COLUMNS, "COMPRESSED", _FORMAT_FIELDS),
}
_LARGEST: Final = 16_384  # the page size up to which ROW_FORMAT=COMPRESSED exists
_ROWS: Final = ((b"1", b"5"), (b"2", b"6"))
_WITHOUT_LOOKING: Final = 1810  # the warning that no description was found


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A file that was given to another table, and what the server said. ``facts``: the dictionary's of the table.

    ``error``: the error of IMPORT, 0 where it was accepted. ``later``: that of a SELECT afterwards, 0 where it gave
    ``rows``.
    """

    mismatch: str
    described: bool
    file: SdiFile
    facts: Facts
    name: tuple[str, str]
    error: int = 0
    warnings: tuple[int, ...] = ()
    later: int = 0
    rows: tuple[tuple[bytes | None, ...], ...] = ()

    @property
    def words(self) -> str:
        return f"mismatch {self.mismatch}, {'with' if self.described else 'without'} its description"


def told_by_the_file(given: Given) -> Iterator[Problem]:
    """The information in the file differs from the dictionary's where the tables do, and nowhere else."""
    found = {
        problem.field.partition(".t ")[2]: problem for problem in judge.compared(given.file, {given.name: given.facts})
    }
    wanted = _TABLES[given.mismatch].differs
    strange = [problem for field, problem in found.items() if not {field, field.partition(": ")[0]} & {*wanted}]
    unseen = [field for field in wanted if not any(name == field or name.startswith(f"{field}: ") for name in found)]
    for problem in strange:
        yield Problem(f"{given.words}, {problem.field}", problem.expected, problem.got,
                      "the information in the file differs where the tables do not")  # fmt: skip
    for field in unseen:
        yield Problem(f"{given.words}, {field}", "a difference", "none",
                      "the information in the file does not tell that it does not match")  # fmt: skip


def detected(given: Given) -> Iterator[Problem]:
    """Yield the problems of a server that does not treat the file as 8.0.45 and 9.7.4 were observed to treat it."""
    if given.mismatch == MATCH:
        if given.error or given.rows != _ROWS:
            got = f"error {given.error}" if given.error else f"{len(given.rows)} rows"
            yield Problem(given.words, "accepted, with its rows", got, "a file that matches is not taken")
    elif given.described and not given.error:
        yield Problem(given.words, "refused", "accepted", "a file that does not match is taken")
    elif given.error and not given.later:
        yield Problem(given.words, "no table to read", "rows", "a file that was refused is read")
    elif not given.error and _WITHOUT_LOOKING not in given.warnings:
        yield Problem(given.words, f"warning {_WITHOUT_LOOKING}", str(given.warnings or "none"),
                      "a file that does not match is taken without a word")  # fmt: skip


@pytest.mark.check("mismatches")
def test_files_that_do_not_match(check: Check) -> None:
    """IMPORT of a file whose table differs in one thing, with the .cfg file of its export and without."""
    with own_files(check) as (server, connection, schema):
        size = int(connection.variable("innodb_page_size") or 0)
        names = [name for name, table in _TABLES.items() if table.row_format != "COMPRESSED" or size <= _LARGEST]
        given = []
        for name in names:
            exported = export(server, connection, schema, name)
            given += [observe(server, connection, schema, exported, described=described) for described in (True, False)]
    information, server_says = check.part("file"), check.part("server")
    information.record(problems=[problem for each in given for problem in told_by_the_file(each)], cases=len(given))
    problems = [problem for each in given for problem in detected(each)]
    server_says.record(problems=problems, cases=len(given), verdict=Verdict.DIFFERS)


class Exported(NamedTuple):
    """The files of a table that an export left: its data, and their description (.cfg)."""

    mismatch: str
    data: bytes
    description: bytes


def export(server: OwnServer, connection: Connection, schema: str, mismatch: str) -> Exported:
    """Make the table of a mismatch, with its rows, and take its files."""
    _create(connection, mismatch)
    connection.execute("INSERT INTO t (id, a) VALUES (1, 5), (2, 6)")
    connection.execute("FLUSH TABLES t FOR EXPORT")
    data, description = (server.files.read(name) for name in _names(schema))
    connection.execute("UNLOCK TABLES")
    connection.execute("DROP TABLE t")
    return Exported(mismatch, data, description)


def observe(server: OwnServer, connection: Connection, schema: str, exported: Exported, *, described: bool) -> Given:
    """Let another table of the same name take the files."""
    names = _names(schema)
    _create(connection, MATCH)
    given = Given(
        mismatch=exported.mismatch,
        described=described,
        file=read_file("t.ibd", exported.data),
        facts=facts_of_server(lambda sql: connection.execute(sql).texts(), schema, "t"),
        name=(schema, "t"),
        **_imported(server, connection, dict(zip(names, exported[1:] if described else exported[1:2], strict=False))),
    )
    connection.execute("DROP TABLE t")
    server.files.remove(names)  # a file that was refused stays, and so does a description
    return given


def _names(schema: str) -> list[str]:
    return [f"{schema}/t.ibd", f"{schema}/t.cfg"]


def _create(connection: Connection, mismatch: str) -> None:
    columns, row_format, _ = _TABLES[mismatch]
    connection.execute(f"CREATE TABLE t ({columns}) DEFAULT CHARSET utf8mb4 {_FORMAT.format(row_format)}")


def _imported(server: OwnServer, connection: Connection, files: dict[str, bytes]) -> dict[str, Any]:
    """The fields of :class:`Given` that IMPORT TABLESPACE and a SELECT behind it give."""
    connection.execute("ALTER TABLE t DISCARD TABLESPACE")
    for name, data in files.items():
        server.files.write(name, data)
    found: dict[str, Any] = {}
    try:
        result = connection.execute("ALTER TABLE t IMPORT TABLESPACE")
        found["warnings"] = tuple(number for _, number, _ in connection.warnings()) if result.warnings else ()
    except SqlError as error:
        found["error"] = error.number
    try:
        found["rows"] = connection.execute("SELECT id, a FROM t ORDER BY id").rows
    except SqlError as error:
        found["later"] = error.number
    return found
