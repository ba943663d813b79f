"""The tables of a replay against their rows in InnoDB's data files, one by one.

A row is found by its key: the primary key, or the unique one that clusters the table, else all its values. Values are
compared, not bytes: a JSON document may be laid out in another way. The file has no virtual columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.column_values import stored_value
from conformance.reference.innodb.dictionary import (
    ClusteredIndex,
    ColumnType,
    clustered_indexes,
    dictionary_errors,
    parts,
)
from conformance.reference.innodb.large_values import LobReader, table_objects
from conformance.reference.innodb.records import OffPage
from conformance.reference.innodb.sdi import has_sdi
from conformance.reference.portable import shown
from conformance.reference.replay.table_state import same_document
from conformance.reference.replay.tables_text import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import Record
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.sql.definition_reader import TableName

    Json = dict[str, Any]

Key = dict[str, str | None]
"""Names and texts of the columns that tell a row apart."""

_OF_TABLE: Final = frozenset((1, 4))  # the dictionary's numbers for columns of the user, visible or not
_EXCERPT: Final = 60  # characters of a value that a difference shows
_CONTEXT: Final = 20  # of these, in front of the first difference


class Difference(NamedTuple):
    """A column of a row with another value in the file: texts around the first difference; None is SQL NULL."""

    key: Key
    column: str
    log: str | None
    file: str | None


@dataclass(slots=True)
class Comparison:
    """A table of the log, of the files, or of both.

    ``problem``: why rows were not compared, or not all. ``damaged``: rows that the file has and nobody can read.
    ``other_layout``: documents among the equal rows whose bytes differ. ``newest_lsn``: the highest of the leaf pages.
    """

    name: TableName
    files: tuple[str, ...] = ()
    problem: str = ""
    equal: int = 0
    other_layout: int = 0
    missing: list[Key] = field(default_factory=list)
    only_in_file: list[Key] = field(default_factory=list)
    differing: list[Difference] = field(default_factory=list)
    differing_rows: int = 0
    damaged: list[str] = field(default_factory=list)
    not_compared: tuple[str, ...] = ()
    newest_lsn: int = 0
    only_in_log: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the file has exactly the rows of the log."""
        return not (self.problem or self.missing or self.only_in_file or self.differing or self.damaged)


class DataFiles:
    """Tablespaces by name. :meth:`compare` gives the comparisons; then ``problems`` has what is wrong with files."""

    def __init__(self, files: Sequence[tuple[str, Tablespace]]) -> None:
        self.problems: list[str] = []
        self._files: dict[int, tuple[str, Tablespace]] = {}
        for name, space in files:
            if space.space_id in self._files:
                self.problems.append(f"{name} is the same tablespace as {self._files[space.space_id][0]}")
            else:
                self._files[space.space_id] = name, space

    def compare(self, tables: Mapping[TableName, TableState]) -> Iterator[Comparison]:
        """Every table of the files, in their order, then the tables of the log that no file has."""
        seen: set[TableName] = set()
        used: set[int] = set()
        for name, space in list(self._files.values()):
            try:
                for table in table_objects(space) if has_sdi(space) else ():
                    with dictionary_errors(table):
                        key = str(table["schema_ref"]), str(table["name"])
                        spaces = [index.space_id for index in clustered_indexes(table)]
                    used.update(spaces)
                    seen.add(key)
                    yield self._table(table, key, spaces, tables.get(key))
            except CodecError as error:
                used.add(space.space_id)
                self.problems.append(f"{name}: {error}")
        self.problems += [
            f"{name}: the file has no table, or only a part of one whose dictionary information is in another file"
            for number, (name, _) in self._files.items() if number not in used
        ]  # fmt: skip
        for key in sorted(tables.keys() - seen):
            words = f"the log has the table ({len(tables[key].rows)} rows), and no file"
            yield Comparison(key, problem=words, only_in_log=True)

    def _table(self, table: Json, key: TableName, spaces: Sequence[int], state: TableState | None) -> Comparison:
        found = Comparison(key, tuple(self._files[number][0] for number in spaces if number in self._files))
        absent = [part["name"] for part, number in zip(parts(table), spaces, strict=True) if number not in self._files]
        if state is None:
            found.problem = "the file has the table, and the log has not"
        elif absent:
            found.problem = f"no file has the data of {', '.join(absent)}"
        else:
            indexes = [(index, self._files[index.space_id][1]) for index in clustered_indexes(table)]
            try:
                _Rows(table, state, found).compare(indexes)
            except CodecError as error:
                found.problem = str(error)
        return found


class _Column(NamedTuple):
    """A column that both sides have. ``place`` in the log's rows, ``field`` in the file's records."""

    name: str
    place: int
    field: int
    entry: Json
    text: Callable[[Any], str]

    @property
    def is_json(self) -> bool:
        return bool(self.entry["type"] == ColumnType.JSON)

    def same(self, logged: Any, stored: Any) -> bool:
        """Whether two values are equal; the sign of a zero counts."""
        if isinstance(logged, float | Decimal):
            return repr(logged) == repr(stored)
        return bool(logged == stored) or (self.is_json and same_document(stored, logged))

    def shown(self, value: Any) -> str | None:
        """The text of a value; hexadecimal where it has none."""
        try:
            return None if value is None else self.text(value)
        except (CodecError, AttributeError):
            return value.hex() if isinstance(value, bytes) else str(value)


