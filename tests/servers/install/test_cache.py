"""Where the cache is, and what users meet who have no place for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.harness.promoted import promoted
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import installation
from conformance.servers.install.cache import cache_root, data_root


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, without HOME: a container that runs as some number."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("BINLOG_LAB_CACHE", "BINLOG_LAB_CASES", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", home)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_is_told_which_variables_help(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for place, remedy in ((cache_root, "BINLOG_LAB_CACHE"), (data_root, "XDG_DATA_HOME")):
        with pytest.raises(ServerUnavailable, match=f"user {os.getuid()} has no home directory") as caught:
            place()
        assert f"set HOME, or set {remedy} to" in caught.value.remedy
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path / "a b/ü"))
    assert cache_root() == tmp_path / "a b/ü"


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home_has_the_cases_of_the_kit() -> None:
    assert {origin for _, origin in promoted()} == {"promoted"}


def test_a_program_on_a_file_system_without_programs_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mysqld = tmp_path / "mysqld"
    mysqld.write_text("#!/bin/sh\n")
    mysqld.chmod(0o755)
    right = os.statvfs(mysqld)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*right[:8], os.ST_NOEXEC, right[9])))
    with pytest.raises(ServerUnavailable, match="its file system is mounted noexec") as caught:
        installation.inspect(mysqld, "here")
    assert "BINLOG_LAB_CACHE" in caught.value.remedy
    mysqld.chmod(0o644)
    with pytest.raises(ServerUnavailable, match="mysqld is not executable"):
        installation.inspect(mysqld, "here")
