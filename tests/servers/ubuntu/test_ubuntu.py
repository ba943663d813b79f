"""The fetch on Ubuntu: real apt and dpkg before made archives, with stand-ins for the programs in the packages.

The live test beside this one puts the real files of a bundle into such packages.
"""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle
from tests.live import ROOT, environment
from tests.servers.ubuntu.machine import Machine, deb822, one_line
from tests.servers.ubuntu.openpgp import ArchiveKey
from tests.servers.ubuntu.packages import Archive, Deb
from tests.servers.ubuntu.releases import (
    COMPONENTS,
    JAMMY,
    NOBLE,
    RELEASES,
    RESOLUTE,
    Release,
    libraries,
    loader_of,
    packages,
    stand_ins,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt, as the fetch itself does")
MINT = """\
NAME="Linux Mint"
VERSION_ID="22"
ID=linuxmint
ID_LIKE="ubuntu debian"
VERSION_CODENAME=wilma
UBUNTU_CODENAME=noble
"""
POP = """\
NAME="Pop!_OS"
VERSION_ID="22.04"
ID=pop
ID_LIKE="ubuntu debian"
VERSION_CODENAME=jammy
UBUNTU_CODENAME=jammy
"""


class Mirrors:
    """Archives of all releases, signed by one key, below one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
        self.key = ArchiveKey("Archive of a test <archive@example.org>")
        self.keyring = root / "ubuntu-archive-keyring.gpg"
        self.keyring.write_bytes(self.key.keyring)
        for release in RELEASES:
            write(root / release.codename / "ubuntu", release, self.key, self.architecture)

    def uri(self, release: Release) -> str:
        """Where the archive of a release is."""
        return f"file:{self.root}/{release.codename}/ubuntu"


@pytest.fixture(scope="module")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Mirrors:
    return Mirrors(tmp_path_factory.mktemp("mirrors"))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose kit has an empty cache, and no settings."""
    for name in ("BINLOG_LAB_BUNDLE", "BINLOG_LAB_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path / "cache"))
    made = Machine(tmp_path / "etc")
    made.stands_in(monkeypatch.setattr)
    return made


def configure(machine: Machine, mirrors: Mirrors, release: Release) -> None:
    """As the release's installer does: one line a source in 22.04, deb822 since 24.04."""
    machine.is_called(release.os_release)
    uri = mirrors.uri(release)
    if release is JAMMY:
        machine.has("sources.list", one_line(uri, release.codename, mirrors.keyring))
    else:
        machine.has("sources.list", "# Ubuntu sources have moved to /etc/apt/sources.list.d/ubuntu.sources\n")
        machine.has("sources.list.d/ubuntu.sources", deb822(uri, release.codename, mirrors.keyring))


def refused(words: str) -> ServerUnavailable:
    """The error of a fetch that leaves no bundle behind."""
    with pytest.raises(ServerUnavailable, match=words) as caught:
        bundle.ensure()
    assert bundle.cached() == []
    return caught.value


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.number)
def test_the_newest_server_of_the_release_is_found_fetched_unpacked_and_started(
    mirrors: Mirrors, machine: Machine, release: Release
) -> None:
    configure(machine, mirrors, release)
    found = bundle.ensure()
    assert (found.version, found.suite) == (release.newest, release.codename)
    assert json.loads((found.directory / "manifest.json").read_text())["distribution"] == "ubuntu"
    assert {name for name, _ in found.packages} == {
        release.server, release.client, "gcc-14-base", *release.libraries, *release.client_libraries
    }  # fmt: skip
    installation = found.installation()
    assert installation.version == release.newest
    root = found.directory / "root"
    loader = root / loader_of(mirrors.architecture, unmerged=release is JAMMY)
    assert installation.launcher[0] == str(loader)
    assert not (root / "usr/share/doc").exists()
    for program in ("mysqlbinlog", "ibd2sdi", "mysql", "mysqldump"):
        said = subprocess.check_output([*installation.program(program)], text=True)
        assert said == f"{program}  Ver {release.newest} for Linux on x86_64 ((Ubuntu))\n"


def test_the_commands_of_the_kit_see_the_release_and_fetch_it(mirrors: Mirrors, machine: Machine) -> None:
    configure(machine, mirrors, NOBLE)

    def lab(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.servers.ubuntu.machine", str(machine.etc), *words]
        return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)

    said = lab("doctor").stdout
    assert "ubuntu noble; the bundle comes from suite noble of the same mirror" in said
    done = lab("servers", "install")
    assert done.returncode == 0, done.stderr
    assert "fetching the package index of ubuntu noble" in done.stderr
    assert f"MySQL {NOBLE.newest} is in the cache" in done.stderr
    assert f"MySQL {NOBLE.newest} (fetched" in lab("doctor").stdout


def test_a_series_comes_from_the_release_that_has_it_and_stays_beside_the_other(
    mirrors: Mirrors, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "archive"  # all releases, as Ubuntu's mirrors have them
    write(root, NOBLE, mirrors.key, mirrors.architecture)
    write(root, RESOLUTE, mirrors.key, mirrors.architecture)
    configure(machine, mirrors, NOBLE)
    assert bundle.ensure(version="8.0").version == NOBLE.newest
    error = refused_besides("8.4", 1)  # its mirror has no other release
    assert error.missing == (
        f"ubuntu noble, noble-updates, noble-security of the machine's mirror has no MySQL 8.4: it has {NOBLE.newest}"
    )
    assert error.remedy == "an image of that series: --server docker:mysql:8.4"
    machine.has("sources.list.d/ubuntu.sources", deb822(f"file:{root}", "noble", mirrors.keyring))
    found = bundle.ensure(version="8.4")
    assert (found.version, found.suite) == (RESOLUTE.newest, "resolute")
    assert found.installation().version == RESOLUTE.newest
    refused_besides("9.7", 2)
    for pin, version in (("8.0", NOBLE.newest), ("8.4", RESOLUTE.newest), (NOBLE.newest, NOBLE.newest)):
        monkeypatch.setenv("BINLOG_LAB_BUNDLE", pin)
        assert bundle.ensure().version == version


def refused_besides(series: str, count: int) -> ServerUnavailable:
    """The error of a fetch that changes nothing in the cache."""
    with pytest.raises(ServerUnavailable, match=f"has no MySQL {series}") as caught:
        bundle.ensure(version=series)
    assert len(bundle.cached()) == count
    return caught.value


class Web:
    """The mirrors on 127.0.0.1, and the paths that were asked for."""

    def __init__(self, root: Path) -> None:
        asked: list[str] = []
        self.asked = asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                asked.append(self.path)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=root))
        self.address = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def web(mirrors: Mirrors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    own = Web(mirrors.root)
    settings = tmp_path / "apt.conf"
    settings.write_text('Acquire::http::Proxy::127.0.0.1 "DIRECT";\n')  # whatever this machine's proxy is
    monkeypatch.setenv("APT_CONFIG", str(settings))
    thread = threading.Thread(target=own.server.serve_forever, args=(0.01,))
    thread.start()
    yield own
    own.server.shutdown()
    thread.join()
    own.server.server_close()


def test_the_archive_is_asked_first_and_alone_where_ppas_and_vendors_stand_before_it(
    mirrors: Mirrors, machine: Machine, web: Web, tmp_path: Path
) -> None:
    """As on the machines of GitHub's workflows: the archive is a list of mirrors, in the last of many files."""
    machine.is_called(NOBLE.os_release)
    listed = tmp_path / "apt-mirrors.txt"
    listed.write_text(f"{web.address}/noble/ubuntu\tpriority:1\n")
    vendor, ppa = f"{web.address}/vendor/ubuntu/24.04/prod", f"{web.address}/deadsnakes/ppa/ubuntu"
    machine.has("sources.list.d/microsoft-prod.list", f"deb [arch=amd64] {vendor} noble main\n")
    machine.has("sources.list.d/google-chrome.list", f"deb {web.address}/chrome stable main\n")
    machine.has(
        "sources.list.d/deadsnakes-ubuntu-ppa-noble.sources",
        f"Types: deb\nURIs: {ppa}\nSuites: noble\nComponents: main\n",
    )
    elsewhere = f"{web.address}/security"  # has nothing, and is not asked: -updates has the same
    machine.has("sources.list.d/ubuntu.sources", deb822(f"mirror+file:{listed}", "noble", mirrors.keyring, elsewhere))
    assert bundle.ensure().version == NOBLE.newest
    assert {path.split("/")[1] for path in web.asked} == {"noble"}
    suites = {path.split("/")[4] for path in web.asked if "/dists/" in path}
    assert suites == {"noble", "noble-updates"}


@pytest.mark.parametrize(("os_release", "release", "own"), [(MINT, NOBLE, "wilma"), (POP, JAMMY, "jammy")])
def test_derivatives_take_the_archive_of_ubuntu_under_its_own_codename(
    mirrors: Mirrors, machine: Machine, os_release: str, release: Release, own: str
) -> None:
    machine.is_called(os_release)
    machine.has("sources.list.d/a-derivative.list", f"deb http://127.0.0.1:9/derivative {own} main upstream import\n")
    machine.has("sources.list.d/b.sources", deb822(mirrors.uri(release), release.codename, mirrors.keyring))
    assert bundle.ensure().version == release.newest


def test_a_machine_without_updates_gets_the_version_of_the_release_pocket(mirrors: Mirrors, machine: Machine) -> None:
    machine.is_called(NOBLE.os_release)
    machine.has("sources.list", f"deb [signed-by={mirrors.keyring}] {mirrors.uri(NOBLE)} noble main\n")
    assert bundle.ensure().version == NOBLE.first


def test_a_mirror_in_the_environment_has_all_pockets(
    mirrors: Mirrors, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(machine, mirrors, RESOLUTE)
    monkeypatch.setenv("BINLOG_LAB_MIRROR", mirrors.uri(NOBLE))
    error = refused("does not serve the packages")  # of another release
    assert "full mirror" in error.remedy
    monkeypatch.setenv("BINLOG_LAB_MIRROR", mirrors.uri(RESOLUTE))
    assert bundle.ensure().version == RESOLUTE.newest


# ------------------------------------------------------------------------------------------------ what must be refused
@pytest.fixture
def own_archive(mirrors: Mirrors, machine: Machine, web: Web) -> Iterator[Path]:
    """A copy of 24.04's archive, which the test may spoil, and a machine that uses it over the web."""
    root = mirrors.root / "own"
    shutil.copytree(mirrors.root / "noble/ubuntu", root)
    machine.is_called(NOBLE.os_release)
    machine.has("sources.list", one_line(f"{web.address}/own", "noble", mirrors.keyring))
    yield root
    shutil.rmtree(root)


def test_an_archive_signed_by_another_key_is_refused(mirrors: Mirrors, machine: Machine, tmp_path: Path) -> None:
    configure(machine, mirrors, NOBLE)
    other = tmp_path / "other.gpg"
    other.write_bytes(ArchiveKey("Archive of a test <archive@example.org>").keyring)
    machine.has("sources.list.d/ubuntu.sources", deb822(mirrors.uri(NOBLE), "noble", other))
    error = refused("signature cannot be verified with this machine's keys")
    assert "ubuntu-keyring" in error.remedy


def test_an_archive_whose_key_the_machine_does_not_have_is_refused(mirrors: Mirrors, machine: Machine) -> None:
    machine.is_called(JAMMY.os_release)
    machine.has("sources.list", one_line(mirrors.uri(JAMMY), "jammy", None))
    refused("signature cannot be verified with this machine's keys")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("dists/noble-updates/InRelease", "signature cannot be verified"),
        ("dists/noble-updates/main/binary-*/Packages.xz", "do not match its signed index"),
        ("dists/noble-updates/main/binary-*/by-hash/SHA256/*", "do not match its signed index"),
        (f"pool/main/mysql-server-core-8.0_{NOBLE.newest}_*.deb", "do not match its signed index"),
    ],
)
def test_one_changed_byte_in_the_archive_is_refused(own_archive: Path, file: str, words: str) -> None:
    (path,) = own_archive.glob(file)
    content = bytearray(path.read_bytes())
    place = content.index(b"Codename: n") if path.name == "InRelease" else len(content) // 2
    content[place] ^= 1
    path.write_bytes(content)
    if path.name == "Packages.xz":  # apt takes the one by its hash, where there is one
        shutil.rmtree(path.parent / "by-hash")
    elif path.parent.name == "SHA256":
        path.parents[2].joinpath("Packages.xz").unlink()
    refused(words)


