"""Files with rows in several versions, which a server exports and shall take again (innodb-sdi B.2)."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.row_versions import DROP, IMPORT, statements
from conformance.checks.sdi.data_file import read_file
from conformance.judge.damage.crashes import crash_from
from conformance.judge.damage.diverged import JudgedOutcome
from conformance.reference.innodb.dictionary import private_data
from conformance.requirements.crashes import IMPORTING, ROW_VERSIONS
from conformance.servers.errors import ConnectionLost, SqlError
from conformance.servers.roles.injector import Injector
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.checks.sdi.data_file import SdiFile
    from conformance.requirements.crashes import Crash
    from conformance.servers.run.owned import OwnServer
    from conformance.servers.wire.connection import Connection
    from generators.draw import Draw

_ROWS: Final = ((b"1", b"3"), (b"2", b"4"))


class NotInstant(Exception):
    """The server cannot drop a column at once, so that no row has several versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A file that a table took, or not. ``damage``: what is known to end servers, read from the file. ``death``: how
    the server ended; ``error``: the error of IMPORT, 0 where it was accepted."""

    name: str
    statements: tuple[str, ...]
    damage: str
    error: int = 0
    rows: tuple[tuple[bytes | None, ...], ...] = ()
    death: str = ""
    silent: bool = False

    @property
    def id(self) -> str:
        return f"file-{hashlib.blake2b(''.join(self.statements).encode(), digest_size=6).hexdigest()}"

    @property
    def crash(self) -> Crash | None:
        return crash_from(self.death, IMPORTING, self.damage)


def damage_of_file(file: SdiFile) -> str:
    """The damage of a file: rows in several versions beside SDI of more than one page, or none."""
    private = {
        key for table in file.tables for column in table["columns"] for key in private_data(column["se_private_data"])
    }
    return ROW_VERSIONS if private & {"version_added", "version_dropped"} and len(file.pages) > 1 else ""


def judge_taken(taken: Taken) -> JudgedOutcome:
    """SDI66: a server takes a file of its own that matches, with its rows; and it lives."""
    if taken.death:
        return JudgedOutcome(Verdict.CRASH, "the server dies of a file of its own", "a living server", taken.death)
    if taken.silent:
        return JudgedOutcome(Verdict.TIMEOUT, "the server does not answer", "an answer", "none")
    if taken.error or taken.rows != _ROWS:
        got = f"error {taken.error}" if taken.error else f"{len(taken.rows)} rows"
        return JudgedOutcome(Verdict.DIFFERS, "a file that matches is not taken", "accepted, with its rows", got)
    return JudgedOutcome(Verdict.PASS)


def observe(server: OwnServer, schema: str, draw: Draw, row_format: str, *, long: bool) -> Taken:
    """Export a file and let another table take it. Raises :class:`NotInstant`."""
    made = statements(draw.letters, row_format, long=long)
    name = f"{row_format}, SDI of {'several pages' if long else 'one page'}"
    with server.connect(database=schema) as connection:
        file = _prepared(server, connection, schema, made)
        taken = Taken(name=name, statements=(*made, IMPORT), damage=damage_of_file(file))
        try:
            connection.execute(IMPORT)
            rows = connection.execute("SELECT id, b FROM t ORDER BY id").rows
        except SqlError as error:
            return replace(taken, error=error.number)
        except ConnectionLost as error:
            lost = Injector(server, described=False).lost(error, None)
            return replace(taken, death=lost.death, silent=lost.silent)
        with suppress(SqlError):
            connection.execute("DROP TABLE t")
        server.files.remove([f"{schema}/t.cfg"])
        return replace(taken, rows=rows)


def _prepared(server: OwnServer, connection: Connection, schema: str, made: tuple[str, ...]) -> SdiFile:
    """Make the table, export it, and put its files under a table of its definition."""
    for statement in made:
        try:
            connection.execute(statement)
        except SqlError:
            if statement == DROP:
                raise NotInstant from None
            raise
    create = str(connection.execute("SHOW CREATE TABLE t").texts()[0][1])
    connection.execute("FLUSH TABLES t FOR EXPORT")
    names = (f"{schema}/t.ibd", f"{schema}/t.cfg")
    data = [server.files.read(name) for name in names]
    connection.execute("UNLOCK TABLES")
    connection.execute("DROP TABLE t")
    connection.execute(create)
    connection.execute("ALTER TABLE t DISCARD TABLESPACE")
    for name, content in zip(names, data, strict=True):
        server.files.write(name, content)
    return read_file("t.ibd", data[0])
