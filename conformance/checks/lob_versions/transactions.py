"""Generated transactions on the rows of the tables, with what the reference predicts of each statement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.checks.lob_versions.documents import LONGEST, borders, document, size
from conformance.checks.lob_versions.updates import update
from conformance.reference.errors import CodecError, MysqlError
from conformance.reference.jsonb.encode import encode
from conformance.reference.partial.expression import Assignment, Columns
from conformance.reference.partial.update import update_row
from conformance.reference.sql.formatting import format_document, format_expression
from generators.draw import mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.reference.jsonb.values import JsonValue
    from conformance.reference.partial.expression import Expression
    from conformance.reference.partial.update import RowChange
    from generators.draw import Draw

COLUMNS: Final = Columns(("j", "k"))
_TRIES: Final = 20
_FILLER: Final = "CHAR(250) CHARACTER SET latin1 NOT NULL DEFAULT ''"  # a fixed column stays in its record
_PREFIX: Final = 768  # bytes of a value in a COMPACT or REDUNDANT record


class Table(NamedTuple):
    """A table of the campaign. With ``filler`` fixed columns in a record, documents of ``shortest`` bytes and more are
    outside it; the record keeps ``prefix`` bytes of each.
    """

    name: str
    options: str
    filler: int
    shortest: int
    prefix: int = 0

    @property
    def compressed(self) -> bool:
        return "COMPRESSED" in self.options

    def create(self) -> str:
        filler = "".join(f", f{number} {_FILLER}" for number in range(self.filler))
        return (
            f"CREATE TABLE {self.name} (id INT PRIMARY KEY, j JSON, k JSON{filler})"
            f" ENGINE=InnoDB TABLESPACE=innodb_file_per_table {self.options}"
        )


TABLES: Final = (
    Table("dynamic", "ROW_FORMAT=DYNAMIC", 30, 1_000),
    Table("compact", "ROW_FORMAT=COMPACT", 24, 1_600, _PREFIX),
    Table("redundant", "ROW_FORMAT=REDUNDANT", 24, 1_600, _PREFIX),
    Table("compressed", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8", 0, 9_000),
)


class Key(NamedTuple):
    """A row: its table and its id."""

    table: Table
    id: int


class Statement(NamedTuple):
    """One UPDATE of one row. ``kept``: it is not rolled back."""

    sql: str
    change: RowChange
    kept: bool


class Transaction(NamedTuple):
    """The statements of a transaction on one row, and all its lines of SQL."""

    key: Key
    statements: tuple[Statement, ...]
    lines: tuple[str, ...]


_SINGLE: Final = ("+",)
_FORMS: Final = mix(
    (_SINGLE, 30),  # autocommit
    (("BEGIN", "+", "+", "COMMIT"), 4),
    (("BEGIN", "-", "ROLLBACK"), 2),
    (("BEGIN", "-", "-", "ROLLBACK"), 1),
    (("BEGIN", "+", "SAVEPOINT s", "-", "ROLLBACK TO s", "COMMIT"), 2),
    (("BEGIN", "SAVEPOINT s", "-", "ROLLBACK TO s", "+", "COMMIT"), 2),
)
"""The forms of transactions: + is an update that is kept, - one that is rolled back."""


@dataclass
class Rows:
    """The rows of a block, as the statements so far leave them."""

    draw: Draw
    partial_json: bool
    values: dict[Key, Mapping[str, object]] = field(default_factory=dict)
    gentle: set[Key] = field(default_factory=set)

    def insert(self, count: int) -> Iterator[str]:
        """Make ``count`` rows: half of them with DYNAMIC records, the others in turn."""
        for number in range(count):
            part = self.draw.fork("row", number)
            key = Key(TABLES[0] if number % 2 == 0 else TABLES[1 + number // 2 % 3], number)
            if number % 4 == 0:
                self.gentle.add(key)
            j = self._document(part.fork("j"), key, size(part, shortest=key.table.shortest))
            k = self._document(part.fork("k"), key, key.table.shortest + part.below(20_000))
            self.values[key] = {"id": number, "j": encode(j), "k": encode(k)}
            texts = ", ".join(format_document(value) for value in (j, k))
            yield f"INSERT INTO {key.table.name} (id, j, k) VALUES ({number}, {texts})"

    @staticmethod
    def _document(draw: Draw, key: Key, length: int) -> JsonValue:
        edges = borders(length, prefix=key.table.prefix, compressed=key.table.compressed)
        for attempt in range(_TRIES):
            made = document(draw.fork(attempt), length, edges)
            if key.table.shortest <= len(encode(made)) <= LONGEST:
                return made
        raise AssertionError(f"no document of about {length} bytes was made")

    def transaction(self, key: Key, step: int) -> Transaction:
        """The next transaction on a row."""
        draw = self.draw.fork("step", step, key.id)
        form = draw.choice(_FORMS)
        row = self.values[key]
        saved = row
        statements, lines = [], []
        for place, word in enumerate(form):
            if word == "SAVEPOINT s":
                saved = row
            if word.startswith("ROLLBACK"):
                row = saved
            if word not in "+-":
                lines.append(word)
                continue
            statement = self._statement(draw.fork(place), key, row, kept=word == "+")
            statements.append(statement)
            lines.append(statement.sql)
            row = statement.change.stored
        self.values[key] = row
        return Transaction(key, tuple(statements), tuple(lines))

    def _statement(self, draw: Draw, key: Key, row: Mapping[str, object], *, kept: bool) -> Statement:
        for attempt in range(_TRIES):
            part = draw.fork(attempt)
            names = part.choice((("j",), ("j",), ("j",), ("k",), ("j", "k")))
            made = [Assignment(name, self._expression(part.fork(name), key, name, row)) for name in names]
            try:
                change = update_row(row, made, COLUMNS, log_diffs=self.partial_json)
            except (MysqlError, CodecError):
                continue
            if all(key.table.shortest <= len(stored) <= LONGEST for stored in documents_of(change.after).values()):
                assigned = ", ".join(f"{item.column} = {format_expression(item.expression)}" for item in made)
                return Statement(f"UPDATE {key.table.name} SET {assigned} WHERE id = {key.id}", change, kept)
        raise AssertionError("no update of the row keeps its documents as large as the campaign needs them")

    def _expression(self, draw: Draw, key: Key, name: str, row: Mapping[str, object]) -> Expression:
        stored = documents_of(row)[name]
        edges = borders(len(stored), prefix=key.table.prefix, compressed=key.table.compressed)
        return update(draw, name, stored, edges, gentle=key in self.gentle)


def documents_of(row: Mapping[str, object]) -> dict[str, bytes]:
    """The stored documents of a row."""
    return {name: value for name, value in row.items() if isinstance(value, bytes)}
