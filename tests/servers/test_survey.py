"""The report of ``doctor`` on a machine before the first run. The machines are made of variables and doubles."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from conformance.servers import survey
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from conformance.servers.install.apt_sources import Distribution, Source
from conformance.servers.install.installation import Installation
from conformance.servers.run.template import template_directory
from conformance.servers.survey import FactState

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("apt-get", "apt-config", "apt-cache", "dpkg", "dpkg-deb")


class Machine:
    """A machine with apt, an archive, and room; without a server."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.cache = root / "cache"
        self.patch = patch
        self.asked = 0
        self.refusal: ServerUnavailable | None = None
        patch.setenv("BINLOG_LAB_CACHE", str(self.cache))
        patch.setenv("TMPDIR", str(root))
        patch.setattr("tempfile.tempdir", str(root))
        patch.delenv("BINLOG_LAB_BUNDLE", raising=False)
        patch.setattr(survey, "on_path", lambda: None)
        patch.setattr(shutil, "which", lambda name, **_: f"/bin/{name}" if name in PROGRAMS else None)
        patch.setattr(survey, "distribution", lambda: Distribution(id="debian", codename="trixie"))
        source = Source(uri="http://m/debian", suites=("trixie",), components=("main",))
        patch.setattr(survey, "read_sources", lambda: [source])
        patch.setattr(bundle, "try_archive", self._try)
        self.room(2 << 30)

    def _try(self) -> None:
        self.asked += 1
        if self.refusal is not None:
            raise self.refusal

    def room(self, free: int) -> None:
        self.patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(4 << 30, 0, free))

    def with_bundle(self, root: Path, *, template: bool) -> None:
        found = Installation(mysqld=root / "mysqld", version="9.9.1", number=(9, 9, 1), origin="bundle 9.9.1-1")
        found.mysqld.write_text("")
        here = bundle.Bundle(
            directory=root, version="9.9.1-1", architecture="amd64", fetched="2026-01-01", suite="sid", packages=()
        )
        self.patch.setattr(bundle, "cached", lambda: [here])
        self.patch.setattr(bundle.Bundle, "installation", lambda _: found)
        if template:
            (template_directory(found) / "data").mkdir(parents=True)

    def facts(self) -> dict[str, survey.Fact]:
        return {fact.name: fact for fact in survey.survey()}

    def missing(self) -> list[str]:
        return [name for name, fact in self.facts().items() if fact.state is FactState.MISSING]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_machine_that_can_fetch_a_server_lacks_nothing_and_the_mirror_was_asked(machine: Machine) -> None:
    facts = machine.facts()
    assert machine.missing() == []
    assert facts["apt"].detail.endswith("suite sid of the same mirror (its signed index is there)")
    assert machine.asked == 2


def test_an_expired_index_is_told_before_the_run(machine: Machine) -> None:
    machine.refusal = ServerUnavailable("it has expired", "the way out", detail="  | W: noise\n  | E: is expired")
    facts = machine.facts()
    assert machine.missing() == ["server"]
    assert (facts["apt"].state, facts["apt"].detail) == (FactState.ABSENT, "it has expired | E: is expired")
    assert facts["apt"].remedy == "the way out"


@pytest.mark.parametrize("template", [True, False])
def test_where_a_server_is_there_the_mirror_is_not_asked(machine: Machine, tmp_path: Path, template: bool) -> None:
    machine.with_bundle(tmp_path, template=template)
    machine.refusal = ServerUnavailable("no network")
    assert machine.missing() == []
    assert machine.asked == 0


def test_a_cache_that_has_all_need_not_be_writable(machine: Machine, tmp_path: Path) -> None:
    machine.with_bundle(tmp_path, template=True)
    machine.patch.setattr(os, "access", lambda path, _: str(path) != str(machine.cache))
    assert machine.missing() == []
    shutil.rmtree(machine.cache / "templates")
    assert machine.missing() == ["cache space"]
    assert machine.facts()["cache space"].detail.endswith(", not writable")


def test_a_bundle_that_cannot_be_started_is_no_server(machine: Machine, tmp_path: Path) -> None:
    machine.with_bundle(tmp_path, template=True)

    def refuse(_: bundle.Bundle) -> Installation:
        raise ServerUnavailable("mounted noexec", "elsewhere")

    machine.patch.setattr(bundle.Bundle, "installation", refuse)
    facts = machine.facts()
    assert machine.missing() == ["server"]
    assert facts["bundle"].detail == f"mounted noexec (in {machine.cache})"
    assert facts["bundle"].remedy == "elsewhere"


def test_too_little_room_too_few_files_and_no_programs_are_each_told(machine: Machine) -> None:
    flags = os.statvfs("/")
    machine.patch.setattr(survey, "free_files", lambda _: 12)
    machine.patch.setattr(os, "statvfs", lambda _: os.statvfs_result((*flags[:8], os.ST_NOEXEC, flags[9])))
    machine.room((800 << 20) - 1)
    cache = machine.facts()["cache space"]
    assert cache.state is FactState.MISSING
    assert "800 MiB are needed" in cache.detail
    assert "room for 12 files only (inodes), 1000 are needed" in cache.detail
    assert "no program can be started there (mounted noexec)" in cache.detail
    assert cache.remedy == "set BINLOG_LAB_CACHE to another directory"


def test_a_tmpdir_that_programs_cannot_use_is_told(machine: Machine, tmp_path: Path) -> None:
    machine.patch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    fact = machine.facts()["run space"]
    assert (fact.state, fact.remedy) == (FactState.MISSING, "set TMPDIR to a directory that can be written")


def test_a_system_without_proc_is_told(machine: Machine) -> None:
    assert "processes" not in machine.facts()
    machine.patch.setattr(survey, "start_time", lambda _: None)
    assert machine.missing() == ["processes"]


def test_a_system_without_shared_memory_is_told_and_lacks_nothing(machine: Machine) -> None:
    assert "shared memory" not in machine.facts()
    machine.patch.setattr(survey, "has_semaphores", lambda: False)
    fact = machine.facts()["shared memory"]
    assert (fact.state, fact.remedy) == (FactState.ABSENT, "mount a tmpfs at /dev/shm")
    assert machine.missing() == []
