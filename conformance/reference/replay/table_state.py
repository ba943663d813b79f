"""One table during a replay: its columns as far as they are known, its rows, and how rows are found."""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from conformance.reference.cursor import included
from conformance.reference.errors import CodecError, ReplayError
from conformance.reference.jsonb.decode import decode
from conformance.reference.jsonb.values import same
from conformance.reference.portable import capitals, folded
from conformance.reference.replay.defined_columns import completed, defined_info, in_charset, learned_charset, same_type
from conformance.reference.replay.row_store import RowIndex, RowStore
from conformance.reference.replay.session_facts import UNKNOWN_SESSION
from conformance.reference.replay.statements import (
    DropColumn,
    PutColumn,
    RenameColumn,
    SetCharset,
    SetKey,
    StartNumbers,
)
from conformance.reference.replay.values.conversions import converter, stored
from conformance.reference.replay.values.expressions import evaluated
from conformance.reference.replay.values.new_columns import NOW, default_value, value_of_new
from conformance.reference.tables import columns as types
from conformance.reference.tables.charsets import BINARY
from conformance.reference.tables.columns import ColumnType, value_size
from conformance.reference.tables.metadata import ColumnInfo, Field
from conformance.reference.text.columns import INTEGERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from conformance.reference.replay.row_store import Values
    from conformance.reference.replay.session_facts import SessionFacts
    from conformance.reference.replay.statements import Action, ColumnDefinition, DefaultCharset
    from conformance.reference.sql.definition_reader import TableName
    from conformance.reference.tables.table_map import TableMap

image_columns: Final = lru_cache(maxsize=64)(included)  # each row asks for two, and a log has few different ones
_NO_INFO: Final = ColumnInfo(ColumnType(types.NULL), nullable=True)


