"""Rows of a real server's data files against SELECT: every column type in every form that a table can be stored in.

``python -m tests.data_file_rows --tables 60 --rows 30000 --seed 1`` makes the tables, and shuts the server down. It
holds what ``binlog-lab rows`` prints of each table against what SELECT gave. Then it changes one byte of a page of each
table: the rows of all other pages must come, and the page must be named. Exit code 1 if any value differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.checks.row_values.judge import compare_rows, parse
from conformance.checks.row_values.run import SESSION, offer, offered_value, read
from conformance.harness.needs.questions import Questions
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import Column, Table, create_table
from conformance.servers.errors import SqlError
from generators.draw import Stream
from generators.row_values import GEOMETRY, literal, table
from tests.keyring_server import server_with_keyring
from tests.live import lab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.checks.row_values.run import Offer, Rows
    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from conformance.servers.wire.connection import Connection
    from tests.live import Ended

SCHEMA: Final = "in_files"
SPACE: Final = "shared_space"
FORMS: Final = {
    "dynamic": "ROW_FORMAT=DYNAMIC",
    "compact": "ROW_FORMAT=COMPACT",
    "redundant": "ROW_FORMAT=REDUNDANT",
    "compressed": "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
    "compressed-16": "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=16",
    "zlib": "COMPRESSION='zlib'",
    "lz4": "COMPRESSION='lz4'",
    "encrypted": "ENCRYPTION='Y'",
    "encrypted-compressed": "ENCRYPTION='Y' ROW_FORMAT=COMPRESSED",
    "encrypted-zlib": "ENCRYPTION='Y' COMPRESSION='zlib'",
    "partitions": "PARTITION BY KEY (id) PARTITIONS 3",
    "subpartitions": "PARTITION BY RANGE (id) SUBPARTITION BY HASH (id) SUBPARTITIONS 2"
                     " (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "general": f"TABLESPACE={SPACE}",
    "instant": "ROW_FORMAT=DYNAMIC",
    "instant-compact": "ROW_FORMAT=COMPACT",
    "instant-redundant": "ROW_FORMAT=REDUNDANT",
    "instant-partitions": "PARTITION BY KEY (id) PARTITIONS 2",
    "generated": "ROW_FORMAT=DYNAMIC",
}  # fmt: skip
_DISTINCT: Final = 100  # rows of a table whose values are drawn; others are copies under other keys
_TOO_LARGE: Final = frozenset((1118, 1030, 139))  # the row does not fit into a page of its format
_BYTE: Final = 60  # of a page, which is changed


@dataclass
class Made:
    """A table, its form, what SELECT gave, and the files with its rows."""

    table: Table
    form: str
    rows: Rows = field(default_factory=list)
    files: tuple[Path, ...] = ()

    @property
    def stored(self) -> list[int]:
        """The places of the columns that files have."""
        return [place for place, column in enumerate(self.table.columns)
                if column.generated_sql is None or column.stored]  # fmt: skip


@dataclass
class Figures:
    """Counts of what was compared, and what differed."""

    tables: int = 0
    rows: int = 0
    values: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    left: int = 0
    on_damaged_pages: int = 0
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        forms = ", ".join(f"{form} {count}" for form, count in sorted(self.forms.items()))
        return (
            f"{self.tables} tables, {self.rows} rows, {self.values} values compared with SELECT ({forms});"
            f" behind one damaged page of each table {self.left} rows came, {self.on_damaged_pages} were on it;"
            f" {len(self.differences)} differences"
        )


class Workload:
    """The tables of one run, made on a connection."""

    def __init__(self, connection: Connection, offered: Offer, seed: int) -> None:
        self._connection, self._offered, self._seed = connection, offered, seed
        connection.execute_many([
            *SESSION, f"CREATE DATABASE {SCHEMA}", f"USE {SCHEMA}",
            f"CREATE TABLESPACE {SPACE} ADD DATAFILE '{SPACE}.ibd'",
        ]).check()  # fmt: skip

    def make(self, number: int, rows: int) -> Made:
        """Table ``number`` in its form: inserted in three parts, with changes of its columns between them."""
        form = list(FORMS)[number % len(FORMS)]
        draw = Stream("data-file-rows", self._seed, number)
        made = table(draw, number, schema=SCHEMA, name=f"t{number}", vectors=self._offered.vectors,
                     collations=self._offered.collations)  # fmt: skip
        if "partitions" in form:  # the server has no GEOMETRY in them
            made = replace(made, columns=tuple(
                Column(name=column.name, type="BLOB") if column.type in GEOMETRY else column for column in made.columns
            ))  # fmt: skip
        if form == "generated":
            made = replace(made, columns=(
                made.columns[0],
                Column(name="doubled", type="INT", generated_sql="`id` * 2"),
                *made.columns[1:],
                Column(name="tripled", type="INT", generated_sql="`id` * 3", stored=True),
            ))  # fmt: skip
        made = self._create(made, FORMS[form])
        first, second = rows // 3, 2 * rows // 3
        self._fill(made, draw, 0, first)
        if form.startswith("instant"):
            made = self._added(made)
        self._fill(made, draw, first, second)
        if form.startswith("instant"):
            made = self._dropped(made, draw)
        self._fill(made, draw, second, rows)
        self._change(made, draw, rows)
        return Made(made, form, read(self._connection, made))

    def _create(self, made: Table, options: str) -> Table:
        """The table with as many of its columns as its form has room for."""
        while True:
            try:
                self._connection.execute(f"{create_table(made)} {options}")
            except SqlError as error:
                if error.number not in _TOO_LARGE:
                    raise
                made = replace(made, columns=made.columns[:-1])
            else:
                return made

    def _added(self, made: Table) -> Table:
        """Two columns more, in front and behind, with values for the rows that are there."""
        self._connection.execute(
            f"ALTER TABLE {made.name} ADD COLUMN front INT NOT NULL DEFAULT 77 FIRST,"
            " ADD COLUMN behind VARCHAR(20) CHARACTER SET utf8mb4 DEFAULT 'sieben é', ALGORITHM=INSTANT"
        )
        front = Column(name="front", type="INT", nullable=False)
        behind = Column(name="behind", type="VARCHAR", length=20, charset="utf8mb4", collation="utf8mb4_0900_ai_ci")
        return replace(made, columns=(front, *made.columns, behind), primary_key=((1, 0),))

    def _dropped(self, made: Table, draw: Stream) -> Table:
        """Three columns fewer: records from before still have them."""
        gone = set(draw.fork("dropped").shuffled(made.columns[2:-1])[:3])
        self._connection.execute(
            f"ALTER TABLE {made.name} "
            + ", ".join(f"DROP COLUMN {quote_identifier(column.name)}" for column in made.columns if column in gone)
            + ", ALGORITHM=INSTANT"
        )
        return replace(made, columns=tuple(column for column in made.columns if column not in gone))

    def _fill(self, made: Table, draw: Stream, start: int, end: int) -> None:
        """Rows with the keys of a range."""
        given = [column for column in made.columns if column.generated_sql is None]
        names = ", ".join(quote_identifier(column.name) for column in given)
        own: list[int] = []
        for key in range(start, min(end, start + _DISTINCT)):
            values = [
                str(key) if column.name == "id" else offered_value(literal(draw.fork(key, place), column),
                                                                   self._offered.without)
                for place, column in enumerate(given)
            ]  # fmt: skip
            try:
                self._connection.execute(f"INSERT INTO {made.name} ({names}) VALUES ({', '.join(values)})")
                own.append(key)
            except SqlError as error:
                if error.number not in _TOO_LARGE:
                    raise
        copied = names.replace("`id`", "`id` + {0}", 1)
        step = _DISTINCT
        while own and own[0] + step < end:
            listed = ", ".join(str(key) for key in own if key + step < end)
            copies = f"SELECT {copied.format(step)} FROM {made.name} WHERE id IN ({listed})"
            self._connection.execute(f"INSERT INTO {made.name} ({names}) {copies}")
            step += _DISTINCT

    def _change(self, made: Table, draw: Stream, rows: int) -> None:
        """Change, remove and move rows, so that pages have old records too."""
        column = next(
            column for column in reversed(made.columns) if column.generated_sql is None and column.name != "id"
        )
        name = quote_identifier(column.name)
        for key in range(0, rows, 17):
            value = offered_value(literal(draw.fork("change", key), column), self._offered.without)
            try:
                self._connection.execute(f"UPDATE {made.name} SET {name} = {value} WHERE id = {key}")
            except SqlError as error:
                if error.number not in _TOO_LARGE:
                    raise
        self._connection.execute(f"UPDATE {made.name} SET id = id + 1000000 WHERE id % 29 = 3")
        self._connection.execute(f"DELETE FROM {made.name} WHERE id % 31 = 5")


def files_of(made: Made, folder: Path) -> tuple[Path, ...]:
    """The data files of a table."""
    if made.form == "general":
        return (folder / f"{SPACE}.ibd",)
    name = made.table.name
    return tuple(sorted({*folder.joinpath(SCHEMA).glob(f"{name}.ibd"), *folder.joinpath(SCHEMA).glob(f"{name}#*.ibd")}))


def listed(made: Made, files: Sequence[Path], keyring: Path, *options: str) -> tuple[Ended, list[dict[str, Any]]]:
    """The lines that the command prints of a table, in the order of the keys."""
    done = lab("rows", "--keyring", keyring, "--table", f"{SCHEMA}.{made.table.name}", *options, *files)
    lines = [parse(line) for line in done.out.split("\n") if line]
    return done, sorted(lines, key=lambda line: int(line["values"]["id"].text))


def compare(made: Made, keyring: Path, figures: Figures) -> list[dict[str, Any]]:
    """Hold what is printed of a table against SELECT."""
    done, lines = listed(made, made.files, keyring)
    columns = [made.table.columns[place] for place in made.stored]
    rows = [[row[place] for place in made.stored] for row in made.rows]
    name = f"{made.table.name} ({made.form})"
    figures.tables += 1
    figures.forms[made.form] += 1
    figures.rows += len(rows)
    figures.values += len(rows) * len(columns)
    figures.differences += [
        f"{name}: {each}" for each in compare_rows(columns, rows, [line["values"] for line in lines])
    ]
    if done.code or any(line["state"] != "current" for line in lines):
        figures.differences.append(f"{name}: {done.err}")
    return lines


def damage(made: Made, lines: Sequence[dict[str, Any]], keyring: Path, folder: Path, figures: Figures) -> None:
    """Change a byte of one page with rows: the rows of all other pages must come."""
    pages = Counter((line["file"], int(line["page"].text)) for line in lines)
    file, page = sorted(pages)[len(pages) // 2]
    broken = folder / Path(file).name
    data = bytearray(Path(file).read_bytes())
    size = page_size(made)
    data[page * size + _BYTE] ^= 0x55
    broken.write_bytes(data)
    try:
        files = [broken if str(each) == file else each for each in made.files]
        done, left = listed(made, files, keyring)
    finally:
        broken.unlink()
    expected = [line["values"] for line in lines if (line["file"], int(line["page"].text)) != (file, page)]
    figures.left += len(left)
    figures.on_damaged_pages += pages[file, page]
    name = f"{made.table.name} ({made.form}), page {page} damaged"
    if [line["values"] for line in left] != expected:
        figures.differences.append(f"{name}: {len(left)} rows came, {len(expected)} are on other pages")
    if done.code != 1 or f"{broken}: page[{page}]" not in done.err:
        figures.differences.append(f"{name}: exit code {done.code}: {done.err}")


def page_size(made: Made) -> int:
    """The bytes of a page in the file."""
    return 8192 if made.form in {"compressed", "encrypted-compressed"} else 16384


def run(installation: Installation, keyring: Path, *, tables: int, rows: int, seed: int,
        more: Callable[[ProcessServer, Sequence[Made], Path], None] | None = None) -> Figures:  # fmt: skip
    """Make the tables, compare them, damage them. ``more`` gets the server again, started on its files."""
    figures = Figures()
    with server_with_keyring(installation, keyring) as server:
        with server.connect() as connection:
            work = Workload(connection, offer(connection, Questions(server)), seed)
            made = [work.make(number, rows // tables) for number in range(tables)]
        server.stop()
        with tempfile.TemporaryDirectory() as folder:
            for each in made:
                each.files = files_of(each, server.data_directory)
                lines = compare(each, keyring, figures)
                damage(each, lines, keyring, Path(folder), figures)
        if more is not None:
            more(server, made, keyring)
    return figures


def main() -> int:
    """The command."""
    from conformance.servers.auto import find_installation
    from conformance.servers.specs import parse_spec

    parser = argparse.ArgumentParser(prog="python -m tests.data_file_rows", description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    installation = find_installation(parse_spec("process"), narrate=lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        keyring = Path(folder, "keys", "keyring")
        keyring.parent.mkdir()
        figures = run(installation, keyring, tables=given.tables, rows=given.rows, seed=given.seed)
    print(figures)  # noqa: T201 - it is a command
    for text in figures.differences[:20]:
        print(text, file=sys.stderr)  # noqa: T201
    return int(bool(figures.differences))


if __name__ == "__main__":
    sys.exit(main())
