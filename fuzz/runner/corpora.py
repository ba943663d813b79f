"""Where inputs live: the committed corpora (only read), and the user's own, which every run goes on from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.servers.install.cache import cache_root
from fuzz.runner.errors import Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fuzz.runner.targets import Target

COMMITTED: Final = Path(__file__).parents[1] / "corpora"
REGRESSIONS: Final = Path(__file__).parents[2] / "tests" / "regressions"  # in a checkout
MOST_FILES: Final = 199
LARGEST: Final = 1023  # bytes of a committed input


def cached(target: Target, root: Path | None) -> Path:
    """The user's own corpus of a target; ``root`` in place of the user's cache."""
    return (root if root is not None else cache_root() / "fuzz" / "corpora") / target.name


def committed(target: Target) -> list[Path]:
    """Files of the committed corpus, and the regressions."""
    places = (target.committed if target.committed is not None else COMMITTED / target.name, REGRESSIONS / target.name)
    return sorted(path for place in places for path in place.glob("*") if path.is_file())


def write_seeds(target: Target, directory: Path) -> list[Path]:
    """The target's seeds as files. Raises :class:`Unfit` for one that libFuzzer would cut off without a word."""
    directory.mkdir()
    paths = []
    for name, data in target.module().seeds():
        if len(data) > target.max_len:
            raise Unfit(f"{target.name}: seed {name} has {len(data)} bytes, more than MAX_LEN {target.max_len}")
        path = directory / hashlib.sha1(data, usedforsecurity=False).hexdigest()
        path.write_bytes(data)
        paths.append(path)
    return sorted(set(paths))


def inputs(target: Target, root: Path | None, *, with_seeds: bool = True) -> Iterable[bytes]:
    """Every input that there is for a target: committed ones, seeds, the user's own. No duplicates."""
    seen: set[bytes] = set()
    own = cached(target, root)
    paths = [*committed(target), *(sorted(own.glob("*")) if own.is_dir() else ())]
    if with_seeds:
        for _, data in target.module().seeds():
            if data not in seen:
                seen.add(data)
                yield data
    for path in paths:
        if path.is_file() and (data := path.read_bytes()) not in seen:
            seen.add(data)
            yield data
