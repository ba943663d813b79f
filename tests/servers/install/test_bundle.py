"""The bundle's fetch against a doubled apt: small programs that behave as apt and dpkg do, and fail as they fail."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.servers import auto
from conformance.servers.errors import ServerUnavailable
from conformance.servers.install import bundle, cache
from conformance.servers.install.apt import diagnose
from conformance.servers.install.apt_sources import Distribution, Source

PACKAGES = {
    "mysql-server-core_9.9.1-1_amd64.deb": b"server",
    "mysql-client-core_9.9.1-1_amd64.deb": b"client",
    "libc6_1%3a2.43_amd64.deb": b"library",
    "perl-base_5.42_amd64.deb": b"perl",
}
SECRET = "mirrorsecret"

APT_GET = """
import hashlib, json, os, re, sys, time
from pathlib import Path
state = Path(os.environ["FAKE_STATE"])
state.joinpath("calls").open("a").write(" ".join(sys.argv[1:]) + "\\n")
config = Path(os.environ["APT_CONFIG"]).read_text()
settings = dict(re.findall(r'^(\\S+) "(.*)";$', config, re.M))
options = dict(word.split("=", 1) for word in sys.argv if "::" in word and "=" in word)
plan = json.loads(os.environ["FAKE_PACKAGES"])
status = int(options["APT::Status-Fd"])
mode = os.environ.get("FAKE_MODE", "")
Path(state, "sources").write_text(Path(settings["Dir::Etc::sourcelist"]).read_text())
Path(state, "config").write_text(config)
if "update" in sys.argv:
    os.write(status, b"dlstatus:1:50.0:half\\ndlstatus:1:100.0:all\\n")
    if mode.startswith("update:"):
        print(mode.removeprefix("update:"))
        sys.exit(100)
elif "--print-uris" in sys.argv:
    if mode.startswith("plan:"):
        print(mode.removeprefix("plan:"))
        sys.exit(100)
    for name, text in plan.items():
        print(f"'http://u:mirrorsecret@m/{name}' {name} {len(text)} SHA256:{hashlib.sha256(text.encode()).hexdigest()}")
else:
    archives = Path(settings["Dir::Cache::archives"])
    for index, (name, text) in enumerate(plan.items()):
        if mode == "slow":
            time.sleep(0.2)
        os.write(status, f"dlstatus:{index}:{100 * index / len(plan)}:Retrieving\\n".encode())
        path = archives / name
        if path.exists():
            print("already there", name)
            continue
        state.joinpath("fetched").open("a").write(name + "\\n")
        path.write_text("x" * len(text) if mode == "corrupt" and index == 1 else text)
        if mode == "interrupted" and index == 1:
            print("E: Failed to fetch http://u:mirrorsecret@m/x  Connection timed out")
            sys.exit(100)
"""
APT_CACHE = """
import json, os, sys
packages = [name.split("_") for name in json.loads(os.environ["FAKE_PACKAGES"])]
for name, version, _ in packages:
    if sys.argv[1] == "pkgnames" and name.startswith(sys.argv[2]):
        print(name)
    if sys.argv[1] == "show" and name in sys.argv[2:]:
        print(f"Package: {name}\\nVersion: {version}\\nDescription: Version: none\\n")
"""
DPKG_DEB = """
import os, sys
from pathlib import Path
archive, root = Path(sys.argv[2]), Path(sys.argv[3])
if os.environ.get("FAKE_MODE") == "full" and archive.name.startswith("mysql-client"):
    sys.exit("dpkg-deb: error: cannot write: No space left on device")
if os.environ.get("FAKE_MODE") == "killed" and archive.name.startswith("mysql-client"):
    os.kill(os.getppid(), 9)
    sys.exit(1)
if archive.name.startswith("mysql-server"):
    mysqld = root / "usr/sbin/mysqld"
    mysqld.parent.mkdir(parents=True)
    words = os.environ.get("FAKE_VERSION", "mysqld  Ver 9.9.1-1 for Linux on x86_64 (Debian)")
    mysqld.write_text(f"#!/bin/sh\\necho '{words}'\\n")
    mysqld.chmod(0o755)
elif archive.name.startswith("perl"):
    (root / "usr/perl-was-unpacked").write_text("")
