"""The reference's modules as one object, and faulty copies of it.

A planted fault (fuzzing 7) is a change of the source text of one module. The copy that has it is made
by importing the modules of the codec again while they are taken out of ``sys.modules``; types that vectors hold
(values, errors, expressions) are shared with the original.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from conformance import reference
from conformance.reference.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

PACKAGE: Final = "conformance.reference"
COPIED: Final = (
    "cursor",
    "jsonb.members",
    "jsonb.text",
    "jsonb.opaque",
    "jsonb.encode",
    "jsonb.decode",
    "jsonb.view",
    "jsonb.layout",
    "jsonb.compare",
    "partial.paths",
    "partial.diffs",
    "partial.in_place",
    "partial.document",
    "partial.apply",
    "partial.update",
    "partial.decision",
)


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, CodecError | None]:
    """What a call gives, or the declared error that it raises; any other error is not caught."""
    try:
        return call(*arguments, **options), None
    except CodecError as error:
        return None, error


def number(error: CodecError | None) -> int:
    """The number that MySQL gives the error; 0 for no error, -1 for one that is not MySQL's."""
    return 0 if error is None else getattr(error, "number", -1)


class Kit:
    """The modules, by the last part of their names."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        for name, module in modules.items():
            setattr(self, name.rpartition(".")[2], module)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)  # for the type checker: every module is an attribute


class Fault(NamedTuple):
    """One change of a source text. ``old`` must stand in it exactly once. ``breaks``: the rule that no longer holds."""

    id: str
    module: str
    old: str
    new: str
    breaks: str


def _names(modules: Sequence[str] = COPIED) -> list[str]:
    return [f"{PACKAGE}.{name}" for name in modules]


@cache
def source(module: str) -> str:
    """The source text of one module."""
    return (Path(reference.__path__[0]) / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")


@cache
def _code(module: str) -> CodeType:
    return compile(source(module), f"<{module}>", "exec")


def original() -> Kit:
    """The reference as it is."""
    return Kit({name: import_module(f"{PACKAGE}.{name}") for name in COPIED})


def faulty_text(fault: Fault) -> str:
    """The source text of a module with its fault."""
    text = source(fault.module)
    found = text.count(fault.old)
    if found != 1:
        raise AssertionError(f"{fault.id}: its text stands {found} times in {fault.module}, not once")
    return text.replace(fault.old, fault.new)


def faulty_code(fault: Fault) -> CodeType:
    """The compiled text of a faulty module."""
    return compile(faulty_text(fault), f"<{fault.module} with {fault.id}>", "exec")


class _Copies(MetaPathFinder, Loader):
    """Serves the copied modules from compiled text."""

    def __init__(self, fault: Fault) -> None:
        self.changed = {f"{PACKAGE}.{fault.module}": faulty_code(fault)}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname in _names() else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        exec(self.changed.get(name) or _code(name.removeprefix(f"{PACKAGE}.")), module.__dict__)


@contextmanager
def planted(fault: Fault) -> Iterator[Kit]:
    """A kit whose ``fault.module`` is faulty. The copies are in ``sys.modules`` as long as the block runs."""
    original()
    finder = _Copies(fault)
    kept = {name: sys.modules.pop(name) for name in _names()}
    attributes: list[tuple[Any, str]] = []
    for name in _names():
        parent, _, last = name.rpartition(".")
        attributes.append((sys.modules[parent], last))
        delattr(sys.modules[parent], last)
    sys.meta_path.insert(0, finder)
    try:
        yield original()
    finally:
        sys.meta_path.remove(finder)
        for name, (parent_module, last) in zip(_names(), attributes, strict=True):
            sys.modules[name] = kept[name]
            setattr(parent_module, last, kept[name])