class _Rows:
    """The rows of one table on both sides."""

    def __init__(self, table: Json, state: TableState, found: Comparison) -> None:
        self._state, self._found = state, found
        with dictionary_errors(table):
            entries = [column for column in table["columns"] if column["hidden"] in _OF_TABLE]
            shape = next(clustered_indexes(table)).format
            fields = {item.name: number for number, item in enumerate(shape.fields)}  # behind a prefix in the key
            found.not_compared = tuple(str(column["name"]) for column in entries if column["is_virtual"])
            self._check_names([str(column["name"]) for column in entries])
            infos = state.infos()
            self._columns = [
                _Column(str(entry["name"]), place, fields[entry["name"]], entry,
                        value_text(infos[place]) if len(infos) == len(entries) else str)
                for place, entry in enumerate(entries) if not entry["is_virtual"]
            ]  # fmt: skip
            index = table["indexes"][0]["elements"]
            names = {table["columns"][element["column_opx"]]["name"] for element in index if not element["hidden"]}
        self._unique = bool(names)
        self._key = [each for each in self._columns if (each.name in names if names else not each.is_json)]
        self._left: dict[tuple[Any, ...], list[int]] = {}
        for number, values in state.rows.items():
            self._left.setdefault(tuple([values[each.place] for each in self._key]), []).append(number)

    def _check_names(self, entries: list[str]) -> None:
        known = self._state.column_names()
        named = [name for name in known if not name.startswith("@")]
        if known and (len(known) != len(entries) or (named and known != entries)):
            raise DecodeError("other-columns", "the table has other columns in the file than in the log",
                              expected=", ".join(known), got=", ".join(entries))  # fmt: skip

    def compare(self, indexes: Sequence[tuple[ClusteredIndex, Tablespace]]) -> None:
        """Compare all rows of the file, then note the rows of the log that are left."""
        for index, space in indexes:
            lobs = LobReader(space)
            for page, record in leaf_records(space, index.root, index.format):
                self._found.newest_lsn = max(self._found.newest_lsn, page.lsn)
                if not record.deleted:
                    self._record(record, lobs)
        left = sorted(number for numbers in self._left.values() for number in numbers)
        self._found.missing = [self._shown([self._state.rows[number][each.place] for each in self._key])
                               for number in left]  # fmt: skip

    def _record(self, record: Record, lobs: LobReader) -> None:
        where = f"page[{record.page}]"
        try:
            key = tuple([_value(record, each, lobs) for each in self._key])
        except CodecError as error:
            self._found.damaged.append(f"record at {record.origin}: {error.at(where)}")
            return
        numbers = self._left.get(key, [])
        try:
            values = [_value(record, each, lobs) for each in self._columns]
        except CodecError as error:
            self._found.damaged.append(f"{self._shown(key)}: {error.at(where)}")
            del numbers[:1]
            return
        if not numbers:
            self._found.only_in_file.append(self._shown(key))
            return
        number = next((number for number in numbers if not self._differing(number, values)), numbers[0])
        numbers.remove(number)
        differing = self._differing(number, values)
        self._note(key, differing)
        if not differing:
            row = self._state.rows[number]
            pairs = zip(self._columns, values, strict=True)
            self._found.other_layout += sum(each.is_json and row[each.place] != value for each, value in pairs)

    def _differing(self, number: int, values: Sequence[Any]) -> list[tuple[_Column, Any, Any]]:
        row = self._state.rows[number]
        pairs = [(each, row[each.place], value) for each, value in zip(self._columns, values, strict=True)]
        return [(each, logged, stored) for each, logged, stored in pairs if not each.same(logged, stored)]

    def _note(self, key: Sequence[Any], differing: Sequence[tuple[_Column, Any, Any]]) -> None:
        self._found.equal += not differing
        self._found.differing_rows += bool(differing)
        for each, logged, stored in differing:
            texts = each.shown(logged), each.shown(stored)
            if texts[0] == texts[1]:  # a FLOAT has more digits than its text
                texts = shown(logged), shown(stored)
            self._found.differing.append(Difference(self._shown(key), each.name, *_excerpts(*texts)))

    def _shown(self, key: Sequence[Any]) -> Key:
        texts = [each.shown(value) for each, value in zip(self._key, key, strict=True)]
        return {each.name: _cut(text, 0) for each, text in zip(self._key, texts, strict=True)}


def _value(record: Record, column: _Column, lobs: LobReader) -> Any:
    """A value of a record, off-page ones in full."""
    value = record.values[column.field]
    try:
        if isinstance(value, OffPage):
            value = value.prefix + lobs.open(value).read()
        return None if value is None else stored_value(column.entry, value)
    except CodecError as error:
        raise error.at(column.name) from None


def _excerpts(log: str | None, file: str | None) -> tuple[str | None, str | None]:
    """Two texts around their first difference."""
    pairs = zip(log or "", file or "", strict=False)
    at = next((place for place, (one, other) in enumerate(pairs) if one != other),
              min(len(log or ""), len(file or "")))  # fmt: skip
    return _cut(log, at), _cut(file, at)


def _cut(text: str | None, at: int) -> str | None:
    if text is None or len(text) <= _EXCERPT:
        return text
    start = max(0, min(at - _CONTEXT, len(text) - _EXCERPT))
    piece = text[start : start + _EXCERPT]
    return f"{'…' if start else ''}{piece}{'…' if start + _EXCERPT < len(text) else ''}"
