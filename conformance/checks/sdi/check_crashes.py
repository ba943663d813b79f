"""A server that is killed inside DDL: after recovery the dictionary and the files say the same (innodb-sdi B.11).

Sessions run DDL until ``kill -9`` at a drawn moment. Each file is read before the recovery: it shows an older state, or
is refused with page and field. After the recovery dictionary and file both show a statement's change, or neither does.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

import pytest

from conformance.checks.sdi import judge
from conformance.checks.sdi.data_file import read_file
from conformance.checks.sdi.imports import definitions
from conformance.checks.sdi.run import shown_tables, tablespace_facts
from conformance.checks.sdi.servers import own_server
from conformance.judge.problem import Problem
from conformance.reference.errors import CodecError
from conformance.servers import clock
from conformance.servers.errors import ConnectionLost, ServerError
from generators.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.checks.sdi.data_file import SdiFile
    from conformance.checks.sdi.run import ShownTable
    from conformance.harness.check import Check
    from conformance.reference.innodb.sdi_views.information_schema import Facts
    from conformance.servers.run.owned import OwnServer

_SESSIONS: Final = 3
_SCHEMA: Final = "crashes"
_GENERAL: Final = "crashes_general"
_ROWS: Final = ((b"1", b"2"), (b"2", b"3"))
_DDL: Final = (
    "ALTER TABLE {t} COMMENT = '{n}'",
    "ALTER TABLE {t} ADD COLUMN c{n} varchar(20) DEFAULT 'x', ALGORITHM=INSTANT",
    "ALTER TABLE {t} ADD KEY k{n} (a), ALGORITHM=INPLACE",
    "ALTER TABLE {t} DEFAULT CHARACTER SET latin1, FORCE, ALGORITHM=COPY",
    "RENAME TABLE {t} TO {t}_away, {t}_away TO {t}",
    "RENAME TABLE {t} TO {t}_gone, missing TO nowhere",
    "TRUNCATE TABLE {t}",
    "CREATE TABLE {t}_{n} LIKE {t}",
    "DROP TABLE IF EXISTS {t}_{n}",
)  # fmt: skip


@pytest.mark.check("crashes")
def test_kills_inside_ddl(check: Check) -> None:
    """Kills at drawn moments, on one server."""
    counts: Counter[str] = Counter()
    with own_server(check) as server:
        with server.connect() as connection:
            connection.execute(f"CREATE SCHEMA {_SCHEMA}")
            connection.execute(f"CREATE TABLESPACE {_GENERAL} ADD DATAFILE '{_GENERAL}.ibd'")
            connection.execute(f"USE {_SCHEMA}")
            for session in range(_SESSIONS):
                place = f"TABLESPACE={_GENERAL}" if session == 0 else ""
                connection.execute(f"CREATE TABLE t{session} (id int PRIMARY KEY, a int) {place}")
                connection.execute(f"INSERT INTO t{session} VALUES {_values(_ROWS)}")
        for number in check.blocks():
            if not server.alive():
                server.start()
            draw = Stream("sdi-crashes", check.seed, number)
            counts["statements"] += _run_until_killed(server, draw)
            counts["kills"] += 1
            _files(server, counts)
            server.start()
            with server.connect() as connection:
                tables = [*shown_tables(connection, [_SCHEMA])]
                spaces = tablespace_facts(connection, f"{_SCHEMA}%")
            server.stop()
            files = _files(server)
            check.record(number, both_or_none(files, tables, spaces), cases=len(tables), requirement="SDI27")
            problems = chain(recovered(files, tables, spaces), no_space_alone(files, spaces), whole_rows(tables))
            check.record(number, problems, cases=len(files), requirement="SDI64")
            counts["files compared after recovery"] += len(files)
    check.narrate(f"SDI64: {', '.join(f'{count} {words}' for words, count in counts.items())}")


def _values(rows: Sequence[tuple[bytes, ...]]) -> str:
    return ", ".join(f"({b', '.join(row).decode()})" for row in rows)


def _run_until_killed(server: OwnServer, draw: Stream) -> int:
    """DDL in several sessions, and a kill; returns how many statements ended."""
    done: list[int] = []

    def work(session: int) -> None:
        own = draw.fork("session", session)
        with suppress(ConnectionLost), server.connect(database=_SCHEMA) as connection:
            while True:
                statement = own.choice(_DDL).format(t=f"t{session}", n=own.below(8))
                try:
                    connection.execute(statement)
                except ConnectionLost:
                    raise
                except ServerError:  # refused, as the table is not what the statement needs
                    pass
                done.append(session)

    threads = [
        threading.Thread(target=work, args=(session,), name=f"session {session}") for session in range(_SESSIONS)
    ]
    for thread in threads:
        thread.start()
    clock.sleep(0.05 + draw.below(400) / 1000)
    server.kill()
    for thread in threads:
        thread.join()
    return len(done)


def _files(server: OwnServer, counts: Counter[str] | None = None) -> list[SdiFile]:
    """The files of the schema and of the general tablespace. ``counts``: counts them for a killed server, of which some
    files may be refused."""
    found: list[SdiFile] = []
    ibd2sdi = server.client_program("ibd2sdi") if counts is None else None
    for name, data in server.files.matching(f"{_SCHEMA}/*.ibd", f"{_GENERAL}.ibd").items():
        try:
            found.append(read_file(name, data, ibd2sdi))
        except CodecError:
            if counts is None:
                raise
            counts["files refused as a whole before recovery"] += 1
    if counts is not None:
        counts["files read before recovery"] += sum(not file.error for file in found)
        counts["files refused with a page before recovery"] += sum(bool(file.error) for file in found)
    return found


def both_or_none(
    files: Sequence[SdiFile], tables: Sequence[ShownTable], spaces: Mapping[int, Facts]
) -> Iterator[Problem]:
    """SDI27: a table is the same in the dictionary and in its file, and so is a tablespace."""
    facts = {(table.schema, table.name): table.facts for table in tables}
    for file in files:
        yield from judge.compared(file, facts)
        yield from judge.compared_tablespace(file, spaces)
    yield from definitions(files, tables)


def recovered(files: Sequence[SdiFile], tables: Sequence[ShownTable], spaces: Mapping[int, Facts]) -> Iterator[Problem]:
    """SDI64: the files have the records of all tables and tablespaces, and of nothing else; ibd2sdi prints them."""
    yield from judge.table_records(files, tables)
    yield from judge.tablespace_records(files, spaces)
    for file in files:
        yield from judge.dump(file)


def no_space_alone(files: Sequence[SdiFile], spaces: Mapping[int, Facts]) -> Iterator[Problem]:
    """SDI64: each tablespace of the schema has its file, and each file its tablespace."""
    found, expected = sorted(file.space_id for file in files), sorted(spaces)
    if found != expected:
        yield Problem("tablespaces", str(expected), str(found), "the files are of other tablespaces")


def whole_rows(tables: Sequence[ShownTable], rows: tuple[tuple[bytes | None, ...], ...] = _ROWS) -> Iterator[Problem]:
    """SDI64: a table has the rows that it was made with, or none: TRUNCATE takes all, and a copy begins without."""
    for table in tables:
        found = tuple(row[:2] for row in table.rows)
        if found and found != rows:
            yield Problem(f"rows of {table.place}", f"{rows}, or none", str(found), "a statement was done in part")
