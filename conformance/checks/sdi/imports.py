"""A file taken by another table: ``sdi --create`` makes the table, and IMPORT TABLESPACE takes the file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from conformance.checks.sdi.run import rows_of
from conformance.judge.problem import Problem
from conformance.reference.innodb.dictionary import private_data
from conformance.reference.innodb.sdi import TABLE
from conformance.reference.innodb.show_create_table import create_table
from conformance.reference.sql.quoting import quote_identifier as quoted
from conformance.reference.tables.charsets import COLLATIONS, DEFAULT_COLLATIONS
from conformance.servers.errors import SqlError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import SequenceOutcome, ShownTable
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection

IMPORTED: Final = "imported"  # the schema of the tables that take files
_FULLTEXT: Final = "FULLTEXT KEY"  # its words are in other files, which no export writes
_PARTITION: Final = "#p#"  # in a file's name, between table and partition
_COUNTER: Final = re.compile(r" AUTO_INCREMENT=\d+")
_CHARSET: Final = re.compile(r"CHARACTER SET (\w+)( COLLATE \w+)?")
_CLAUSE: Final = "\n/*!"  # before PARTITION BY


def comparable(text: str) -> str:
    """SHOW CREATE TABLE without what the file does not have, and without the quotes in the PARTITION BY clause.

    Of a column it shows character set, collation, or both, depending on which words made it. The collation says all.
    """
    head, mark, partitions = _CHARSET.sub(_collation, _COUNTER.sub("", text)).partition(_CLAUSE)
    return head + mark + partitions.replace("`", "")


def _collation(match: re.Match[str]) -> str:
    number = DEFAULT_COLLATIONS.get(match[1])
    return (match[2] or "").strip() or (match[0] if number is None else f"COLLATE {COLLATIONS[number].name}")


def statements(files: Sequence[SdiFile]) -> dict[tuple[str, str], str]:
    """Schema and name of each table in the files -> CREATE TABLE as ``sdi --create`` prints it."""
    return {
        (table["schema_ref"], table["name"]): create_table(table, file.tablespace)
        for file in files
        for table in file.tables
    }


def definitions(files: Sequence[SdiFile], tables: Sequence[ShownTable]) -> Iterator[Problem]:
    """Hold CREATE TABLE of the files against SHOW CREATE TABLE; in general and system tablespaces too."""
    texts = statements(files)
    for table in tables:
        text = texts.get((table.schema, table.name), "")
        if comparable(text) != comparable(table.create):
            yield Problem(f"CREATE TABLE {table.name}", table.create, text, "CREATE TABLE of the file differs")


@dataclass(slots=True)
class Taken:
    """The result of importing the files of a sequence. ``left``: tables whose files were not imported."""

    imported: int = 0
    left: int = 0
    problems: list[Problem] = field(default_factory=list)


def import_tables(server: OwnServer, connection: Connection, outcome: SequenceOutcome) -> Taken:
    """Make each table anew from its file, let it take the file, and compare rows and definition."""
    taken = Taken()
    texts = statements(outcome.files)
    for table in outcome.tables:
        if not table.own_file:
            continue
        if _FULLTEXT in table.create or _unsafe(outcome.files, table):
            taken.left += 1
        else:
            taken.imported += 1
            text = texts[table.schema, table.name]
            taken.problems += _import(server, connection, table, text, outcome)
    return taken


def _file_of(files: Sequence[SdiFile], table: ShownTable) -> SdiFile:
    """The file with the record of the table."""
    return next(
        file
        for file in files
        for item in file.tables
        if (item["schema_ref"], item["name"]) == (table.schema, table.name)
    )


def _unsafe(files: Sequence[SdiFile], table: ShownTable) -> bool:
    """Whether 9.7.4 itself fails at the file, an abort included (innodb-sdi B.2): rows in several versions, beside SDI
    of more than one page; or a dropped column, beside a virtual one or in a table whose name is encoded in the file's.
    """
    file = _file_of(files, table)
    columns = [column for item in file.of_type(TABLE) if item["name"] == table.name for column in item["columns"]]
    private = {key for column in columns for key in private_data(column["se_private_data"])}
    virtual = any(column["is_virtual"] for column in columns)
    versions = bool(private & {"version_added", "version_dropped"})
    encoded = "@" in file.name.partition(_PARTITION)[0]
    return (versions and len(file.pages) > 1) or ("version_dropped" in private and (virtual or encoded))


def _import(
    server: OwnServer, connection: Connection, table: ShownTable, text: str, outcome: SequenceOutcome
) -> list[Problem]:
    given = _given(outcome, table)
    left = [name for name in given if name.endswith(".cfg")]  # files that DROP SCHEMA does not know
    connection.execute(f"CREATE SCHEMA {IMPORTED}")
    try:
        return [*_import_one(server, connection, table, text, given)]
    except SqlError as error:
        left = list(given)
        what = f"{table.place} {error.statement[:40]}"
        return [Problem(what, "imported", str(error), "a file cannot be imported", statements=(text,))]
    finally:
        server.files.remove(left)
        if not connection.closed:
            connection.execute(f"DROP SCHEMA {IMPORTED}")


def _given(outcome: SequenceOutcome, table: ShownTable) -> dict[str, bytes]:
    """The exported files of a table and of its partitions, by their names in the schema that takes them."""
    stem = _file_of(outcome.files, table).name.removesuffix(".ibd").partition(_PARTITION)[0]
    found = {}
    for place, data in outcome.exported.items():
        schema, _, name = place.partition("/")
        ending = next((each for each in (".ibd", ".cfg") if name.endswith(each)), "")
        if ending and schema == table.schema and name.partition(_PARTITION)[0].removesuffix(ending) == stem:
            found[f"{IMPORTED}/{name}"] = data
    return found


def _import_one(
    server: OwnServer, connection: Connection, table: ShownTable, text: str, given: Mapping[str, bytes]
) -> Iterator[Problem]:
    place = f"{IMPORTED}.{quoted(table.name)}"
    connection.execute(f"USE {IMPORTED}")
    connection.execute(text)
    connection.execute(f"ALTER TABLE {place} DISCARD TABLESPACE")
    for name, data in given.items():
        server.files.write(name, data)
    connection.execute(f"ALTER TABLE {place} IMPORT TABLESPACE")
    shown = str(connection.execute(f"SHOW CREATE TABLE {place}").texts()[0][1])
    if comparable(shown) != comparable(table.create):
        yield Problem(f"SHOW CREATE TABLE {place}", table.create, shown, "an imported table has another definition")
    rows = rows_of(connection, IMPORTED, table.name)
    if rows != table.rows:
        yield Problem(
            f"rows of {place}", f"{len(table.rows)} rows", f"{len(rows)} rows", "an imported table has other rows"
        )
    answer = connection.execute(f"CHECK TABLE {place}").texts()
    if answer[-1][-1] != "OK":
        yield Problem(f"CHECK TABLE {place}", "OK", str(answer), "an imported table is damaged")