"""


def write_program(directory: Path, name: str, body: str) -> None:
    path = directory / name
    script = path.with_name(f".{name}.py")
    script.write_text(body)
    # Not as an interpreter in the first line: its path may have spaces.
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S {shlex.quote(str(script))} "$@"\n')
    path.chmod(0o755)


class Apt:
    """Handles of the doubled apt."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.programs = root / "programs"
        self.state = root / "state"
        self.cache = root / "cache"
        self.monkeypatch = monkeypatch
        for directory in (self.programs, self.state):
            directory.mkdir()
        write_program(self.programs, "apt-get", APT_GET)
        write_program(self.programs, "apt-cache", APT_CACHE)
        write_program(self.programs, "dpkg-deb", DPKG_DEB)
        write_program(self.programs, "dpkg", "print('amd64')")
        write_program(
            self.programs,
            "apt-config",
            'print(\'Acquire::http::Proxy "http://proxy:3128";\\nAcquire::AllowInsecureRepositories "true";\')',
        )
        self.monkeypatch.setenv("PATH", f"{self.programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
        self.monkeypatch.setenv("BINLOG_LAB_CACHE", str(self.cache))
        self.monkeypatch.setenv("FAKE_STATE", str(self.state))
        self.offer(PACKAGES)
        for name in ("BINLOG_LAB_BUNDLE", "BINLOG_LAB_EXPIRED_INDEX", "BINLOG_LAB_MIRROR", "FAKE_MODE", "FAKE_VERSION"):
            self.monkeypatch.delenv(name, raising=False)
        self.sources = [
            Source(uri=f"http://u:{SECRET}@m/debian", suites=("bookworm",), components=("main",), signed_by="/k.gpg")
        ]
        self.monkeypatch.setattr(bundle, "read_sources", lambda: self.sources)
        self.monkeypatch.setattr(bundle, "distribution", lambda: Distribution(id="debian", codename="bookworm"))

    def offer(self, packages: dict[str, bytes]) -> None:
        texts = {name: content.decode() for name, content in packages.items()}
        self.monkeypatch.setenv("FAKE_PACKAGES", json.dumps(texts))

    def mode(self, mode: str) -> None:
        self.monkeypatch.setenv("FAKE_MODE", mode)

    def log(self, name: str) -> list[str]:
        path = self.state / name
        return path.read_text().splitlines() if path.exists() else []

    def configurations(self) -> list[Path]:
        """Files of ours for apt, which may hold secrets."""
        return list(self.cache.parent.rglob("archive.sources"))

    def published(self) -> list[str]:
        directory = self.cache / "bundles"
        return sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    return Apt(tmp_path, monkeypatch)


def test_a_fetched_bundle_is_whole_and_described_without_the_mirror(apt: Apt) -> None:
    states: list[bundle.Progress] = []
    found = bundle.ensure(progress=states.append)
    assert (found.version, found.architecture, found.suite) == ("9.9.1-1", "amd64", "sid")
    assert found.installation().version == "9.9.1-1"
    assert ("libc6", "1:2.43") in found.packages
    assert apt.published() == ["9.9.1-1_amd64"]
    manifest = (found.directory / "manifest.json").read_text()
    assert hashlib.sha256(b"server").hexdigest() in manifest
    for text in ("http:", SECRET, "//m"):
        assert text not in manifest
    assert not (found.directory / "root/usr/perl-was-unpacked").exists()
    assert not (apt.cache / "bundle-work").exists()
    assert {state.step for state in states} == {"index", "packages", "unpacking"}
    assert max(state.done for state in states) <= sum(map(len, PACKAGES.values()))


def test_the_session_is_private_signed_and_takes_over_the_way_to_the_network_only(apt: Apt) -> None:
    bundle.ensure()
    config = "\n".join(apt.log("config"))
    assert 'Acquire::http::Proxy "http://proxy:3128";' in config
    assert 'Acquire::AllowInsecureRepositories "true"' not in config
    assert 'APT::Get::AllowUnauthenticated "false";' in config
    assert 'Dir::Etc::main "/dev/null";' in config
    assert apt.log("sources") == [
        "Types: deb",
        f"URIs: http://u:{SECRET}@m/debian",
        "Suites: sid",
        "Components: main",
        "Signed-By: /k.gpg",
    ]
    # What may hold a secret was in a temporary directory, which is gone.
    remaining = subprocess.run(["grep", "-rl", SECRET, str(apt.cache)], capture_output=True, text=True, check=False)
    assert remaining.stdout == ""


def test_a_cached_bundle_needs_no_apt_at_all(apt: Apt) -> None:
    first = bundle.ensure()
    shutil.rmtree(apt.programs)
    assert bundle.ensure() == first


def test_a_pinned_version_is_used_from_the_cache_and_never_replaced_by_another(apt: Apt) -> None:
    bundle.ensure()
    apt.offer({name.replace("9.9.1-1", "9.9.2-1"): content for name, content in PACKAGES.items()})
    apt.monkeypatch.setenv("FAKE_VERSION", "mysqld  Ver 9.9.2-1 for Linux")
    assert bundle.ensure().version == "9.9.1-1"
    assert bundle.ensure(refresh=True).version == "9.9.2-1"
    assert apt.published() == ["9.9.1-1_amd64", "9.9.2-1_amd64"]
    apt.monkeypatch.setenv("BINLOG_LAB_BUNDLE", "9.9.1-1")
    assert bundle.ensure().version == "9.9.1-1"
    apt.monkeypatch.setenv("BINLOG_LAB_BUNDLE", "8.0.1-1")
    with pytest.raises(ServerUnavailable, match=r"bundle 8\.0\.1-1 is not in the cache \(there: .*9\.9\.2-1"):
        bundle.ensure()


def test_refresh_keeps_the_cached_bundle_when_it_is_the_newest(apt: Apt) -> None:
    first = bundle.ensure()
    before = len(apt.log("fetched"))
    assert bundle.ensure(refresh=True) == first
    assert len(apt.log("fetched")) == before


def test_an_interrupted_download_goes_on_where_it_stopped(apt: Apt) -> None:
    apt.mode("interrupted")
    with pytest.raises(ServerUnavailable, match="mirror cannot be reached") as caught:
        bundle.ensure()
    assert SECRET not in str(caught.value)
    assert apt.published() == []
    apt.mode("")
    bundle.ensure()
    assert sorted(apt.log("fetched")) == sorted(PACKAGES)  # each of them once


def test_a_file_that_does_not_match_the_signed_index_is_removed_and_nothing_published(apt: Apt) -> None:
    apt.mode("corrupt")
    with pytest.raises(ServerUnavailable, match=r"mysql-client-core.*does not match the archive's signed index"):
        bundle.ensure()
    assert apt.published() == []
    apt.mode("")
    assert bundle.ensure().version == "9.9.1-1"


def test_a_half_unpacked_bundle_is_never_published(apt: Apt) -> None:
    apt.mode("full")
    with pytest.raises(ServerUnavailable, match=r"mysql-client-core.* cannot be unpacked\n.*No space left"):
        bundle.ensure()
    assert apt.published() == []
    assert apt.configurations() == []
    apt.mode("")
    apt.monkeypatch.setenv("FAKE_VERSION", "something else")
    with pytest.raises(ServerUnavailable, match="is not a MySQL server"):
        bundle.ensure()
    assert apt.published() == []


def fetch_in_another_process(apt: Apt) -> subprocess.Popen[str]:
    script = textwrap.dedent("""
        from conformance.servers.install import bundle
        from conformance.servers.install.apt_sources import Distribution, Source
        bundle.read_sources = lambda: [Source(uri="http://m/debian", suites=("bookworm",), components=("main",))]
        bundle.distribution = lambda: Distribution(id="debian", codename="bookworm")
        print(bundle.ensure().version)
    """)
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )


