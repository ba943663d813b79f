"""``binlog-lab apply --verify``: the rows of a server's log against those in its data files; what differs is named."""

from __future__ import annotations

import json
import random
import shutil
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from conformance.checks.row_values.run import SESSION, offer
from conformance.harness.needs.questions import Questions
from conformance.reference.binlog.files import read_events
from conformance.reference.binlog.rows import LazyRows
from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.dictionary import clustered_indexes
from conformance.reference.innodb.large_values import table_objects
from conformance.reference.innodb.records import OffPage
from conformance.reference.replay.data_files import DataFiles
from conformance.reference.replay.engine import Replay
from conformance.reference.sql.quoting import quote_identifier
from conformance.reference.tables.definitions import create_table
from conformance.servers.run.process import launch
from generators.draw import Stream
from generators.row_values import ROUND, literal, table
from tests.live import lab
from tests.reference.innodb.fixture_files import tablespace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.reference.innodb.pages import Tablespace
    from conformance.reference.innodb.records import Record
    from conformance.reference.replay.data_files import Comparison
    from conformance.servers.install.installation import Installation
    from conformance.servers.wire.connection import Connection
    from tests.live import Ended

pytestmark = pytest.mark.live

CORPUS: Final = Path(__file__).parents[1] / "data" / "binlogs"
SCHEMA: Final = "verified"
FORMATS: Final = ("DYNAMIC", "COMPACT", "REDUNDANT", "COMPRESSED")
ROWS: Final = 4
FEATURES: Final = """
CREATE TABLE computed (a INT, b INT AS (a * 2) VIRTUAL, c INT AS (a * 3) STORED, k VARCHAR(20) NOT NULL, j JSON, INDEX ((a + 1)), PRIMARY KEY (k(3)))
INSERT INTO computed (a, k, j) VALUES (1, 'abcdef', '{"x": 1}'), (2, 'bcd', NULL), (NULL, 'c', '[1, 2]')
CREATE TABLE keyless (a INT, d DOUBLE, j JSON)
INSERT INTO keyless VALUES (1, 1.5, '1'), (1, 1.5, '1'), (1, 1.5, '2'), (NULL, NULL, NULL), (2, -0e0, '{}')
DELETE FROM keyless WHERE a IS NULL
CREATE TABLE only_unique (a INT NOT NULL UNIQUE, b VARCHAR(10) INVISIBLE, c INT)
INSERT INTO only_unique (a, b, c) VALUES (1, 'x', 3), (5, 'y', 6)
SET sql_generate_invisible_primary_key = ON
CREATE TABLE invisible_key (a INT)
INSERT INTO invisible_key VALUES (5), (7)
CREATE TABLE versions (id INT PRIMARY KEY, a INT, b VARCHAR(30))
INSERT INTO versions VALUES (1, 2, 'a'), (2, 3, 'b')
ALTER TABLE versions ADD COLUMN n INT FIRST, ALGORITHM=INSTANT
INSERT INTO versions VALUES (7, 3, 2, 'a'), (8, 4, 3, 'b')
ALTER TABLE versions DROP COLUMN a, ALGORITHM=INSTANT
ALTER TABLE versions RENAME COLUMN b TO bb
ALTER TABLE versions ADD COLUMN a VARCHAR(5), ALGORITHM=INSTANT
UPDATE versions SET n = 1, a = 'zz' WHERE id = 1
CREATE TABLE defaults (id INT PRIMARY KEY, v VARCHAR(9))
INSERT INTO defaults VALUES (1, 'a'), (2, 'b'), (3, 'c')
ALTER TABLE defaults ADD COLUMN h INT NOT NULL DEFAULT 77, ADD COLUMN s VARCHAR(20) DEFAULT 'sieben' FIRST, ALGORITHM=INSTANT
UPDATE defaults SET h = 78 WHERE id = 2
INSERT INTO defaults VALUES (NULL, 4, 'd', 5)
CREATE TABLE parts (id INT, y INT, PRIMARY KEY (id, y)) PARTITION BY RANGE (y) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)
INSERT INTO parts VALUES (1, 2), (2, 20), (3, 5), (4, 50)
SET binlog_row_value_options = PARTIAL_JSON
CREATE TABLE large (id INT PRIMARY KEY, j JSON) ROW_FORMAT=COMPACT
INSERT INTO large VALUES (1, JSON_OBJECT('a', REPEAT('x', 50000), 'b', 1)), (2, JSON_OBJECT('a', REPEAT('x', 9), 'b', 1))
UPDATE large SET j = JSON_SET(j, '$.b', 2)
UPDATE large SET j = JSON_SET(j, '$.a', REPEAT('y', 40000))
CREATE TABLE emptied (id INT PRIMARY KEY)
INSERT INTO emptied VALUES (1)
TRUNCATE emptied
CREATE TABLE renamed (id INT PRIMARY KEY)
RENAME TABLE renamed TO untouched
"""  # noqa: E501 - one statement a line


