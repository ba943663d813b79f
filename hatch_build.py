"""Compiles the inner loops of the decoders when a wheel is built; gives the metadata the address of the repository.

The sources stay as they are: a ``.pxd`` beside a module gives its variables C types. A wheel has both forms, and Python
takes the compiled one; ``BINLOG_LAB_PURE=1`` takes the other. ``BINLOG_LAB_COMPILE=0`` compiles nothing; ``1`` fails
where nothing can be compiled. Otherwise a machine without compilers or Python's headers gets a pure wheel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PACKAGE = Path("conformance")
_IN_CPLUSPLUS = ("reference/jsonb/leaves.pyx",)  # its shortest digits of a DOUBLE come from <charconv>
_BUILDER = """
import os
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup

cplusplus = sys.argv.pop(1).split()
given = os.environ.get("CFLAGS", "-O2").split()  # last, where they outdo those of Python's own build
modules = [
    Extension(path.rsplit(".", 1)[0].replace("/", "."), [path],
              language="c++" if path in cplusplus else None,
              extra_compile_args=[*given, "-g0", "-w", *(["-std=c++17"] if path in cplusplus else [])],
              extra_link_args=["-s"])
    for path in sys.argv.pop(1).split()
]
setup(
    name="binlog-lab-compiled",
    packages=[],
    script_args=["build_ext", "--inplace", "--parallel", "2"],
    ext_modules=cythonize(modules, language_level=3, quiet=True, nthreads=0,
                          compiler_directives={"annotation_typing": False, "binding": True}),
)
"""


def wanted() -> bool:
    """Whether this build compiles: as the variable says, else where there is what it needs."""
    chosen = os.environ.get("BINLOG_LAB_COMPILE", "")
    if chosen in {"0", "1"}:
        return chosen == "1"
    headers = Path(sysconfig.get_paths()["include"], "Python.h")
    return sys.implementation.name == "cpython" and headers.exists() and all(map(shutil.which, ("cc", "c++")))


def compiled(root: Path, place: Path) -> list[Path]:
    """Compile the modules that have types, in a copy of the package below ``place``; their paths below it."""
    shutil.copytree(root / _PACKAGE, place / _PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    sources = []
    for types in sorted((place / _PACKAGE).rglob("*.pxd")):
        written = types.with_suffix(".pyx")
        if written.exists():
            types.with_suffix(".py").unlink()
        sources.append((written if written.exists() else types.with_suffix(".py")).relative_to(place).as_posix())
    cplusplus = [(_PACKAGE / name).as_posix() for name in _IN_CPLUSPLUS]
    command = [sys.executable, "-c", _BUILDER, " ".join(cplusplus), " ".join(sources)]
    answer = subprocess.run(  # noqa: S603 - this Python, with our own words
        command, cwd=place, capture_output=True, text=True, check=False
    )
    found = [
        path.relative_to(place)
        for path in sorted((place / _PACKAGE).rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"))
    ]
    if answer.returncode or len(found) != len(sources):
        raise RuntimeError(f"the modules cannot be compiled:\n{answer.stdout[-2000:]}{answer.stderr[-2000:]}")
    return found


class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the compiled modules into a wheel; an editable installation stays pure."""

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling."""
        return ["cython>=3.1", "setuptools>=65"] if wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the wheel are collected."""
        if version == "editable" or not wanted():
            return
        self._place = tempfile.TemporaryDirectory(prefix="binlog-lab-build-")
        place = Path(self._place.name)
        try:
            modules = compiled(Path(self.root), place)
        except RuntimeError as error:
            self._place.cleanup()
            if os.environ.get("BINLOG_LAB_COMPILE") == "1":
                raise
            self.app.display_info(f"{error}\nThe wheel is pure.")
            return
        build_data["force_include"].update({str(place / module): module.as_posix() for module in modules})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Drop the copy."""
        if place := getattr(self, "_place", None):
            place.cleanup()


_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)\s]+)(?=\))")
_PAGES = {"Source": "", "Changelog": "/blob/v{version}/CHANGELOG.md", "Issues": "/issues"}


def repository() -> str:
    """The address of the repository that builds: a fork's is its own. Empty where nothing says it."""
    given = os.environ.get("BINLOG_LAB_REPOSITORY") or os.environ.get("READTHEDOCS_GIT_CLONE_URL", "").removesuffix(
        ".git"
    )
    if not given and (name := os.environ.get("GITHUB_REPOSITORY")):
        given = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    return given.rstrip("/")


def absolute(text: str, address: str, version: str) -> str:
    """A page with its links below the root as links into the repository, at the tag of the version."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[1].endswith((".png", ".svg")) else "blob"
        return f"{address}/{kind}/v{version}/{found[1]}"

    return _LINK.sub(link, text)


class AddressHook(MetadataHookInterface):
    """Gives the package's page its addresses and the README, whose links then work there too."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the fields that ``pyproject.toml`` calls dynamic, but for the version."""
        text = Path(self.root, "README.md").read_text("utf-8")
        version = re.search(
            r'^__version__ = "(.+)"$', Path(self.root, "conformance/version.py").read_text("utf-8"), re.MULTILINE
        )
        address = repository()
        metadata["urls"] = {**self.config["urls"]}
        if address and version:
            text = absolute(text, address, version[1])
            pages = {name: f"{address}{path.format(version=version[1])}" for name, path in _PAGES.items()}
            metadata["urls"] = {**pages, **self.config["urls"]}
            if documentation := os.environ.get("BINLOG_LAB_DOCUMENTATION"):
                metadata["urls"]["Documentation"] = documentation
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
