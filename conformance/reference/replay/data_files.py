"""The tables of a replay against their rows in InnoDB's data files, one by one.

A row is found by its key: the primary key, or the unique one that clusters the table, else all its values. Values are
compared, not bytes: a JSON document may be laid out in another way. The file has no virtual columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance.reference.errors import CodecError, DecodeError
from conformance.reference.innodb.dictionary import ColumnType, dictionary_errors
from conformance.reference.innodb.extents import page_errors
from conformance.reference.innodb.pages import of_server
from conformance.reference.innodb.stored_tables import Absent, stored_tables
from conformance.reference.portable import shown
from conformance.reference.replay.table_state import same_document
from conformance.reference.replay.tables_text import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.stored_tables import StoredTable, TableRow
    from conformance.reference.replay.table_state import TableState
    from conformance.reference.sql.definition_reader import TableName

    Json = dict[str, Any]

Key = dict[str, str | None]
"""Names and texts of the columns that tell a row apart."""

_SCHEMAS_OF_SERVER: Final = ("mysql", "sys")  # whose tables in InnoDB every server makes for itself
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


class NotCompared(NamedTuple):
    """The tables of files that no log makes: hidden ones of the engine, and the server's own, whose rows were read."""

    hidden: int = 0
    of_server: int = 0
    rows_of_server: int = 0


class DataFiles:
    """Tablespaces by name. :meth:`compare` gives the comparisons; then ``problems`` has what is wrong with files.

    ``not_compared`` has what was told apart, and ``notes`` what is no difference.
    """

    def __init__(self, files: Sequence[tuple[str, Tablespace]], problems: Iterable[str] = ()) -> None:
        self.problems = list(problems)
        self.notes: list[str] = []
        self.not_compared = NotCompared()
        self._damaged: set[str] = set()
        self._files: dict[int, tuple[str, Tablespace]] = {}
        for name, space in files:
            if space.space_id in self._files:
                self._tell(f"{name} is the same tablespace as {self._files[space.space_id][0]}")
            else:
                self._files[space.space_id] = name, space

    def compare(
        self, tables: Mapping[TableName, TableState], known: Mapping[TableName, TableState] | None = None
    ) -> Iterator[Comparison]:
        """Every table of the files, in their order, then the tables of the log that no file has.

        ``known``: all tables of the log, where ``tables`` are those to be compared. Tables of the server that the log
        has not made are read, and not compared.
        """
        known = tables if known is None else known
        seen: set[TableName] = set()
        used: set[int] = set()
        files = list(self._files.values())
        for table in stored_tables(files, problem=self._entry_problem, superseded=self._superseded):
            used.update(part.space.space_id for part in table.parts if part.space is not None)
            seen.add(table.name)
            if table.of_engine:
                self.not_compared = self.not_compared._replace(hidden=self.not_compared.hidden + 1)
            elif _of_server(table.name, known.get(table.name)):
                self._read(table)
            else:
                yield self._table(table, tables.get(table.name))
        for number, (name, space) in self._files.items():
            if number not in used and name not in self._damaged and not of_server(number) and not space.flags.shared:
                self._tell(f"{name}: the file has no table, or only a part of one whose dictionary information is in"
                           " another file")  # fmt: skip
        for key in sorted(tables.keys() - seen):
            if not _of_server(key, tables[key]):
                words = f"the log has the table ({len(tables[key].rows)} rows), and no file"
                yield Comparison(key, problem=words, only_in_log=True)

    def check_pages(self) -> None:
        """Read every page of every file: what is damaged becomes a problem, whether rows are in it or not."""
        for name, space in self._files.values():
            for error in page_errors(space):
                self._tell(f"{name}: {error}")

    def _tell(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)

    def _entry_problem(self, file: str, error: CodecError) -> None:
        self._damaged.add(file)
        self._tell(f"{file}: {error}")

    def _superseded(self, file: str, name: TableName) -> None:
        self.notes.append(f"{file}: another entry of {'.'.join(name)} in the dictionary information is newer")

    def _read(self, table: StoredTable) -> None:
        """Read a table of the server, of which no log tells how its rows came to be."""
        count = 0
        for row in table.rows(problem=lambda file, error: self._tell(f"{file}: {error}")):
            count += 1
            for error in row.problems:
                self._tell(f"{row.file}: {error}")
        told = self.not_compared
        self.not_compared = told._replace(of_server=told.of_server + 1, rows_of_server=told.rows_of_server + count)

    def _table(self, table: StoredTable, state: TableState | None) -> Comparison:
        found = Comparison(table.name, table.files)
        if state is None:
            found.problem = "the file has the table, and the log has not"
        elif table.absent:
            found.problem = f"no file has the data of {', '.join(table.absent)}"
        else:
            try:
                _Rows(table, state, found).compare()
            except CodecError as error:
                found.problem = str(error)
        return found


def _of_server(name: TableName, state: TableState | None) -> bool:
    """Whether a table is one that every server has, and no statement of the log made."""
    return name[0] in _SCHEMAS_OF_SERVER and (state is None or state.columns is None)


class _Column(NamedTuple):
    """A column that both sides have. ``place``: in the rows of both."""

    name: str
    place: int
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

    def __init__(self, table: StoredTable, state: TableState, found: Comparison) -> None:
        self._table, self._state, self._found = table, state, found
        found.not_compared = tuple(column.name for column in table.columns if column.field is None)
        self._check_names([column.name for column in table.columns])
        infos = state.infos()
        self._columns = [
            _Column(column.name, place, column.entry,
                    value_text(infos[place]) if len(infos) == len(table.columns) else str)
            for place, column in enumerate(table.columns) if column.field is not None
        ]  # fmt: skip
        with dictionary_errors(table.entry):
            index, columns = table.entry["indexes"][0]["elements"], table.entry["columns"]
            names = {columns[element["column_opx"]]["name"] for element in index if not element["hidden"]}
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

    def compare(self) -> None:
        """Compare all rows of the file, then note the rows of the log that are left.

        Those may be on the pages that cannot be read, if there are any: then they are counted, and not called missing.
        """
        damage: list[str] = []
        for row in self._table.rows(problem=lambda file, error: damage.append(f"{file}: {error}")):
            self._found.newest_lsn = max(self._found.newest_lsn, row.lsn)
            self._row(row)
        left = sorted(number for numbers in self._left.values() for number in numbers)
        if damage:
            self._found.problem = "; ".join(dict.fromkeys(damage))
            self._found.problem += f"; {len(left)} rows of the log are not on the other pages" if left else ""
        else:
            self._found.missing = [self._shown([self._state.rows[number][each.place] for each in self._key])
                                   for number in left]  # fmt: skip

    def _row(self, row: TableRow) -> None:
        key = tuple([row.values[each.place] for each in self._key])
        if Absent.UNREADABLE in key:
            self._found.damaged.append(f"record at {row.origin}: {row.problems[0]}")
            return
        numbers = self._left.get(key, [])
        if row.problems:
            self._found.damaged.append(f"{self._shown(key)}: {row.problems[0]}")
            del numbers[:1]
            return
        values = [row.values[each.place] for each in self._columns]
        if not numbers:
            self._found.only_in_file.append(self._shown(key))
            return
        number = next((number for number in numbers if not self._differing(number, values)), numbers[0])
        numbers.remove(number)
        differing = self._differing(number, values)
        self._note(key, differing)
        if not differing:
            known = self._state.rows[number]
            pairs = zip(self._columns, values, strict=True)
            self._found.other_layout += sum(each.is_json and known[each.place] != value for each, value in pairs)

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
