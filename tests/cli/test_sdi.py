"""``binlog-lab sdi`` as a program: output, choices, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.reference.innodb.btree import leaf_records
from conformance.reference.innodb.checksums import page_crc32
from conformance.reference.innodb.pages import PageType
from conformance.reference.innodb.sdi import FORMAT
from tests.live import Ended, lab
from tests.reference.innodb.fixture_files import DATA, FIXTURES, file_bytes, fixture

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.run.process import ProcessServer


@pytest.fixture
def general(tmp_path: Path) -> Path:
    """A general tablespace of three tables: objects (1,576), (1,579), (1,580) and (2,86)."""
    return written(tmp_path, "general_ts")


def written(folder: Path, name: str, data: bytes | None = None) -> Path:
    path = folder / f"{name}.ibd"
    path.write_bytes(file_bytes(name) if data is None else data)
    return path


def keys(done: Ended) -> list[tuple[int, int]]:
    assert done.code == 0, done.text
    head, *objects = json.loads(done.out)
    assert head == "ibd2sdi"
    return [(item["type"], item["id"]) for item in objects]


def test_files_in_order_each_as_ibd2sdi_prints_it(tmp_path: Path, general: Path) -> None:
    done = lab("sdi", written(tmp_path, "compressed_zblob_zlob"), general)
    recorded = [
        (DATA / FIXTURES[name]["ibd2sdi_file"]).read_text("utf-8") for name in ("compressed_zblob_zlob", "general_ts")
    ]
    assert (done.code, done.out, done.err) == (0, "".join(recorded), "")


def test_choices(general: Path) -> None:
    assert keys(lab("sdi", "-s", general)) == [(1, 576), (1, 579), (1, 580), (2, 86)]
    assert keys(lab("sdi", "-s", "--type", "2", general)) == [(2, 86)]
    assert keys(lab("sdi", "-s", "--id", "579", general)) == [(1, 579)]
    assert lab("sdi", "-i", "86", "-t", "1", general).out == '["ibd2sdi"\n]\n'
    stored = lab("sdi", "--skip-pretty", "-i", "86", general).out
    assert '\t\t{"mysqld_version_id":90704,' in stored


def test_dump_file(tmp_path: Path, general: Path) -> None:
    target = tmp_path / "out.json"
    done = lab("sdi", "-d", target, general)
    assert (done.code, done.out) == (0, "")
    assert target.read_text("utf-8") == (DATA / FIXTURES["general_ts"]["ibd2sdi_file"]).read_text("utf-8")


def test_behind_a_damaged_object_the_others_follow(tmp_path: Path, general: Path) -> None:
    data = bytearray(general.read_bytes())
    found = [record.starts for _, record in leaf_records(fixture("general_ts"), 3, FORMAT, PageType.SDI)]
    for starts in found[0], found[2]:
        data[3 * 16384 + starts[6] + 40] ^= 0x55
    path = written(tmp_path, "damaged", bytes(data))
    done = lab("sdi", "--no-check", "--skip-data", path)
    assert (done.code, done.out.count('"id": ')) == (1, 2), done.text
    assert '"id": 579' in done.out
    assert '"id": 86' in done.out
    assert not done.out.endswith("]\n")
    assert [line.split(": ")[2] for line in done.err.splitlines()] == [
        "sdi[1,576].page[3].data", "sdi[1,580].page[3].data",
    ]  # fmt: skip
    created = lab("sdi", "--no-check", "--create", path)
    assert (created.code, created.out.count("CREATE TABLE")) == (1, 1), created.text


def test_damage_has_page_offset_and_field(tmp_path: Path, general: Path) -> None:
    data = bytearray(file_bytes("general_ts"))
    data[3 * 16384 + 9000] ^= 1  # free space of the SDI page
    path = written(tmp_path, "general_ts", bytes(data))
    done = lab("sdi", path)
    assert (done.code, done.out) == (1, "")
    assert "page[3].checksum: the page is damaged at offset 0" in done.err
    assert len(keys(lab("sdi", "--no-check", path))) == 4


def test_a_cut_file(tmp_path: Path) -> None:
    data = file_bytes("general_ts")
    torn = lab("sdi", "-s", written(tmp_path, "torn", data + bytes(100)))
    assert keys(torn)
    assert "100 bytes behind the last whole page are ignored" in torn.err
    short = lab("sdi", "-s", written(tmp_path, "short", data[: 3 * 16384]))
    assert (short.code, short.out) == (1, "")
    assert "page[3]: the file has no such page" in short.err


def test_a_file_without_dictionary_information(tmp_path: Path) -> None:
    data = bytearray(16384 * 4)
    data[25] = 8
    done = lab("sdi", "-n", written(tmp_path, "old", bytes(data)))
    assert (done.code, done.out) == (0, "")
    assert "has no dictionary information" in done.err


@pytest.mark.parametrize("data", [b"", b"hello", b"no data file " * 2000])
def test_other_files(tmp_path: Path, data: bytes) -> None:
    done = lab("sdi", written(tmp_path, "other", data))
    assert (done.code, done.out) == (2, "")


def test_wrong_calls(tmp_path: Path) -> None:
    assert lab("sdi", tmp_path / "missing.ibd").code == 2
    assert lab("sdi", tmp_path).code == 2
    assert lab("sdi").code == 2


def test_create_table(tmp_path: Path, general: Path) -> None:
    done = lab("sdi", "--create", general)
    assert done.code == 0, done.text
    assert done.out.count("CREATE TABLE `gt") == done.out.count(";\n") == 3
    assert "/*!50100 TABLESPACE `general_ts` */ ENGINE=InnoDB" in done.out
    assert lab("sdi", "--create", "--id", "580", general).out.count("CREATE TABLE `gt2`") == 1
    assert lab("sdi", "--create", "--skip-data", general).code == 2


def test_check_needs_a_server_at_an_address(general: Path) -> None:
    assert lab("sdi", "--check", general).code == 2
    assert lab("sdi", "--server", "mysql://root@127.0.0.1:1", general).code == 2
    assert lab("sdi", "--check", "--server", "process", general).code == 2
    assert lab("sdi", "--check", "--server", "mysql://root@127.0.0.1:1", general).code == 3


@pytest.mark.live
def test_check(server: ProcessServer, tmp_path: Path) -> None:
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("CREATE TABLE kept (id int PRIMARY KEY, a varchar(5) COMMENT 'x', KEY k (a(2)))")
        connection.execute("CREATE TABLE lost (id int PRIMARY KEY)")
        connection.execute("FLUSH TABLES kept, lost FOR EXPORT")
        files = [
            written(tmp_path, name, (server.data_directory / schema / f"{name}.ibd").read_bytes())
            for name in ("kept", "lost")
        ]
        connection.execute("UNLOCK TABLES")
        address = f"mysql://root@127.0.0.1?socket={server.address.socket}"
        words: list[str | Path] = ["sdi", "--check", "--server", address, *files]
        same = lab(*words)
        assert (same.code, same.out) == (0, ""), same.text
        assert "4 objects compared, 0 differ" in same.err
        connection.execute("ALTER TABLE kept MODIFY a varchar(6) COMMENT 'y', DROP KEY k")
        connection.execute("DROP TABLE lost")
        other = lab(*words)
    assert other.code == 1
    assert other.out.splitlines() == [
        f"{schema}.kept: column a: type: file 'varchar(5)', server 'varchar(6)'",
        f"{schema}.kept: column a: comment: file 'x', server 'y'",
        f"{schema}.kept: index k: visible: file 'YES', server has none",
        f"{schema}.kept: index k: columns: file 'a(2)', server has none",
        f"{schema}.lost: table: file 'present', server has none",
        f"tablespace {schema}/lost: tablespace: file 'present', server has none",
    ]


@pytest.mark.live
def test_check_names_what_drifted(server: ProcessServer, tmp_path: Path) -> None:
    """A table is altered behind its file, takes another table's file, and a file is altered by hand."""
    with server.connect() as connection, server.schema(connection) as schema:
        connection.execute("SET GLOBAL innodb_file_per_table = ON")
        connection.execute(
            "CREATE TABLE t (id int PRIMARY KEY, a int, KEY f ((a + 1)), CONSTRAINT c CHECK (a > 0)) MAX_ROWS=5"
            " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))"
        )
        connection.execute("CREATE TABLE taken (id int PRIMARY KEY) ROW_FORMAT=COMPACT")
        connection.execute("CREATE TABLE given (id int PRIMARY KEY) ROW_FORMAT=REDUNDANT")
        connection.execute("FLUSH TABLES t, taken, given FOR EXPORT")
        folder = server.data_directory / schema
        data = {name: (folder / f"{name}.ibd").read_bytes() for name in ("t#p#p0", "taken", "given")}
        connection.execute("UNLOCK TABLES")
        connection.execute(
            "ALTER TABLE t DROP KEY f, ADD KEY f ((a + 2)), DROP CHECK c, ADD CONSTRAINT c CHECK (a > 1), MAX_ROWS=6"
        )
        connection.execute("ALTER TABLE t REORGANIZE PARTITION p1 INTO (PARTITION p1 VALUES LESS THAN (30))")
        connection.execute("ALTER TABLE taken DISCARD TABLESPACE")
        connection.execute("DROP TABLE given")

        def drifted(name: str, data: bytes) -> list[str]:
            path = written(tmp_path, name, data)
            address = f"mysql://root@127.0.0.1?socket={server.address.socket}"
            done = lab("sdi", "--check", "--server", address, path)
            assert done.code == (1 if done.out else 0), done.text
            return [
                line.removeprefix(f"{schema}.").removeprefix(f"tablespace {schema}/") for line in done.out.splitlines()
            ]

        assert {
            "t: option MAX_ROWS: file '5', server '6'",
            "t: index f: expressions: file '(`a` + 1)', server '(`a` + 2)'",
            "t: check c: clause: file '(`a` > 0)', server '(`a` > 1)'",
            "t: partition p1: values: file '20', server '30'",
        } <= {*drifted("t", data["t#p#p0"])}
        discarded = [f"taken: path: file '{schema}/taken.ibd', server has none"]
        assert drifted("taken", data["taken"]) == discarded
        (folder / "taken.ibd").write_bytes(data["taken"])
        connection.execute("ALTER TABLE taken IMPORT TABLESPACE")
        assert drifted("taken", data["taken"]) == []
        page = bytearray(data["taken"][:16384])
        page[54:58] = (0x4021).to_bytes(4, "big")
        page[:4] = page[-8:-4] = page_crc32(bytes(page), compressed=False).to_bytes(4, "big")
        altered = drifted("taken", bytes(page) + data["taken"][16384:])
        assert "taken: flags: file '16417', server '16384'" in altered
        assert "taken: row format: file 'Dynamic', server 'Compact or Redundant'" in altered
        connection.execute("SET GLOBAL innodb_file_per_table = DEFAULT")


def test_files_alone_need_no_library_of_the_command_line(general: Path) -> None:
    program = (
        "import sys\nfrom conformance.cli.main import run\ncode = run(sys.argv[1:])\n"
        "sys.exit(code or ' '.join({'click', 'dataclasses', 'pathlib'} & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program, "sdi", str(general)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == lab("sdi", "--pretty", general).out
