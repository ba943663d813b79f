"""The targets from the runner's view: ours (``fuzz.targets``), and those against other people's decoders (peers)."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.messages import did_you_mean
from conformance.subjects.place import Place
from conformance.subjects.specs import parse_subject
from fuzz.runner.errors import Unfit, UnknownTarget
from fuzz.runner.loading import CHECK, SUBJECTS, Words, load

if TYPE_CHECKING:
    from collections.abc import Iterable

EMPTY: Final = "empty"  # the empty target: its rate is the scale for all others
_PEERS: Final = Path(__file__).parents[1] / "peers"


@dataclass(frozen=True, slots=True)
class Target:
    """One target. ``path``: the directory of its module, if that is not the lab's.

    ``function`` and what stands behind it: see :class:`~fuzz.runner.loading.Words`. ``software``: name and version of a
    subject.
    """

    name: str
    module_name: str
    peer: bool = False
    path: str = ""
    function: str = ""
    subject: str = ""
    folder: str = ""
    modules: str = ""
    damages: bool = False
    software: str = ""

    @property
    def words(self) -> Words:
        """The words that load it in another process."""
        return Words(self.module_name, self.path, self.function, self.subject, self.folder, self.modules, self.damages)

    def module(self) -> Any:
        """The target's module, with the interface that ``fuzz.targets`` describes."""
        return load(self.words)

    @property
    def invariant(self) -> str:
        """The sentence that holds for every input."""
        return str(self.module().INVARIANT)

    @property
    def instrument(self) -> tuple[str, ...]:
        """Modules whose coverage leads the search."""
        return tuple(self.module().INSTRUMENT)

    @property
    def code(self) -> tuple[str, ...]:
        """Modules whose lines are counted: those that lead the search, if they are no helpers of the fuzzer."""
        return tuple(getattr(self.module(), "CODE", self.instrument))

    @property
    def comparisons(self) -> bool:
        """Whether what these modules compare leads the search, too."""
        return bool(getattr(self.module(), "COMPARISONS", True))

    @property
    def max_len(self) -> int:
        """The length of the longest input."""
        return int(self.module().MAX_LEN)

    @property
    def package(self) -> str:
        """The package that a peer needs, or an empty text."""
        if self.subject:
            return ""
        return str(getattr(self.module(), "PACKAGE", ""))

    @property
    def is_ours(self) -> bool:
        """Whether it is one of the lab's targets for its own decoders."""
        return not (self.peer or self.path)

    @property
    def lacking(self) -> str:
        """The package that a peer needs and that is not installed, in words; empty where nothing is missing."""
        if not self.package or all(map(find_spec, self.instrument)):
            return ""
        return f"{self.package} is not installed: pip install {self.package}"


def own_targets() -> list[Target]:
    """Our own targets, by name."""
    from fuzz.targets import target_names

    return [Target(name, f"fuzz.targets.{name.replace('-', '_')}") for name in target_names()]


def peer_targets() -> list[Target]:
    """The targets whose findings are other people's defects."""
    names = sorted(path.stem for path in _PEERS.glob("[a-z]*.py"))
    return [Target(name.replace("_", "-"), f"fuzz.peers.{name}", peer=True) for name in names]


def find(names: Iterable[str]) -> list[Target]:
    """Targets by name. Raises :class:`UnknownTarget`."""
    known = {target.name: target for target in [*peer_targets(), *own_targets()]}
    found = []
    for name in dict.fromkeys(names):
        if name not in known and is_own(name):
            found.append(own_target(name))
            continue
        if name not in known:
            raise UnknownTarget(
                f"no target is called {name}{did_you_mean(name, known)}; binlog-lab fuzz list prints them"
            )
        found.append(known[name])
    return found


def subject_target(spec: str, *, damages: bool, software: str) -> Target:
    """A decoder as a target, found from here. ``spec``: as ``conformance --subject`` takes it."""
    here = Place.here()
    return Target(
        _slug(str(parse_subject(spec))),
        SUBJECTS,
        peer=True,
        subject=spec,
        folder=here.folder,
        modules=here.modules,
        damages=damages,
        software=software,
    )


def is_own(name: str) -> bool:
    """Whether a word names an own target: the path of a file, or an entry point."""
    return name.endswith(".py") or ":" in name or "/" in name


def own_target(name: str) -> Target:
    """The target in a file (``./my_target.py``), or behind an entry point (``module:function``).

    Raises :class:`UnknownTarget` where there is none, and :class:`Unfit` where it cannot be loaded.
    """
    if name.endswith(".py") or "/" in name:
        path, function = Path(name).absolute(), CHECK
        if not path.is_file():
            raise UnknownTarget(f"{name}: no such file")
        folder, module = path.parent, path.stem
    else:
        module, _, function = name.partition(":")
        folder, path = Path.cwd(), None
    title = _slug(module if path is not None else f"{module}-{function}")
    if title in {target.name for target in [*peer_targets(), *own_targets()]}:
        raise UnknownTarget(f"{name}: the lab has a target that is called {title}; give yours another name")
    target = Target(title, module, path=str(folder), function=function)
    _require_check(target, name, path)
    return target


def _require_check(target: Target, name: str, path: Path | None) -> None:
    """Load an own target once, and see that it can be called."""
    try:
        checks = callable(target.module().check)
    except AttributeError:
        checks = False
    except Exception as problem:
        raise Unfit(f"{name}: it cannot be imported: {type(problem).__name__}: {problem}") from problem
    found = sys.modules[target.module_name]
    place = getattr(found, "__file__", None) or "built into Python"
    if path is not None and place != str(path):
        raise UnknownTarget(f"{name}: another module is called {path.stem} ({place}); give yours another name")
    if not checks:
        raise UnknownTarget(f"{name}: {target.module_name} has no function {target.function}(data)")


def _slug(text: str) -> str:
    """A name for folders."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))[-60:].strip("-") or "subject"