def test_killed_in_the_middle_of_unpacking_the_next_call_starts_clean(apt: Apt) -> None:
    apt.mode("killed")
    child = fetch_in_another_process(apt)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert [name for name in apt.published() if not name.startswith(".new-")] == []
    assert bundle.cached() == []
    assert apt.configurations() != []
    apt.mode("")
    assert bundle.ensure().version == "9.9.1-1"  # the kernel let go of the lock
    assert apt.published() == ["9.9.1-1_amd64"]
    assert apt.configurations() == []


def test_of_two_at_the_same_time_one_fetches_and_the_other_waits_for_it(apt: Apt) -> None:
    apt.mode("slow")
    children = [fetch_in_another_process(apt) for _ in range(2)]
    assert [child.communicate()[0].strip() for child in children] == ["9.9.1-1", "9.9.1-1"]
    assert sorted(apt.log("fetched")) == sorted(PACKAGES)


def test_the_lock_lasts_as_long_as_an_apt_that_outlived_its_lab(apt: Apt) -> None:
    apt.mode("slow")
    child = fetch_in_another_process(apt)
    while not apt.log("fetched"):
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.communicate()
    assert bundle.ensure().version == "9.9.1-1"
    assert sorted(apt.log("fetched")) == sorted(PACKAGES)  # the orphan's files were waited for and used


