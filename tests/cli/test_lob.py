"""``binlog-lab lob`` as a program: output, export, exit codes."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import lab
from tests.reference.innodb.fixture_files import DATA, FIXTURES, file_bytes

if TYPE_CHECKING:
    from pathlib import Path

KEYS = ["schema", "table", "partition", "key", "record", "column", "type", "stored", "length", "prefix", "flags",
        "format", "first_page", "lob_version", "versions"]  # fmt: skip


def written(folder: Path, name: str, data: bytes | None = None) -> Path:
    path = folder / f"{name}.ibd"
    path.write_bytes(file_bytes(name) if data is None else data)
    return path


def recorded(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / FIXTURES[name]["jsonb_file"]).read_bytes()))
    return found


def test_text_has_table_key_version_pages_and_document(tmp_path: Path) -> None:
    done = lab("lob", written(tmp_path, "lob_versions"))
    assert (done.code, done.err) == (0, "1 value\n"), done.text
    head, *versions = done.out.splitlines()
    assert head == "fx.lob_versions id=1 j: JSON, 27104 bytes, LOB at page 5, version 3"
    assert [line.partition(":")[0] for line in versions] == [
        "  version 1, pages 5 6", "  version 2, pages 5 7", "  version 3, pages 5 8"
    ]  # fmt: skip
    assert versions[2].partition(": ")[2] == recorded("lob_versions")["select"][0]["j"]


def test_json_has_the_same(tmp_path: Path) -> None:
    done = lab("lob", "--format", "json", written(tmp_path, "lob_versions"))
    (value,) = json.loads(done.out)
    assert list(value) == KEYS
    assert (value["schema"], value["table"], value["key"], value["column"]) == ("fx", "lob_versions", {"id": 1}, "j")
    assert (value["length"], value["format"], value["first_page"], value["lob_version"]) == (27104, "LOB", 5, 3)
    assert [(item["version"], item["pages"], item["length"]) for item in value["versions"]] == [
        (1, [5, 6], 27104), (2, [5, 7], 27104), (3, [5, 8], 27104)
    ]  # fmt: skip
    assert value["versions"][2]["document"] == json.loads(recorded("lob_versions")["select"][0]["j"])


@pytest.mark.parametrize("name", [name for name, entry in FIXTURES.items() if "jsonb_file" in entry])
def test_exported_files_are_the_images_in_the_binary_log(name: str, tmp_path: Path) -> None:
    done = lab("lob", "--no-documents", "--export", tmp_path / "out", written(tmp_path, name))
    assert done.code == 0, done.text
    assert "{" not in done.out
    images = recorded(name)
    for row in FIXTURES[name]["records"]:
        for version in row["j"]["versions"]:
            ending = "jsonb" if version["version"] is None else f"v{version['version']}.jsonb"
            data = (tmp_path / "out" / f"fx.{name}.id={row['id']}.j.{ending}").read_bytes()
            state = version.get("matches_state", [0])[0]
            assert data.hex() == images[str(row["id"])][state]


def test_documents_in_the_record_are_listed_too(tmp_path: Path) -> None:
    done = lab("lob", written(tmp_path, "gencols_json"))
    assert done.out.splitlines() == [
        "fx.gencols_json id=1 j: JSON, 49 bytes, in the record", '  {"n": 5, "name": "bob", "tags": [1, 2]}',
        "fx.gencols_json id=2 j: JSON, 46 bytes, in the record", '  {"n": 6, "name": "eve", "tags": [3]}',
    ]  # fmt: skip


def test_a_damaged_value_is_named_and_the_others_are_printed(tmp_path: Path) -> None:
    data = bytearray(file_bytes("compressed_zblob_zlob"))
    data[7 * 8192 + 100] ^= 1
    path = written(tmp_path, "damaged", bytes(data))
    done = lab("lob", "--format", "json", path)
    assert done.code == 1, done.text
    broken, sound = json.loads(done.out)
    assert "page[7]" in broken["error"]
    assert broken["versions"] == []
    assert sound["versions"][0]["length"] == 27038
    assert "fx.compressed_zblob_zlob id=1 j: page[7]" in done.err
    assert "1 of 2 values" in done.err


def test_a_cut_file_gives_what_is_there(tmp_path: Path) -> None:
    done = lab("lob", written(tmp_path, "cut", file_bytes("lob_versions")[: 8 * 16384]))
    assert done.code == 1, done.text
    assert "page[8]" in done.err
    assert "fx.lob_versions id=1 j: JSON" in done.out


def test_without_dictionary_information_lobs_are_found_by_their_first_page(tmp_path: Path) -> None:
    data = bytearray(file_bytes("lob_versions"))
    data[10505:10513] = bytes(8)
    path = written(tmp_path, "old", bytes(data))
    done = lab("lob", "--no-check", path)
    assert done.code == 0, done.text
    assert done.out.splitlines()[0] == "LOB at page 5: 27104 bytes, LOB at page 5, version 3"
    assert "no table in the dictionary information" in done.err
    other = lab("lob", "--no-check", "--dictionary", written(tmp_path, "lob_versions"), path)
    assert other.out.splitlines()[0] == "fx.lob_versions id=1 j: JSON, 27104 bytes, LOB at page 5, version 3"


def test_wrong_arguments(tmp_path: Path) -> None:
    assert lab("lob").code == 2
    assert lab("lob", tmp_path / "missing.ibd").code == 2
    assert lab("lob", tmp_path).code == 2
    assert lab("lob", written(tmp_path, "text", b"hello")).code == 2
    full = lab("lob", "--export", tmp_path, written(tmp_path, "lob_versions"))
    assert (full.code, full.out) == (2, "")
    assert "not empty" in full.err
