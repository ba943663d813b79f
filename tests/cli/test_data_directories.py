"""Data directories as they are: hidden tables, files of every version, and ``apply --verify`` of a whole directory."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.extents import page_errors
from conformance.servers.run.process import launch
from tests.live import lab
from tests.reference.innodb.fixture_files import tablespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.servers.install.installation import Installation

REPORTS: Final = Path(__file__).parents[1] / "data" / "reports"
PAGE: Final = 16384
STATEMENTS: Final = """
CREATE DATABASE shop
USE shop
CREATE TABLE articles (id INT PRIMARY KEY, title VARCHAR(100), body TEXT, FULLTEXT (title), FULLTEXT (body))
INSERT INTO articles VALUES (1, 'one', 'hello world'), (2, 'two', 'good bye')
DELETE FROM articles WHERE id = 2
CREATE TABLE keyless (a INT, body TEXT, FULLTEXT (body))
INSERT INTO keyless VALUES (5, 'hello')
CREATE TABLE parts (id INT, y INT, PRIMARY KEY (id, y)) PARTITION BY RANGE (y) SUBPARTITION BY HASH (id) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)
INSERT INTO parts VALUES (1, 2), (2, 20), (3, 5), (4, 50)
CREATE TABLE hashed (id INT PRIMARY KEY, v VARCHAR(9)) PARTITION BY KEY (id) PARTITIONS 3
INSERT INTO hashed VALUES (1, 'a'), (2, 'b'), (3, 'c')
CREATE TABLESPACE several ADD DATAFILE 'several.ibd'
CREATE TABLESPACE vacant ADD DATAFILE 'vacant.ibd'
CREATE TABLE t_one (id INT PRIMARY KEY, v VARCHAR(9)) TABLESPACE several
CREATE TABLE t_two (id INT PRIMARY KEY, body TEXT, FULLTEXT (body)) TABLESPACE several
INSERT INTO t_one VALUES (1, 'a')
INSERT INTO t_two VALUES (1, 'a')
CREATE TABLE in_system (id INT PRIMARY KEY, v VARCHAR(9)) TABLESPACE innodb_system
INSERT INTO in_system VALUES (1, 'ibdata1')
CREATE TABLE places (id INT PRIMARY KEY, g POINT NOT NULL SRID 0, SPATIAL INDEX (g))
INSERT INTO places VALUES (1, POINT(1, 2))
CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(20))
INSERT INTO plain VALUES (1, 'as it was written')
CREATE UNDO TABLESPACE more ADD DATAFILE 'more.ibu'
INSERT INTO mysql.time_zone_leap_second VALUES (1, 2)
INSERT INTO sys.sys_config (variable, value) VALUES ('x', 'y')
CREATE USER u@localhost IDENTIFIED BY 'x'
CREATE DATABASE other
CREATE TABLE other.removed (id INT PRIMARY KEY)
DROP TABLE other.removed
CREATE TABLE other.plain LIKE shop.plain
INSERT INTO other.plain VALUES (7, 'q')
"""  # noqa: E501 - one statement a line
TABLES: Final = 10


# --- files of public reports, made anew ------------------------------------------------------------------------------


@pytest.fixture
def full_text(tmp_path: Path) -> list[Path]:
    """A table with a FULLTEXT index, and two of its hidden tables."""
    files = []
    for packed in sorted((REPORTS / "fulltext").glob("*.gz")):
        files.append(tmp_path / packed.name.removesuffix(".gz"))
        files[-1].write_bytes(gzip.decompress(packed.read_bytes()))
    assert len(files) == 3
    return files


def test_tables_of_a_full_text_index_are_no_difference(full_text: Sequence[Path]) -> None:
    done = lab("apply", REPORTS / "fulltext" / "log", "--verify", *full_text)
    assert (done.code, done.out) == (0, "t.f: 1 row equal\n")
    assert "not compared: 2 hidden tables of the storage engine\n" in done.err
    assert done.err.endswith("1 row equal, no other row in the log or the files\n")


def test_a_hidden_table_has_no_values_and_no_statement(full_text: Sequence[Path]) -> None:
    for hidden in full_text[1:]:
        done = lab("lob", hidden)
        assert (done.code, done.out, done.err) == (0, "", "0 values\n")
        done = lab("sdi", "--create", hidden)
        assert (done.code, done.out) == (0, "")
        assert done.err == f"{hidden}: t.{hidden.stem} is a hidden table of the storage engine: no statement makes it\n"


def test_dictionary_information_of_8_0_18(tmp_path: Path) -> None:
    path = tmp_path / "c.ibd"
    path.write_bytes(gzip.decompress((REPORTS / "sdi-of-8.0.18.ibd.gz").read_bytes()))
    done = lab("sdi", "--create", path)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "CREATE TABLE `c` (\n  `id` int NOT NULL,\n  `j` json DEFAULT NULL,\n  `v` varchar(9) DEFAULT NULL,\n"
        "  PRIMARY KEY (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;\n"
    )
    assert lab("rows", path).code == lab("lob", path).code == 0


# --- a directory of a real server ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a server that was shut down, with its log."""
    folder = tmp_path_factory.mktemp("kept") / "data"
    with launch(installation) as server:
        with server.connect() as connection:
            for statement in STATEMENTS.strip().splitlines():
                connection.execute(statement)
        server.stop()
        shutil.copytree(server.data_directory, folder)
    return folder


