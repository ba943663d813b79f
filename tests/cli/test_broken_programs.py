"""A bundle whose mysqlbinlog is lost, broken or another one: what it would show could not run, and nothing is red."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live import PATIENCE

if TYPE_CHECKING:
    from conformance.servers.install.installation import Installation

ALL = ("FR3", "FR7", "P9", "TMP1")
BROKEN = {
    "lost": ("", ALL, "the lab's own bundle has lost the program mysqlbinlog"),
    "does not start": ("README", ALL, "asked for its version it fails with status 127"),
    "another": ("echo", ("FR7",), "asked for its version it says '--no-defaults --version'"),
}


def broken_cache(bundle: Path, cache: Path, program: str) -> None:
    """A cache that has the bundle with links to its files, but for its mysqlbinlog: another program of this machine is
    in its place, or what is no program, or nothing."""
    copy = cache / "bundles" / bundle.name
    for folder in ("usr/sbin", "usr/bin"):
        (copy / "root" / folder).mkdir(parents=True)
    for place, names in ((bundle, "root"), (bundle / "root", "usr"), (bundle / "root/usr", "bin sbin")):
        for entry in place.iterdir():
            if entry.name not in names.split():
                (copy / place.relative_to(bundle) / entry.name).symlink_to(entry)
    for folder in ("usr/bin", "usr/sbin"):
        for entry in (bundle / "root" / folder).iterdir():
            if entry.name != "mysqlbinlog":
                (copy / "root" / folder / entry.name).symlink_to(entry)
    if program:
        path = copy / "root/usr/bin/mysqlbinlog"
        found = shutil.which(program)
        path.write_bytes(b"no program" if found is None else Path(found).read_bytes())
        path.chmod(0o755)


@pytest.mark.live
@pytest.mark.planted("FR3", "FR7", "P9", "TMP1")
@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=() if how == "another" else pytest.mark.nightly) for how in BROKEN]
)
def test_no_verdict_comes_from_a_program_that_is_not_the_servers(
    installation: Installation, how: str, tmp_path: Path
) -> None:
    if not installation.is_bundle:
        pytest.skip("needs the lab's own bundle: its programs are replaced")
    program, requirements, words = BROKEN[how]
    bundle = next(path for path in installation.mysqld.parents if path.name == "root").parent
    broken_cache(bundle, tmp_path / "cache", program)
    report = tmp_path / "report"
    asked = [word for name in requirements for word in ("-r", name)]
    command = [sys.executable, "-m", "conformance", "conformance", "--server", "process", "--jobs", "1"]
    done = subprocess.run(
        [*command, *asked, "--updates", "100", "--report", str(report)],
        env={**os.environ, "BINLOG_LAB_CACHE": str(tmp_path / "cache"), "BINLOG_LAB_BUNDLE": ""},
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    assert "CONFORMANT" not in done.stdout
    found = json.loads((report / "results.json").read_text("utf-8"))
    verdicts = {name: found["requirements"][name]["verdict"] for name in requirements}
    assert verdicts == dict.fromkeys(requirements, "not-run")
    assert found["totals"]["verdicts"]["fail"] == 0
    assert words in done.stdout + done.stderr
    assert "use --server process with the bundle" not in done.stdout + done.stderr
