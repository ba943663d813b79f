"""A replay of row events and statements made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.event import Event
from conformance.reference.binlog.header import Header
from conformance.reference.binlog.query import Query
from conformance.reference.binlog.rows import Row, rows_body
from conformance.reference.dialect import MYSQL, Dialect
from conformance.reference.event_types import EventType
from conformance.reference.replay.engine import Replay
from conformance.reference.tables import columns as column_types
from conformance.reference.tables.columns import ColumnType
from tests.reference.text.made_logs import table_of

if TYPE_CHECKING:
    from conformance.reference.tables.table_map import TableMap

INT = ColumnType(column_types.LONG)
JSON = ColumnType(column_types.JSON, 4)


class Log:
    """Events into a replay of ``d.t(id INT PRIMARY KEY, v INT)``."""

    def __init__(
        self,
        *,
        lenient: bool = False,
        create: str = "create table t(id int primary key, v int)",
        dialect: Dialect = MYSQL,
    ) -> None:
        self.replay = Replay(lenient=lenient, dialect=dialect)
        self.table = table_of(INT, INT)
        if create:
            self.sql(create)

    def event(self, body: Any) -> None:
        self.replay.event(Event(Header(86400, body.type, 1, 0, 0, 0), body))

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.event(Query(text=statement.encode(), schema=b"d"))

    def insert(self, *rows: tuple[Any, ...], table: TableMap | None = None, after: list[int] | None = None) -> None:
        body = rows_body(table or self.table, EventType.WRITE_ROWS, [Row(None, row) for row in rows], after=after)
        self.event(body)

    def update(self, key: int, value: int, **options: Any) -> None:
        row = Row((key,), (value,))
        self.event(rows_body(self.table, EventType.UPDATE_ROWS, [row], before=[0], after=[1], **options))

    def delete(self, key: int, **options: Any) -> None:
        self.event(rows_body(self.table, EventType.DELETE_ROWS, [Row((key,), None)], before=[0], **options))

    def rows(self, name: str = "t") -> list[list[Any]]:
        return sorted(map(list, self.replay.tables["d", name].rows.values()))