class Backup(NamedTuple):
    """The files of a server: its log, and its data files as they are after a flush for export."""

    log: Path
    files: tuple[Path, ...]

    def file(self, table: str) -> Path:
        return next(path for path in self.files if path.name == f"{table}.ibd")


def workload(connection: Connection, questions: Questions) -> None:
    """Every column type in every row format, and tables with whatever else a table can have."""
    connection.execute_many([*SESSION, f"CREATE DATABASE {SCHEMA}", f"USE {SCHEMA}"]).check()
    offered = offer(connection, questions)
    for number in range(ROUND):
        draw = Stream("verify", number)
        made = table(draw, number, schema=SCHEMA, name=f"t{number}", vectors=True, collations=offered.collations)
        columns = list(enumerate(made.columns[1:]))
        rows = [
            f"({key}, {', '.join(literal(draw.fork(key, place), column) for place, column in columns)})"
            for key in range(ROWS)
        ]
        connection.execute(f"{create_table(made)} ROW_FORMAT={FORMATS[number % len(FORMATS)]}")
        connection.execute(f"INSERT INTO {quote_identifier(made.name)} VALUES {', '.join(rows)}")
        connection.execute(f"DELETE FROM {quote_identifier(made.name)} WHERE id = {number % ROWS}")
        connection.execute(f"UPDATE {quote_identifier(made.name)} SET id = 99 WHERE id = {(number + 1) % ROWS}")
    for statement in FEATURES.strip().splitlines():
        connection.execute(statement)


