"""The main job on Ubuntu, from an empty cache: a made archive with the real files of the bundle in Ubuntu's packages.

What is real: apt, its checks, dpkg, the server and its programs. Made are the archive, and which files lie in which
package. The server says its own version, and not that of the package.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.live import PATIENCE, ROOT, environment
from tests.servers.ubuntu.machine import Machine, deb822, one_line
from tests.servers.ubuntu.openpgp import ArchiveKey
from tests.servers.ubuntu.releases import JAMMY, RESOLUTE, Release, loader_of, real_files, write

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.servers.install.installation import Installation


@pytest.mark.nightly
@pytest.mark.live
@pytest.mark.parametrize(
    "release", [JAMMY, pytest.param(RESOLUTE, marks=pytest.mark.nightly)], ids=lambda release: release.number
)
def test_the_main_job_fetches_and_judges_the_server_of_the_release(
    installation: Installation, request: pytest.FixtureRequest, tmp_path: Path, release: Release
) -> None:
    if not installation.is_bundle:
        pytest.skip(f"needs the files of a fetched server, and this machine has its own: {installation.mysqld}")
    architecture = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
    key = ArchiveKey("Archive of a test <archive@example.org>")
    keyring = tmp_path / "keyring.gpg"
    keyring.write_bytes(key.keyring)
    request.addfinalizer(partial(shutil.rmtree, tmp_path))  # hundreds of megabytes
    files = real_files(release, installation.mysqld.parents[2])
    write(tmp_path / "archive", release, key, architecture, files)
    machine = Machine(tmp_path / "etc")
    machine.is_called(release.os_release)
    sources = one_line if release is JAMMY else deb822
    machine.has(
        "sources.list" if release is JAMMY else "sources.list.d/ubuntu.sources",
        sources(f"file:{tmp_path}/archive", release.codename, keyring),
    )
    done = subprocess.run(
        [sys.executable, "-m", "tests.servers.ubuntu.machine", machine.etc,
         "conformance", "-r", "FR1", "--updates", "300", "--report", tmp_path / "report"],
        cwd=ROOT, env=environment(BINLOG_LAB_CACHE=str(tmp_path / "cache")), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"fetching the package index of ubuntu {release.codename}" in done.stderr
    (bundle,) = (tmp_path / "cache/bundles").glob("[!.]*")
    assert bundle.name == f"{release.newest}_{architecture}"
    assert (bundle / "root" / loader_of(architecture, unmerged=release is JAMMY)).is_file()
    totals = json.loads((tmp_path / "report/results.json").read_text(encoding="utf-8"))["totals"]
    assert (totals["updates_compared"], totals["mismatches"]) == (300, 0)