@pytest.mark.parametrize("program", ["apt-get", "apt-config", "apt-cache", "dpkg", "dpkg-deb"])
def test_a_missing_program_is_named(apt: Apt, program: str) -> None:
    (apt.programs / program).unlink()
    apt.monkeypatch.setenv("PATH", str(apt.programs))
    with pytest.raises(ServerUnavailable, match=f"{program} is not on this machine") as caught:
        bundle.ensure()
    assert "process:PATH" in caught.value.remedy


def test_without_an_archive_of_the_distribution_the_way_out_is_told(apt: Apt) -> None:
    apt.sources.clear()
    with pytest.raises(ServerUnavailable, match="names no archive of this distribution") as caught:
        bundle.ensure()
    assert "BINLOG_LAB_MIRROR" in caught.value.remedy


def test_the_next_archive_is_tried_when_one_fails_and_the_first_failure_is_told(apt: Apt) -> None:
    apt.sources.append(Source(uri="http://second/debian", suites=("bookworm",), components=("main",)))
    apt.mode("plan:E: Unable to locate package mysql-server-core")
    with pytest.raises(ServerUnavailable, match="does not serve the packages"):
        bundle.ensure()
    assert "URIs: http://second/debian" in apt.log("sources")


def test_too_little_space_is_told_before_anything_is_fetched(apt: Apt) -> None:
    usage = shutil.disk_usage(apt.state)
    apt.monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(ServerUnavailable, match="not enough disk space for the bundle of MySQL"):
        bundle.ensure()
    assert apt.log("fetched") == []


def test_a_cache_that_cannot_be_written_is_told(apt: Apt) -> None:
    (apt.state / "file").write_text("")
    apt.monkeypatch.setenv("BINLOG_LAB_CACHE", str(apt.state / "file" / "cache"))
    with pytest.raises(ServerUnavailable, match="cannot be made") as caught:
        bundle.ensure()
    assert "BINLOG_LAB_CACHE" in caught.value.remedy


EXPIRED_INDEX = "update:E: Release file for http://m/debian/dists/sid/InRelease is expired (invalid since 22d)."


def test_an_index_that_has_expired_is_told_with_both_ways_out(apt: Apt) -> None:
    apt.mode(EXPIRED_INDEX)
    with pytest.raises(ServerUnavailable, match="its Release file has expired") as caught:
        bundle.ensure()
    assert "BINLOG_LAB_MIRROR" in caught.value.remedy
    assert "BINLOG_LAB_EXPIRED_INDEX=1" in caught.value.remedy
    assert "is expired (invalid since 22d)" in caught.value.detail
    assert apt.published() == []


@pytest.mark.parametrize(("value", "taken"), [("1", True), ("yes", True), ("0", False), ("", False), (None, False)])
def test_the_user_takes_an_expired_index_and_gives_up_no_other_check(apt: Apt, value: str | None, taken: bool) -> None:
    if value is None:
        apt.monkeypatch.delenv("BINLOG_LAB_EXPIRED_INDEX", raising=False)
    else:
        apt.monkeypatch.setenv("BINLOG_LAB_EXPIRED_INDEX", value)
    said: list[str] = []
    bundle.ensure(narrate=said.append)
    config = apt.log("config")
    assert ('Acquire::Check-Valid-Until "false";' in config) is taken
    assert any("BINLOG_LAB_EXPIRED_INDEX is set" in line for line in said) is taken
    for check in ("APT::Get::AllowUnauthenticated", "Acquire::AllowInsecureRepositories"):
        assert config[-1 - config[::-1].index(f'{check} "false";')] == f'{check} "false";'
    assert not any("Check-Date" in line for line in config)


def test_what_the_machine_says_about_expired_indexes_holds_for_the_session_too(apt: Apt) -> None:
    write_program(apt.programs, "apt-config", "print('Acquire::Check-Valid-Until \"false\";')")
    apt.sources[:] = [replace(apt.sources[0], dates=(("Check-Valid-Until", "no"),))]
    bundle.ensure()
    assert 'Acquire::Check-Valid-Until "false";' in apt.log("config")
    assert "Check-Valid-Until: no" in apt.log("sources")


