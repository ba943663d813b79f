"""One table during a replay: its columns as far as they are known, its rows, and how rows are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.values import same
from conformance.reference.portable import capitals, folded, is_number
from conformance.reference.replay.row_store import RowIndex, RowStore
from conformance.reference.replay.statements import ColumnDefinition, DropColumn, PutColumn, RenameColumn, SetKey
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY, bytes_of
from conformance.reference.tables.columns import ColumnType
from conformance.reference.tables.metadata import ColumnInfo, Field, Numbers, PrefixKey
from conformance.reference.tables.table_map import GENERATED_INVISIBLE_PK
from conformance.reference.text.columns import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.reference.replay.row_store import Values
    from conformance.reference.replay.statements import Action
    from conformance.reference.sql.definition_reader import TableName
    from conformance.reference.sql.statement_words import Word
    from conformance.reference.tables.table_map import TableMap

MISSING: Final = object()
_LONGEST_NUMBER: Final = 20  # digits; Python refuses to read thousands
_NO_INFO: Final = ColumnInfo(ColumnType(types.NULL), nullable=True)


class NewDefault(NamedTuple):
    """The value that existing rows get in a new column, as DDL has it: the next TABLE_MAP gives it its type."""

    words: tuple[Word, ...]


class TableState:
    """A table. ``columns`` is ``None`` before its CREATE TABLE.

    A row has its values in column order, in the form of the binary log's column codecs; its number never changes.
    """

    def __init__(self, name: TableName, *, transactional: bool = True) -> None:
        self.name = name
        self.columns: list[ColumnDefinition] | None = None
        self.key: tuple[str, ...] = ()
        self.transactional = transactional
        self.rows = RowStore()
        self.map: TableMap | None = None
        self._infos: list[ColumnInfo | None] = []  # of each column, where no TABLE_MAP has them: DDL moved columns
        self._untyped = False  # whether rows may have a NewDefault
        self._indexes: dict[tuple[int, ...], RowIndex] = {}

    # --- definition --------------------------------------------------------------------------------------------------

    def bind(self, table: TableMap) -> None:
        """Check that this TABLE_MAP describes the known table; rows of it come next."""
        if table is self.map:
            return
        count = len(table.columns)
        if self.columns is not None and len(self.columns) != count:
            raise self.error(
                "columns", "its definition changed in a way that is not in the log", len(self.columns), count
            )
        if self.rows and self.map is not None and self.map.columns != table.columns:
            raise self.error("columns", "its column types changed in a way that is not in the log", None, None)
        if self.map is not None and self.map.columns != table.columns:  # of a table without rows
            self._indexes.clear()
        self.map = table
        self._infos = []
        if self._untyped:
            self._type_defaults()

    def _type_defaults(self) -> None:
        """Give the defaults of new columns their types."""
        for at, info in enumerate(self._known_infos()):
            for number, row in self.rows.items():
                if isinstance(row[at], NewDefault):
                    value = MISSING if info is None else _literal(info, row[at].words)
                    if value is MISSING:
                        raise self.error("alter", "a new column whose values are not known", None, at + 1)
                    self.rows[number] = (*row[:at], value, *row[at + 1 :])
        self._untyped = False
        self._indexes.clear()

    def infos(self) -> list[ColumnInfo]:
        """The facts about each column. A column without a TABLE_MAP so far is NULL in every row and has no facts.

        Raises for a new column with a default, while no row event has told its type.
        """
        if self._untyped and any(isinstance(value, NewDefault) for row in self.rows.values() for value in row):
            raise self.error(
                "alter", "a new column has a default, and no row event behind it tells its type", None, None
            )
        return [info or _NO_INFO for info in self._known_infos()]

    def _known_infos(self) -> Sequence[ColumnInfo | None]:
        return self._infos if self.map is None else self.map.described

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
        """The index of a column; column names are case-insensitive."""
        for index, column in enumerate(self.columns or ()):
            if folded(column.name) == folded(name):
                return index
        raise self.error("no-column", "the statement names a column that it does not have", None, name)

    def key_columns(self) -> tuple[int, ...]:
        """Indexes of the columns of the primary key, as far as it is known: from DDL, from metadata, or generated."""
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

    def alter_columns(self, actions: Sequence[Action]) -> None:
        """Change columns and key as ALTER TABLE does.

        Whatever the order in the statement (observed on 9.7.4), the server first drops columns. It then changes columns
        by their old names, and then adds and moves columns by their new names. The key keeps its parts by their old
        names. If a new column has the old name of a renamed column, the key takes the one further in front.
        """
        changes = [action for action in actions if isinstance(action, PutColumn | RenameColumn)]
        drops = [action.name for action in actions if isinstance(action, DropColumn)]
        keys = [action.columns for action in actions if isinstance(action, SetKey)]
        keys += [(each.definition.name,) for each in changes if isinstance(each, PutColumn) and each.definition.primary]
        if changes or drops:
            if self.columns is None:
                raise self.error("no-definition", "ALTER TABLE, but no CREATE TABLE was seen", None, None)
            self.forget_map()
            known = self._change_columns(changes, drops)
            names = dict(zip(reversed(known), reversed([column.name for column in self.columns]), strict=True))
            self.key = tuple([names[folded(part)] for part in self.key if folded(part) in names])
            self._indexes.clear()
        if keys:
            self.key = next(filter(None, keys), ())

    def _change_columns(self, changes: Sequence[PutColumn | RenameColumn], drops: Sequence[str]) -> list[str]:
        """For each present column, the names in lower case by which parts of the key refer to it."""
        columns = self.columns = list(self.columns or ())
        for name in drops:
            self._take(self.place(name))
        known = [folded(column.name) for column in columns]
        for at, new in [(self.place(each.old), each) for each in changes if each.old is not None]:
            old = columns[at]
            if isinstance(new, RenameColumn):
                columns[at] = ColumnDefinition(new.new, old.words)
                continue
            columns[at] = new.definition
            if self.rows and _texts(old) != _texts(new.definition):
                raise self.error(
                    "alter", "ALTER TABLE changes a column that has values", old.name, " ".join(_texts(new.definition))
                )
        for change in changes:
            if isinstance(change, RenameColumn):
                continue
            if change.old is None:
                value = self._value_of_new(change.definition) if self.rows else None
                at = len(columns) if change.after is None else self._after(change.after)
                self._insert(at, change.definition, None, dict.fromkeys(self.rows, value))
                known.insert(at, folded(change.definition.name))
            elif change.after is not None:
                at = self.place(change.definition.name)
                name, taken = known.pop(at), self._take(at)
                at = self._after(change.after)
                self._insert(at, *taken)
                known.insert(at, name)
        return known

    def _take(self, at: int) -> tuple[ColumnDefinition, ColumnInfo | None, dict[int, Any]]:
        """Remove a column from the table; returns its facts, and its value in each row."""
        assert self.columns is not None
        info = self._infos.pop(at) if self._infos else None
        taken = {}
        for number, row in self.rows.items():
            taken[number] = row[at]
            self.rows[number] = (*row[:at], *row[at + 1 :])
        return self.columns.pop(at), info, taken

    def _insert(self, at: int, column: ColumnDefinition, info: ColumnInfo | None, values: Mapping[int, Any]) -> None:
        assert self.columns is not None
        if len(self._infos) == len(self.columns):  # else nothing is known of any
            self._infos.insert(at, info)
        self.columns.insert(at, column)
        for number, row in self.rows.items():
            self.rows[number] = (*row[:at], values[number], *row[at:])

    def _value_of_new(self, column: ColumnDefinition) -> NewDefault | None:
        """Return the value of existing rows in a new column: NULL or a constant.

        Raises for values that are not in the log.
        """
        default = column.default
        null = not default or default[0].among("NULL")
        constant = bool(default) and (default[0].string or is_number(default[0].text))
        if column.generated or column.automatic or (column.not_null if null else not constant):
            raise self.error("alter", "a new column whose values are not known", "NULL or a constant", column.name)
        if null:
            return None
        self._untyped = True
        return NewDefault(default)

    def _after(self, name: str) -> int:
        return 0 if not name else self.place(name) + 1

    def forget_map(self) -> None:
        """Forget the last TABLE_MAP, except for the facts about columns: the next one may differ."""
        self._infos = list(self._known_infos())
        self.map = None
        self._indexes.clear()

    # --- rows --------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Remove all rows (TRUNCATE)."""
        self.rows.clear()
        self._indexes.clear()

    def add(self, values: Sequence[Any]) -> int:
        """Add a new row; returns its number."""
        number = self.rows.add(values)
        self._note(number)
        return number

    def restore(self, number: int, values: Sequence[Any]) -> None:
        """Let a removed row return under its number."""
        self.rows[number] = values
        self._note(number)

    def _note(self, number: int) -> None:
        values = self.rows[number]
        for columns, index in self._indexes.items():
            index.add(_picked(values, columns), number)

    def remove(self, number: int) -> Values:
        """Remove a row; returns its values."""
        values = self.rows.pop(number)
        for columns, index in self._indexes.items():
            index.discard(_picked(values, columns), number)
        return values

    def replace(self, number: int, values: Sequence[Any]) -> Values:
        """Replace the values of a row; returns the old values."""
        old = self.rows[number]
        self.rows[number] = values
        for columns, index in self._indexes.items():
            before, after = _picked(old, columns), _picked(values, columns)
            if before != after:
                index.discard(before, number)
                index.add(after, number)
        return old

    def find(self, image: Mapping[int, Any]) -> int | None:
        """The row of a before image: by the primary key if it is known, else by all values of the image."""
        assert self.map is not None
        key = self.key_columns()
        whole = not key or any(column not in image for column in key)
        # Two servers may lay out equal documents differently, so those are compared by value.
        documents = [index for index in self.map.json_columns if whole and index in image]
        columns = tuple([index for index in sorted(image) if index not in documents]) if whole else key
        for number in self._index(columns).numbers(tuple([image[column] for column in columns])):
            values = self.rows[number]
            if all(same_document(values[column], image[column]) for column in documents):
                return number
        return None

    def has_key_of(self, values: Sequence[Any]) -> bool:
        """Whether a row has the same primary key."""
        key = self.key_columns()
        return bool(key) and _picked(values, key) in self._index(key)

    def _index(self, columns: tuple[int, ...]) -> RowIndex:
        """Numbers of the rows by their values in these columns; made once, then kept up to date."""
        index = self._indexes.get(columns)
        if index is None:
            index = RowIndex()
            for number, values in self.rows.items():
                index.add(_picked(values, columns), number)
            self._indexes[columns] = index
        return index

    def default(self, column: int) -> Any:
        """The value of a column that an insert omits; raises where it is not certain."""
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
            value = _literal(info, words)
            if value is not MISSING:
                return value
        raise self.error("default", "an insert leaves out a column whose default is not known", None, definition.name)


