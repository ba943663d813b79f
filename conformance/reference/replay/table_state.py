"""One table during a replay: its columns as far as they are known, its rows, and how rows are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference.binlog import columns as types
from conformance.reference.binlog.charsets import BINARY, bytes_of
from conformance.reference.binlog.columns import ColumnType
from conformance.reference.binlog.metadata import ColumnInfo, Field, Numbers, PrefixKey
from conformance.reference.binlog.table_map import GENERATED_INVISIBLE_PK
from conformance.reference.column_text import INTEGERS
from conformance.reference.errors import CodecError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.values import same
from conformance.reference.replay.statements import ColumnDefinition, PutColumn, ReplayError, TableName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.reference.binlog.table_map import TableMap

MISSING: Final = object()
_NO_INFO: Final = ColumnInfo(ColumnType(types.NULL), nullable=True)


class TableState:
    """``columns`` is ``None`` while no CREATE TABLE was seen. A row is a list of values in column order, in the form of
    the binary log's column codecs; its number never changes."""

    def __init__(self, name: TableName, *, transactional: bool = True) -> None:
        self.name = name
        self.columns: list[ColumnDefinition] | None = None
        self.key: tuple[str, ...] = ()
        self.transactional = transactional
        self.rows: dict[int, list[Any]] = {}
        self.map: TableMap | None = None
        self._infos: list[ColumnInfo | None] = []  # of each column, kept when DDL moves columns
        self._next = 0
        self._indexes: dict[tuple[int, ...], dict[tuple[Any, ...], list[int]]] = {}

    # --- definition --------------------------------------------------------------------------------------------------

    def bind(self, table: TableMap) -> None:
        """Rows of this TABLE_MAP come next: it must be the table that we know."""
        if table is self.map:
            return
        count = len(table.columns)
        if self.columns is not None and len(self.columns) != count:
            raise self.error(
                "columns", "its definition changed in a way that is not in the log", len(self.columns), count
            )
        if self.rows and self.map is not None and self.map.columns != table.columns:
            raise self.error("columns", "its column types changed in a way that is not in the log", None, None)
        self.map = table
        self._infos = list(table.described)

    def infos(self) -> list[ColumnInfo]:
        """What is known of each column; for one that no TABLE_MAP has had yet, which is NULL in every row, nothing."""
        return [info or _NO_INFO for info in self._infos]

    def column_names(self) -> list[str]:
        """Names from the log, else from DDL, else ``@1``..."""
        if self.map is not None and any(info.name is not None for info in self.map.described):
            return list(self.map.column_names)
        if self.columns is not None:
            return [column.name for column in self.columns]
        return list(self.map.column_names) if self.map is not None else []

    def error(self, code: str, why: str, expected: object, got: object) -> ReplayError:
        """An error about this table."""
        return ReplayError(code, f"table {'.'.join(self.name)}: {why}", expected=expected, got=got)

    def place(self, name: str) -> int:
        """The index of a column; names of columns have no case."""
        for index, column in enumerate(self.columns or ()):
            if column.name.lower() == name.lower():
                return index
        raise self.error("no-column", "the statement names a column that it does not have", None, name)

    def key_columns(self) -> tuple[int, ...]:
        """Indexes of the primary key, as far as it is known: from DDL, from metadata, or generated."""
        if self.columns is not None and self.key:
            return tuple([self.place(name) for name in self.key])
        if self.map is None:
            return ()
        for item in self.map.metadata:
            if isinstance(item, PrefixKey):
                return tuple([index for index, _ in item.parts])
            if isinstance(item, Numbers) and item.field == Field.SIMPLE_PRIMARY_KEY:
                return item.numbers
        return (0,) if self.map.flags & GENERATED_INVISIBLE_PK else ()

    # --- changes of the definition -----------------------------------------------------------------------------------

    def put_column(self, change: PutColumn) -> None:
        """ADD, CHANGE, MODIFY."""
        if self.columns is None:
            raise self.error("no-definition", "ALTER TABLE, but no CREATE TABLE was seen", None, None)
        new = change.definition
        if change.old is None:
            if self.rows:
                self._check_null(new)
            at = len(self.columns) if change.after is None else self._after(change.after)
            self.columns.insert(at, new)
            if self._infos:
                self._infos.insert(at, None)
            for row in self.rows.values():
                row.insert(at, None)
        else:
            at = self.place(change.old)
            old = self.columns[at]
            if self.rows and _texts(old) != _texts(new):
                raise self.error(
                    "alter", "ALTER TABLE changes a column that has values", old.name, " ".join(_texts(new))
                )
            self._rename_in_key(old.name, new.name)
            self.columns[at] = new
            if change.after is not None:
                self._move(at, change.after)
        if new.primary:
            self.key = (new.name,)
        self.forget_map()

    def _check_null(self, column: ColumnDefinition) -> None:
        """Existing rows must get NULL in a new column: another value is not in the log."""
        default = column.default
        if column.generated or column.not_null or column.automatic or (default and not default[0].among("NULL")):
            raise self.error("alter", "a new column whose values are not known", "NULL", column.name)

    def _after(self, name: str) -> int:
        return 0 if not name else self.place(name) + 1

    def _move(self, at: int, after: str) -> None:
        assert self.columns is not None
        column = self.columns.pop(at)
        to = self._after(after)
        self.columns.insert(to, column)
        if self._infos:
            self._infos.insert(to, self._infos.pop(at))
        for row in self.rows.values():
            row.insert(to, row.pop(at))

    def _rename_in_key(self, old: str, new: str) -> None:
        self.key = tuple([new if name.lower() == old.lower() else name for name in self.key])

    def rename_column(self, old: str, new: str) -> None:
        """RENAME COLUMN."""
        if self.columns is None:
            raise self.error("no-definition", "ALTER TABLE, but no CREATE TABLE was seen", None, None)
        at = self.place(old)
        self.columns[at] = ColumnDefinition(new, self.columns[at].words)
        self._rename_in_key(old, new)
        self.forget_map()

    def drop_column(self, name: str) -> None:
        """DROP COLUMN; a key without it is no longer one to find rows by."""
        if self.columns is None:
            raise self.error("no-definition", "ALTER TABLE, but no CREATE TABLE was seen", None, None)
        at = self.place(name)
        del self.columns[at]
        if self._infos:
            del self._infos[at]
        for row in self.rows.values():
            del row[at]
        if any(part.lower() == name.lower() for part in self.key):
            self.key = ()
        self.forget_map()

    def forget_map(self) -> None:
        """The next TABLE_MAP may differ from the last one."""
        self.map = None
        self._indexes.clear()

    # --- rows --------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """TRUNCATE."""
        self.rows.clear()
        self._indexes.clear()

    def add(self, values: list[Any], number: int | None = None) -> int:
        """A new row, or one that comes back under its number."""
        if number is None:
            number = self._next
            self._next += 1
        self.rows[number] = values
        for columns, index in self._indexes.items():
            index.setdefault(_picked(values, columns), []).append(number)
        return number

    def remove(self, number: int) -> list[Any]:
        """Take a row out."""
        values = self.rows.pop(number)
        for columns, index in self._indexes.items():
            key = _picked(values, columns)
            found = index[key]
            found.remove(number)
            if not found:
                del index[key]
        return values

    def replace(self, number: int, values: list[Any]) -> list[Any]:
        """Another content for a row; answers the old one."""
        old = self.rows[number]
        self.rows[number] = values
        for columns, index in self._indexes.items():
            before, after = _picked(old, columns), _picked(values, columns)
            if before != after:
                index[before].remove(number)
                if not index[before]:
                    del index[before]
                index.setdefault(after, []).append(number)
        return old

    def find(self, image: Mapping[int, Any]) -> int | None:
        """The row that a before image means: by the primary key if it is known, else by all values of the image."""
        assert self.map is not None
        key = self.key_columns()
        whole = not key or any(column not in image for column in key)
        # Two servers may lay out equal documents differently, so those are compared by value.
        documents = [index for index in self.map.json_columns if whole and index in image]
        columns = tuple([index for index in sorted(image) if index not in documents]) if whole else key
        for number in self._index(columns).get(tuple([image[column] for column in columns]), ()):
            values = self.rows[number]
            if all(_equal(values[column], image[column]) for column in documents):
                return number
        return None

    def has_key_of(self, values: Sequence[Any]) -> bool:
        """Whether a row has the same primary key."""
        key = self.key_columns()
        return bool(key) and _picked(values, key) in self._index(key)

    def _index(self, columns: tuple[int, ...]) -> dict[tuple[Any, ...], list[int]]:
        """Numbers of the rows by their values in these columns; made once, kept up to date."""
        index = self._indexes.get(columns)
        if index is None:
            index = {}
            for number, values in self.rows.items():
                index.setdefault(_picked(values, columns), []).append(number)
            self._indexes[columns] = index
        return index

    def default(self, column: int) -> Any:
        """What an insert that leaves a column out gives it; an error where that is not certain."""
        assert self.map is not None
        info = self.map.described[column]
        if self.columns is None:
            raise self.error("default", "an insert leaves out a column whose default is not known", None, column + 1)
        definition = self.columns[column]
        words = definition.default
        if definition.generated or definition.automatic:
            raise self.error("default", "an insert leaves out a column that the server computes", None, definition.name)
        if not words:
            if not definition.not_null and info.nullable:
                return None
        elif words[0].among("NULL"):
            return None
        else:
            value = _literal(info, words[0].text, string=words[0].string, more=words[1].text if len(words) > 1 else "")
            if value is not MISSING:
                return value
        raise self.error("default", "an insert leaves out a column whose default is not known", None, definition.name)


def _texts(column: ColumnDefinition) -> list[str]:
    return [word.text if word.string or word.quoted else word.text.upper() for word in column.words]


def _picked(values: Sequence[Any], columns: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple([values[column] for column in columns])


def _equal(stored: Any, wanted: Any) -> bool:
    if stored == wanted or stored is None or wanted is None:
        return bool(stored == wanted)
    try:
        return same(decode(stored), decode(wanted))
    except CodecError:
        return False


def _literal(info: ColumnInfo, text: str, *, string: bool, more: str) -> Any:
    """A default that needs no conversion to speak of: whole numbers and strings."""
    if info.type.real_type in INTEGERS and text.isdecimal() and more not in (".", "e", "E"):
        return int(text)
    if string and info.type.is_character and info.type.type != types.VECTOR and info.collation is not None:
        if info.collation == BINARY:
            return text.encode() if text.isascii() else MISSING
        value = bytes_of(text, info.collation)
        return MISSING if value is None else value
    return MISSING