@pytest.fixture
def directory(kept: Path) -> Iterator[Path]:
    """The directory; what a test changes of its files is put back."""
    before = {path: path.read_bytes() for path in kept.rglob("*.ibd") if path.name != "mysql.ibd"}
    yield kept
    for path in set(kept.rglob("*.ibd")) - before.keys() - {kept / "mysql.ibd"}:
        path.unlink()
    for path, data in before.items():
        path.write_bytes(data)


@pytest.mark.live
def test_a_sound_directory_is_equal(directory: Path) -> None:
    done = lab("apply", directory / "binlog.000001", "--verify", directory)
    assert done.code == 0, done.text
    assert len(done.out.splitlines()) == TABLES
    assert all(line.endswith("equal") for line in done.out.splitlines())
    assert "15 rows equal, no other row in the log or the files" in done.err
    shared = lab("apply", "--jobs", "2", directory / "binlog.000001", "--verify", directory)
    assert (shared.code, shared.out, shared.err) == (done.code, done.out, done.err)
    found = json.loads(lab("apply", "--format", "json", directory / "binlog.000001", "--verify", directory).out)
    assert found["problems"] == []
    told = found["not_compared"]
    assert told["hidden"] > 20
    assert told["of_server"] > 50
    assert told["rows_of_server"] > 1000


def changed(path: Path, old: bytes, new: bytes) -> int:
    """Change bytes of a row and give its page the checksum that is due; returns the page."""
    data = bytearray(path.read_bytes())
    at = data.index(old)
    data[at : at + len(new)] = new
    page = at // PAGE
    piece = data[page * PAGE : (page + 1) * PAGE]
    piece[:4] = piece[-8:-4] = page_crc32(bytes(piece), compressed=False).to_bytes(4, "big")
    data[page * PAGE : (page + 1) * PAGE] = piece
    path.write_bytes(data)
    return page


@pytest.mark.live
def test_one_changed_byte_of_a_row_is_found(directory: Path) -> None:
    changed(directory / "shop" / "plain.ibd", b"as it was written", b"as it is_ written")
    done = lab("apply", directory / "binlog.000001", "--verify", directory)
    assert done.code == 1
    assert "shop.plain: 0 rows equal, 1 differing" in done.out
    assert "differing: id=1: v: log 'as it was written', file 'as it is_ written'" in done.out


@pytest.mark.live
def test_one_changed_byte_without_its_checksum_names_the_page(directory: Path) -> None:
    path = directory / "shop" / "plain.ibd"
    data = bytearray(path.read_bytes())
    data[data.index(b"as it was written")] ^= 1
    path.write_bytes(data)
    done = lab("apply", directory / "binlog.000001", "--verify", directory)
    assert done.code == 1
    assert f"{path}: page[4].checksum: the page is damaged at offset 0, expected 0x" in done.out
    assert "1 rows of the log are not on the other pages" in done.out
    assert "shop.parts: 4 rows equal" in done.out


@pytest.mark.live
@pytest.mark.parametrize("name", ["undo_001", "more.ibu", "ibdata1", "mysql.ibd"])
def test_damage_of_the_servers_own_files_is_found(kept: Path, tmp_path: Path, name: str) -> None:
    """Each alone, beside no log of its own: a log without tables."""
    data = bytearray((kept / name).read_bytes())
    page = next(number for number in range(3, len(data) // PAGE) if any(data[number * PAGE : (number + 1) * PAGE]))
    data[page * PAGE + 5000] ^= 1
    (tmp_path / name).write_bytes(data)
    errors = [str(error) for error in page_errors(tablespace(bytes(data)))]
    assert len(errors) == 1
    done = lab("apply", REPORTS / "fulltext" / "log", "--verify", tmp_path)
    assert done.code == 1
    assert f"{tmp_path / name}: page[{page}].checksum: the page is damaged" in done.err


@pytest.mark.live
def test_files_that_do_not_belong_are_named(directory: Path) -> None:
    (directory / "shop" / "nothing.ibd").write_bytes(b"")
    shutil.copy(directory / "other" / "plain.ibd", directory / "other" / "copy.ibd")
    (directory / "shop" / "parts#p#p1#sp#p1sp0.ibd").unlink()
    done = lab("apply", directory / "binlog.000001", "--verify", directory)
    assert done.code == 1
    assert "nothing.ibd: the file is shorter than any page" in done.err
    assert "plain.ibd is the same tablespace as" in done.err
    assert "not all rows were compared: no file has the data of p1sp0" in done.out
    assert "shop.hashed: 3 rows equal" in done.out