@pytest.fixture(scope="module")
def backup(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Backup:
    """A server that is gone, its log from its beginning, and its files."""
    folder = tmp_path_factory.mktemp("backup")
    with launch(installation) as server:
        with server.connect() as connection:
            workload(connection, Questions(server))
            tables = [row[0] or "" for row in connection.execute("SHOW TABLES").texts()]
            connection.execute(f"FLUSH TABLES {', '.join(tables)} FOR EXPORT")
            for path in (server.data_directory / SCHEMA).glob("*.ibd"):
                shutil.copy(path, folder)
            connection.execute("UNLOCK TABLES")
        server.stop()
        shutil.copy(server.data_directory / "binlog.000001", folder)
    return Backup(folder / "binlog.000001", tuple(sorted(folder.glob("*.ibd"))))


def verify(backup: Backup, *files: Path) -> Ended:
    """The command over all files of the backup, those of the same name in ``files`` instead."""
    own = {path.name: path for path in (*backup.files, *files)}
    return lab("apply", backup.log, "--verify", *own.values())


def test_all_rows_of_a_sound_backup_are_equal(backup: Backup) -> None:
    done = verify(backup)
    assert done.code == 0, done.text
    lines = done.out.splitlines()
    assert [line for line in lines if not line.endswith("equal")] == [
        "  not compared, as the file has no virtual columns: b"
    ]
    assert f"{SCHEMA}.parts: 4 rows equal" in lines
    assert len(lines) == ROUND + 11
    assert f"{(ROWS - 1) * ROUND + 25} rows equal, no other row in the log or the files" in done.err


def test_json_has_every_table(backup: Backup) -> None:
    done = lab("apply", "--format", "json", backup.log, "--verify", *backup.files)
    found = json.loads(done.out)
    assert (done.code, found["problems"]) == (0, [])
    entry = next(each for each in found["tables"] if each["table"] == "computed")
    assert list(entry) == [
        "schema", "table", "files", "agrees", "problem", "equal", "other_layout", "missing", "only_in_file",
        "differing", "damaged", "columns_not_compared", "newest_lsn",
    ]  # fmt: skip
    assert (entry["agrees"], entry["equal"], entry["columns_not_compared"]) == (True, 3, ["b"])
    assert entry["newest_lsn"] > 0


# --- what is wrong is found and named --------------------------------------------------------------------------------


def replayed(log: Path | BytesIO) -> Replay:
    """The tables at the end of a log."""
    replay = Replay()
    with log.open("rb") if isinstance(log, Path) else log as file:
        for event in read_events(file, expand=True):
            replay.event(event)
    replay.finish()
    return replay


def compared(replay: Replay, path: Path) -> Comparison:
    """The comparison of the one table in a file."""
    files = DataFiles([(path.name, tablespace(path.read_bytes()))])
    found = [each for each in files.compare(replay.tables) if each.files]
    assert files.problems == []
    assert len(found) == 1
    return found[0]


def records(path: Path) -> Iterator[tuple[Tablespace, Record, list[str]]]:
    """The live clustered records of a file without page compression of its own, with the names of their fields."""
    space = tablespace(path.read_bytes(), verify=False)
    for entry in table_objects(space):
        for index in clustered_indexes(entry):
            if index.space_id == space.space_id:
                for _, record in leaf_records(space, index.root, index.format):
                    if not record.deleted:
                        yield space, record, [field.name for field in index.format.fields]


def altered(path: Path, folder: Path, page: int, changes: dict[int, int]) -> Path:
    """A copy of a file with other bytes in a page, and its checksum repaired."""
    data = bytearray(path.read_bytes())
    size = tablespace(bytes(data)).flags.physical
    area = data[page * size : (page + 1) * size]
    for at, value in changes.items():
        area[at] = value
    area[:4] = area[-8:-4] = page_crc32(bytes(area), compressed=False).to_bytes(4, "big")
    data[page * size : (page + 1) * size] = area
    target = folder / path.name
    target.write_bytes(data)
    return target


def test_a_single_byte_is_found_and_named(backup: Backup, tmp_path: Path) -> None:
    space, record, names = next(records(backup.file("only_unique")))
    at = record.starts[names.index("b")]
    assert space.page(record.page).data[at : at + 1] == b"x"
    done = verify(backup, altered(backup.file("only_unique"), tmp_path, record.page, {at: ord("z")}))
    assert done.code == 1
    assert f"{SCHEMA}.only_unique: 1 row equal, 1 differing\n  differing: a=1: b: log 'x', file 'z'\n" in done.out
    assert "FOR EXPORT" in done.err
    assert "LSN" in done.err


def test_a_row_that_is_marked_as_deleted_is_missing(backup: Backup, tmp_path: Path) -> None:
    space, record, _ = next(records(backup.file("large")))
    info = record.origin - 5
    mark = space.page(record.page).data[info] | 0x20
    path = altered(backup.file("large"), tmp_path, record.page, {info: mark})
    found = compared(replayed(backup.log), path)
    assert (found.equal, found.missing) == (1, [{"id": "1"}])
    assert not found.agrees


def test_a_page_without_repaired_checksum_is_damage_and_the_other_tables_are_compared(
    backup: Backup, tmp_path: Path
) -> None:
    _, record, _ = next(records(backup.file("large")))
    data = bytearray(backup.file("large").read_bytes())
    data[record.page * 16384 + record.origin + 2] ^= 1
    (tmp_path / "large.ibd").write_bytes(data)
    done = verify(backup, tmp_path / "large.ibd")
    assert done.code == 1
    named = f"{tmp_path / 'large.ibd'}: page[4].checksum: the page is damaged"
    assert f"not all rows were compared: {named}" in done.out
    assert f"{SCHEMA}.versions: 4 rows equal" in done.out


@pytest.mark.parametrize(
    ("name", "kind"), [("only_unique", "only_in_file"), ("versions", "differing"), ("keyless", "missing")]
)
def test_a_log_without_one_event_is_found(backup: Backup, name: str, kind: str) -> None:
    """The last rows event of the table is gone: an insert, an update, a delete."""
    data = backup.log.read_bytes()
    event = [
        event for event in read_events(BytesIO(data))
        if isinstance(event.body, LazyRows) and event.body.map().table == name
    ][-1]  # fmt: skip
    assert event.position is not None
    log = data[: event.position] + data[event.position + event.header.length :]
    found = compared(replayed(BytesIO(log)), backup.file(name))
    counts = {each: len(getattr(found, each)) for each in ("missing", "only_in_file", "differing")}
    assert counts.pop(kind) > 0
    assert not any(counts.values())


def test_a_table_without_a_file_and_a_file_without_a_table_are_said(backup: Backup) -> None:
    files = [path for path in backup.files if path.name not in {"computed.ibd", "parts#p#p1#sp#p1sp0.ibd"}]
    done = lab("apply", backup.log, "--verify", *files)
    assert done.code == 1
    assert f"{SCHEMA}.computed: the log has the table (3 rows), and no file" in done.out
    assert f"{SCHEMA}.parts: 0 rows equal\n  not all rows were compared: no file has the data of p1sp0" in done.out
    other = lab("apply", CORPUS / "17-xa-savepoint-rowsquery.binlog", "--verify", files[0])
    assert other.code == 1
    assert "the file has the table, and the log has not" in other.out
    assert "d.t: the log has the table (3 rows), and no file" in other.out


def test_the_option_needs_files(backup: Backup) -> None:
    assert lab("apply", backup.log, "--verify").code == 2
    assert lab("apply", backup.log, "--verify", backup.log).code == 2
    assert lab("apply", "--verify", *backup.files).code == 2


def test_any_altered_byte_of_a_value_is_found_at_its_row(backup: Backup) -> None:
    """Every type in every format: a byte of a value in a record becomes another one."""
    replay = replayed(backup.log)
    draw = random.Random("altered bytes")
    found = 0
    for path in backup.files:
        data, size = path.read_bytes(), 16384
        if tablespace(data).flags.compressed:
            continue  # its records are compressed: a byte of the page is no byte of a value
        for _, record, names in list(records(path))[:3]:
            for at, name, value in _places(record, names, draw):
                page = bytearray(data[record.page * size : (record.page + 1) * size])
                page[at] ^= 1 << draw.randrange(8)
                changed = data[: record.page * size] + page + data[(record.page + 1) * size :]
                problem = _wrong(path, changed, backup, replay)
                assert problem, (path.name, name, at, value)
                found += 1
    assert found > 300


def _places(record: Record, names: list[str], draw: random.Random) -> Iterator[tuple[int, str, Any]]:
    """A byte of each value, but of the engine's columns and of the prefix that a key repeats."""
    for place, (name, value, start) in enumerate(zip(names, record.values, record.starts, strict=True)):
        if name in names[place + 1 :]:
            continue
        if isinstance(value, bytes) and value and start > 0 and not name.startswith(("DB_", "!hidden!")):
            yield start + draw.randrange(len(value)), name, value
        elif isinstance(value, OffPage):
            yield value.at + draw.randrange(12), name, value


def _wrong(path: Path, data: bytes, backup: Backup, replay: Replay) -> bool:
    parts = [path] if "#" not in path.name else [each for each in backup.files if each.name.startswith("parts")]
    files = [(each.name, tablespace(data if each == path else each.read_bytes(), verify=False)) for each in parts]
    comparisons = list(DataFiles(files).compare(replay.tables))
    mine = [each for each in comparisons if each.files]
    assert len(mine) == 1
    return not mine[0].agrees


# --- several jobs -----------------------------------------------------------------------------------------------------


def test_jobs_share_the_tables_out_and_say_the_same(backup: Backup, tmp_path: Path) -> None:
    some = [path for path in backup.files if path.name not in {"computed.ibd", "parts#p#p1#sp#p1sp0.ibd"}]
    data = backup.log.read_bytes()
    rows = [event.position or 0 for event in read_events(BytesIO(data)) if isinstance(event.body, LazyRows)]
    short, damaged = tmp_path / "short", tmp_path / "damaged"
    short.write_bytes(data[: rows[len(rows) // 2]] + data[rows[len(rows) // 2 + 1] :])
    damaged.write_bytes(data[: rows[-3] + 40] + b"damage" + data[rows[-3] + 46 :])
    calls: tuple[tuple[tuple[str | Path, ...], int], ...] = (
        ((backup.log, "--verify", *backup.files), 0),
        (("--format", "json", backup.log, "--verify", *some), 1),
        ((short, "--verify", *backup.files), 1),
        ((damaged, "--verify", *backup.files), 1),
    )
    for words, code in calls:
        alone = lab("apply", *words)
        assert alone.code == code, alone.text
        assert lab("apply", "--jobs", "3", *words) == alone


def test_jobs_belong_to_the_comparison(backup: Backup) -> None:
    done = lab("apply", "--jobs", "2", backup.log)
    assert done.code == 2
    assert "--verify" in done.err
