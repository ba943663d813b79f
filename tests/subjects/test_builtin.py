"""The catalogue of built-in subjects, and fetching one with pip: from wheels in a folder, without any network."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.servers.install.apt import diagnose
from conformance.subjects import builtin
from conformance.subjects.answers import SubjectUnavailable
from conformance.subjects.builtin import catalogue, node
from conformance.subjects.builtin.catalogue import Entry, Package, lock_directory


def _wheel(directory: Path, content: str = "ANSWER = 42\n") -> str:
    """A wheel of the package ``fine`` 1.0; returns its hash."""
    directory.mkdir(exist_ok=True)
    path = directory / "fine-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("fine/__init__.py", content)
        wheel.writestr("fine/libs/fine-2.jar", "a jar")
        wheel.writestr("fine-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: fine\nVersion: 1.0\n")
        wheel.writestr(
            "fine-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("fine-1.0.dist-info/RECORD", "fine/__init__.py,,\nfine-1.0.dist-info/RECORD,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A subject of one pip package, the only one of the catalogue; the cache is empty, and pip sees a folder only."""
    sha256 = _wheel(tmp_path / "wheels")
    monkeypatch.setenv("BINLOG_LAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return _only(
        monkeypatch,
        Entry(
            name="fine", title="Fine", language="Python", version="1.0", description="", project="", reads="file",
            driven="", command=("{python}", "-c", "import fine; print(fine.ANSWER)"),
            packages=(Package(kind="pip", name="fine==1.0", sha256=(sha256,)),),
        ),
    )  # fmt: skip


def _only(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> Entry:
    monkeypatch.setattr(catalogue, "catalogue", lambda: {"fine": entry})
    return entry


def test_all_entries_are_pinned_and_say_how_they_are_driven() -> None:
    """A pip package has its version and its hashes; nothing of an entry is empty; ids fit the command line."""
    for name in builtin.names():
        entry = builtin.entry(name)
        assert all((entry.title, entry.language, entry.version, entry.description, entry.driven))
        assert entry.project.startswith("https://")
        assert entry.reads in ("file", "server", "data file")
        for package in entry.packages_of("pip"):
            assert all(len(value) == 64 for value in package.sha256), name


def test_lock_files_pin_all_packages_and_name_no_registry() -> None:
    """Each package of a lock file has a hash, and comes from wherever npm is configured to look."""
    for name in builtin.names():
        for package in builtin.entry(name).packages_of("npm"):
            lock = json.loads((lock_directory(package.name) / "package-lock.json").read_text())
            entries = {path: found for path, found in lock["packages"].items() if path}
            assert entries
            assert all("integrity" in found and "resolved" not in found for found in entries.values()), name


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    """The message lists what there is."""
    with pytest.raises(SubjectUnavailable, match="python-mysql-replication"):
        builtin.entry("no-such-subject")


def test_install_fetches_once_into_the_cache(fine: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter's words start the subject's own Python; a second call takes what is there, without pip."""
    assert builtin.installed("fine") is None
    there = builtin.install("fine")
    assert there.packages == (("fine", "1.0"),)
    assert subprocess.run(there.command(), capture_output=True, text=True, check=True).stdout == "42\n"
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert builtin.install("fine") == builtin.installed("fine") == there


def test_another_pin_is_another_installation(fine: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation that an older kit fetched does not pass for the newer pin."""
    builtin.install("fine")
    _only(monkeypatch, replace(fine, packages=(replace(fine.packages[0], sha256=("0" * 64,)),)))
    assert builtin.installed("fine") is None


def test_an_artifact_with_another_hash_is_refused(fine: Entry, tmp_path: Path) -> None:
    """Nothing of it stays in the cache."""
    _wheel(tmp_path / "wheels", "ANSWER = 43\n")
    with pytest.raises(SubjectUnavailable, match="another file under this version than the pinned one"):
        builtin.install(fine.name)
    assert builtin.installed("fine") is None
    assert [path.name for path in (tmp_path / "cache/subjects/fine").iterdir()] == ["lock"]


def test_a_missing_artifact_says_so(fine: Entry, tmp_path: Path) -> None:
    """No file of the version fits."""
    (tmp_path / "wheels/fine-1.0-py3-none-any.whl").unlink()
    with pytest.raises(SubjectUnavailable, match="no file of this version fits"):
        builtin.install(fine.name)


def test_files_are_taken_out_of_a_package(fine: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the named files are kept, and the package is not installed."""
    _only(monkeypatch, replace(fine, packages=(replace(fine.packages[0], unpack=("fine-*.jar",)),)))
    directory = builtin.install("fine").directory
    assert directory is not None
    assert (directory / "files/fine-2.jar").read_text() == "a jar"
    assert [path.name for path in (directory / "files").iterdir()] == ["fine-2.jar"]
    assert not list(directory.glob("venv/lib/*/site-packages/fine"))


def test_opening_what_is_not_installed_names_the_command(fine: Entry) -> None:
    """The message can be pasted."""
    with pytest.raises(SubjectUnavailable, match="binlog-lab subjects install fine"):
        builtin.open(fine.name)


def test_a_missing_or_old_runtime_is_named(fine: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Node.js is asked for its version; without it the message says what to install."""
    _only(monkeypatch, replace(fine, needs=(("node", 24),)))
    monkeypatch.setattr(node, "program", lambda: None)
    with pytest.raises(SubjectUnavailable, match=r"install Node.js 24 or newer"):
        builtin.open("fine")
    monkeypatch.setattr(node, "program", lambda: "/bin/node")
    monkeypatch.setattr(node, "_version", lambda _: 20)
    with pytest.raises(SubjectUnavailable, match=r"needs Node.js 24 or newer, and this is 20"):
        builtin.open("fine")


def test_apt_errors_keep_their_remedies() -> None:
    """A Debian package that the mirror lacks is told as for the bundle."""
    assert "BINLOG_LAB_MIRROR" in str(diagnose("E: Unable to locate package mariadb-client-core", "looking"))


def test_the_documentation_lists_all_subjects_with_their_versions() -> None:
    """The page's table is the catalogue's."""
    page = (Path(__file__).parents[2] / "docs/reference/subjects.md").read_text(encoding="utf-8")
    for name in builtin.names():
        entry = builtin.entry(name)
        assert f"| `{name}` | [{entry.title}]({entry.project}) | {entry.version} | {entry.language} |" in page