def _texts(column: ColumnDefinition) -> list[str]:
    return [word.text if word.string or word.quoted else capitals(word.text) for word in column.words]


def _picked(values: Sequence[Any], columns: tuple[int, ...]) -> Values:
    picked = tuple([values[column] for column in columns])
    return values if isinstance(values, tuple) and picked == values else picked  # the row itself, where it is the key


def same_document(stored: Any, wanted: Any) -> bool:
    """Whether two values of a JSON column are equal, however they are laid out."""
    if stored == wanted or stored is None or wanted is None:
        return bool(stored == wanted)
    try:
        return same(decode(stored), decode(wanted))
    except CodecError:
        return False


def _literal(info: ColumnInfo, words: Sequence[Word]) -> Any:
    """A default that needs little conversion: whole numbers and strings."""
    text = words[0].text
    if len(words) > 1 and (words[1].string or words[1].among(".")):
        return MISSING  # it goes on: strings side by side are one string
    if info.type.real_type in INTEGERS and is_number(text) and len(text) <= _LONGEST_NUMBER:
        return int(text)
    if words[0].string and info.type.is_character and info.type.type != types.VECTOR and info.collation is not None:
        if info.type.real_type == types.STRING:
            text = text.rstrip("\0" if info.collation == BINARY else " ")  # a log has no pads (binlog-events 10.2)
        if info.collation == BINARY:
            return text.encode() if text.isascii() else MISSING
        value = bytes_of(text, info.collation)
        return MISSING if value is None else value
    return MISSING
