"""Loading a target by its words: a module, a function of one's own, or a decoder that takes logs.

The runner loads targets to read their facts, and each process that runs inputs loads its own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from conformance.subjects.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECK: Final = "check"
SUBJECTS: Final = "fuzz.peers.subjects.target"
_MAX_LEN: Final = 4096


@dataclass(frozen=True, slots=True)
class Words:
    """The words that load a target.

    ``path``: the folder of its module. ``function``: the one that checks, in a target of one's own.
    ``subject``: a decoder, as ``conformance --subject`` takes it; ``folder`` and ``modules``: where it was started;
    ``damages``: whether it reads damaged logs too.
    """

    module: str
    path: str = ""
    function: str = ""
    subject: str = ""
    folder: str = ""
    modules: str = ""
    damages: bool = False


def load(words: Words) -> Any:
    """The target, with the interface that ``fuzz.targets`` describes."""
    if words.subject:
        return _subject(words)
    if words.path and words.path not in sys.path:
        sys.path.insert(0, words.path)
    found = import_module(words.module)
    return _Own(found, words.function) if words.function else found


@cache
def _subject(words: Words) -> Any:
    place = Place(words.folder, words.modules)
    return import_module(SUBJECTS).SubjectTarget(words.subject, place, damages=words.damages)


def begin(target: Any) -> None:
    """Let a target make itself ready in the process that runs its inputs."""
    getattr(target, "begin", lambda: None)()


def runs_apart(target: Any) -> bool:
    """Whether a target runs inputs in processes of its own, which have limits of their own."""
    return bool(getattr(target, "APART", False))


class _Own:
    """An own target: a function that takes bytes. All other names of the interface are optional in its module."""

    def __init__(self, module: Any, function: str) -> None:
        self._module = module
        self.check = getattr(module, function)
        lines = (getattr(self.check, "__doc__", None) or "").strip().splitlines()
        self.INVARIANT: str = getattr(module, "INVARIANT", lines[0] if lines else f"{function}() raises nothing.")
        self.INSTRUMENT: tuple[str, ...] = tuple(getattr(module, "INSTRUMENT", (module.__name__,)))
        self.MAX_LEN = int(getattr(module, "MAX_LEN", _MAX_LEN))
        self.DICTIONARY: tuple[bytes, ...] = tuple(getattr(module, "DICTIONARY", ()))

    def seeds(self) -> Iterator[tuple[str, bytes]]:
        """The seeds of the module, if it has some."""
        yield from getattr(self._module, "seeds", tuple)()

    def __getattr__(self, name: str) -> Any:
        """The optional names of the interface."""
        if name in ("mutate", "COMPARISONS"):
            return getattr(self._module, name)
        raise AttributeError(name)
