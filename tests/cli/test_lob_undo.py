"""``binlog-lab lob --undo`` as a program: older versions of rows in text, JSON and exported files; missing files."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import lab
from tests.reference.innodb.fixture_files import DATA

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("undo_dynamic.ibd", "undo_001", "undo_002")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The data file and both undo tablespaces."""
    for name in NAMES:
        (tmp_path / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return [tmp_path / name for name in NAMES]


def recorded(key: int, column: int) -> list[tuple[str, str | None]]:
    """Change and hex of a column, the newest first."""
    found: dict[str, Any] = json.loads(gzip.decompress((DATA / "undo.json.gz").read_bytes()))
    return [(change.lower(), values[column]) for change, values in reversed(found["dynamic"][str(key)])]


def test_json_and_exported_files_have_every_state(files: list[Path], tmp_path: Path) -> None:
    data, first, second = files
    done = lab("lob", data, "--undo", first, "--undo", second, "--format", "json", "--deleted", "--export",
               tmp_path / "out")  # fmt: skip
    assert done.code == 0, done.text
    values = {(value["key"]["id"], value["column"]): value for value in json.loads(done.out)}
    assert set(values) == {(1, "j"), (1, "k"), (2, "j"), (3, "j"), (5, "j"), (6, "j"), (7, "j"), (8, "j"), (8, "k")}
    for (key, column), value in values.items():
        assert value["end"] is None
        state: str | None = None
        found: list[tuple[str, str | None]] = []
        for version in reversed(value["history"]):
            if "open" in version:
                assert (version["transaction"], version["unchanged"]) == (value["history"][0]["transaction"], True)
                continue
            if "unchanged" not in version:
                state = None if "null" in version else (tmp_path / "out" / version["file"]).read_bytes().hex()
            found.insert(0, (version["change"].partition("_")[0], state))
        assert found == recorded(key, "jk".index(column)), (key, column)


def test_text_has_a_line_for_each_change(files: list[Path]) -> None:
    data, first, second = files
    done = lab("lob", data, "--undo", first, "--undo", second, "--no-documents")
    assert done.code == 0, done.text
    lines = done.out.splitlines()
    assert lines[0].startswith("fx.dynamic id=1 j: JSON, ")
    told = [line.partition(", ")[2].partition(":") for line in lines if line.startswith("  transaction")][:10]
    assert [change for change, _, _ in told] == ["insert over deleted", "delete", *["update"] * 7, "insert"]
    assert [rest == " unchanged" for _, _, rest in told].count(True) == 3
    assert any(", update, not committed: unchanged" in line for line in lines)


def test_a_missing_undo_tablespace_is_named(files: list[Path]) -> None:
    data, first, _ = files
    done = lab("lob", data, "--undo", first, "--no-documents")
    assert done.code == 1
    assert "undo tablespace 2 is needed (as a rule its file is undo_002)" in done.err
    assert "values cannot be read completely" in done.err
    assert "fx.dynamic id=1 j: JSON" in done.out


@pytest.mark.parametrize(
    ("undo", "words"),
    [((0,), "no undo tablespace"), ((1, 1), "the same undo tablespace"), ((9,), "No such file")],
)
def test_wrong_undo_files_are_wrong_usage(files: list[Path], undo: tuple[int, ...], words: str) -> None:
    paths = [files[number] if number < len(files) else files[0].with_name("missing") for number in undo]
    done = lab("lob", files[0], *[word for path in paths for word in ("--undo", path)])
    assert done.code == 2, done.text
    assert words in done.err
    assert not done.out


def test_a_damaged_undo_page_is_reported_with_its_place(files: list[Path]) -> None:
    data, first, second = files
    for path in (first, second):
        raw = bytearray(path.read_bytes())
        for page in range(4, len(raw) // 16384):
            if raw[page * 16384 + 24 : page * 16384 + 26] == b"\0\2":
                raw[page * 16384 + 400] ^= 1
        path.write_bytes(bytes(raw))
    done = lab("lob", data, "--undo", first, "--undo", second, "--no-documents")
    assert done.code == 1
    assert "[bad-checksum]" in done.err
    assert "undo[" in done.err
