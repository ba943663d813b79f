"""A release, tried: ``python -m tests.builds.release`` (group ``release``) builds the archives, and says what holds.

``--out DIR`` keeps the archives with ``SHA256SUMS`` and ``sbom.json``. ``--tag TAG`` holds a tag against the version.
``--compiled`` builds a compiled wheel twice as well; ``--tests`` runs the source distribution's own tests, where there
is neither git nor xdist, with ``--pytest OPTIONS``. Exit code: 1 if something does not hold.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.version import __version__
from tests.repository import ROOT, tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ADDRESS: Final = "https://example.org/lab"  # of a repository, where none says its own
_NEEDED: Final = ("LICENSE", "REUSE.toml")
_LINK: Final = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")


class DoesNotHoldError(Exception):
    """Something is wrong with the release."""


def require(holds: object, said: str) -> None:
    """Raise :class:`DoesNotHoldError`, unless it holds."""
    if not holds:
        raise DoesNotHoldError(said)


def call(*command: str | Path, where: Path = ROOT, more: Mapping[str, str] | None = None, code: int = 0) -> str:
    """Run a program that ends with this code, and return what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BINLOG_LAB"))}
    done = subprocess.run(
        [*map(str, command)], cwd=where, env={**environment, **(more or {})}, check=False, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    words = shlex.join(map(str, command))
    require(
        done.returncode == code, f"{words}: expected exit code {code}, got {done.returncode}\n{done.stdout[-3000:]}"
    )
    return done.stdout


def snapshot(place: Path) -> Path:
    """A copy of the repository's files, so that nobody changes them between two builds."""
    for name in tracked():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
    return place


def build(repository: Path, folder: Path, *, compiled: bool) -> list[Path]:
    """Build a source distribution and a wheel from a copy of the repository in ``folder``; their paths."""
    source = shutil.copytree(repository, folder / "source", symlinks=True)
    address = os.environ.get("BINLOG_LAB_REPOSITORY", "" if os.environ.get("GITHUB_REPOSITORY") else ADDRESS)
    more = {"BINLOG_LAB_COMPILE": str(int(compiled)), **({"BINLOG_LAB_REPOSITORY": address} if address else {})}
    kinds = ["--wheel"] if compiled else []
    call(sys.executable, "-m", "build", *kinds, "--outdir", folder / "dist", source, more=more)
    return sorted((folder / "dist").iterdir())


def checksums(archives: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each archive, by its name."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in archives}


def built_twice(repository: Path, place: Path, *, compiled: bool) -> list[Path]:
    """The archives of one of two builds in different folders, which must have the same bytes."""
    first, second = (build(repository, place / name, compiled=compiled) for name in ("one", "another-folder"))
    require(checksums(first) == checksums(second), f"two builds differ: {checksums(first)}, {checksums(second)}")
    return first


def require_tag(tag: str) -> None:
    """The tag is the version's, and the changelog has its section."""
    require(tag == f"v{__version__}", f"tag {tag}: expected v{__version__}, as conformance/version.py says")
    require(
        f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8"), f"no section {__version__} in CHANGELOG.md"
    )


def require_licences(archive: Path) -> None:
    """Licence and origins are inside."""
    if archive.suffix == ".whl":
        names = zipfile.ZipFile(archive).namelist()
    else:
        with tarfile.open(archive) as opened:
            names = opened.getnames()
    for needed in _NEEDED:
        require(any(Path(name).name == needed for name in names), f"{archive.name}: no {needed}")


def require_links(wheel: Path) -> int:
    """The links of the package's page lead to files of the repository, at the tag; how many."""
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))).decode()
    page = metadata.partition("\n\n")[2]
    links = list(_LINK.findall(page))
    for link in links:
        inner = re.fullmatch(rf"https?://\S+/(?:blob|raw)/v{re.escape(__version__)}/(\S+)", link)
        require(inner or link.startswith("https://"), f"{link}: not an address")
        require(inner is None or (ROOT / inner[1]).exists(), f"{link}: there is no such file")
    return len(links)


