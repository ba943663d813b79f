"""The fuzz targets: one module each, named as the target with ``_`` for ``-``. Their invariants: fuzzing 3.

A target has these names.

- ``INVARIANT``: one sentence that says what holds for every input
- ``INSTRUMENT``: the modules whose coverage leads the search
- ``CODE``: optional; the modules whose lines are counted, where those that lead the search are others
- ``COMPARISONS``: optional; False where comparisons do not lead the search (they cost a third of a fast target)
- ``MAX_LEN``: the length of the longest input; no seed is longer
- ``check(data)``: raises if and only if the invariant does not hold
- ``seeds()``: (name, input), from the boundary vectors
- ``DICTIONARY``: tokens that random bytes hardly ever hit
- ``mutate(data, max_size, seed)``: a damaged input that gets through the outer layers, where raw bytes rarely do

No target imports a fuzzer, so every stored input can be replayed anywhere.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = Path(__file__).parent


class Target(Protocol):
    """The interface of a target's module; ``mutate``, ``CODE`` and ``COMPARISONS`` are optional."""

    INVARIANT: str
    INSTRUMENT: tuple[str, ...]
    MAX_LEN: int
    DICTIONARY: tuple[bytes, ...]

    def check(self, data: bytes) -> None: ...

    def seeds(self) -> Iterator[tuple[str, bytes]]: ...


def target_names() -> tuple[str, ...]:
    """All targets in alphabetical order."""
    return tuple(sorted(path.stem.replace("_", "-") for path in _FOLDER.glob("[a-z]*.py")))


def load(name: str) -> Target:
    """The module of a target. Raises ``KeyError`` for an unknown name."""
    return cast("Target", import_module(f"{__name__}.{_module(name)}"))


def _module(name: str) -> str:
    if name not in target_names():
        raise KeyError(f"no target is called {name!r}; there are: {', '.join(target_names())}")
    return name.replace("-", "_")
