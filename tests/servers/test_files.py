"""Files below a data directory by their names, and the refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import NoSuchFile, ServerError, ServerUnavailable
from conformance.servers.files import LocalFiles, matches, plain
from conformance.servers.run.attached import AttachedServer, Attachment
from conformance.servers.wire.connection import Address

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> LocalFiles:
    (tmp_path / "s").mkdir()
    for name in ("ibdata1", "undo_001", "s/t.ibd", "s/u.ibd", "s/t.cfg"):
        (tmp_path / name).write_bytes(name.encode())
    return LocalFiles(tmp_path)


def test_a_file_is_read_by_every_name_that_a_server_gives_it(files: LocalFiles) -> None:
    for name in ("s/t.ibd", "./s/t.ibd", str(files.directory / "s/t.ibd")):
        assert files.read(name) == b"s/t.ibd"


def test_files_match_in_their_own_folder_only(files: LocalFiles) -> None:
    assert files.matching("*.ibd") == {}
    assert files.matching("s/*.ibd", "ibdata1", "undo_*") == {
        "ibdata1": b"ibdata1", "s/t.ibd": b"s/t.ibd", "s/u.ibd": b"s/u.ibd", "undo_001": b"undo_001",
    }  # fmt: skip
    assert list(files.matching("*/t.*")) == ["s/t.cfg", "s/t.ibd"]
    assert files.matching("away/*") == {}


@pytest.mark.parametrize(
    ("name", "pattern", "found"),
    [
        ("s/t.ibd", "s/*.ibd", True),
        ("s/t.ibd", "*.ibd", False),
        ("s/t.ibd", "*/*.ibd", True),
        ("lab-relay.000001", "lab-relay.[0-9]*", True),
        ("lab-relay.index", "lab-relay.[0-9]*", False),
        ("a/s/t.ibd", "s/*.ibd", False),
    ],
)
def test_a_name_matches_as_in_a_folder_of_this_machine(name: str, pattern: str, found: bool, tmp_path: Path) -> None:
    assert matches(name, [pattern]) is found
    place = tmp_path / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    assert (name in LocalFiles(tmp_path).matching(pattern)) is found


def test_what_is_not_there_is_an_error_that_names_it(files: LocalFiles) -> None:
    for name in ("s/v.ibd", "ibdata1/t.ibd", "s"):
        with pytest.raises(NoSuchFile, match=f"no file {name} in the data directory"):
            files.read(name)
    with pytest.raises(NoSuchFile, match=r"no folder for away/t\.ibd"):
        files.write("away/t.ibd", b"")
    assert files.exists("s/t.ibd")
    assert not files.exists("s/v.ibd")


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "s/../../x", "", "."])
def test_no_file_outside_of_the_data_directory_is_touched(files: LocalFiles, name: str) -> None:
    with pytest.raises(ServerError, match="below the data directory"):
        files.read(name)
    with pytest.raises(ServerError, match="below the data directory"):
        files.write(name, b"")


def test_files_are_written_and_removed(files: LocalFiles) -> None:
    files.write("s/t.cfg", b"new")
    assert files.read("s/t.cfg") == b"new"
    files.remove(["s/t.cfg", "s/never"])
    assert list(files.matching("s/*")) == ["s/t.ibd", "s/u.ibd"]


def test_names_in_a_container_are_those_below_its_data_directory() -> None:
    assert plain("/var/lib/mysql/s/t.ibd", "/var/lib/mysql") == "s/t.ibd"
    with pytest.raises(ServerError, match="/var/log/x is not below the data directory /var/lib/mysql"):
        plain("/var/log/x", "/var/lib/mysql")


def test_a_server_of_others_has_neither_files_nor_programs() -> None:
    attachment = Attachment(
        id="theirs", version="9.7.4", number=(9, 7, 4), started_by_us=False, files_readable=False, address=Address()
    )
    server = AttachedServer(attachment)
    with pytest.raises(ServerUnavailable, match="the data directory of theirs is not the lab's to read"):
        _ = server.files
    with pytest.raises(ServerUnavailable, match="there is no mysqlbinlog"):
        server.run_program("mysqlbinlog", ["--version"])