def test_a_library_that_no_package_brings_is_named_and_nothing_published(
    mirrors: Mirrors, machine: Machine, tmp_path: Path
) -> None:
    files = {**stand_ins(NOBLE, mirrors.architecture), "libaio1t64": {}}
    write(tmp_path / "archive", NOBLE, mirrors.key, mirrors.architecture, files)
    machine.is_called(NOBLE.os_release)
    machine.has("sources.list", one_line(f"file:{tmp_path}/archive", "noble", mirrors.keyring))
    refused(r"libaio\.so\.1t64: cannot open shared object file")


def _without(*names: str) -> list[Deb]:
    files = stand_ins(NOBLE, "amd64")
    return [deb for deb in (*packages(NOBLE, files, NOBLE.newest), *libraries(NOBLE, files)) if deb.name not in names]


@pytest.mark.parametrize("missing", ["mysql-server-core-8.0", "mysql-client-core-8.0"])
def test_a_release_without_the_server_or_its_client_is_told_with_what_was_looked_for(
    mirrors: Mirrors, machine: Machine, tmp_path: Path, missing: str
) -> None:
    archive = Archive(tmp_path / "archive", mirrors.key, mirrors.architecture)
    archive.put("noble", _without(missing), codename="noble", components=COMPONENTS)
    machine.is_called(NOBLE.os_release)
    machine.has("sources.list", f"deb [signed-by={mirrors.keyring}] file:{archive.root} noble main universe\n")
    error = refused(f"^ubuntu noble of the machine's mirror has no MySQL server for {mirrors.architecture}")
    assert "mysql-server-core or mysql-server-core-SERIES" in error.missing
    assert "BINLOG_LAB_MIRROR" in error.remedy


def test_a_release_that_the_mirror_has_no_more_is_told(own_archive: Path) -> None:
    shutil.rmtree(own_archive / "dists")
    error = refused("does not serve the packages")
    assert "end of life" in error.remedy


def test_sources_of_another_release_are_no_archive(mirrors: Mirrors, machine: Machine) -> None:
    configure(machine, mirrors, NOBLE)
    machine.is_called(RESOLUTE.os_release)
    error = refused(r"names no archive of this distribution \(ubuntu resolute\)")
    assert "mirror of Ubuntu's archive" in error.remedy


def test_a_relative_of_ubuntu_without_a_codename_is_told(
    mirrors: Mirrors, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.is_called("ID=other\nID_LIKE=ubuntu\n")
    monkeypatch.setenv("BINLOG_LAB_MIRROR", mirrors.uri(NOBLE))
    refused("does not say which release of Ubuntu this is")
