"""The places of inputs: the committed corpora, one archive a target, and the user's own, from which every run
continues.

A checkout and the source distribution contain the archives; the wheel leaves them out.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.install.cache import cache_root
from fuzz.runner.errors import Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fuzz.runner.targets import Target

COMMITTED: Final = Path(__file__).parents[1] / "corpora"
REGRESSIONS: Final = Path(__file__).parents[2] / "tests" / "regressions"  # path in a checkout
MOST_FILES: Final = 199
LARGEST: Final = 1023  # bytes of a committed input


def archive(target: Target) -> Path:
    """The committed corpus of a target."""
    return COMMITTED / f"{target.name}.zip"


def read_archive(path: Path) -> list[bytes]:
    """The inputs of a corpus; none if the archive does not exist."""
    if not path.is_file():
        return []
    with zipfile.ZipFile(path) as file:
        return [file.read(name) for name in file.namelist()]


def write_archive(path: Path, contents: Iterable[bytes]) -> None:
    """Replace a corpus. The same inputs give the same bytes: no times, no compression."""
    with zipfile.ZipFile(path, "w") as file:
        for number, data in enumerate(sorted(set(contents), key=content_name)):
            file.writestr(zipfile.ZipInfo(f"{number:03d}"), data)


def content_name(data: bytes) -> str:
    """The file name of an input, in libFuzzer's form."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def cached(target: Target, root: Path | None) -> Path:
    """The user's own corpus of a target; ``root`` replaces the user's cache."""
    return (root if root is not None else cache_root() / "fuzz" / "corpora") / target.name


def too_long(target: Target, root: Path | None) -> int:
    """The number of the user's own inputs that the fuzzer cuts off, as they are longer than the target's."""
    return sum(path.stat().st_size > target.max_len for path in cached(target, root).glob("*"))


def committed(target: Target) -> list[bytes]:
    """The committed corpus, and the regressions."""
    regressions = sorted(path for path in (REGRESSIONS / target.name).glob("*") if path.is_file())
    return [*read_archive(archive(target)), *(path.read_bytes() for path in regressions)]


def first_inputs(target: Target) -> list[bytes]:
    """A run's first inputs: committed inputs and seeds.

    Raises :class:`Unfit` for a seed that libFuzzer would silently cut off.
    """
    seeds = list(target.module().seeds())
    for name, data in seeds:
        if len(data) > target.max_len:
            raise Unfit(f"{target.name}: seed {name} has {len(data)} bytes, more than MAX_LEN {target.max_len}")
    return list(dict.fromkeys([*committed(target), *(data for _, data in seeds)]))


def write_inputs(target: Target, directory: Path) -> list[Path]:
    """Write a run's first inputs as files."""
    directory.mkdir()
    paths = []
    for data in first_inputs(target):
        paths.append(directory / content_name(data))
        paths[-1].write_bytes(data)
    return paths


def inputs(target: Target, root: Path | None, *, with_seeds: bool = True) -> Iterable[bytes]:
    """Every input of a target: committed ones, seeds, the user's own. No duplicates."""
    seeds = [data for _, data in target.module().seeds()] if with_seeds else []
    own = [path.read_bytes() for path in sorted(cached(target, root).glob("*")) if path.is_file()]
    yield from dict.fromkeys([*seeds, *committed(target), *own])