def test_the_archive_is_tried_without_fetching_packages_or_lists_of_them(apt: Apt) -> None:
    bundle.try_archive()
    (call,) = apt.log("calls")
    assert call.endswith(" update")
    assert "Acquire::IndexTargets::deb::Packages::DefaultEnabled=false" in call
    assert not apt.cache.exists()
    apt.mode(EXPIRED_INDEX)
    with pytest.raises(ServerUnavailable, match=r"asking the mirror: .* has expired"):
        bundle.try_archive()


def test_a_disk_that_is_full_is_not_left_full(apt: Apt) -> None:
    usage = shutil.disk_usage(apt.state)
    apt.monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    apt.mode("update:E: Write error - write (28: No space left on device)")
    with pytest.raises(ServerUnavailable, match="the disk is full"):
        bundle.ensure()
    assert not (apt.cache / "bundle-work").exists()


def test_too_few_inodes_are_told_before_anything_is_fetched(apt: Apt) -> None:
    apt.monkeypatch.setattr(cache, "free_files", lambda _: 999)
    with pytest.raises(
        ServerUnavailable, match=r"not enough inodes for the bundle of MySQL .*: 1000 files needed, 999"
    ):
        bundle.ensure()
    assert apt.log("fetched") == []


def test_the_reason_why_nothing_can_be_fetched_is_told_where_docker_is_not_installed_either(apt: Apt) -> None:
    """A plain installation has no package docker, and the reason was hidden behind the package's import."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "docker"]:
        apt.monkeypatch.delitem(sys.modules, name)
    apt.monkeypatch.setitem(sys.modules, "docker", None)
    apt.monkeypatch.setattr(auto, "on_path", lambda: None)
    apt.monkeypatch.setattr("conformance.servers.containers.engine_run._current", None)
    apt.mode(EXPIRED_INDEX)
    with pytest.raises(ServerUnavailable) as caught:
        auto.resolve("auto")
    assert "- process: fetching the package index: the archive's index is out of date" in caught.value.missing
    assert "- docker: the Python package docker is not installed" in caught.value.missing


@pytest.mark.parametrize(
    ("output", "missing"),
    [
        ("W: GPG error: http://m sid InRelease: ... NO_PUBKEY 6ED0E7B82643E131", "signature cannot be verified"),
        ("E: The repository 'http://m sid InRelease' is not signed.", "signature cannot be verified"),
        ("E: There were unauthenticated packages and -y was used without --allow-unauthenticated", "signature"),
        ("W: BADSIG\nE: Failed to fetch http://m/InRelease", "signature cannot be verified"),
        ("E: Failed to fetch http://m/x  Hash Sum mismatch", "do not match its signed index"),
        ("E: Release file for http://m/d/dists/sid/InRelease is expired (invalid since 3d). Updates...", "has expired"),
        ("E: Release file for http://m/d/x is not valid yet (invalid for another 5h). Updates...", "clock is slow"),
        ("W: BADSIG\nE: Release file for http://m/d/x is expired (invalid since 3d).", "signature cannot be verified"),
        ("E: Write error - write (28: No space left on device)", "the disk is full"),
        ("E: Unable to locate package mysql-server-core", "does not serve the packages"),
        ("E: Failed to fetch http://m/x  404  Not Found [IP: 1.2.3.4 80]", "does not serve the packages"),
        ("E: Failed to fetch http://m/x  Temporary failure resolving 'm'", "cannot be reached"),
        ("E: Failed to fetch http://m/x  Could not connect to m:80, connection timed out", "cannot be reached"),
        ("E: Could not get lock /x/lists/lock. It is held by process 1", "private directories"),
        ("E: something new", "apt fails"),
    ],
)  # fmt: skip
def test_apt_s_words_become_what_is_missing_and_what_to_do(output: str, missing: str) -> None:
    error = diagnose(output, "fetching")
    assert missing in error.missing
    assert error.remedy
    assert error.detail
    assert error.exit_code == 3


def test_apt_s_words_are_shown_without_the_secrets_of_an_address() -> None:
    assert SECRET not in str(diagnose(f"E: Failed to fetch http://user:{SECRET}@m/x  404 Not Found", "fetching"))
