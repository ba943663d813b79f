"""``binlog-lab rows``: rows of data files as JSON lines and INSERTs, recorded files and those of a real server."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.checks.row_values.run import SESSION, read
from conformance.reference.innodb.pages import Tablespace
from conformance.reference.innodb.stored_tables import RowState
from tests.data_file_rows import FORMS, SCHEMA, Figures, compare, run
from tests.live import lab
from tests.reference.innodb.fixture_files import DATA, unpacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.servers.install.installation import Installation
    from conformance.servers.run.process import ProcessServer
    from tests.data_file_rows import Made

REPORTS = Path(__file__).parents[1] / "data" / "reports"


def written(folder: Path, name: str, data: bytes | None = None) -> Path:
    path = folder / f"{name}.ibd"
    path.write_bytes(unpacked(name) if data is None else data)
    return path


def format_file(folder: Path, name: str) -> Path:
    return written(folder, name, gzip.decompress((DATA / "formats" / f"{name}.ibd.gz").read_bytes()))


def test_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path, "alter_instant")
    done = lab("rows", path)
    assert (done.code, done.err) == (0, "2 rows\n")
    first, second = map(json.loads, done.out.splitlines())
    assert first == {
        "file": str(path), "schema": "fx", "table": "alter_instant", "partition": None, "page": 4, "record": 126,
        "state": "current", "values": {"id": 1, "b": None, "c": "xyz"},
    }  # fmt: skip
    assert second["values"] == {"id": 2, "b": {"json": [1, 2]}, "c": "q"}


def test_insert_statements_are_sql(tmp_path: Path) -> None:
    done = lab("rows", "--format", "sql", written(tmp_path, "alter_instant"))
    assert done.code == 0
    assert done.out.splitlines() == [
        "SET NAMES utf8mb4;",
        "SET SESSION time_zone = '+00:00', SESSION foreign_key_checks = 0;",
        "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';",
        "INSERT INTO `fx`.`alter_instant` (`id`, `b`, `c`) VALUES (1, NULL, 'xyz');",
        "INSERT INTO `fx`.`alter_instant` (`id`, `b`, `c`) VALUES (2, CAST('[1, 2]' AS JSON), 'q');",
    ]


def test_deleted_rows_are_told_from_others(tmp_path: Path) -> None:
    path = written(tmp_path, "undo_compact")
    lines = [json.loads(line) for line in lab("rows", "--deleted", path).out.splitlines()]
    assert {state: sum(line["state"] == state for line in lines) for state in RowState} == {
        "current": 4, "delete-marked": 4, "free": 3
    }  # fmt: skip
    done = lab("rows", "--deleted", "--format", "sql", path)
    assert done.err.endswith("4 rows, 4 delete-marked, 3 free\n")
    inserts = [line for line in done.out.splitlines() if "INSERT" in line]
    assert sum(line.startswith("INSERT") for line in inserts) == 4
    assert sum(line.startswith("-- delete-marked: INSERT") for line in inserts) == 4
    assert sum(line.startswith(("-- free: INSERT", "-- free; without")) for line in inserts) == 3


def test_damage_is_named_and_the_other_rows_come(tmp_path: Path) -> None:
    whole = format_file(tmp_path, "tree_redundant")
    lines = [json.loads(line) for line in lab("rows", whole).out.splitlines()]
    pages = sorted({line["page"] for line in lines})
    data = bytearray(whole.read_bytes())
    data[pages[1] * Tablespace.of_bytes(bytes(data)).flags.physical + 500] ^= 1
    whole.write_bytes(data)
    done = lab("rows", whole)
    assert done.code == 1
    assert [json.loads(line) for line in done.out.splitlines()] == [line for line in lines if line["page"] != pages[1]]
    assert f"{whole}: page[{pages[1]}].checksum: the page is damaged at offset 0, expected 0x" in done.err
    assert "not all rows could be read" in done.err
    assert len(lab("rows", "--no-check", whole).out.splitlines()) > len(done.out.splitlines())


def test_a_large_value_that_is_damaged_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "lob_versions")
    (line,) = map(json.loads, lab("rows", path).out.splitlines())
    data = bytearray(path.read_bytes())
    for page in range(6, len(data) // 16384):  # behind the index pages of the table
        data[page * 16384 + 900] ^= 1
    path.write_bytes(data)
    done = lab("rows", path)
    (left,) = map(json.loads, done.out.splitlines())
    assert done.code == 1
    assert set(left["values"]) < set(line["values"])
    *_, comment = lab("rows", "--format", "sql", path).out.splitlines()
    assert comment.startswith("-- without ")


def test_a_file_from_before_the_dictionary_needs_one(tmp_path: Path) -> None:
    old, new = format_file(tmp_path, "old_dynamic"), format_file(tmp_path, "imported_dynamic")
    done = lab("rows", old)
    assert (done.code, done.out) == (1, "")
    assert "--dictionary names" in done.err
    done = lab("rows", "--dictionary", new, old)
    assert done.code == 0
    values = [json.loads(line)["values"] for line in done.out.splitlines()]
    assert values == [json.loads(line)["values"] for line in lab("rows", new).out.splitlines()]
    assert values


def test_tables_of_full_text_indexes_have_no_rows_of_users(tmp_path: Path) -> None:
    files = []
    for packed in (REPORTS / "fulltext").glob("*.gz"):
        files.append(tmp_path / packed.name.removesuffix(".gz"))
        files[-1].write_bytes(gzip.decompress(packed.read_bytes()))
    done = lab("rows", *sorted(files))
    assert done.code == 0
    assert [json.loads(line)["values"] for line in done.out.splitlines()] == [{"id": 1, "x": "hello world"}]
    assert "2 hidden tables of the storage engine" in done.err


def test_a_table_that_no_file_has_is_wrong_usage(tmp_path: Path) -> None:
    path = written(tmp_path, "alter_instant")
    assert lab("rows", "--table", "fx.alter_instant", path).code == 0
    done = lab("rows", "--table", "gone", path)
    assert (done.code, "no file has the table gone" in done.err) == (2, True)
    assert lab("rows", tmp_path / "none").code == 2
    (tmp_path / "empty").mkdir()
    assert lab("rows", tmp_path / "empty").code == 2


@pytest.mark.slow
@pytest.mark.live
def test_rows_of_every_form_are_those_of_select(installation: Installation, tmp_path: Path) -> None:
    """A small form of ``python -m tests.data_file_rows``; then the INSERTs give the server its rows back."""
    keyring = tmp_path / "keys" / "keyring"
    keyring.parent.mkdir()
    figures = run(installation, keyring, tables=len(FORMS), rows=12 * len(FORMS), seed=7, more=reloaded)
    assert figures.differences == []
    assert set(figures.forms) == set(FORMS)
    assert figures.rows > 9 * len(FORMS)
    assert figures.left + figures.on_damaged_pages == figures.rows


def reloaded(server: ProcessServer, made: Sequence[Made], keyring: Path) -> None:
    """Empty the tables, run the INSERTs of each, and SELECT again."""
    statements = {}
    for each in made:
        done = lab("rows", "--format", "sql", "--keyring", keyring, "--table", each.table.name, *each.files)
        assert done.code == 0, done.text
        statements[each.table.name] = done.out.split(";\n")[:-1]
    server.start()
    with server.connect() as connection:
        connection.execute_many([*SESSION, f"USE {SCHEMA}"]).check()
        for each in made:
            connection.execute(f"TRUNCATE {each.table.name}")
            for statement in statements[each.table.name]:
                connection.execute(statement)
            assert read(connection, each.table) == each.rows, each.form
    server.stop()
    compare(made[0], keyring, figures := Figures())
    assert figures.differences == []