def fresh(place: Path, *packages: str | Path) -> Path:
    """The programs of a new environment with these packages."""
    call(sys.executable, "-m", "venv", place)
    call(place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return place / "bin"


def foreign(place: Path) -> Path:
    """A wheel of somebody else's distribution with a package named ``fuzz``."""
    path = place / "fuzz-1.0-py3-none-any.whl"
    files = {
        "fuzz/__init__.py": '"""Fuzz."""\n',
        "fuzz-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: fuzz\nVersion: 1.0\n",
        "fuzz-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files["fuzz-1.0.dist-info/RECORD"] = "".join(f"{name},,\n" for name in [*files, "fuzz-1.0.dist-info/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def require_a_sentence(place: Path, wheel: Path) -> str:
    """Beside a package of one of our names, a start says whose it is; the sentence."""
    programs = fresh(place, wheel)
    call(programs / "pip", "install", "--quiet", "--disable-pip-version-check", foreign(place))
    said = call(programs / "binlog-lab", "--version", where=place, code=3)
    require("also a package of fuzz 1.0" in said and "Traceback" not in said, said)
    return said.partition("\n")[0]


def own_tests(place: Path, archive: Path, options: Sequence[str]) -> str:
    """Run the source distribution's tests without git and without xdist; pytest's last line."""
    place.mkdir()
    call("tar", "xzf", archive, "-C", place)
    (source,) = (path for path in place.iterdir() if path.is_dir())
    programs = fresh(place / "environment", "--upgrade", "pip")
    call(programs / "pip", "install", "--quiet", "--editable", ".", "--group", "test", where=source)
    call(programs / "pip", "uninstall", "--quiet", "--yes", "pytest-xdist")
    others = place / "programs"
    others.mkdir()
    for folder in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(folder).glob("*"):
            if not program.name.startswith("git"):
                (others / program.name).unlink(missing_ok=True)
                (others / program.name).symlink_to(program)
    said = call(programs / "pytest", *options, where=source, more={"PATH": f"{programs}:{others}"})
    return said.strip().rpartition("\n")[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the release; print a line for each step."""
    parser = argparse.ArgumentParser(prog="python -m tests.builds.release", description=__doc__)
    parser.add_argument("--tag", default="")
    parser.add_argument("--out", type=Path, metavar="DIR")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--pytest", default="", metavar="OPTIONS")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="binlog-lab-release-") as scratch:
        try:
            _steps(asked, Path(scratch))
        except DoesNotHoldError as problem:
            _say(f"✗ {problem}")
            return 1
    return 0


def _steps(asked: argparse.Namespace, place: Path) -> None:
    if asked.tag:
        require_tag(asked.tag)
        _say(f"✓ tag {asked.tag} is the version")
    repository = snapshot(place / "repository")
    archives = built_twice(repository, place / "pure", compiled=False)
    if asked.compiled:
        archives += built_twice(repository, place / "compiled", compiled=True)
    for name, summed in checksums(archives).items():
        _say(f"✓ two builds have the same bytes: {summed}  {name}")
    call(sys.executable, "-m", "twine", "check", "--strict", *archives)
    _say("✓ twine check --strict")
    for archive in archives:
        require_licences(archive)
    _say(f"✓ {len(archives)} archives have {' and '.join(_NEEDED)}")
    pure = next(path for path in archives if path.name.endswith("none-any.whl"))
    _say(f"✓ {require_links(pure)} links of the package's page lead somewhere")
    for wheel in (path for path in archives if path.suffix == ".whl"):
        programs = fresh(place / wheel.stem, wheel)
        version = call(programs / "binlog-lab", "--version", where=place).strip()
        require(version.endswith(__version__), version)
        call(programs / "binlog-lab", "predict", "--document", "{}", "--update", "JSON_SET(j, '$.a', 1)", where=place)
        _say(f"✓ {wheel.name} runs in a fresh environment")
    _say(f"✓ beside a package of our name: {require_a_sentence(place / 'beside', pure)}")
    bill = place / "sbom.json"
    environment = place / pure.stem / "bin/python"
    call(sys.executable, "-m", "cyclonedx_py", "environment", "--output-file", bill, environment)
    _say(f"✓ bill of materials: {bill.stat().st_size:,} bytes")
    if asked.tests:
        source = next(path for path in archives if path.name.endswith(".tar.gz"))
        _say(f"✓ its own tests, without git and xdist: {own_tests(place / 'tests', source, shlex.split(asked.pytest))}")
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        for path in (*archives, bill):
            shutil.copy2(path, asked.out)
        lines = [f"{summed}  {name}\n" for name, summed in checksums(archives).items()]
        (asked.out / "SHA256SUMS").write_text("".join(lines), "utf-8")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
