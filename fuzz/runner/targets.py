"""The targets from the runner's view: ours (``fuzz.targets``), and those against other people's decoders (peers)."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from conformance.messages import did_you_mean
from fuzz.runner.errors import UnknownTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

EMPTY: Final = "empty"  # the empty target: its rate is the scale for all others
_PEERS: Final = Path(__file__).parents[1] / "peers"


@dataclass(frozen=True, slots=True)
class Target:
    """One target. ``path``: the directory of its module, if that is not the lab's."""

    name: str
    module_name: str
    peer: bool = False
    path: str = ""

    def module(self) -> Any:
        """The target's module, with the interface that ``fuzz.targets`` describes."""
        return import_module(self.module_name)

    @property
    def invariant(self) -> str:
        """The sentence that holds for every input."""
        return str(self.module().INVARIANT)

    @property
    def instrument(self) -> tuple[str, ...]:
        """Modules whose coverage leads the search."""
        return tuple(self.module().INSTRUMENT)

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
        return str(getattr(self.module(), "PACKAGE", ""))


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
        if name not in known:
            raise UnknownTarget(
                f"no target is called {name}{did_you_mean(name, known)}; binlog-lab fuzz list prints them"
            )
        found.append(known[name])
    return found
