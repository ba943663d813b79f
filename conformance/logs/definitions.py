"""Definitions of tables from beside the logs: they name the columns where a log has no names.

A log has names with ``binlog_row_metadata=FULL`` only. They come from CREATE TABLE statements, InnoDB's data files or
a server. The kit takes them for those of the whole log, as far as number and types of the columns fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.console import warn
from conformance.logs.inputs import is_data_file
from conformance.reference.errors import CodecError
from conformance.reference.replay.definitions import describe
from conformance.reference.replay.engine import Replay
from conformance.server_use import server_errors
from conformance.user_errors import InputCorrupt, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.reference.replay.table_state import TableState
    from conformance.reference.tables.table_map import TableMap

_SCHEME = "mysql://"
_TABLES = """
SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'
AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') ORDER BY 1, 2
"""


class GivenDefinitions:
    """Tables from ``--definitions``. The first row event of a table that none of them fits is told on stderr."""

    def __init__(self, sources: Sequence[str], keyring: Path | None) -> None:
        self._replay = Replay()
        self._told: set[tuple[str, str]] = set()
        for source in sources:
            self._read(source, keyring)
        if not self._replay.tables:
            raise Usage(f"{', '.join(sources)}: no table is defined there")

    def _read(self, source: str, keyring: Path | None) -> None:
        try:
            if source.startswith(_SCHEME):
                self._statements(_of_server(source))
            elif is_data_file(source):
                self._data_file(source, keyring)
            else:
                with Path(source).open(encoding="utf-8", errors="surrogateescape") as lines:
                    self._statements(lines)
        except OSError as problem:
            raise Usage(f"{source}: {problem.strerror or problem}") from problem
        except CodecError as error:
            raise InputCorrupt(f"{source}: {error}") from error

    def _statements(self, lines: Iterator[str]) -> None:
        from conformance.reference.replay.dumps import start_from_dump

        start_from_dump(self._replay, lines, rows=False)

    def _data_file(self, path: str, keyring: Path | None) -> None:
        from conformance.data_files.tablespaces import tablespaces
        from conformance.reference.replay.starting_tables import define_from_files

        with tablespaces([path], keyring=keyring) as opened:
            define_from_files(self._replay, [(file.name, file.space) for file in opened])

    def state_of(self, table: TableMap) -> TableState | None:
        """The definition of a table of the log; one without a schema stands for a table of any."""
        tables = self._replay.tables
        return tables.get((table.schema, table.table)) or tables.get(("", table.table))

    def describe(self, table: TableMap) -> None:
        """Give a table of the log what its TABLE_MAP lacks."""
        name = table.schema, table.table
        state = self.state_of(table)
        problem = "there is none of this table"
        if state is not None:
            try:
                describe(table, state)
            except CodecError as error:
                problem = str(error)
            else:
                return
        if name not in self._told and any(info.name is None for info in table.described):
            self._told.add(name)
            warn(f"--definitions: {'.'.join(name)} has no names of columns, as {problem}")


def _of_server(url: str) -> Iterator[str]:
    """The CREATE TABLE statements of a server, each behind the USE of its schema."""
    from conformance.reference.sql.quoting import quote_identifier
    from conformance.servers.specs import SpecKind, parse_spec
    from conformance.servers.wire.connection import connect

    with server_errors():
        spec = parse_spec(url)
        if spec.kind is not SpecKind.MYSQL:
            raise Usage(f"{url}: not the address of a server", hint="mysql://USER@HOST:PORT")
        with connect(spec.login()) as connection:
            for schema, table in connection.execute(_TABLES).texts():
                quoted = quote_identifier(str(schema)), quote_identifier(str(table))
                yield f"USE {quoted[0]};\n"
                row = next(iter(connection.execute(f"SHOW CREATE TABLE {'.'.join(quoted)}").texts()))
                yield from f"{row[1]};\n".splitlines(keepends=True)
