"""Tables and rows from InnoDB's data files, for a replay of the log that goes on from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.event_types import EventType
from conformance.reference.innodb.show_create_table import create_table
from conformance.reference.innodb.stored_tables import Absent, stored_tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.stored_tables import StoredTable
    from conformance.reference.replay.engine import Replay


def start_from_files(replay: Replay, files: Sequence[tuple[str, Tablespace]]) -> None:
    """Give the replay the tables and rows of tablespaces.

    Raises :class:`CodecError` for what is damaged, and for a table of which a partition has no file.
    """
    for table in stored_tables(files, problem=_raise):
        if table.of_engine:
            continue
        try:
            _start(replay, table)
        except CodecError as error:
            raise error.at(".".join(table.name)).at(", ".join(table.files)) from None


def define_from_files(replay: Replay, files: Sequence[tuple[str, Tablespace]]) -> None:
    """Give the replay the tables of tablespaces without rows; raises as :func:`start_from_files`."""
    for table in stored_tables(files, problem=_raise):
        if not table.of_engine:
            _define(replay, table)


def _raise(file: str, error: CodecError) -> NoReturn:
    raise error.at(file)


def _start(replay: Replay, table: StoredTable) -> None:
    if table.absent:
        raise ReplayError("no-file", "no file has the rows of a partition", got=", ".join(table.absent))
    _define(replay, table)
    state = replay.tables[table.name]
    rows = ([None if value is Absent.VIRTUAL else value for value in row.values] for row in table.rows())
    virtual = [place for place, column in enumerate(table.columns) if column.field is None]
    state.start(rows, [column.info for column in table.columns], computed=virtual)


def _define(replay: Replay, table: StoredTable) -> None:
    query = Query(text=create_table(table.entry).encode("utf-8", "surrogateescape"), schema=table.name[0].encode())
    replay.event(Event(Header(0, EventType.QUERY, 0, 0, 0, 0), query))
