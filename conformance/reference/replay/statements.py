"""Statements that change tables, and the facts about a table that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from conformance.reference.binlog.query import Query, Status, StatusInteger, StatusIntegers
from conformance.reference.sql.definition_reader import Reader
from conformance.reference.sql.statement_words import split_words
from conformance.reference.tables.charsets import COLLATIONS

if TYPE_CHECKING:
    from conformance.reference.sql.definition_reader import TableName
    from conformance.reference.sql.statement_words import Word


@dataclass(frozen=True, slots=True)
class DefaultCharset:
    """The character set of columns that name none.

    ``certain``: a statement of the log named it, for the table or its schema. Otherwise it is the session's
    ``collation_server``, from which the schema may differ.
    """

    name: str
    collation: str | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column in its DDL; ``words`` are all words behind the name. ``charset``: if they name none."""

    name: str
    words: tuple[Word, ...]
    charset: DefaultCharset | None = None

    def _places(self, keyword: str) -> list[int]:
        """The positions of a keyword outside parentheses."""
        level = 0
        found = []
        for index, word in enumerate(self.words):
            if not word.quoted and not word.string:
                level += (word.text == "(") - (word.text == ")")
                if not level and word.among(keyword):
                    found.append(index)
        return found

    @property
    def primary(self) -> bool:
        """Whether the column's own words make it the primary key: PRIMARY KEY, or KEY alone."""
        return any(not index or not self.words[index - 1].among("UNIQUE") for index in self._places("KEY"))

    @property
    def not_null(self) -> bool:
        """Whether the column's own words refuse NULL."""
        refused = any(index and self.words[index - 1].among("NOT") for index in self._places("NULL"))
        return refused or self.primary or bool(self._places("SERIAL"))

    @property
    def null(self) -> bool:
        """Whether the column's own words allow NULL."""
        words = self.words
        return any(not index or not words[index - 1].among("NOT", "DEFAULT") for index in self._places("NULL"))

    @property
    def generated(self) -> bool:
        """Whether the column is generated."""
        return bool(self._places("AS"))

    @property
    def expression(self) -> tuple[Word, ...]:
        """The words of a generated column's expression, without its parentheses; empty for other columns."""
        places = self._places("AS")
        return tuple(Reader(self.words[places[0] + 1 :], "").parenthesis()) if places else ()

    @property
    def rounded(self) -> bool:
        """Whether the column is a FLOAT or DOUBLE with a number of digits, to which the server rounds."""
        return (
            bool(self.words)
            and self.words[0].among("FLOAT", "FLOAT4", "DOUBLE", "FLOAT8", "REAL")
            and any(word.among(",") for word in self.words[:6])
        )

    @property
    def filled(self) -> bool:
        """Whether the server shows zeros in front of the column's numbers."""
        return bool(self._places("ZEROFILL"))

    @property
    def automatic(self) -> bool:
        """Whether the server numbers the column (AUTO_INCREMENT, SERIAL)."""
        return bool(self._places("AUTO_INCREMENT") or self._places("SERIAL"))

    @property
    def default(self) -> tuple[Word, ...]:
        """The words behind DEFAULT, up to the end; empty without a default."""
        found = self._places("DEFAULT")
        return self.words[found[0] + 1 :] if found else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    table: TableName
    columns: tuple[ColumnDefinition, ...]
    primary_key: tuple[str, ...] = ()
    cascades_from: tuple[TableName, ...] = ()  # parents whose deletes or updates change rows of this table
    transactional: bool = True
    if_not_exists: bool = False
    charset: DefaultCharset | None = None  # that the statement names
    ascending: bool = True  # as of SetKey


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateLike:
    table: TableName
    source: TableName
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables:
    tables: tuple[TableName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSchema:
    schema: str


@dataclass(frozen=True, slots=True)
class DefineSchema:
    """CREATE or ALTER SCHEMA. ``charset``: that the statement names."""

    schema: str
    charset: DefaultCharset | None
    create: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncate:
    table: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTables:
    pairs: tuple[tuple[TableName, TableName], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PutColumn:
    """ADD, CHANGE and MODIFY. ``old`` is ``None`` for a new column.

    ``after``: "" is the first place; ``None`` keeps the place, and puts a new column last.
    """

    definition: ColumnDefinition
    old: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class DropColumn:
    name: str


@dataclass(frozen=True, slots=True)
class RenameColumn:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SetKey:
    """``ascending``: whether rows lie in the order of the key."""

    columns: tuple[str, ...]
    ascending: bool = True


@dataclass(frozen=True, slots=True)
class StartNumbers:
    """The option AUTO_INCREMENT."""

    first: int


@dataclass(frozen=True, slots=True)
class SetEngine:
    transactional: bool


@dataclass(frozen=True, slots=True)
class SetCharset:
    """The character set of new columns. ``convert``: the present columns get it too."""

    charset: DefaultCharset
    convert: bool = False


@dataclass(frozen=True, slots=True)
class SetParent:
    table: TableName


@dataclass(frozen=True, slots=True)
class MoveTable:
    table: TableName


@dataclass(frozen=True, slots=True)
class ChangesRows:
    """A part of ALTER TABLE that changes stored values or removes rows: harmless on an empty table only."""

    what: str


Action: TypeAlias = (
    "PutColumn | DropColumn | RenameColumn | SetKey | StartNumbers | SetEngine | SetCharset | SetParent | MoveTable"
    " | ChangesRows"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable:
    table: TableName
    actions: tuple[Action, ...]


Statement: TypeAlias = (
    "CreateTable | CreateLike | AlterTable | DropTables | DefineSchema | DropSchema | Truncate | RenameTables"
)


def statement_words(query: Query) -> list[Word]:
    """The words of a statement in the character set and SQL mode of its session."""
    mode = 0
    codec = None
    for item in query.status:
        if isinstance(item, StatusInteger) and item.code == Status.SQL_MODE:
            mode = item.value
        elif isinstance(item, StatusIntegers) and item.code == Status.CHARSET:
            known = COLLATIONS.get(item.values[0])
            codec = known.codec if known else None
    return split_words(
        query.text.decode(codec or "utf-8", "surrogateescape" if codec in (None, "utf_8") else "replace"), mode
    )