class TableState:
    """A table. ``columns`` is ``None`` before its CREATE TABLE.

    A row has its values in column order, in the form of the binary log's column codecs; its number never changes.
    """

    def __init__(self, name: TableName, *, transactional: bool = True) -> None:
        self.name = name
        self.columns: list[ColumnDefinition] | None = None
        self.key: tuple[str, ...] = ()
        self.ascending = True  # whether rows lie in the order of the key
        self.transactional = transactional
        self.rows = RowStore()
        self.map: TableMap | None = None
        self.charset: DefaultCharset | None = None  # of new columns that name none
        self.unsigned: dict[int, int] = {}  # columns whose numbers the TABLE_MAP has as signed: all bits of theirs
        self._infos: list[ColumnInfo | None] | None = None  # of each column; None: to be computed
        self._converted = False  # whether ALTER TABLE gave rows new values since the last TABLE_MAP
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
        if self._converted:
            self._check_types(table)
        self.map = table
        self._infos = None
        self.unsigned = {} if _has_signs(table) else self._unsigned(table)

    def _check_types(self, table: TableMap) -> None:
        """The types that ALTER TABLE gave, against those of the log: the values in the rows depend on them."""
        for definition, column in zip(self.columns or (), table.columns, strict=True):
            known = defined_info(definition)
            if known is not None and not same_type(known.type, column):
                raise self.error("columns", "ALTER TABLE gave another type than the log has", known.type, column)
        self._converted = False

    def _unsigned(self, table: TableMap) -> dict[int, int]:
        """The integers that only the DDL calls unsigned, each with all bits of its type."""
        found = {}
        for index, (definition, column) in enumerate(zip(self.columns or (), table.columns, strict=False)):
            size = value_size(column) if column.type in INTEGERS else None
            known = defined_info(definition) if size else None
            if size and known is not None and known.unsigned and same_type(known.type, column):
                found[index] = (1 << 8 * size) - 1
        return found

    def infos(self) -> list[ColumnInfo]:
        """The facts about each column: of the TABLE_MAP, and of the DDL where it has none.

        A column without any is NULL in every row.
        """
        return [info or _NO_INFO for info in self._known_infos()]

    def _known_infos(self) -> list[ColumnInfo | None]:
        if self._infos is None:
            definitions = self.columns or ()
            if self.map is None:
                self._infos = [defined_info(definition) for definition in definitions]
            elif self.columns is None:
                self._infos = list(self.map.described)
            else:
                pairs = zip(self.map.described, definitions, strict=True)
                self._infos = [completed(told, defined_info(definition)) for told, definition in pairs]
        return self._infos

    def forget_derived(self) -> None:
        """Drop what was computed from the last TABLE_MAP: there may be many columns."""
        if self.map is not None:
            self.map.forget_derived()
            self._infos = None

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
        return () if self.map is None else self.map.key_columns

    # --- changes of the definition -----------------------------------------------------------------------------------

    def alter_columns(self, actions: Sequence[Action], session: SessionFacts = UNKNOWN_SESSION) -> None:
        """Change columns, key and values as ALTER TABLE does, or raise and leave all as it was."""
        numbers, rows = array("Q", self.rows), list(self.rows.values())
        kept = (self.columns, self.key, self.ascending, self.charset, self.map, self._infos, self._converted)
        try:
            self._alter_columns(actions, session)
        except CodecError:
            self.columns, self.key, self.ascending, self.charset, self.map, self._infos, self._converted = kept
            for number, row in zip(numbers, rows, strict=True):
                self.rows[number] = row
            self._indexes.clear()
            raise

    def _alter_columns(self, actions: Sequence[Action], session: SessionFacts) -> None:
        """Change columns, key and values.

        Whatever the order in the statement (observed on 9.7.4), the server first drops columns. It then changes columns
        by their old names, and then adds and moves columns by their new names. The key keeps its parts by their old
        names. If a new column has the old name of a renamed column, the key takes the one further in front.
        """
        changes = [action for action in actions if isinstance(action, PutColumn | RenameColumn)]
        drops = [action.name for action in actions if isinstance(action, DropColumn)]
        keys = [action for action in actions if isinstance(action, SetKey)]
        new_columns = [change.definition for change in changes if isinstance(change, PutColumn)]
        keys += [SetKey((definition.name,)) for definition in new_columns if definition.primary]
        charsets = [action for action in actions if isinstance(action, SetCharset)]
        for action in charsets:
            self.charset = action.charset
        conversions = [action for action in charsets if action.convert]
        if changes or drops or conversions:
            if self.columns is None:
                raise self.error("no-definition", "ALTER TABLE, but no CREATE TABLE was seen", None, None)
            if self.charset is not None and not self.charset.certain:
                self._learn_charset()
            numbers: dict[int, int] = {}
            if self.rows and any(
                change.definition.automatic and change.old is None
                for change in changes
                if isinstance(change, PutColumn)
            ):
                numbers = self._numbers(actions, session)
            self.forget_map()
            self.columns = list(self.columns)
            for action in conversions:
                self._convert_text(action.charset, session)
            known = self._change_columns(changes, drops, numbers, session)
            names = dict(zip(reversed(known), reversed([column.name for column in self.columns]), strict=True))
            self.key = tuple([names[folded(part)] for part in self.key if folded(part) in names])
            self._indexes.clear()
        if keys:
            key = next((key for key in keys if key.columns), SetKey(()))
            self.key, self.ascending = key.columns, key.ascending

    def _learn_charset(self) -> None:
        """Take the character set of columns without one from the last TABLE_MAP, where it has it."""
        if self.map is None or self.columns is None:
            return
        found = [learned_charset(*pair) for pair in zip(self.columns, self.map.described, strict=True)]
        learned = next(filter(None, found), None)
        if learned is not None:
            self.columns = [
                replace(column, charset=learned) if column.charset == self.charset else column
                for column in self.columns
            ]
            self.charset, self._infos = learned, None

    def _numbers(self, actions: Sequence[Action], session: SessionFacts) -> dict[int, int]:
        """The numbers that a new AUTO_INCREMENT column gives the rows: in the order of the old primary key.

        Without one, rows lie in an order that concurrent sessions made, which is not in the log.
        """
        key, infos = self.key_columns(), self.infos()
        sorted_types = (*INTEGERS, types.NEWDECIMAL, types.DATE, types.DATETIME2, types.TIMESTAMP2)
        sortable = all(infos[at].type.real_type in sorted_types for at in key)
        if len(self.rows) > 1 and not (key and sortable and self.ascending and self.transactional):
            raise self.error("alter", "AUTO_INCREMENT numbers rows in an order that is not in the log",
                             "a primary key of numbers or dates", None)  # fmt: skip
        step, offset = session.increment
        first = max([1, *(action.first for action in actions if isinstance(action, StartNumbers))])
        first = offset + -(-max(first - offset, 0) // step) * step
        rows = sorted(self.rows.items(), key=lambda item: _picked(item[1], key))
        return {number: first + place * step for place, (number, _) in enumerate(rows)}

    def _change_columns(
        self,
        changes: Sequence[PutColumn | RenameColumn],
        drops: Sequence[str],
        numbers: Mapping[int, int],
        session: SessionFacts,
    ) -> list[str]:
        """For each present column, the names in lower case by which parts of the key refer to it."""
        columns = self.columns = list(self.columns or ())
        converted: set[str] = set()
        for name in drops:
            self._take(self.place(name))
        known = [folded(column.name) for column in columns]
        for at, new in [(self.place(each.old), each) for each in changes if each.old is not None]:
            if isinstance(new, RenameColumn):
                columns[at] = replace(columns[at], name=new.new)
            elif self._redefine(at, self._defined(new.definition), session):
                converted.add(folded(new.definition.name))
        for change in changes:
            if isinstance(change, RenameColumn):
                continue
            if change.old is None:
                definition = self._defined(change.definition)
                at = len(columns) if change.after is None else self._after(change.after)
                self._insert(at, definition, defined_info(definition), self._new_values(definition, numbers, session))
                known.insert(at, folded(definition.name))
            elif change.after is not None:
                at = self.place(change.definition.name)
                name, taken = known.pop(at), self._take(at)
                at = self._after(change.after)
                self._insert(at, *taken)
                known.insert(at, name)
        converted.update(
            folded(each.definition.name) for each in changes if isinstance(each, PutColumn) and not each.old
        )
        if self.rows:
            self._generate(session, [at for at, column in enumerate(columns) if _follows(column, converted)])
        return known

    def _defined(self, definition: ColumnDefinition) -> ColumnDefinition:
        """The definition with the table's character set as its default."""
        return replace(definition, charset=self.charset)

    def _redefine(self, at: int, new: ColumnDefinition, session: SessionFacts, *, computed_again: bool = True) -> bool:
        """Give a column another definition; returns whether its values are others.

        ``computed_again``: whether the values of a generated column are computed later, and not converted.
        """
        assert self.columns is not None
        old, infos = self.columns[at], self._known_infos()
        before, after = infos[at], defined_info(new)
        self.columns[at] = new
        if not self.rows or _same_words(old, new):
            if not self.rows:
                infos[at] = after
            return False
        if before is None or after is None:
            raise self.error("alter", "ALTER TABLE changes a column that has values", old.name, " ".join(_texts(new)))
        infos[at] = after
        if new.generated and computed_again:
            return True
        if new.automatic and not old.automatic and any(row[at] in (0, None) for row in self.rows.values()):
            raise self.error("alter", "AUTO_INCREMENT gives new numbers to rows", "no row with 0", old.name)
        if _same_values(before, after) and not (old.rounded or new.rounded):
            if not after.nullable and any(row[at] is None for row in self.rows.values()):
                raise self.error("alter", "NOT NULL changes rows with NULL", "no row with NULL", old.name)
            return False
        if new.rounded or (old.filled and after.type.is_character):
            raise self.error("alter", "values that the server rounds or fills up", None, old.name)
        try:
            convert = converter(before, after, session.time_zone)
            for number, row in self.rows.items():
                self.rows[number] = (*row[:at], convert(row[at]), *row[at + 1 :])
        except CodecError as error:
            raise self._unknown_values(old.name, error) from None
        self._converted = True
        return True

    def _unknown_values(self, column: str, error: CodecError) -> ReplayError:
        return self.error(
            "alter", f"ALTER TABLE gives column {column} values that are not certain: {error.message}",
            error.expected, error.got,
        )  # fmt: skip

    def _convert_text(self, charset: DefaultCharset, session: SessionFacts) -> None:
        """CONVERT TO CHARACTER SET: every column of text."""
        for at, column in enumerate(self.columns or ()):
            info = defined_info(column)
            if info is None and self.rows:
                raise self.error("alter", "CONVERT changes a column of unknown type", None, column.name)
            if info is not None and info.collation != BINARY and (info.type.is_character or info.type.is_enum_or_set):
                self._redefine(at, in_charset(column, info, charset), session, computed_again=False)

    def _take(self, at: int) -> tuple[ColumnDefinition, ColumnInfo | None, dict[int, Any]]:
        """Remove a column from the table; returns its facts, and its value in each row."""
        assert self.columns is not None
        info = self._known_infos().pop(at)
        taken = {}
        for number, row in self.rows.items():
            taken[number] = row[at]
            self.rows[number] = (*row[:at], *row[at + 1 :])
        return self.columns.pop(at), info, taken

    def _insert(self, at: int, column: ColumnDefinition, info: ColumnInfo | None, values: Mapping[int, Any]) -> None:
        assert self.columns is not None
        self._known_infos().insert(at, info)
        self.columns.insert(at, column)
        for number, row in self.rows.items():
            self.rows[number] = (*row[:at], values[number], *row[at:])

    def _new_values(
        self, column: ColumnDefinition, numbers: Mapping[int, int], session: SessionFacts
    ) -> Mapping[int, Any]:
        """The values of a new column by row."""
        if column.automatic or not self.rows:
            return numbers
        return dict.fromkeys(self.rows, self._value_of_new(column, session))

    def _value_of_new(self, column: ColumnDefinition, session: SessionFacts) -> Any:
        """Return the value of existing rows in a new column; a generated one is computed later.

        Raises for values that are not in the log.
        """
        if column.generated:
            return None
        info = defined_info(column)
        if info is None:
            if not column.not_null and not column.default:
                return None
            raise self.error("alter", "a new column of unknown type, with values", "a known type", column.name)
        try:
            value = value_of_new(column, info, session)
            if value is not None and column.rounded and column.default:
                raise ReplayError("value", "a default that the server rounds")
        except CodecError as error:
            raise self._unknown_values(column.name, error) from None
        self._converted |= value is not None
        return value

    def _generate(self, session: SessionFacts, places: Container[int]) -> None:
        """Compute the generated columns at these places in all rows."""
        assert self.columns is not None
        infos = self.infos()
        names = [(column.name, info) for column, info in zip(self.columns, infos, strict=True)]
        for at, column in enumerate(self.columns):
            if not column.generated or at not in places:
                continue
            try:
                for number, row in self.rows.items():
                    value = evaluated(column.expression, names, row)
                    kept = None if value is None else stored(infos[at], value, session.time_zone)
                    self.rows[number] = (*row[:at], kept, *row[at + 1 :])
            except CodecError as error:
                raise self._unknown_values(column.name, error) from None
            self._converted = True

    def _after(self, name: str) -> int:
        return 0 if not name else self.place(name) + 1

    def forget_map(self) -> None:
        """Forget the last TABLE_MAP, except for the facts about columns: the next one may differ."""
        self._infos = list(self._known_infos())
        self.map = None
        self._indexes.clear()

    def start(
        self, rows: Iterable[Sequence[Any]], infos: Sequence[ColumnInfo] | None = None, *, computed: Container[int]
    ) -> None:
        """Take the rows that the table has before the log. ``infos``: the facts about its columns, else the DDL's.

        ``computed``: the generated columns whose values are not in these rows.
        """
        self._infos = None if infos is None else list(infos)
        for row in rows:
            if self.has_key_of(row):
                raise self.error("duplicate", "two rows have the same primary key", None, None)
            self.add(row)
        self._generate(UNKNOWN_SESSION, computed)
        self._converted = True  # the first TABLE_MAP has to be that of this table
        self._indexes.clear()

    # --- rows --------------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Remove all rows (TRUNCATE)."""
        self.rows.clear()
        self._indexes.clear()

    def given(self, bitmap: int | None, values: Sequence[Any] | None) -> dict[int, Any]:
        """The values of an image by column, numbers with the sign that the column has."""
        assert self.map is not None
        image = dict(zip(image_columns(bitmap or 0, len(self.map.columns)), values or (), strict=True))
        for index, bits in self.unsigned.items():
            if image.get(index) is not None:
                image[index] &= bits
        return image

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
        if key and image.keys() >= {*key}:
            return next(self._index(key).numbers(tuple([image[column] for column in key])), None)
        # Two servers may lay out equal documents differently, so those are compared by value.
        documents = [index for index in self.map.json_columns if index in image]
        columns = tuple([index for index in sorted(image) if index not in documents])
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
        info = self._known_infos()[column]
        if self.columns is None:
            raise self.error("default", "an insert leaves out a column whose default is not known", None, column + 1)
        definition = self.columns[column]
        words = definition.default
        if definition.generated or definition.automatic:
            raise self.error("default", "an insert leaves out a column that the server computes", None, definition.name)
        if not words and info is not None and not definition.not_null and info.nullable:
            return None
        if words and words[0].among("NULL"):
            return None
        if words and info is not None and not definition.rounded and not words[0].among(*NOW):
            with suppress(CodecError):
                return default_value(words, info, UNKNOWN_SESSION)
        raise self.error("default", "an insert leaves out a column whose default is not known", None, definition.name)


def _follows(column: ColumnDefinition, names: set[str]) -> bool:
    """Whether a generated column is one of these, or its expression names one of them."""
    words = [word.text for word in column.expression if not word.string]
    return column.generated and not names.isdisjoint(map(folded, (column.name, *words)))


def _has_signs(table: TableMap) -> bool:
    return any(field.field == Field.SIGNEDNESS for field in table.metadata)


def _same_values(one: ColumnInfo, other: ColumnInfo) -> bool:
    """Whether columns of both kinds store equal values in the same way."""
    return one[:1] + one[3:6] == other[:1] + other[3:6]


def _same_words(one: ColumnDefinition, other: ColumnDefinition) -> bool:
    return _texts(one) == _texts(other) and one.charset == other.charset


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
