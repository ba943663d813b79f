"""The changes behind transactions that are taken back: which of them stay, and forbid the undo.

An undo is exact if the rows are as the transactions left them, in tables as they were. So what stays may not change
these rows, nor the definition of their tables. A foreign key that cascades counts as a change of the other table:
InnoDB logs its rows only where row events have the flag USE_SQL_FOREIGN_KEY (binlog-events 10.1).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from conformance.reference.binlog.rows import USE_SQL_FOREIGN_KEY, included
from conformance.reference.errors import ReplayError
from conformance.reference.replay.statements import (
    AlterTable,
    CreateLike,
    CreateTable,
    DefineSchema,
    DropSchema,
    DropTables,
    MoveTable,
    RenameTables,
    SetCharset,
    SetKey,
    SetParent,
    StartNumbers,
    Statement,
    Truncate,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.reference.binlog.rows import LazyRows, RowsBody
    from conformance.reference.sql.definition_reader import TableName


class LaterChanges:
    """The later life of the rows that transactions left. ``selective``: whether any transaction or table stays."""

    def __init__(self, *, selective: bool) -> None:
        self._selective = selective
        self._left: dict[TableName, Counter[Any]] = {}
        self._children: dict[TableName, set[TableName]] = {}
        self._watched: dict[TableName, TableName] = {}  # children of tables whose rows are taken back
        self._beside: set[TableName] = set()  # tables with rows of the present transaction that stay

    def begin(self) -> None:
        """Begin a transaction."""
        self._beside.clear()

    def taken(self, rows: RowsBody) -> None:
        """Note rows that are taken back."""
        table = rows.map()
        name = (table.schema, table.table)
        left = self._left.setdefault(name, Counter())
        if self._selective:
            left.subtract(row.before for row in rows.rows if row.before is not None)
            left.update(row.after for row in rows.rows if row.after is not None)
        children = self._children.get(name)
        if not children:
            return
        if not rows.flags & USE_SQL_FOREIGN_KEY and any(row.before is not None for row in rows.rows):
            raise _refused(
                f"{_words(name)}: rows of {_words(min(children))} change with it, and the log does not say how"
            )
        self._watched.update(dict.fromkeys(children, name))
        for child in sorted(children & self._beside):
            raise self._depends(child, "rows of the same transaction")

    def stays(self, rows: LazyRows, shown: str) -> None:
        """Look at rows that stay. ``shown``: their transaction. Raises if they change a row that is taken back."""
        table = rows.map()
        name = (table.schema, table.table)
        self._beside.add(name)
        if name in self._watched:
            raise self._depends(name, shown)
        left = self._left.get(name)
        if left is None or rows.before_columns is None:
            return
        whole = len(included(rows.before_columns, len(table.columns))) == len(table.columns)
        for row in rows.rows():
            if not whole or left[row.before] > 0:
                why = "changes the same row" if whole else "has an image without all columns"
                raise _refused(f"{_words(name)}: a later transaction, which stays, {why}", shown)

    def _depends(self, child: TableName, got: str) -> ReplayError:
        parent = _words(self._watched[child])
        return _refused(f"{_words(child)}: rows that stay depend on {parent} by a foreign key that cascades", got)

    def statement(self, statement: Statement, text: str) -> None:
        """Look at a statement that stays. Raises if it changes a table with rows that are taken back."""
        touched = tables_of(statement, self._left)
        for name in touched:
            if name in self._left:
                raise _refused(f"a statement behind the transaction changes {_words(name)}, and stays", text)
        self._keep_foreign_keys(statement)

    def unknown(self, text: str) -> None:
        """Look at a statement that may change any table."""
        if self._left:
            raise _refused("a statement behind the transaction changes tables, and stays", text)

    def _keep_foreign_keys(self, statement: Statement) -> None:
        match statement:
            case CreateTable(table=child, cascades_from=parents):
                for parent in parents:
                    self._children.setdefault(parent, set()).add(child)
            case AlterTable(table=child, actions=actions):
                for action in actions:
                    if isinstance(action, SetParent):
                        self._children.setdefault(action.table, set()).add(child)
                    elif isinstance(action, MoveTable):
                        self._rename(child, action.table)
            case RenameTables(pairs=pairs):
                for old, new in pairs:
                    self._rename(old, new)
            case DropTables() | DropSchema():
                for children in self._children.values():
                    children.difference_update(tables_of(statement, children))

    def _rename(self, old: TableName, new: TableName) -> None:
        if old in self._children:
            self._children[new] = self._children.pop(old)
        for children in self._children.values():
            if old in children:
                children.remove(old)
                children.add(new)


def tables_of(statement: Statement, known: Iterable[TableName]) -> set[TableName]:
    """The tables whose definition or rows a statement changes. ``known``: those that DROP SCHEMA may drop."""
    match statement:
        case CreateTable(table=table):
            return {*statement.cascades_from, *(() if statement.if_not_exists else (table,))}
        case CreateLike(table=table):
            return set() if statement.if_not_exists else {table}
        case AlterTable(table=table, actions=actions):
            parents = {action.table for action in actions if isinstance(action, SetParent | MoveTable)}
            changing = [action for action in actions if not _keeps_rows(action)]
            return parents | ({table} if changing else set())
        case DropTables(tables=tables):
            return set(tables)
        case DropSchema(schema=schema):
            return {name for name in known if name[0] == schema}
        case Truncate(table=table):
            return {table}
        case RenameTables(pairs=pairs):
            return {name for pair in pairs for name in pair}
        case DefineSchema():
            return set()


def _keeps_rows(action: object) -> bool:
    """Whether a part of ALTER TABLE leaves columns and rows of its table as they are."""
    return isinstance(action, SetKey | SetParent | StartNumbers) or (
        isinstance(action, SetCharset) and not action.convert
    )


def _words(name: TableName) -> str:
    return ".".join(name)


def _refused(why: str, got: str | None = None) -> ReplayError:
    return ReplayError("no-undo", why, expected="rows and tables as the transactions left them", got=got)
